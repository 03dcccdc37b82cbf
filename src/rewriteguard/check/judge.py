"""What each kind of rewriter may do, and the verdict on what is wrong with a rewrite.

A verdict is a finding and takes no action, so it is the same under every policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rewriteguard.model.assessment import Profile, Violation
from rewriteguard.model.rules import Fault, Verdict, gravest
from rewriteguard.model.tokens import Kind


@dataclass(frozen=True, slots=True)
class Licence:
    """What a kind of rewriter may do beyond the turn's own words.

    Attributes:
        carry: Whether it may take anything over from the history; one that only shortens may not.
        add: Whether it may add what nobody said; then only what turns words of the turn round is found.
        terse: Whether it writes key words, of which "should" is none.
        widen: Whether it may leave out what narrows; "2024" for "May 2024" is a loss there and no other period.
        name: Whether it may name what the question is about in a word of its own; a name or a number restricts.
        faults: What is none of its faults.
        answers: What it may do to the question word: key words and documents have none.
    """

    carry: bool = True
    add: bool = False
    terse: bool = False
    widen: bool = False
    name: bool = False
    faults: frozenset[Fault] = frozenset()
    answers: frozenset[Fault] = frozenset()


# The original is searched beside expansions, which add, and steps back, which drop and ask something else.
LICENCES = {
    Profile.CONDENSE: Licence(),
    Profile.SHORTEN: Licence(
        carry=False,
        terse=True,
        faults=frozenset({Fault.UNRESOLVED}),  # what it may not carry it cannot fill
        answers=frozenset({Fault.DROPPED}),
    ),
    Profile.EXPAND: Licence(
        add=True,
        widen=True,
        faults=frozenset({Fault.INVENTED, Fault.DRIFTED, Fault.NOT_A_QUERY}),
        answers=frozenset({Fault.DROPPED, Fault.INVENTED}),
    ),
    Profile.DECOMPOSE: Licence(faults=frozenset({Fault.QUESTION_LOST})),
    Profile.STEP_BACK: Licence(
        widen=True,
        name=True,
        faults=frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.UNRESOLVED}),
        answers=frozenset({Fault.DROPPED, Fault.ALTERED, Fault.INVENTED}),
    ),
}


def judge(found: Iterable[Violation], profile: Profile = Profile.CONDENSE) -> tuple[Verdict, tuple[Violation, ...]]:
    """The verdict, and what the rewriter may not do, gravest first and else in the order in which it was found."""
    counted = [violation for violation in found if not _is_allowed(violation, LICENCES[profile])]
    counted.sort(key=lambda violation: violation.rule.alone.rank)
    return gravest(violation.rule.alone for violation in counted), tuple(counted)


def _is_allowed(violation: Violation, licence: Licence) -> bool:
    """True for what the rewriter may do; a "not" or "only" from nowhere contradicts whatever it may."""
    fault, kind = violation.fault, violation.kind
    if kind is Kind.ANSWER_TYPE and fault in licence.answers:
        return True
    if fault is not Fault.INVENTED:
        return fault in licence.faults
    named = licence.name and kind is Kind.TOPIC
    return named or (fault in licence.faults and kind not in (Kind.NEGATION, Kind.QUANTIFIER))
