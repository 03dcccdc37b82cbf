"""Does a text say a token in other words, and which message do a rewrite's words come from?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewriteguard.extract import answer_type, comparison, negation, quantifier, same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.negation import EXCLUSION
from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.language.names import canonical, is_typo
from rewriteguard.language.words import Word
from rewriteguard.model.conversation import Message
from rewriteguard.model.tokens import LITERAL, Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.vocabulary import Vocabulary, is_content

_WORDED = frozenset({Kind.ENTITY, Kind.TOPIC, Kind.IDENTIFIER, Kind.QUALIFIER})
_NUMBERED = frozenset({Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER})
_LETTERS = 4  # that make a name written apart one; fewer may be any two words
_OTHERS = lexicon.words("negation", "others")
_NEEDS = lexicon.words("modality", "needs")
_ABSORBED = {
    stem(word): frozenset(stem(part) for part in forms.split())
    for word, forms in lexicon.section("negation")["absorbed"].items()
}
_PREFIXES = tuple(sorted(lexicon.words("negation", "prefixes")))
_SUFFIXES = tuple(sorted(lexicon.words("negation", "suffixes")))


def rewrite_says(ours: ProtectedToken, turn: Reading, rewrite: Reading, facts: Facts) -> bool:
    """True where the rewrite says a token of the turn without a token of the same kind."""
    if _has_alias(ours, turn, rewrite, facts):
        return True
    if ours.kind in _WORDED and words_said(ours, turn, rewrite):
        return True
    if ours.kind in _NUMBERED and not ours.relation:
        return _is_spelled(ours, rewrite)
    if ours.kind is Kind.COMPARISON:
        prefix, _, value = ours.value.partition(":")
        spelled = _runs([w.lower for w in rewrite.words], ours.text.casefold().split()) or _is_spelled_out(
            ours, rewrite
        )
        return rewrite.vocabulary.holds_stem(value) if prefix == "direction" else prefix != "versus" and spelled
    if ours.kind is Kind.ANSWER_TYPE:
        return is_paraphrased(rewrite, ours.value)
    if ours.kind is Kind.NEGATION:
        return _is_absorbed(rewrite, ours.value)
    if ours.kind is Kind.QUANTIFIER and ours.value == "only":  # "other than English" for "only in English"
        excluding = [
            sum(t.kind is Kind.NEGATION and t.relation == negation.EXCLUSION for t in reading.tokens)
            for reading in (turn, rewrite)
        ]
        return excluding[0] < excluding[1] or any(w.lower in quantifier.ONLY for w in rewrite.words)
    return False


def turn_says(theirs: ProtectedToken, turn: Reading, rewrite: Reading, facts: Facts, *, edited: bool = False) -> bool:
    """True where the turn says a token of the rewrite, or the token adds no restriction.

    In a sentence of the rewriter's own words small words come and go; put into the turn's own sentence (`edited`) they
    restrict.
    """
    same = same_for(theirs.kind)
    if any(t.kind is theirs.kind and same(t, theirs, facts) is Match.SAME for t in turn.tokens):
        return True
    if _has_alias(theirs, rewrite, turn, facts) or _is_repeated(theirs, turn, rewrite):
        return True
    if theirs.kind is Kind.ENTITY and extends_name(theirs, turn, rewrite):
        return True
    if theirs.kind in _WORDED:
        return words_said(theirs, rewrite, turn)
    if theirs.value in quantifier.ENDS and all(map(turn.vocabulary.holds, rewrite.words_of(theirs))):
        return True  # "what was the first": it points there, and counts once the noun is named
    if theirs.kind is Kind.ANSWER_TYPE:
        weak = theirs.value not in answer_type.STRONG
        return weak or is_paraphrased(turn, theirs.value) or _is_misspelt(theirs, turn, rewrite)
    if theirs.kind is Kind.NEGATION:
        return _is_harmless_negation(theirs, turn)
    if theirs.kind is Kind.COMPARISON:
        if _is_spelled_out(theirs, turn):
            return True
        restricts = comparison.is_graded(theirs) if edited else theirs.value.endswith("superlative")
        return not restricts or turn.vocabulary.holds_stem(theirs.value.partition(":")[0])
    if theirs.kind is Kind.MODALITY and any(w.lemma in _NEEDS for w in turn.words):
        return True
    return _restricts_nothing(theirs, edited) or any(is_twin(t, theirs) for t in turn.tokens)


def extends_name(theirs: ProtectedToken, turn: Reading, rewrite: Reading) -> bool:
    """True for "President Roosevelt" where the turn says "Roosevelt"."""
    names = Vocabulary(w for t in turn.tokens if t.kind is Kind.ENTITY for w in turn.words_of(t))
    return any(names.supports_name(w) for w in rewrite.words_of(theirs) if is_content(w))


def words_said(token: ProtectedToken, own: Reading, other: Reading) -> bool:
    """True where `other` supports every word of a token of `own`, or holds the acronym of them."""
    words = [w for w in own.words_of(token) if any(c.isalnum() for c in w.text)]
    if token.kind is Kind.QUALIFIER:  # "internal" and "international" resemble each other
        return all(other.vocabulary.holds(w) for w in words if is_content(w))
    supports = other.vocabulary.supports_name if token.kind is Kind.ENTITY else other.vocabulary.supports
    rest = [w for w in words if not supports(w)]
    if token.kind is Kind.ENTITY and _is_written_apart(words, other):
        return True
    return bool(words) and (not rest or other.vocabulary.expands(rest) or other.vocabulary.expands(words))


def _is_written_apart(words: Sequence[Word], other: Reading) -> bool:
    """True for "Nodejs" and "Node.js", "WiFi" and "Wi-Fi": the same letters with other marks between them."""
    name = "".join(c for w in words for c in w.lower if c.isalnum())
    return len(name) >= _LETTERS and name in other.letter_runs


def is_twin(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True for one literal that the two texts made two kinds of: "3.10" as a version here and a number there."""
    literal = ours.text.casefold() == theirs.text.casefold() or ours.value == theirs.value
    return {ours.kind, theirs.kind} <= _NUMBERED and literal and ours.relation == theirs.relation


def _is_spelled_out(token: ProtectedToken, other: Reading) -> bool:
    return any(w.lower in comparison.spelled(token.value) for w in other.words)


def _is_spelled(ours: ProtectedToken, rewrite: Reading) -> bool:
    """True where the rewrite has the bare number as a word outside its own tokens: "15 to 16", "one kid"."""
    spellings = {ours.text.casefold(), "one" if ours.value == "1" else ours.value}
    return any(
        w.lower in spellings
        and not any(t.start <= w.start and w.end <= t.end and len(t.text) > len(w.text) for t in rewrite.tokens)
        for w in rewrite.words
    )


def _is_misspelt(theirs: ProtectedToken, turn: Reading, rewrite: Reading) -> bool:
    """True where the turn has every word of a token, or a slip of it: "how offen" for "how often"."""
    lowers = {w.lower for w in turn.words}
    words = [w.lower for w in rewrite.words_of(theirs)]
    return all(w in lowers or any(is_typo(w, other) for other in lowers) for w in words)


def _is_repeated(theirs: ProtectedToken, turn: Reading, rewrite: Reading) -> bool:
    """True for words of a turn that corrects itself: "in spring no wait winter" for "in winter"."""
    lowers = {w.lower for w in turn.words if not turn.regions.is_withdrawn(w.i)}
    words = [w for w in rewrite.words_of(theirs) if is_content(w) or w.pos == "NUM"]
    return bool(turn.regions.repairs and words) and all(w.lower in lowers for w in words)


def _restricts_nothing(theirs: ProtectedToken, edited: bool) -> bool:
    """True for words that rewriters add freely: "both", "can", "should", "currently"."""
    free = {
        Kind.QUANTIFIER: theirs.value in quantifier.WEAK if edited else theirs.value != "only",
        Kind.MODALITY: theirs.value not in ({"obligation", "recommendation"} if edited else {"obligation"}),
    }
    return free.get(theirs.kind, theirs.kind is Kind.TIME and theirs.value == "present")


def _is_harmless_negation(theirs: ProtectedToken, turn: Reading) -> bool:
    """A contrast, "other than X" for "else", or the negation of a word that the turn negates in itself."""
    if theirs.relation == negation.CONTRAST:
        return True
    others = any(w.lower in _OTHERS for w in turn.words)
    return (theirs.relation == negation.EXCLUSION and others) or _is_absorbed(turn, theirs.value)


def _has_alias(token: ProtectedToken, own: Reading, other: Reading, facts: Facts) -> bool:
    """True where a token stands in a user-given name of a thing, and the other text has another name of it."""
    if not facts.equivalents:
        return False
    text, counterpart = (f" {' '.join(w.lower for w in reading.words)} " for reading in (own, other))
    words = [w.lower for w in own.words_of(token)]
    return any(
        f" {name} " in text and words[0] in name.split() and any(f" {alias} " in counterpart for alias in aliases)
        for name, aliases in facts.equivalents.items()
        if words
    )


def is_paraphrased(reading: Reading, value: str) -> bool:
    """True where a text asks for a kind of answer in other words: "price of" for a cost."""
    lowers = [w.lower for w in reading.words]
    return any(_runs(lowers, phrase) for phrase in answer_type.paraphrases(value))


def _runs(lowers: Sequence[str], phrase: Sequence[str]) -> bool:
    n = len(phrase)
    return any(tuple(lowers[i : i + n]) == tuple(phrase) for i in range(len(lowers) - n + 1))


def _is_absorbed(reading: Reading, scope: str) -> bool:
    """True where a word holds the negation in itself: "prohibited" for "not allowed", "unsafe" for "not safe"."""
    forms = _ABSORBED.get(scope, frozenset())
    affixed = frozenset(prefix + scope for prefix in _PREFIXES)
    suffixed = tuple(scope + suffix for suffix in _SUFFIXES)
    return bool(scope) and any(
        word.stem in forms or word.stem in affixed or word.lower.startswith(suffixed) for word in reading.words
    )


def source_of(token: ProtectedToken, rewrite: Reading, past: Past, facts: Facts) -> int | None:
    """The index of the latest history item that says what a token of the rewrite says; None where none does."""
    said = next((message.index for message, reading in latest_first(past) if _says(reading, token, facts)), None)
    if said is not None:
        return said
    if token.kind in LITERAL and any(c.isdigit() for c in token.text):
        return _literal_source(token, past)
    return source_of_words([w for w in rewrite.words_of(token) if any(c.isalnum() for c in w.text)], past)


def source_of_words(words: Sequence[Word], past: Past) -> int | None:
    """The index of the latest history item that supports all of `words`, else of that which supports the last of them.

    None where there is none: so for words that not all items together support, and for an acronym whose letters only
    the words of several items begin, which none of them says.
    """
    if not words:
        return None
    latest = [(message.index, reading.vocabulary) for message, reading in latest_first(past)]
    whole = (i for i, vocabulary in latest if all(map(vocabulary.supports, words)) or vocabulary.expands(words))
    source = next(whole, None)
    if source is not None or not all(map(past.vocabulary.supports, words)):
        return source
    return next((i for i, vocabulary in latest if vocabulary.supports(words[-1])), None)


def latest_first(past: Past) -> Iterable[tuple[Message, Reading]]:
    """The messages with their readings, the last one first."""
    return zip(reversed(past.messages), reversed(past.readings), strict=True)


def source_beside(token: ProtectedToken, rewrite: Reading, past: Past, facts: Facts) -> int | None:
    """The latest item that says a small word together with the content word before or behind it in the rewrite."""
    content = [w for w in rewrite.content if not token.start <= w.start < token.end]
    before = [w for w in content if w.end <= token.start][-1:]
    behind = [w for w in content if w.start >= token.end][:1]
    for message, reading in latest_first(past):
        excluded = token.relation == EXCLUSION and reading.vocabulary.holds_stem(token.value)
        said = _says(reading, token, facts) or all(map(reading.vocabulary.holds, rewrite.words_of(token)))
        if excluded or (said and any(reading.vocabulary.holds(w) for w in (*before, *behind))):
            return message.index
    return None


def completes_name(token: ProtectedToken, rewrite: Reading, past: Past) -> bool:
    """True for "Trevor Horn" where the history says "Horn": every name that shares a word with it is a part of it.

    Where another name shares one ("Ann Horn"), the rewrite says another.
    """
    words = {canonical(w.text) for w in rewrite.words_of(token) if is_content(w)}
    names = [
        {canonical(w.text) for w in reading.words_of(t) if is_content(w)}
        for reading in past.readings
        for t in reading.tokens
        if t.kind is Kind.ENTITY
    ]
    sharing = [name for name in names if name & words]
    opening = any(w.text[:1].isupper() and canonical(w.text) in words for r in past.readings for w in r.words)
    return (opening or bool(sharing)) and all(name <= words for name in sharing)


def _says(reading: Reading, token: ProtectedToken, facts: Facts) -> bool:
    same = same_for(token.kind)
    if token.kind is Kind.ANSWER_TYPE and is_paraphrased(reading, token.value):
        return True
    return any(t.kind is token.kind and same(t, token, facts) is Match.SAME for t in reading.tokens)


def _literal_source(token: ProtectedToken, past: Past) -> int | None:
    """The latest item that holds the digits of a number, date or code as words of its own."""
    digits = [part for part in token.text.casefold().split() if any(c.isdigit() for c in part)]
    latest = ((message.index, {w.lower for w in reading.words}) for message, reading in latest_first(past))
    return next((index for index, lowers in latest if lowers.issuperset(digits)), None) if digits else None
