"""How far a judging model agrees with people: a table of counts, and Cohen's kappa with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rewriteguard.errors import InputError
from rewriteguard.model.rules import Verdict

Counts = Sequence[Sequence[int]]

_VERDICTS = tuple(Verdict)
_NORMAL = 1.959964  # the standard normal's 97.5 % quantile


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a model answered about rewrites that people had labelled.

    Attributes:
        confusion: Rows counted by human label (outer) and by the model's answer (inner), both in the order preserved,
            changed, uncertain.
        unreadable: Rows without a verdict: the model failed, or answered something else.
        prompt: Stands for the prompt that was asked; the figures hold for no other.
    """

    confusion: tuple[tuple[int, ...], ...]
    unreadable: int
    prompt: str

    @property
    def rows(self) -> int:
        """The rows that have both verdicts."""
        return sum(map(sum, self.confusion))

    @property
    def agreement(self) -> float:
        """The share of the rows with both verdicts in which they are the same."""
        return self._same / self.rows

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None where both gave one and the same verdict throughout."""
        return kappa_of(self.confusion)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of kappa, for large samples; it has no width where all verdicts agree."""
        return interval_of(self.confusion)

    def explain(self) -> str:
        """The figures for a person, with the table of counts."""
        lines = [f"{self.rows} rows, {self.unreadable} without a verdict; agreement {self.agreement:.1%}"]
        if self.kappa is not None and self.interval is not None:
            low, high = self.interval
            lines.append(f"Cohen's kappa {self.kappa:.2f} (95 % interval {low:.2f} to {high:.2f})")
        lines.append("human \\ judge".ljust(14) + "".join(verdict.value.rjust(11) for verdict in _VERDICTS))
        for verdict, row in zip(_VERDICTS, self.confusion, strict=True):
            lines.append(verdict.value.ljust(14) + "".join(f"{count:11,}" for count in row))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Counts and figures as plain JSON values, to be kept beside the application."""
        return {
            "confusion": {
                human.value: {model.value: count for model, count in zip(_VERDICTS, row, strict=True)}
                for human, row in zip(_VERDICTS, self.confusion, strict=True)
            },
            "unreadable": self.unreadable,
            "prompt": self.prompt,
            "rows": self.rows,
            "agreement": self.agreement,
            "kappa": self.kappa,
            "interval": list(self.interval) if self.interval else None,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """The calibration that `to_dict` told.

        Raises:
            InputError: It told no such thing.
        """
        try:
            confusion = tuple(tuple(_count(told["confusion"][h][m]) for m in _VERDICTS) for h in _VERDICTS)
            found = cls(confusion, _count(told["unreadable"]), str(told["prompt"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"calibration: expected what Calibration.to_dict() gave; {error!r}") from None
        if not found.rows:
            raise InputError("calibration: expected what Calibration.to_dict() gave; it counts no row")
        return found

    @property
    def _same(self) -> int:
        return sum(row[place] for place, row in enumerate(self.confusion))


def kappa_of(counts: Counts) -> float | None:
    """Cohen's kappa: agreement beyond chance, 1 at best; None where both chose one and the same category throughout.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960).

    Args:
        counts: A square table: how many were put into one category by the first (outer) and into one by the second.
    """
    rows = sum(map(sum, counts))
    if not rows:
        return None
    chance = _chance(counts)
    agreement = sum(row[place] for place, row in enumerate(counts)) / rows
    return None if chance == 1 else (agreement - chance) / (1 - chance)


def interval_of(counts: Counts) -> tuple[float, float] | None:
    """The 95 % interval of kappa, for large samples; it has no width where all agree, and is None where kappa is.

    Source: J. L. Fleiss, J. Cohen, B. S. Everitt, Large sample standard errors of kappa and weighted kappa,
    Psychol. Bull. 72 (1969), equation 13.
    """
    kappa = kappa_of(counts)
    if kappa is None:
        return None
    rows, chance = sum(map(sum, counts)), _chance(counts)
    shares = [[count / rows for count in row] for row in counts]
    first, second = _margins(counts)
    places = range(len(shares))
    same = sum(shares[i][i] * (1 - (first[i] + second[i]) * (1 - kappa)) ** 2 for i in places)
    other = sum(shares[i][j] * (second[i] + first[j]) ** 2 for i in places for j in places if i != j)
    correction = (kappa - chance * (1 - kappa)) ** 2
    variance = (same + (1 - kappa) ** 2 * other - correction) / (1 - chance) ** 2 / rows
    half = _NORMAL * math.sqrt(max(0.0, variance))
    return max(-1.0, kappa - half), min(1.0, kappa + half)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def calibration_of(pairs: Iterable[tuple[Verdict, Verdict | None]], prompt: str) -> Calibration:
    """The calibration of human labels with the model's answers; None is an answer without a verdict.

    Raises:
        InputError: No answer has a verdict.
    """
    counts = {(human, model): 0 for human in _VERDICTS for model in _VERDICTS}
    unreadable = 0
    for human, model in pairs:
        if model is None:
            unreadable += 1
        else:
            counts[human, model] += 1
    if not any(counts.values()):
        raise InputError(f"rows: the model gave no verdict on any of {unreadable} rows")
    return Calibration(tuple(tuple(counts[h, m] for m in _VERDICTS) for h in _VERDICTS), unreadable, prompt)


def _margins(counts: Counts) -> tuple[list[float], list[float]]:
    """The share of each category among the choices of the first, and of the second."""
    rows = sum(map(sum, counts))
    return [sum(row) / rows for row in counts], [sum(column) / rows for column in zip(*counts, strict=True)]


def _chance(counts: Counts) -> float:
    return math.fsum(first * second for first, second in zip(*_margins(counts), strict=True))
