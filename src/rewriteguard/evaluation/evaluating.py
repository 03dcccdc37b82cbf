"""The whole protocol in one call: run, scores, release decisions, and the files that it leaves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Unpack

from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.figure import plain
from rewriteguard.evaluation.release.policy_file import policy_file
from rewriteguard.evaluation.release.release import ReleaseDecision, groups_of, is_accepted, releases
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.evaluation.run.conditions import Conditions, digest
from rewriteguard.evaluation.run.journal import day_of
from rewriteguard.evaluation.run.outcome import Outcome
from rewriteguard.evaluation.run.run import Progress, outcomes
from rewriteguard.evaluation.run.search import Corpus
from rewriteguard.evaluation.run.setup import K, Setup, SetupKeywords
from rewriteguard.evaluation.score.assemble import assemble, missing_words
from rewriteguard.evaluation.score.results import Group, MissingWords, Results
from rewriteguard.evaluation.score.runs import should_ask
from rewriteguard.policy.policy import Policy

JOURNAL = "run.sqlite"
RULES = "rules.sha256"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found.

    Attributes:
        conditions: What it was made with.
        rules: The release rules, fixed before the run.
        policy: The policy of the guarded arm.
        outcomes: What each arm did, in the order of cases, arms and rewriters.
        groups: The classes and slices with their cases.
        results: What was measured.
        decisions: How far each rewriter may be used, by class and slice.
    """

    conditions: Conditions
    rules: Rules
    policy: Policy
    outcomes: tuple[Outcome, ...]
    groups: tuple[Group, ...]
    results: Results
    decisions: tuple[ReleaseDecision, ...]

    @property
    def accepted(self) -> bool:
        """Whether every class of every rewriter is released in one of the ways that the rules accept."""
        return is_accepted(self.decisions, self.rules)

    @property
    def held_fixed(self) -> dict[str, Any]:
        """The conditions with the hash of the rules, as plain JSON values."""
        return {**self.conditions.to_dict(), "rules": self.rules.hash}

    def policy_of(self, rewriter: str) -> str:
        """The policy file that applies the decisions about a rewriter, for `Policy.load`."""
        return policy_file(rewriter, self.decisions, self.rules, digest(self.conditions.to_dict()), self.policy)

    def to_dict(self) -> dict[str, Any]:
        """All but the outcomes as plain JSON values."""
        return {
            "accepted": self.accepted,
            "results": self.results.to_dict(),
            "releases": [each.to_dict() for each in self.decisions],
            "conditions": self.held_fixed,
            "members": [plain(each) for each in self.groups],
        }


def evaluate(
    cases: Iterable[Case],
    search: Any,
    rewriters: Mapping[str, Any],
    *,
    rules: Rules | None = None,
    out: str | os.PathLike[str] | None = None,
    k: int = K,
    reference_date: date | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SetupKeywords],
) -> Evaluation:
    """Runs every arm for every case, scores them, and decides for each class how far each rewriter may be used.

    Args:
        cases: The cases; see `read_cases`.
        search: A LangChain retriever, a callable `search(query, **keywords)` or a `Corpus`.
        rewriters: The rewriters by their labels; `recorded` takes the rewrites that the cases hold.
        rules: The release rules; None takes those of the package.
        out: A directory in which the run keeps what came, so that one that was stopped goes on there. None keeps
            nothing.
        k: The number of documents that an arm returns.
        reference_date: The day that "today" means where a contract does not say; None is that of a run that goes on,
            else today in UTC.
        progress: Gets the number of cases that are done and of all, after each case.
        **settings: Further arguments of `Setup`. Without a policy the guarded arm has `Policy()`, which asks the user
            where any contract has several readings. Of a policy with classes the rest counts, and it asks likewise:
            what the classes say is decided anew, so that a file which an evaluation wrote gives the same decisions.

    Raises:
        ConditionsError: `out` holds a run that was made under other conditions, or by other rules.
        JournalError: What `out` holds cannot be read, or another process runs there.
        InputError: An argument has a value that cannot be used, such as a policy in shadow mode.
        OSError: `out` cannot be written.
    """
    known = tuple(cases)
    release_rules = Rules.shipped() if rules is None else rules
    journal = None if out is None else Path(out) / JOURNAL
    settings["policy"] = _undecided(settings.get("policy"), known)
    setup = Setup(known, search, rewriters, k=k, reference_date=reference_date or day_of(journal), **settings)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        _fix(release_rules, Path(out) / RULES)
    found = outcomes(setup, journal=journal, progress=progress)
    words = _unknown(search, known, found)
    groups = groups_of(known, release_rules, setup.guard)
    results = assemble(known, found, groups, k=k, extract=setup.guard.extract, vocabulary=words)
    several = [label for label, each in setup.rewriters.items() if each.expands]
    decisions = releases(results, release_rules, setup.rewriters, several)
    return Evaluation(setup.conditions, release_rules, setup.policy, tuple(found), groups, results, decisions)


def _undecided(given: Policy | None, cases: Iterable[Case]) -> Policy:
    """The policy of the guarded arm, with no class decided.

    Raises:
        InputError: It is in shadow mode, in which the guarded arm does what the rewriter says.
    """
    policy = Policy() if given is None else given
    if policy.shadow:
        raise InputError("policy: expected one that acts, got one in shadow mode; its guarded arm would guard nothing")
    if given is not None and not given.classes:
        return given
    asks = policy.clarify or any(should_ask(case) for case in cases)
    return replace(policy, classes=(), clarify=asks)


def _fix(rules: Rules, path: Path) -> None:
    """Writes the hash of the rules down before the run; a run that goes on has to be judged by the same.

    Raises:
        ConditionsError: It was begun with others.
    """
    try:
        held = path.read_text("utf-8").strip()
    except FileNotFoundError:
        path.write_text(rules.hash + "\n", "utf-8")
        return
    if held != rules.hash:
        raise ConditionsError(
            f"{path}: the run was begun by other release rules ({held[:12]}, now {rules.hash[:12]}); "
            "rules that are changed after the run prove nothing: begin another one"
        )


def _unknown(search: Any, cases: tuple[Case, ...], found: Iterable[Outcome]) -> dict[str, MissingWords] | None:
    """The words of the rewrites that no document holds, by rewriter; None where the search does not tell its words."""
    if not isinstance(search, Corpus) or not (known := search.vocabulary()):
        return None
    return missing_words(known, cases, found)
