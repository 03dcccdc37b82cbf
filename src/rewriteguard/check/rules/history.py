"""What a rewrite brings in although the turn did not ask for it: from the history, or from nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from rewriteguard.check.says import extends_name, latest_first, source_of_words
from rewriteguard.check.view import Change, View, part_evidence, phrases_of, run_evidence
from rewriteguard.extract import answer_type
from rewriteguard.filters.beside import is_excluded
from rewriteguard.language import lexicon
from rewriteguard.language.words import END_MARKS, Word
from rewriteguard.model.assessment import Violation
from rewriteguard.model.conversation import Role
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import LITERAL, Evidence, Kind, ProtectedToken, in_rewrite
from rewriteguard.reading.references import open_references
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.vocabulary import is_content

_NAMED = LITERAL | {Kind.ENTITY}
# What is asked for is a code or an address: "what's the link", "send me the booking number".
_ASKING, _CODES = ("|".join(sorted(lexicon.words("identifier", key))) for key in ("asking", "asked_for"))
_ASKS_FOR_IDENTIFIER = re.compile(
    rf"""\b(?: what(?:'s|\ is|\ was|\ are)? | where(?:'s|\ is) | {_ASKING} ) \s
        (?:me\s)? (?:the|a|an|your|my|that)? \s? (?:\w{{1,20}}\s){{0,2}}? (?: {_CODES} )s?\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = 12  # content words; in longer texts one replaced word is a synonym more often than not (SummEdits)
_PILED = 2  # questions of a rewrite, and content words of one, from which a repeated question counts
# Exchanges. 355 of the 714 names that people carry over in the first 600 turns of CANARD come from further back, so age
# alone is no sign: it counts only where nothing in between names the thing or points back.
_RECENT = 2
_NARROWING_NOTHING = frozenset({"ADV", "INTJ"})  # "perhaps" and "really", where key words are made of a sentence
_INVENTED_SHARE = 0.2  # of the content words: in long texts two are a paraphrase (SummEdits)
# Put into the turn's own sentence: three words in 3 of 119 changed and 1 of 349 preserved rewrites; two into a complete
# turn in 2 of 349 preserved and 1 of 960 human ones (MTRAG, CAsT 2021, CANARD); one is no sign.
_SEVERAL = 2


def history_violations(view: View) -> Iterable[Violation]:
    """What was brought in: a noun in another's place, names and numbers, whole questions, codes nobody vouches for."""
    yield from _replaced_topic(view)
    yield from _drifted(view)
    yield from _low_trust(view)
    if not view.licence.carry:
        yield from _carried_words(view)


def _replaced_topic(view: View) -> Iterable[Violation]:
    """One word with another in its place, or left out, and every other word kept.

    A noun of the history in a noun's place of a complete turn rejects; a word from nowhere may be a synonym and hedges.
    """
    changes = _changes(view)
    if not view.dependent and changes and not any(change.new for change in changes):
        lost = [w for change in changes for w in change.lost if _is_cut(view, w)]
        if lost and not (view.licence.terse and all(w.pos in _NARROWING_NOTHING for w in lost)):
            yield Violation(Rule.DROPPED_CUT, Kind.TOPIC, tuple(run_evidence("turn", view.turn, [w]) for w in lost))
    swaps = [swap for change in changes for swap in _swap(view, change)]
    if len(swaps) != 1 or len(view.rewrite.content) > _SENTENCE or not (len(changes) == 1 or view.dependent):
        return
    lost, new = swaps[0]
    nouns = all(any(w.pos == "NOUN" for w in words) for words in (lost, new))
    grounded = source_of_words(new, view.past) is not None
    evidence = run_evidence("turn", view.turn, lost), run_evidence("rewrite", view.rewrite, new)
    if not view.dependent:
        yield Violation(Rule.ALTERED_TOPIC if nouns and grounded else Rule.ALTERED_WORD, Kind.TOPIC, evidence)
    elif view.alignment.is_edit and not grounded:
        yield Violation(Rule.ALTERED_WORD, Kind.TOPIC, evidence)


def _swap(view: View, change: Change) -> Iterable[tuple[list[Word], list[Word]]]:
    lost = [w for w in change.lost if _is_plain(w, view.turn) and not view.rewrite.vocabulary.supports(w)]
    new = [w for w in change.new if _is_plain(w, view.rewrite) and not view.turn.vocabulary.supports(w)]
    if lost and new:
        yield lost, new


def _changes(view: View) -> list[Change]:
    """Where turn and rewrite differ word by word and a content word takes part."""
    return [c for c in view.alignment.changes if any(map(is_content, c.lost)) or any(map(is_content, c.new))]


def _is_cut(view: View, word: Word) -> bool:
    said = view.rewrite.vocabulary.supports(word) or view.beside.vocabulary.supports(word)
    said = said or is_excluded([word], view.turn, view.beside)
    said = said or word.lower in answer_type.WORDS  # "when was the time that" asks no more than "when"
    return is_content(word) and not said and view.turn.regions.protects(word.i) and not _is_judged(word, view.turn)


def _is_plain(word: Word, reading: Reading) -> bool:
    """A name in place of a noun says which one is meant; another common word is another thing."""
    plain = word.pos in {"NOUN", "ADJ", "ADV"} and word.text.islower() and is_content(word)  # verbs have many synonyms
    return plain and not _is_judged(word, reading)


def _is_judged(word: Word, reading: Reading) -> bool:
    """True for a word of a protected token, which is compared as one."""
    return any(t.kind is not Kind.TOPIC and t.start < word.end and word.start < t.end for t in reading.tokens)


def _drifted(view: View) -> Iterable[Violation]:
    """Names and numbers of the history in a turn that was complete, or from a topic that was left."""
    for token in view.comparison.carried:
        if not view.dependent and _is_foreign(view, token):
            yield Violation(Rule.DRIFTED, token.kind, _with_source(token, view.past))
        elif (
            token.kind in _NAMED
            and token.value != "present"
            and not extends_name(token, view.turn, view.rewrite)
            and _is_stale(token, view)
        ):
            yield Violation(Rule.DRIFTED_STALE, token.kind, _with_source(token, view.past))
    if view.turn.regions.units and not view.turn.regions.asking and not view.dependent and view.new:
        yield Violation(Rule.DRIFTED_CHAT, Kind.TOPIC, (run_evidence("rewrite", view.rewrite, view.new[:1]),))
    yield from _piled_questions(view)


def _is_foreign(view: View, token: ProtectedToken) -> bool:
    """True for what a complete question does not take from the conversation.

    A carried name alone is no sign (7 of 57 changed and 18 of 160 preserved rewrites of MTRAG and CAsT 2021 have
    one); a number, a period or another kind of answer is (4 and 0 of them), and so are names of two exchanges.
    """
    own_name = any(t.kind is Kind.ENTITY for t in view.turn.tokens)
    if token.kind in (Kind.TIME, Kind.ANSWER_TYPE):
        return own_name
    if token.kind is Kind.ENTITY:
        names = [
            t for t in view.comparison.carried if t.kind is Kind.ENTITY and not extends_name(t, view.turn, view.rewrite)
        ]
        return own_name and token in names and len({t.turn for t in names}) > 1
    return (token.kind is Kind.QUANTITY and not _numbers_a_name(view, token)) or _is_code(token)


def _numbers_a_name(view: View, token: ProtectedToken) -> bool:
    """True for the number of "Orbit 15": a part of a name."""
    before = [w for w in view.rewrite.words if w.end <= token.start]
    return bool(before) and before[-1].text[:1].isupper() and before[-1].i > 0


def _is_code(token: ProtectedToken) -> bool:
    """True for numbers, codes and addresses; a quoted title is a name."""
    return token.kind is Kind.IDENTIFIER and token.text[0] not in "\"'\u201c\u2018"


def _is_stale(token: ProtectedToken, view: View) -> bool:
    """True where the last exchanges neither name the thing nor point back to anything."""
    past = view.past
    recent = past.recent(_RECENT)
    if len(recent.messages) == len(past.messages) or any(m.index == token.turn for m in recent.messages):
        return False
    if any(recent.vocabulary.supports(w) for w in view.rewrite.words_of(token) if is_content(w)):
        return False
    return not any(open_references(reading, past) for reading in recent.by(Role.USER).readings)


def _piled_questions(view: View) -> Iterable[Violation]:
    """Earlier questions of the user that stand whole beside the new one."""
    units = view.rewrite.regions.asking
    if len(units) < _PILED:
        return
    earlier = [{w.stem for w in reading.content} for reading in view.past.by(Role.USER).readings]
    own = {w.stem for w in view.turn.content}
    for unit in units:
        said = {w.stem for w in view.rewrite.words[unit.first : unit.last] if is_content(w)}
        if len(said) >= _PILED and said in earlier and not said & own:
            yield Violation(Rule.DRIFTED_PILE, Kind.TOPIC, (part_evidence("rewrite", view.rewrite, unit),))


def _with_source(token: ProtectedToken, past: Past) -> tuple[Evidence, ...]:
    sources = (r for m, r in latest_first(past) if m.index == token.turn)
    alike = (t for reading in sources for t in reading.tokens if t.kind is token.kind and t.value == token.value)
    said = (Evidence("history", t.text, t.start, t.end, token.turn) for t in alike)
    return (in_rewrite(token), *islice(said, 1))


def _low_trust(view: View) -> Iterable[Violation]:
    """Identifiers that no user said, carried into a rewrite whose turn does not ask for one."""
    user = view.past.by(Role.USER)
    for token in view.comparison.carried:
        said = any(t.value == token.value for r in user.readings for t in r.tokens) or token.text in " ".join(
            m.text for m in user.messages
        )
        if _is_code(token) and not said and not _ASKS_FOR_IDENTIFIER.search(view.turn.text):
            yield Violation(Rule.LOW_TRUST, token.kind, _with_source(token, view.past))


def word_violations(view: View) -> Iterable[Violation]:
    """Words from nowhere: alone they are no sign, since good models add them as often."""
    words = _invented(view)
    rule = Rule.INVENTED_WORDS if _is_put_in(view, words) else Rule.INVENTED_WORD
    for word in words:
        yield Violation(rule, Kind.TOPIC, (Evidence("rewrite", word.text, word.start, word.end),))


def _invented(view: View) -> list[Word]:
    """The content words that neither turn nor history supports; numbers and codes are judged apart."""
    judged = [t for t in view.rewrite.tokens if t.kind in LITERAL and t.value != "present"]
    judged += [t for t in view.comparison.invented if t.kind is not Kind.TOPIC]
    aliases = {
        part for t in view.turn.tokens for name in view.facts.equivalents.get(t.value, ()) for part in name.split()
    }
    words = [
        w
        for w in view.new
        if not view.past.vocabulary.supports(w)
        and w.lower not in aliases
        and not any(t.start < w.end and w.start < t.end for t in judged)
    ]
    spans = ((run, view.rewrite.words[run[0].i : run[-1].i + 1]) for run in phrases_of(words))
    return [w for run, span in spans if not view.turn.vocabulary.expands(span) for w in run]


def _is_put_in(view: View, words: Sequence[Word]) -> bool:
    """True for several words put into the turn's own sentence, or that no conversation could have suggested."""
    asked = [w for w in words if view.rewrite.regions.protects(w.i)]
    if len(asked) < _SEVERAL:
        return False
    if not view.past.messages:
        return len(asked) >= _INVENTED_SHARE * len(view.rewrite.content)
    if view.alignment.is_edit and len(asked) > _SEVERAL:
        return True
    return view.alignment.only_adds and not view.dependent


def _carried_words(view: View) -> Iterable[Violation]:
    """Names and words of the history that the turn does not say, for a rewriter that may carry nothing.

    One common word may be another word for one of the turn; a name is never one.
    """
    judged = [t for t in (*view.comparison.carried, *view.comparison.invented) if t.kind is not Kind.TOPIC]
    words = [
        w
        for w in view.new
        if view.past.vocabulary.holds(w) and not any(t.start < w.end and w.start < t.end for t in judged)
    ]
    names = [w for w in words if _is_named(w, view.past)]
    common = [w for w in words if w not in names]
    for word in names:
        yield Violation(Rule.INVENTED_ENTITY, Kind.ENTITY, (run_evidence("rewrite", view.rewrite, [word]),))
    rule = Rule.INVENTED_WORDS if len(common) > 1 else Rule.INVENTED_WORD
    yield from (Violation(rule, Kind.TOPIC, (run_evidence("rewrite", view.rewrite, [word]),)) for word in common)


def _is_named(word: Word, past: Past) -> bool:
    """True where the history writes the word with a capital only, in a name, or as here inside a sentence."""
    same = [(r, w) for r in past.readings for w in r.words if w.lower == word.lower]
    if not same or not all(w.text[:1].isupper() for _, w in same):
        return False
    if all(any(t.kind is Kind.ENTITY and w in r.words_of(t) for t in r.tokens) for r, w in same):
        return True
    return word.text[:1].isupper() and any(w.i > 0 and r.words[w.i - 1].text not in END_MARKS for r, w in same)
