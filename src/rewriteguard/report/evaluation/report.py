"""What a report of an evaluation tells: the results, what was decided by them, and under which conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """One evaluation as plain JSON values; the page, the Markdown and the JSON file all are made of it.

    Attributes:
        results: What was measured: `Results.to_dict()`.
        releases: What was decided for each rewriter and group, as mappings with the names of `ReleaseDecision`.
        conditions: What was held fixed, such as the fingerprint of the index.
        members: The classes and slices with the ids of their cases, as mappings with the names of `Group`; without
            them the lists of the page cannot be filtered by group.
    """

    results: Mapping[str, Any]
    releases: Sequence[Mapping[str, Any]] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    members: Sequence[Mapping[str, Any]] = ()

    @property
    def rewriters(self) -> list[str]:
        """The labels of the rewriters, in the order of the results."""
        return list(self.results["rewriters"])

    @property
    def groups(self) -> list[Mapping[str, Any]]:
        """The results of the groups: classes, which a policy can enforce, before slices."""
        return sorted(self.results["groups"], key=lambda group: not group["enforced"])

    @property
    def arms(self) -> list[Mapping[str, Any]]:
        """The results of the arms on all requests."""
        return list(self.results["arms"])

    def decisions(self, rewriter: str) -> list[Mapping[str, Any]]:
        """What was decided for a rewriter: classes before slices, otherwise as given."""
        own = [release for release in self.releases if release["rewriter"] == rewriter]
        return sorted(own, key=lambda release: not release["enforced"])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "results": dict(self.results),
            "releases": [dict(release) for release in self.releases],
            "conditions": dict(self.conditions),
            "members": [dict(group) for group in self.members],
        }


def group_key(group: Mapping[str, Any]) -> str:
    """Names a class or a slice; a class and a slice of one name are told apart."""
    return f"{'class' if group['enforced'] else 'slice'}: {group['name']}"
