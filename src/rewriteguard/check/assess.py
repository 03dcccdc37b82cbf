"""One check from end to end: read the texts, compare, look at the conversation, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from rewriteguard.check.foreign.check import is_short, review
from rewriteguard.check.rules.history import history_violations, word_violations
from rewriteguard.check.rules.output import form_violations, output_violations
from rewriteguard.check.rules.questions import question_violations
from rewriteguard.check.rules.references import fills_of, meanings_of, reference_violations
from rewriteguard.check.rules.tokens import token_violations
from rewriteguard.check.view import Licence, View, language_of_turn, view_of, whole_evidence
from rewriteguard.extract.base import Facts
from rewriteguard.filters.beside import NO_FILTER, read_filter
from rewriteguard.language.detect import is_foreign, language_of
from rewriteguard.model.assessment import Assessment, Checked, Comparison, Profile, Violation
from rewriteguard.model.conversation import MAX_MESSAGE, Conversation
from rewriteguard.model.rules import Fault, Gap, Rule, Verdict, gravest
from rewriteguard.model.tokens import Evidence, Kind, ProtectedToken, in_rewrite, in_turn
from rewriteguard.reading.references import Reference, leans_on_talk, open_references
from rewriteguard.reading.text import Past, Reader, Reading
from rewriteguard.reading.unwrap import clean

MAX_TURN = 4_000  # characters of a turn that are analysed: about 800 words, half a second when new
MAX_TOKENS = 400  # protected tokens of a turn or rewrite that are compared; the longest of 2,168 real texts has 35
MAX_REWRITE = 4_000  # characters; a longer output is no query
RULE_FAMILIES: tuple[Callable[[View], Iterable[Violation]], ...] = (
    output_violations,
    token_violations,
    reference_violations,
    history_violations,
    question_violations,
    word_violations,
)
"""What finds the violations of an English rewrite, in the order in which those of one gravity are told."""
# The original is searched beside expansions, which add, and steps back, which drop and ask something else.
_LICENCES = {
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found about a rewrite before it is judged."""

    violations: Sequence[Violation]
    comparison: Comparison
    dependent: bool
    checked: Checked
    meanings: tuple[str, ...] = ()


def assess(
    conversation: Conversation,
    raw_rewrite: str,
    *,
    read: Reader,
    equivalents: Mapping[str, frozenset[str]],
    profile: Profile = Profile.CONDENSE,
    reference_date: date | None = None,
    filtered: Any = None,
) -> Assessment:
    """The assessment of one rewrite of the conversation's turn, given the rewriter's output as it came.

    `equivalents` are user-given names of one thing, `filtered` is a structured filter beside the rewrite.
    """
    query = clean(raw_rewrite).text
    found = _found(conversation, query, read, Facts(reference_date, equivalents), profile, filtered)
    verdict, violations = judge(found.violations, profile)
    return Assessment(
        verdict=verdict,
        violations=violations,
        comparison=found.comparison,
        dependent=found.dependent,
        checked=found.checked,
        turn=conversation.turn,
        rewrite=query,
        raw_rewrite=raw_rewrite,
        candidates=found.meanings,
        profile=profile,
    )


def judge(found: Iterable[Violation], profile: Profile = Profile.CONDENSE) -> tuple[Verdict, tuple[Violation, ...]]:
    """The verdict and what the rewriter may not do, gravest first, else as found; the same under every policy."""
    counted = [violation for violation in found if not _is_allowed(violation, _LICENCES[profile])]
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


def texts_of(conversation: Conversation, raw_rewrite: str, read: Reader) -> list[str]:
    """The texts that a check of the rewrite reads in full; those of a history that was read before are left out."""
    query = clean(raw_rewrite).text
    if _unfit(conversation.turn, query) is not None:
        return []
    return [conversation.turn, query, *read.said(conversation.history)]


def is_dependent(turn: Reading, past: Past, references: Sequence[Reference] | None = None) -> bool:
    """True where the turn needs the conversation to be understood."""
    language = language_of_turn(turn, past)
    if is_foreign(language):
        return bool(past.messages) and is_short(turn.text, language)
    return bool(past.messages) and leans_on_talk(
        turn, open_references(turn, past) if references is None else references
    )


def _found(
    conversation: Conversation, query: str, read: Reader, facts: Facts, profile: Profile, filtered: Any
) -> _Found:
    unfit = _unfit(conversation.turn, query)
    if unfit is None:
        turn, rewrite, past = read.conversation(conversation.turn, query, conversation.history)
        unfit = _crowded(turn, rewrite)
    if unfit is not None:
        gaps = (Gap.SIZE,) if unfit.rule in (Rule.MALFORMED_SIZE, Rule.NOT_CHECKED_SIZE) else ()
        return _Found([unfit], Comparison(), bool(conversation.history), Checked(gaps=gaps))
    cut = len(past.messages) < len(conversation.history) or any(len(m.text) > MAX_MESSAGE for m in past.messages)
    gaps = (Gap.HISTORY_SIZE,) if cut else ()
    beside = NO_FILTER if filtered is None else read_filter(filtered, read, turn, facts)
    licence = _LICENCES[profile]
    language = language_of_turn(turn, past) or language_of(rewrite.text)
    if not is_foreign(language):
        return _in_english(view_of(turn, rewrite, past, facts, beside, licence), gaps)
    form = list(form_violations(turn, rewrite, past, english=False))
    comparison, lost, dependent = review(turn, rewrite, past, language, facts, beside, may_carry=licence.carry)
    # Of a rewrite in another language than the turn only that it is one.
    found = form if any(v.rule is Rule.LANGUAGE for v in form) else [*form, *lost]
    return _Found(found, comparison, dependent, Checked(_looked_for(comparison), gaps=(*gaps, Gap.LANGUAGE)))


def _unfit(turn: str, query: str) -> Violation | None:
    """What is wrong with texts that are not read: an empty or overlong rewrite, an overlong turn."""
    if not query:
        return Violation(Rule.MALFORMED, None, (Evidence("rewrite", "", 0, 0),))
    if len(query) > MAX_REWRITE:
        return _too_long(Rule.MALFORMED_SIZE, "rewrite", query)
    return _too_long(Rule.NOT_CHECKED_SIZE, "turn", turn) if len(turn) > MAX_TURN else None


def _crowded(turn: Reading, rewrite: Reading) -> Violation | None:
    """What is wrong with texts of too many tokens: pairing takes the product of those of both."""
    if len(turn.tokens) > MAX_TOKENS:
        return _too_long(Rule.NOT_CHECKED_SIZE, "turn", turn.text)
    return _too_long(Rule.MALFORMED_SIZE, "rewrite", rewrite.text) if len(rewrite.tokens) > MAX_TOKENS else None


def _too_long(rule: Rule, where: str, text: str) -> Violation:
    return Violation(rule, None, (Evidence(where, text[:80], 0, len(text)),))


def _in_english(view: View, gaps: tuple[Gap, ...]) -> _Found:
    dependent = is_dependent(view.turn, view.past, view.references)
    found = [violation for family in RULE_FAMILIES for violation in family(view)]
    checked = _checked(view, gaps)
    found += _unchecked(view, checked)
    return _Found(found, view.comparison, dependent, checked, meanings_of(view))


def _checked(view: View, gaps: tuple[Gap, ...]) -> Checked:
    """What was verified of an English turn, and what could not be."""
    if view.comparison.unsure:
        gaps += (Gap.REFERENCE_DATE,)
    pointing = any(r.first < r.last for r in view.references)
    if pointing and view.dependent and not view.new:
        gaps += (Gap.REFERENCE,)
    looked_for, fills = _looked_for(view.comparison), tuple(fills_of(view))
    if not looked_for and not fills and not _verifies(view):
        gaps += (Gap.NOTHING,)
    return Checked(looked_for, fills, gaps)


def _looked_for(comparison: Comparison) -> tuple[ProtectedToken, ...]:
    pairs = (*comparison.kept, *comparison.altered, *comparison.unsure)
    return tuple(sorted((*comparison.dropped, *(pair.ours for pair in pairs)), key=lambda t: (t.start, t.kind)))


def _unchecked(view: View, checked: Checked) -> Iterable[Violation]:
    for pair in view.comparison.unsure:
        if pair.theirs is not None:
            evidence = in_turn(pair.ours), in_rewrite(pair.theirs)
            yield Violation(Rule.NOT_CHECKED_REFERENCE_DATE, pair.ours.kind, evidence)
    if Gap.NOTHING in checked.gaps:
        yield Violation(Rule.NOT_CHECKED_NOTHING, None, (whole_evidence("turn", view.turn.text),))


def _verifies(view: View) -> bool:
    """True where at least one word of what is asked was found again in the rewrite."""
    asked = (w for w in view.turn.content if view.turn.regions.protects(w.i))
    return any(view.rewrite.vocabulary.supports(w) for w in asked)
