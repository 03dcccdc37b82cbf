"""One check from end to end: read the texts, compare, look at the conversation, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from rewriteguard.check.compare import compare
from rewriteguard.check.foreign.check import is_short, review
from rewriteguard.check.rules.history import carried_word_findings, drift_findings
from rewriteguard.check.rules.output import form_findings
from rewriteguard.check.rules.questions import loss_findings
from rewriteguard.check.rules.references import candidates, fill_findings, fills_of
from rewriteguard.check.rules.table import judge
from rewriteguard.check.rules.tokens import Licence, change_findings, invented_word_findings
from rewriteguard.check.view import Scene, align, language_of_turn, new_words, reference_evidence, words_at
from rewriteguard.extract.base import Facts
from rewriteguard.filters.beside import NO_FILTER, Filtered, read_filter
from rewriteguard.language.detect import is_foreign, language_of
from rewriteguard.model.assessment import Assessment, Checked, Comparison, Fill, Profile
from rewriteguard.model.conversation import MAX_MESSAGE, Conversation
from rewriteguard.model.tokens import Evidence, Finding, ProtectedToken, in_rewrite, in_turn
from rewriteguard.reading.references import Pointer, Reference, leans_on_talk, open_references
from rewriteguard.reading.text import Past, Reader, Reading
from rewriteguard.reading.unwrap import clean

MAX_TURN = 4_000  # characters of a turn that are analysed: about 800 words, half a second when new
MAX_TOKENS = 400  # protected tokens of a turn or rewrite that are compared; the longest of 2,168 real texts has 35
MAX_REWRITE = 4_000  # characters; a longer output is no query
# The other rules of form read English grammar.
_FORM_OF_ANY_LANGUAGE = frozenset(
    {"malformed.loop", "not_a_query", "altered.lookalike", "language", "low_trust.syntax"}
)


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
    """The finding about one rewrite of the conversation's turn.

    Args:
        conversation: The turn and the messages before it.
        raw_rewrite: The rewriter's output as it came.
        read: Reads the texts.
        equivalents: User-given names of one thing.
        profile: What kind of rewriter wrote it.
        reference_date: The day that "today" means.
        filtered: A structured filter beside the rewrite.
    """
    query = clean(raw_rewrite).text
    size = _size_finding(conversation.turn, query)
    if size is not None:
        return _unread(conversation, raw_rewrite, query, size, profile)
    turn, rewrite, past = read.conversation(conversation.turn, query, conversation.history)
    crowded = _crowd_finding(turn, rewrite)
    if crowded is not None:
        return _unread(conversation, raw_rewrite, query, crowded, profile)
    facts = Facts(reference_date, equivalents)
    beside = NO_FILTER if filtered is None else read_filter(filtered, read, turn, facts)
    scene = _scene(turn, rewrite, past, facts, beside)
    language = language_of_turn(scene.turn, scene.past) or language_of(scene.rewrite.text)
    readings: tuple[str, ...] = ()
    fills: tuple[Fill, ...] = ()
    if is_foreign(language):
        scene, findings = _in_other_language(scene, language, beside, _LICENCES[profile].carry)
        dependent = scene.dependent
        checked = Checked(_looked_for(scene.comparison), gaps=(*_size_gap(conversation, scene.past), "language"))
    else:
        readings, fills = candidates(scene), tuple(fills_of(scene))
        dependent = is_dependent(scene.turn, scene.past, scene.references)
        findings = _in_english(scene, readings, profile)
        checked = _checked(scene, fills, _size_gap(conversation, scene.past))
        findings += _unchecked(scene, checked)
    verdict, violations = judge(findings, profile)
    return Assessment(
        verdict=verdict,
        violations=violations,
        comparison=scene.comparison,
        dependent=dependent,
        checked=checked,
        turn=conversation.turn,
        rewrite=query,
        raw_rewrite=raw_rewrite,
        candidates=readings,
        profile=profile,
    )


def texts_of(conversation: Conversation, raw_rewrite: str, read: Reader) -> list[str]:
    """The texts that a check of the rewrite reads in full; those of a history that was read before are left out."""
    query = clean(raw_rewrite).text
    if _size_finding(conversation.turn, query) is not None:
        return []
    return [conversation.turn, query, *read.said(conversation.history)]


def _scene(turn: Reading, rewrite: Reading, past: Past, facts: Facts, beside: Filtered) -> Scene:
    references = open_references(turn, past)
    spans = [_span(turn, r) for r in references if r.first < r.last and r.pointer is not Pointer.RELATIONAL]
    alignment = align(turn, rewrite, words_at(turn, spans))
    comparison = compare(turn, rewrite, past, facts, edited=alignment.is_edit, consumed=spans, filtered=beside)
    dependent = bool(past.messages and references)
    return Scene(turn, rewrite, past, references, comparison, dependent, facts, alignment, beside)


def is_dependent(turn: Reading, past: Past, references: Sequence[Reference] | None = None) -> bool:
    """True where the turn needs the conversation to be understood."""
    language = language_of_turn(turn, past)
    if is_foreign(language):
        return bool(past.messages) and is_short(turn.text, language)
    return bool(past.messages) and leans_on_talk(
        turn, open_references(turn, past) if references is None else references
    )


def _size_finding(turn: str, query: str) -> Finding | None:
    if not query:
        return Finding("malformed", None, (Evidence("rewrite", "", 0, 0),))
    if len(query) > MAX_REWRITE:
        return Finding("malformed.size", None, (Evidence("rewrite", query[:80], 0, len(query)),))
    if len(turn) > MAX_TURN:
        return Finding("not_checked.size", None, (Evidence("turn", turn[:80], 0, len(turn)),))
    return None


def _crowd_finding(turn: Reading, rewrite: Reading) -> Finding | None:
    """Pairing takes the product of the tokens of both texts."""
    if len(turn.tokens) > MAX_TOKENS:
        return Finding("not_checked.size", None, (Evidence("turn", turn.text[:80], 0, len(turn.text)),))
    if len(rewrite.tokens) > MAX_TOKENS:
        return Finding("malformed.size", None, (Evidence("rewrite", rewrite.text[:80], 0, len(rewrite.text)),))
    return None


def _unread(conversation: Conversation, raw: str, query: str, finding: Finding, profile: Profile) -> Assessment:
    """The finding about texts that are not analysed: an empty or overlong rewrite, an overlong turn."""
    verdict, violations = judge([finding], profile)
    checked = Checked(gaps=("size",) if finding.rule.endswith("size") else ())
    dependent = bool(conversation.history)
    return Assessment(verdict, violations, Comparison(), dependent, checked, conversation.turn, query, raw, (), profile)


# What a kind of rewriter may do; the original is searched beside expansions and steps back.
_LICENCES = {
    Profile.CONDENSE: Licence(),
    Profile.SHORTEN: Licence(carry=False, terse=True),
    Profile.EXPAND: Licence(add=True, widen=True),
    Profile.DECOMPOSE: Licence(),
    Profile.STEP_BACK: Licence(widen=True),
}


def _in_english(scene: Scene, readings: tuple[str, ...], profile: Profile) -> list[Finding]:
    licence = _LICENCES[profile]
    found = [
        *form_findings(scene.turn, scene.rewrite, scene.past),
        *change_findings(scene, licence),
        *fill_findings(scene, readings),
        *drift_findings(scene),
        *(() if licence.carry else carried_word_findings(scene)),
        *loss_findings(scene),
        *invented_word_findings(scene),
    ]
    return [f for f in found if not (licence.terse and f.rule == "dropped.cut" and _are_adverbs(scene.turn, f))]


def _are_adverbs(turn: Reading, finding: Finding) -> bool:
    """True for "perhaps" and "really", which narrow nothing where key words are made of a sentence."""
    spans = [(e.start, e.end) for e in finding.evidence]
    return all(w.pos in {"ADV", "INTJ"} for w in turn.words if any(a <= w.start < b for a, b in spans))


def _in_other_language(scene: Scene, language: str, beside: Filtered, may_carry: bool) -> tuple[Scene, list[Finding]]:
    """The scene as it is without word lists, and its findings; of a rewrite in another language only that it is one."""
    reviewed = review(scene.turn, scene.rewrite, scene.past, language, scene.facts, beside, may_carry=may_carry)
    form = [f for f in form_findings(scene.turn, scene.rewrite, scene.past) if f.rule in _FORM_OF_ANY_LANGUAGE]
    found = [] if any(f.rule == "language" for f in form) else reviewed.findings
    return replace(scene, comparison=reviewed.comparison, dependent=reviewed.dependent), [*form, *found]


def _size_gap(conversation: Conversation, past: Past) -> tuple[str, ...]:
    cut = any(len(message.text) > MAX_MESSAGE for message in past.messages)
    return ("history_size",) if cut or len(past.messages) < len(conversation.history) else ()


def _checked(scene: Scene, fills: tuple[Fill, ...], gaps: tuple[str, ...]) -> Checked:
    """What was verified of an English turn, and what could not be."""
    if scene.comparison.unsure:
        gaps += ("reference_date",)
    pointing = any(r.first < r.last for r in scene.references)
    if pointing and scene.dependent and not new_words(scene.rewrite, scene.turn):
        gaps += ("reference",)
    looked_for = _looked_for(scene.comparison)
    if not looked_for and not fills and not _verifies(scene):
        gaps += ("nothing_to_compare",)
    return Checked(looked_for, fills, gaps)


def _looked_for(comparison: Comparison) -> tuple[ProtectedToken, ...]:
    pairs = (*comparison.kept, *comparison.altered, *comparison.unsure)
    return tuple(sorted((*comparison.dropped, *(pair.ours for pair in pairs)), key=lambda t: (t.start, t.kind)))


def _unchecked(scene: Scene, checked: Checked) -> Iterable[Finding]:
    whole = (Evidence("turn", scene.turn.text, 0, len(scene.turn.text)),)
    for pair in scene.comparison.unsure:
        if pair.theirs is not None:
            yield Finding("not_checked.reference_date", pair.ours.kind, (in_turn(pair.ours), in_rewrite(pair.theirs)))
    if "nothing_to_compare" in checked.gaps:
        yield Finding("not_checked.nothing", None, whole)


def _verifies(scene: Scene) -> bool:
    """True where at least one word of what is asked was found again in the rewrite."""
    asked = (w for w in scene.turn.content if scene.turn.regions.protects(w.i))
    return any(scene.rewrite.vocabulary.supports(w) for w in asked)


def _span(turn: Reading, reference: Reference) -> tuple[int, int]:
    where = reference_evidence("turn", turn, reference)
    return where.start, where.end
