"""Judges findings: every rule, its severity and what it does to the verdict stand in one table here.

A verdict is a finding and takes no action, so it is the same under every policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rewriteguard.model.assessment import Fault, Profile, Severity, Verdict, Violation
from rewriteguard.model.tokens import Finding, Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """What a finding means: the fault, how grave it is, and the verdict it gives alone (None: only with others)."""

    fault: Fault
    severity: Severity
    alone: Verdict | None


def _rows(fault: Fault, critical: str, minor: str) -> dict[str, Rule]:
    rows = {f"{fault}.{kind}": Rule(fault, Severity.CRITICAL, Verdict.CHANGED) for kind in critical.split()}
    return rows | {f"{fault}.{kind}": Rule(fault, Severity.MINOR, None) for kind in minor.split()}


def _hedge(fault: Fault) -> Rule:
    return Rule(fault, Severity.CRITICAL, Verdict.UNCERTAIN)


def _reject(fault: Fault) -> Rule:
    return Rule(fault, Severity.CRITICAL, Verdict.CHANGED)


RULES: dict[str, Rule] = {
    **_rows(
        Fault.DROPPED,
        "time entity quantity version identifier negation comparison quantifier modality answer_type qualifier",
        "topic scene reworded direction order contrast",
    ),
    **_rows(
        Fault.ALTERED,
        "time entity quantity version identifier negation comparison quantifier modality answer_type qualifier",
        "scene reworded",
    ),
    **_rows(
        Fault.INVENTED,
        "time entity quantity version identifier negation comparison quantifier modality answer_type qualifier",
        "topic word reworded",
    ),
    "dropped.doubtful": _hedge(Fault.DROPPED),
    "altered.doubtful": _hedge(Fault.ALTERED),
    "dropped.unsaid": _hedge(Fault.DROPPED),
    "altered.unsaid": _hedge(Fault.ALTERED),
    "invented.question": _reject(Fault.INVENTED),
    "invented.fill": _hedge(Fault.INVENTED),
    "invented.completed": _hedge(Fault.INVENTED),
    "altered.word": _hedge(Fault.ALTERED),
    "invented.words": _hedge(Fault.INVENTED),
    "altered.topic": _reject(Fault.ALTERED),
    "altered.item": _reject(Fault.ALTERED),
    "malformed": _reject(Fault.MALFORMED),
    "malformed.loop": _reject(Fault.MALFORMED),
    "malformed.size": _reject(Fault.MALFORMED),
    "not_a_query": _reject(Fault.NOT_A_QUERY),
    "not_a_query.statement": _reject(Fault.NOT_A_QUERY),
    "not_a_query.repeated": _reject(Fault.NOT_A_QUERY),
    "question_lost": _reject(Fault.QUESTION_LOST),
    "question_lost.half": _hedge(Fault.QUESTION_LOST),
    "not_a_query.correction": _hedge(Fault.NOT_A_QUERY),
    "correction_lost": _reject(Fault.CORRECTION_LOST),
    "correction_lost.half": _hedge(Fault.CORRECTION_LOST),
    "language": _reject(Fault.LANGUAGE),
    # 2 of 119 changed, none of 349 preserved rewrites and none of 960 human ones (MTRAG, CAsT 2021, CANARD).
    "ambiguous.set": _reject(Fault.AMBIGUOUS),
    "ambiguous.candidates": _hedge(Fault.AMBIGUOUS),
    "ambiguous.fills": _hedge(Fault.AMBIGUOUS),
    "unresolved": _hedge(Fault.UNRESOLVED),
    "drifted": _hedge(Fault.DRIFTED),
    "drifted.stale": _hedge(Fault.DRIFTED),
    "drifted.chat": _hedge(Fault.DRIFTED),
    "drifted.pile": _hedge(Fault.DRIFTED),
    "dropped.cut": _hedge(Fault.DROPPED),
    "altered.roles": _reject(Fault.ALTERED),
    "altered.lookalike": _reject(Fault.ALTERED),
    "low_trust": _hedge(Fault.LOW_TRUST),
    "low_trust.syntax": _hedge(Fault.LOW_TRUST),
    "not_checked.nothing": _hedge(Fault.NOT_CHECKED),
    "not_checked.language": _hedge(Fault.NOT_CHECKED),
    "not_checked.size": _hedge(Fault.NOT_CHECKED),
    "not_checked.reference_date": _hedge(Fault.NOT_CHECKED),
}
"""Every rule: the same under every policy."""

_ORDER = {Verdict.CHANGED: 0, Verdict.UNCERTAIN: 1, None: 2}


def judge(findings: Iterable[Finding], profile: Profile = Profile.CONDENSE) -> tuple[Verdict, tuple[Violation, ...]]:
    """The verdict and the violations, gravest first, in the order in which the rules found them."""
    rows = [(RULES[finding.rule], finding) for finding in findings]
    rows = [(rule, finding) for rule, finding in rows if not _is_waived(rule, finding, profile)]
    rows.sort(key=lambda row: _ORDER[row[0].alone])
    violations = tuple(Violation(rule.fault, f.kind, rule.severity, f.evidence, f.rule) for rule, f in rows)
    alone = {rule.alone for rule, _ in rows}
    if Verdict.CHANGED in alone:
        return Verdict.CHANGED, violations
    if Verdict.UNCERTAIN in alone:
        return Verdict.UNCERTAIN, violations
    return Verdict.PRESERVED, violations


def _is_waived(rule: Rule, finding: Finding, profile: Profile) -> bool:
    """True for what the profile's rewriter may do; a "not" or "only" from nowhere contradicts under every profile."""
    if finding.kind is Kind.ANSWER_TYPE and rule.fault in _OTHER_ANSWERS[profile]:
        return True
    if profile is Profile.STEP_BACK and rule.fault is Fault.INVENTED and finding.kind is Kind.TOPIC:
        return True  # a plain word names what the wider question is about; it is a name or number that restricts
    contradicts = rule.fault is Fault.INVENTED and finding.kind in (Kind.NEGATION, Kind.QUANTIFIER)
    return rule.fault in _WAIVED[profile] and not contradicts


# What a kind of rewriter may do: an expansion adds, a step back drops, with the original searched beside both.
_WAIVED: dict[Profile, frozenset[Fault]] = {
    Profile.CONDENSE: frozenset(),
    Profile.SHORTEN: frozenset({Fault.UNRESOLVED}),  # what it may not carry it cannot fill
    Profile.EXPAND: frozenset({Fault.INVENTED, Fault.DRIFTED, Fault.NOT_A_QUERY}),
    Profile.DECOMPOSE: frozenset({Fault.QUESTION_LOST}),
    Profile.STEP_BACK: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.UNRESOLVED}),
}

# What it may do to the question word: key words and documents have none, and a step back asks something else.
_OTHER_ANSWERS: dict[Profile, frozenset[Fault]] = {
    Profile.CONDENSE: frozenset(),
    Profile.SHORTEN: frozenset({Fault.DROPPED}),
    Profile.EXPAND: frozenset({Fault.DROPPED, Fault.INVENTED}),
    Profile.DECOMPOSE: frozenset(),
    Profile.STEP_BACK: frozenset({Fault.DROPPED, Fault.ALTERED, Fault.INVENTED}),
}
