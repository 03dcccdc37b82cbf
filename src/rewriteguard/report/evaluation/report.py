"""What a report of an evaluation tells, and how its arms, groups, figures and rankings read in every form of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rewriteguard.evaluation.figure import plain
from rewriteguard.report.table import NOTHING, Cell, Column, percent, worded

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.evaluation.release.release import ReleaseDecision
    from rewriteguard.evaluation.score.results import ArmResult, Group, GroupResult, Ranked, Results

    Form = Callable[[float | None], str]

ARM_COLUMNS = (Column("Arm"), Column("Rewriter"))
_FIRST = 10  # documents of a ranking that are told beside those with a label


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """One evaluation, of which the page, the Markdown and the JSON file all are made.

    Attributes:
        results: What was measured.
        releases: What was decided for each rewriter and group.
        conditions: What was held fixed, such as the fingerprint of the index, as plain JSON values.
        members: The classes and slices with the ids of their cases; without them the lists of the page cannot be
            filtered by group.
    """

    results: Results
    releases: Sequence[ReleaseDecision] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    members: Sequence[Group] = ()

    @property
    def rewriters(self) -> tuple[str, ...]:
        """The labels of the rewriters, in the order of the results."""
        return self.results.rewriters

    @property
    def arms(self) -> tuple[ArmResult, ...]:
        """The results of the arms on all requests."""
        return self.results.arms

    @property
    def groups(self) -> list[GroupResult]:
        """The results of the groups: classes, which a policy can enforce, before slices."""
        return sorted(self.results.groups, key=lambda group: not group.enforced)

    def decisions(self, rewriter: str) -> list[ReleaseDecision]:
        """What was decided for a rewriter: classes before slices, otherwise as given."""
        own = [release for release in self.releases if release.rewriter == rewriter]
        return sorted(own, key=lambda release: not release.enforced)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "results": self.results.to_dict(),
            "releases": [release.to_dict() for release in self.releases],
            "conditions": dict(self.conditions),
            "members": plain(tuple(self.members)),
        }


def sort_of(enforced: bool) -> str:
    """Whether a group is a class, which a policy enforces, or a slice."""
    return "class" if enforced else "slice"


def group_key(group: Group | GroupResult) -> str:
    """Names a class or a slice; a class and a slice of one name are told apart."""
    return f"{sort_of(group.enforced)}: {group.name}"


def arm_cells(arm: str, rewriter: str) -> list[Cell]:
    """The cells that name an arm."""
    return [Cell(worded(arm)), rewriter_cell(rewriter)]


def rewriter_cell(label: str) -> Cell:
    """The cell that names a rewriter; the arms of none have an empty label."""
    return Cell(label or NOTHING, quoted=bool(label))


def figure_cell(figure: Figure, form: Form = percent) -> Cell:
    """One cell with the value, and interval and n in small print."""
    if figure.value is None:
        return Cell(NOTHING, "not measured" if not figure.n else f"n = {figure.n:,}")
    n = denominator(figure) if figure.count is not None else f"n = {figure.n:,}"
    return Cell(form(figure.value), " · ".join(part for part in (interval(figure, form), n) if part))


def interval(figure: Figure, form: Form = percent) -> str:
    """The 95 % interval in words; empty where there is none."""
    if figure.low is None:
        return "" if figure.high is None else f"at most {form(figure.high)}"
    low = form(figure.low)
    return f"at least {low}" if figure.high is None else f"{low.removesuffix(' %')} to {form(figure.high)}"


def denominator(figure: Figure) -> str:
    """What a figure was measured on, as `513 of 540` for a share and `540` for a mean."""
    return f"{figure.n:,}" if figure.count is None else f"{figure.count:,} of {figure.n:,}"


def bar(figure: Figure) -> Figure | None:
    """The figure as a bar between 0 and 1 shows it; None where there is nothing to draw."""
    value = figure.value
    if value is None or not 0 <= value <= 1:
        return None
    low, high = (value if end is None else min(1.0, max(0.0, end)) for end in (figure.low, figure.high))
    return replace(figure, low=low, high=high)


def ranking(documents: Sequence[Ranked]) -> list[tuple[int, Ranked]]:
    """The documents of a ranking that are told, with their ranks: the first ones, and all that have a label."""
    return [(rank, each) for rank, each in enumerate(documents, 1) if rank <= _FIRST or each.label]
