"""The rule table of the stages, row by row."""

from __future__ import annotations

import pytest

from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.score.contract import Clause, Fate
from rewriteguard.evaluation.score.runs import Measured, first_break
from rewriteguard.model.tokens import Kind

FOUND, NOTHING = Measured(0.5, 0.5, 0.5), Measured()
KEPT = Clause("constraint", Kind.TIME, "2023", True, Fate.KEPT, query=0)
LOST = Clause("constraint", Kind.TIME, "2023", True, Fate.DROPPED)
ONE_READING, SEVERAL = Contract(), Contract(unresolved="it", readings=("a", "b"))
REWRITTEN = {"arm": ArmName.REWRITE, "rewriter": "r", "status": Ended.OK, "rewrite": "fares"}


@pytest.mark.parametrize(
    ("expected", "changes", "measured", "clauses", "answerable", "contract"),
    [
        ("generation", {"status": Ended.ERROR, "stage": "generation"}, FOUND, [KEPT], True, None),
        ("retrieval", {"status": Ended.ERROR, "stage": "retrieval"}, NOTHING, [LOST], True, None),
        ("rewrite", {"status": Ended.ERROR, "stage": "rewrite"}, None, [], False, None),
        ("retrieval", {"status": Ended.ERROR}, NOTHING, [], False, None),
        ("rewrite", {"status": Ended.CLARIFIED}, NOTHING, [], True, ONE_READING),
        ("rewrite", {"status": Ended.CLARIFIED}, NOTHING, [], True, None),
        (None, {"status": Ended.CLARIFIED}, None, [], True, SEVERAL),
        (None, {}, FOUND, [LOST], True, None),
        (None, {"supported": True}, FOUND, [KEPT], True, None),
        ("generation", {"supported": False}, FOUND, [LOST], True, None),
        ("generation", {"supported": False}, None, [LOST], False, None),
        (None, {}, None, [LOST], False, None),
        ("retrieval", {}, NOTHING, [LOST], False, None),
        ("retrieval", {"arm": ArmName.ORIGINAL}, NOTHING, [LOST], True, None),
        ("retrieval", {"arm": ArmName.WITHOUT}, NOTHING, [LOST], True, None),
        ("rewrite", {"rewrite": None, "stage": "rewrite"}, NOTHING, [KEPT], True, None),
        ("rewrite", {}, NOTHING, [KEPT, LOST], True, None),
        ("rewrite", {"status": Ended.EMPTY}, NOTHING, [LOST], True, None),
        ("rewrite", {}, NOTHING, [], True, None),
        ("retrieval", {}, NOTHING, [KEPT], True, None),
    ],
)
def test_the_first_row_that_fits_counts(
    expected: str | None,
    changes: dict,
    measured: Measured | None,
    clauses: list[Clause],
    answerable: bool,
    contract: Contract | None,
) -> None:
    outcome = Outcome("a", **(REWRITTEN | changes))
    assert first_break(Case("a", "?", contract=contract), outcome, measured, clauses, answerable) == expected
