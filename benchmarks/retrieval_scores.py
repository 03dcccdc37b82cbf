"""What the rankings of the retrieval benchmark are worth, question by question and in sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG

from retrieval_data import Question
from retrieval_rows import DROP_IN_K, Ran
from rewriteguard.evaluation.figure import Figure

MEASURES = {"r10": R @ 10, "mrr10": RR @ 10, "ndcg10": nDCG @ 10, "r4": R @ DROP_IN_K}
ORACLES = {"oracle-2": ("raw", "rewrite"), "oracle-3": ("raw", "rewrite", "carried")}
Values = list[float]


@dataclass(slots=True)
class Scores:
    """The questions of one set, rewriter and index, and for each row its values of each measure in their order."""

    questions: list[Question] = field(default_factory=list)
    ran: dict[str, list[Ran]] = field(default_factory=dict)
    values: dict[str, dict[str, Values]] = field(default_factory=dict)

    def add(self, question: Question, ran: Mapping[str, Ran]) -> None:
        """Takes in what each strategy did for a question; each question has the same strategies."""
        self.questions.append(question)
        for row, each in ran.items():
            self.ran.setdefault(row, []).append(each)

    def measure(self) -> None:
        """Fills `values`; an oracle's is the best of its rows, question by question."""
        qrels = {str(at): dict.fromkeys(question.relevant, 1) for at, question in enumerate(self.questions)}
        for row, all_ran in self.ran.items():
            runs = {
                str(at): {item: -float(rank) for rank, item in enumerate(ran.ranking)} for at, ran in enumerate(all_ran)
            }
            table = {name: [0.0] * len(self.questions) for name in MEASURES}
            names = {measure: name for name, measure in MEASURES.items()}
            for metric in ir_measures.iter_calc(list(MEASURES.values()), qrels, runs):
                table[names[metric.measure]][int(metric.query_id)] = float(metric.value)
            self.values[row] = table
        for oracle, rows in ORACLES.items():
            self.values[oracle] = {
                name: [max(each) for each in zip(*(self.values[row][name] for row in rows), strict=True)]
                for name in MEASURES
            }

    def half(self, half: int) -> Scores:
        """The same of the conversations of one half."""
        places = [at for at, question in enumerate(self.questions) if question.half == half]
        return Scores(
            [self.questions[at] for at in places],
            {row: [ran[at] for at in places] for row, ran in self.ran.items()},
            {
                row: {name: [values[at] for at in places] for name, values in table.items()}
                for row, table in self.values.items()
            },
        )


class Bootstrap:
    """95 % intervals of means over questions, by drawing conversations again and again.

    Args:
        questions: The questions, whose conversations are drawn.
        resamples: How often.
        seed: Of the draws.
    """

    def __init__(self, questions: Sequence[Question], resamples: int, seed: int) -> None:
        names = {name: at for at, name in enumerate(dict.fromkeys(question.conversation for question in questions))}
        self._group = np.array([names[question.conversation] for question in questions])
        self._count = len(names)
        random = np.random.default_rng(seed)
        self._draws = random.integers(0, self._count, size=(resamples, self._count))

    def mean(self, values: Sequence[float]) -> Figure:
        """The mean of one value a question, with its interval."""
        sums = np.bincount(self._group, weights=values, minlength=self._count)
        sizes = np.bincount(self._group, minlength=self._count)
        means = sums[self._draws].sum(axis=1) / sizes[self._draws].sum(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        return Figure(float(np.mean(values)), len(values), float(low), float(high))


def figures(scores: Scores, resamples: int, seed: int) -> dict[str, Figure]:
    """Every figure of one set, rewriter and index, by row and measure: `guarded/r10`, `guarded/lose-raw`."""
    bootstrap = Bootstrap(scores.questions, resamples, seed)
    found: dict[str, Figure] = {}
    for row, table in scores.values.items():
        for name, values in table.items():
            found[f"{row}/{name}"] = bootstrap.mean(values)
        own = "r4" if row.startswith("drop-in") else "r10"
        for other in ("raw", "rewrite"):
            base = scores.values["drop-in-rewrite" if own == "r4" and other == "rewrite" else other][own]
            difference = [ours - theirs for ours, theirs in zip(table[own], base, strict=True)]
            found[f"{row}/over-{other}"] = bootstrap.mean(difference)
            n = len(difference)
            found[f"{row}/gain-{other}"] = Figure(None, n, count=sum(each > 0 for each in difference))
            found[f"{row}/lose-{other}"] = Figure(None, n, count=sum(each < 0 for each in difference))
    for row, ran in scores.ran.items():
        found[f"{row}/searches"] = Figure(sum(each.searches for each in ran) / len(ran), len(ran))
        found[f"{row}/asked"] = Figure(sum(each.asked for each in ran) / len(ran), len(ran))
    return found
