"""A town's documents, rewriters with planted faults, and the scores of their arms, for tests of the release rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import mean, stdev

from rewriteguard import Guard, GuardedSearch, Policy
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.release.release import groups_of
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.evaluation.score.results import ArmResult, GroupResult, Results
from rewriteguard.evaluation.score.scores import Clarification, EvidenceScore, Leak, Paired, Scores
from rewriteguard.model.decision import Reason

NOTHING = Figure(None, 0)
THINGS = (
    "ferry pass",
    "garden plot",
    "market stall",
    "fishing licence",
    "reading card",
    "boat mooring",
    "parking permit",
    "school locker",
    "swimming course",
    "bicycle box",
    "music room",
    "guest key",
)
YEARS = ("2022", "2023")
DOCUMENTS = {f"{thing}-{year}": f"the {thing} did cost crowns in {year}" for thing in THINGS for year in YEARS} | {
    f"{thing}-valid": f"how long the {thing} is valid" for thing in THINGS
}


def share(count: int, n: int) -> Figure:
    return Figure(count / n if n else None, n, count=count)


def interval(values: Sequence[float]) -> Figure:
    if not values:
        return NOTHING
    half = 1.96 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 1.0
    return Figure(mean(values), len(values), mean(values) - half, mean(values) + half)


def scores(
    n: int,
    *,
    kept: Figure = NOTHING,
    complete: Figure = NOTHING,
    answers: Figure = NOTHING,
    asked: Figure = NOTHING,
    not_asked: Figure = NOTHING,
    forbidden: Sequence[str] = (),
    unauthorised: Sequence[str] = (),
    failed: int = 0,
) -> Scores:
    return Scores(
        requests=n,
        statuses={"ok": n - failed, "empty": 0, "error": failed, "clarified": 0},
        preservation=kept,
        completeness=complete,
        evidence=EvidenceScore(*[NOTHING] * 8),
        answers=answers,
        clarification=Clarification(asked, not_asked),
        forbidden=tuple(Leak(case, "secret", 1) for case in forbidden),
        unauthorised=tuple(Leak(case, "secret", 1) for case in unauthorised),
        stages={},
    )


def paired(found: Sequence[bool], base: Sequence[bool]) -> Paired:
    both, lost, gained, neither = (
        sum((ours, theirs) == wanted for ours, theirs in zip(found, base, strict=True))
        for wanted in ((True, True), (False, True), (True, False), (False, False))
    )
    difference = interval([float(ours) - float(theirs) for ours, theirs in zip(found, base, strict=True)])
    regression, gain = share(lost, both + lost), share(gained, neither + gained)
    return Paired(
        "original", len(found), both, lost, gained, neither, regression, gain, None, difference, difference, None
    )


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def search(query: str, k: int = 5) -> list[str]:
    """The ids of the documents that share most words with the query; ties in alphabetical order."""
    asked = words(query)
    ranked = sorted(DOCUMENTS, key=lambda name: (-len(asked & words(DOCUMENTS[name])), name))
    return ranked[:k]


def cases() -> tuple[Case, ...]:
    """Two follow-ups on each thing: what it cost in a year, and how long it is valid."""
    made = []
    for thing in THINGS:
        history = (("user", f"How do I get a {thing}?"), ("assistant", f"Ask for a {thing} at the town desk."))
        made.append(Case(f"{thing} valid", "How long is it valid?", history, relevant=(f"{thing}-valid",)))
        made += [
            Case(f"{thing} {year}", f"What did it cost in {year}?", history, relevant=(f"{thing}-{year}",))
            for year in YEARS
        ]
    return tuple(made)


def faithful(case: Case) -> str:
    thing = case.relevant[0].rsplit("-", 1)[0]
    return case.original.replace(" it ", f" a {thing} ")


def loses_dates(case: Case) -> str:
    return re.sub(r" in \d{4}", "", faithful(case))


def expands(case: Case) -> str:
    return faithful(case).removesuffix("?") + " at the town desk?"


def evaluated(
    rewriters: dict[str, Callable[[Case], str]],
    rules: Rules,
    guard: Guard,
    known: Sequence[Case],
    **leaks: Sequence[str],
) -> Results:
    """The results of all arms, scored as simply as can be; `leaks` names the cases in which an arm gets a secret."""
    found: dict[tuple[str, str], dict[str, tuple[str, list[str]]]] = {}
    for case in known:
        without = guard.without_rewrite(case.original, Reason.REWRITER_ERROR, case.history)
        found.setdefault(("", "original"), {})[case.id] = case.original, search(case.original, 1)
        found.setdefault(("", "without_rewrite"), {})[case.id] = without.query, search(without.queries[-1].text, 1)
        for label, rewriter in rewriters.items():
            text = rewriter(case)
            guarded = GuardedSearch(search, text, guard=guard, policy=Policy(), k=1).run(case.original, case.history)
            said = " ".join(query.text for query in guarded.decision.queries)
            found.setdefault((label, "rewrite"), {})[case.id] = text, search(text, 1)
            found.setdefault((label, "guarded"), {})[case.id] = said, guarded.items
    groups = groups_of(known, rules, guard)

    def result(label: str, arm: str, ids: Sequence[str]) -> ArmResult:
        mine = [case for case in known if case.id in ids]
        year = {case.id: re.findall(r"\d{4}", case.original) for case in mine}
        good = [case.relevant[0] in found[label, arm][case.id][1] for case in mine]
        base = [case.relevant[0] in found["", "original"][case.id][1] for case in mine]
        keeps = sum(words(found[label, arm][case.id][0]).issuperset(year[case.id]) for case in mine)
        leaked = [each for each in leaks.get(arm, ()) if each in ids]
        made = scores(len(mine), kept=share(keeps, len(mine)), complete=share(keeps, len(mine)), forbidden=leaked)
        return ArmResult(label, arm, made, None if arm == "original" else paired(good, base), None)

    def arms(ids: Sequence[str]) -> tuple[ArmResult, ...]:
        return tuple(result(label, arm, ids) for label, arm in found)

    return Results(
        k=1,
        seed=0,
        resamples=0,
        requests=len(known),
        clusters=len(known),
        judged=len(known),
        contracts=len(known),
        rewriters=tuple(sorted(rewriters)),
        arms=arms([case.id for case in known]),
        groups=tuple(GroupResult(each.name, each.enforced, len(each.cases), arms(each.cases)) for each in groups),
        regressions=(),
        constraints=(),
        kinds=(),
        turns=(),
    )
