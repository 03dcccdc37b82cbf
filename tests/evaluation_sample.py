"""An evaluation as it is handed to the reports: the results of made-up outcomes, the same on every call."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt

from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.release.release import ReleaseDecision
from rewriteguard.evaluation.score.results import (
    ArmResult,
    ConstraintRow,
    Group,
    GroupResult,
    KindRow,
    MissingWords,
    Ranked,
    Regression,
    Results,
    TurnRow,
)
from rewriteguard.evaluation.score.scores import Clarification, EvidenceScore, Leak, OfRewrite, Paired, Scores
from rewriteguard.evaluation.vocabulary import UnknownWord
from rewriteguard.policy.classes import Release
from rewriteguard.report.evaluation.report import EvaluationReport

KINDS = ("time", "entity", "negation", "version", "quantity")
CLASSES = ("exclusions", "dates", "codes", "follow-ups", "complete questions", "everything else")
SLICES = ("returns", "billing, corrections")
NEEDS_NONE = ("original", "human", "without_rewrite")
NEEDS = ("rewrite", "original+rewrite", "guarded", "expanded")
TURNS = (
    "And which of those were not shipped in 2023?",
    "How much does version 3.2 cost without the support plan?",
    "What about returns after 30 days?",
    "Can I still cancel order AX-20391 before Friday?",
)


def figure(count: int, n: int) -> Figure:
    if not n:
        return Figure(None, 0, count=0)
    p = count / n
    half = 1.96 * sqrt(p * (1 - p) / n + 0.96 / n**2)
    return Figure(p, n, max(0.0, p - half), min(1.0, p + half), count)


def mean(value: float, n: int, half: float = 0.06) -> Figure:
    return Figure(value, n, value - half, value + half) if n else Figure(None, 0)


class Sample:
    """Draws the outcomes of `cases` requests and counts them as an evaluation would."""

    def __init__(self, cases: int, rewriters: tuple[str, ...], hostile: tuple[str, ...] = ()) -> None:
        self._random = random.Random(7)
        self.rewriters = rewriters
        self.hostile = hostile
        self.ids = [self.text(f"returns-{number:04d}", number) for number in range(cases)]
        self.arms = [("", arm) for arm in NEEDS_NONE] + [(label, arm) for label in rewriters for arm in NEEDS]
        self.found = {
            key: [self._random.random() < (0.55 if key[0] == rewriters[-1] else 0.7) for _ in self.ids]
            for key in self.arms
        }
        names = [(name, True) for name in CLASSES] + [(self.text(name, 1), False) for name in SLICES]
        self.members = [
            Group(name, tuple(self.ids[place :: len(CLASSES)]), enforced)
            for place, (name, enforced) in enumerate(names)
        ]

    def text(self, text: str, number: int) -> str:
        return f"{text} {self.hostile[number % len(self.hostile)]}" if self.hostile else text

    def report(self) -> EvaluationReport:
        clauses = self.clauses()
        results = Results(
            k=10,
            seed=7,
            resamples=2000,
            requests=len(self.ids),
            clusters=len(self.ids) // 3,
            judged=len(self.ids),
            contracts=len(self.ids),
            rewriters=self.rewriters,
            arms=tuple(self.arm(key, self.ids) for key in self.arms),
            groups=tuple(self.group(member) for member in self.members),
            regressions=tuple(self.regression(key, place) for key, place in self.lost()),
            constraints=clauses,
            kinds=self.kinds(clauses),
            turns=tuple(
                TurnRow(label, arm, turn, mean(0.7 - 0.1 * place, 40))
                for label, arm in self.arms
                for place, turn in enumerate(("1", "later", "2", "3"))
            ),
            vocabulary={label: MissingWords(900, 0, self.words()) for label in self.rewriters},
        )
        conditions = {"index": {"documents": 812, "sha256": "9b1c" * 16}, "k": 10, "rewriters": list(self.rewriters)}
        return EvaluationReport(results, self.releases(), conditions, self.members)

    def arm(self, key: tuple[str, str], ids: Sequence[str]) -> ArmResult:
        label, arm = key
        n, hits = len(ids), self.hits(key, ids)
        leak = tuple(Leak(case, self.text("internal-notes", 2), 3) for case in ids[:1])
        shares = figure(hits, n), figure((n - hits) // 2, n), figure(n - hits - (n - hits) // 2, n)
        scores = Scores(
            requests=n,
            statuses={"ok": n - 3, "empty": 1, "error": 1, "clarified": 1},
            preservation=figure(int(n * 1.9), 2 * n),
            completeness=figure(int(n * 0.82), n),
            evidence=EvidenceScore(*shares, *[mean(hits / n if n else 0, n)] * 5),
            answers=figure(0, 0),
            clarification=Clarification(figure(n // 12, n // 10), figure(n - n // 10, n - n // 10)),
            forbidden=leak if arm == "expanded" and len(ids) == len(self.ids) else (),
            unauthorised=(),
            stages={"rewrite": n // 9, "retrieval": n // 11, "generation": 0},
            families=figure(n // 8, n // 4),
            of_rewrite=OfRewrite(
                figure(int(n * 1.7) if label else 0, 2 * n if label else 0),
                figure(int(n * 0.7) if label else 0, n if label else 0),
            ),
            left_out=n // 20 if arm == "guarded" else 0,
        )
        return ArmResult(
            label,
            arm,
            scores,
            None if arm == "original" else self.paired("original", key, ids),
            self.paired("rewrite", key, ids) if arm == "guarded" else None,
        )

    def hits(self, key: tuple[str, str], ids: Sequence[str]) -> int:
        return sum(self.found[key][self.ids.index(each)] for each in ids)

    def paired(self, base: str, key: tuple[str, str], ids: Sequence[str]) -> Paired:
        before = self.found[("", "original") if base == "original" else (key[0], "rewrite")]
        pairs = Counter((before[place], self.found[key][place]) for place in map(self.ids.index, ids))
        both, lost, gained, neither = (pairs[pair] for pair in [(1, 1), (1, 0), (0, 1), (0, 0)])
        n = len(ids)
        difference = mean((gained - lost) / n if n else 0, n)
        return Paired(
            base,
            n,
            both,
            lost,
            gained,
            neither,
            regression=figure(lost, both + lost),
            gain=figure(gained, neither + gained),
            mcnemar=0.1114 if lost + gained else None,
            difference=difference,
            difference_by_request=difference,
            randomisation=0.0002 if n else None,
        )

    def group(self, member: Group) -> GroupResult:
        arms = tuple(self.arm(key, member.cases) for key in self.arms)
        return GroupResult(member.name, member.enforced, len(member.cases), arms)

    def lost(self) -> list[tuple[tuple[str, str], int]]:
        original = self.found["", "original"]
        return [
            (key, place)
            for place in range(len(self.ids))
            for key in self.arms
            if original[place] and not self.found[key][place]
        ]

    def regression(self, key: tuple[str, str], place: int) -> Regression:
        turn = self.text(TURNS[place % len(TURNS)], place)
        rewrite = self.text("Which returned items were shipped?", place) if key[0] else None
        ranked = tuple(Ranked(self.text(f"doc-{place}-{rank}", rank), "") for rank in range(1, 13))
        relevant, near = Ranked(f"doc-{place}-relevant", "relevant"), Ranked(f"doc-{place}-near", "near_miss")
        return Regression(
            case=self.ids[place],
            rewriter=key[0],
            arm=key[1],
            base="original",
            turn=place % 5 + 1,
            original=turn,
            rewrite=rewrite,
            queries=(rewrite or turn,),
            base_queries=(turn,),
            base_results=(ranked[0], relevant, *ranked[1:]),
            results=(ranked[2], near, *ranked[3:]),
            dropped=(self.text("2023", place), "not"),
            stage="rewrite" if place % 3 else "retrieval",
            status="ok",
            action="fuse" if key[1] == "guarded" else "",
            reasons=("dropped.time", "dropped.negation") if key[1] == "guarded" else (),
        )

    def clauses(self) -> tuple[ConstraintRow, ...]:
        return tuple(
            ConstraintRow(
                case=self.ids[place],
                rewriter=label,
                arm=arm,
                clause=clause,
                kind=KINDS[(place + clause.count("_")) % len(KINDS)] if clause == "constraint" else "",
                asked=self.text("in 2023" if clause == "constraint" else "the EU store", place),
                critical=place % 2 == 0,
                fate=fate,
                instead=self.text("in 2022", place) if fate in ("altered", "added") else "",
                query=None if fate in ("dropped", "absent") else 0,
                evidence="found" if self.found[label, arm][place] else ("near_miss", "missing", "")[place % 3],
            )
            for place in range(len(self.ids))
            for label, arm in self.arms
            for clause, fates in (
                ("constraint", ("kept", "kept", "kept", "altered", "dropped")),
                ("forbidden_assumption", ("absent", "absent", "absent", "added")),
            )
            for fate in [fates[self._random.randrange(len(fates)) if label else 0]]
        )

    def kinds(self, clauses: Sequence[ConstraintRow]) -> tuple[KindRow, ...]:
        counted: dict[tuple[str, str, str], Counter[str]] = {}
        for row in clauses:
            if row.clause == "constraint":
                counted.setdefault((row.rewriter, row.arm, row.kind), Counter())[row.fate] += 1
        return tuple(
            KindRow(*key, fates.total(), fates["kept"], fates["altered"], fates["dropped"])
            for key, fates in counted.items()
        )

    def words(self) -> tuple[UnknownWord[str], ...]:
        return tuple(
            UnknownWord(f"word{n}", 30 - n % 30, n % 3, self.ids[:3], self.text(f"Which word{n} were shipped?", n))
            for n in range(250)
        )

    def releases(self) -> list[ReleaseDecision]:
        ways = {
            Release.SHIP: ["rewrite: every bound holds"],
            Release.FUSE: [
                "rewrite: regression 14.3 % of 84, and the rules allow at most 10.0 %",
                "guarded: every bound holds",
            ],
            Release.CLARIFY: [
                "guarded: every bound holds",
                "guarded: asking was right 9 times and wrong 2 times, of 11",
            ],
            Release.FALL_BACK: [
                "rewrite: constraint_preservation 61.0 % of 120, and the rules ask for at least 95.0 %"
            ],
        }
        names = list(ways)
        return [
            ReleaseDecision(
                label,
                member.name,
                member.enforced,
                len(member.cases),
                (release := names[(place * (number + 1)) % len(names)]),
                tuple(self.text(reason, place) for reason in ways[release]),
                ("rewrite.regression",),
            )
            for number, label in enumerate(self.rewriters)
            for place, member in enumerate(self.members)
        ]


def sample(cases: int = 60, rewriters: tuple[str, ...] = ("careful-2", "terse-1"), *hostile: str) -> EvaluationReport:
    """The report of an evaluation; texts of the data hold the hostile ones where there are any."""
    return Sample(cases, rewriters, hostile).report()
