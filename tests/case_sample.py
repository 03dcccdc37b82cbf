"""One case with every field set, and one with none but those that it needs."""

from datetime import date

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.model.tokens import Kind

FULL = Case(
    id="kiosk-3",
    original="And which of them sold no ice cream in 2021?",
    history=(("user", "Which kiosks are on the quay?"), ("assistant", "Three: North, Mole and Gate.\nAll are open.")),
    context=(("plan", "pro"), ("tenant", "7")),
    contract=Contract(
        constraints=(
            Constraint(Kind.TIME, "2021", forms=("the year 2021",)),
            Constraint(Kind.NEGATION, "no"),
            Constraint(Kind.TOPIC, "ice cream", critical=False),
        ),
        must_preserve=("ice cream",),
        allowed_expansion=("gelato", "stall"),
        forbidden_assumptions=("in summer",),
        unresolved="them",
        readings=("the kiosks on the quay", "the kiosks that are open"),
        reference_date=date(2022, 3, 4),
    ),
    human='Which "quay" kiosks sold no ice cream in 2021?',
    rewrites={"a": ("kiosks ice cream 2021",), "b": ("kiosk ice cream", "2021")},
    relevant=("d1", "d2"),
    near_misses=("d3",),
    forbidden=("d4",),
    unauthorised=("d2",),
    answer="North and Gate.",
    conversation="kiosk",
    turn=2,
    family="kiosk-years",
    slices=("dates", "negations"),
    asked=date(2022, 3, 3),
)
BARE = Case(id="7", original="Is it open?")
