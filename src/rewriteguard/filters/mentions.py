"""How a text mentions a value: whether it says it, excludes it, or may mean either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rewriteguard.extract.time.value import years
from rewriteguard.language import lexicon
from rewriteguard.language.stem import stem
from rewriteguard.language.words import Word, is_word
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import Vocabulary, is_content, negates
from rewriteguard.reading.word_index import forms_of


class Mention(StrEnum):
    """What a text says of a value."""

    SAID = "said"
    EXCLUDED = "excluded"
    EITHER = "either"


_BOUNDED = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION})
# "not before 2020" is since 2020.
_FLIPPED = {
    "before": "since", "since": "before", "after": "until", "until": "after", "by": "after",
    ">": "<=", "<=": ">", "<": ">=", ">=": "<",
}  # fmt: skip
_COMPARED = {"new:comparative": "after", "old:comparative": "before"}  # "newer than 2020"
_UPWARDS, _DOWNWARDS = (
    frozenset(form for word in lexicon.words("filters", key) for form in (word, stem(word)))
    for key in ("upwards", "downwards")
)
_LINKS = frozenset({"", "in", "on", "from", "of", "during", "for", "the", "with", "than"})
# What belongs to a word that is negated is negated with it; what only hangs on it by a preposition may not be.
_DIRECT = frozenset(
    {"dobj", "attr", "acomp", "oprd", "compound", "conj", "amod", "nmod", "appos", "poss", "nummod", "npadvmod"}
)
_CLAUSES = frozenset({"relcl", "acl"})  # "films that do not star ..." says which; "why can I not open ..." does not
_YEAR = 4  # digits
_CHAIN = 6  # steps up the tree from a word to the word that it belongs to
_SHORTEST_RUN = 4  # letters of a name that may be written apart


@dataclass(frozen=True, slots=True)
class Stated:
    """A time, an amount or a version that a text states, with its relation; or that it excludes.

    `parts` are the tokens of the text that say so: in "newer than 2020" a comparison and a number.
    """

    token: ProtectedToken
    parts: tuple[ProtectedToken, ...]
    excluded: bool = False


def stated(reading: Reading) -> tuple[Stated, ...]:
    """The times, amounts and versions of a text; withdrawn ones are left out."""
    tokens = [t for t in reading.tokens if not _is_withdrawn(reading, t)]
    return tuple(_stated(t, tokens, reading.text) for t in tokens if t.kind in _BOUNDED)


def _stated(token: ProtectedToken, tokens: Sequence[ProtectedToken], text: str) -> Stated:
    compared = _before(token, tokens, Kind.COMPARISON, text)
    parts: tuple[ProtectedToken, ...] = (token,)
    if compared is not None and not token.relation:
        parts, token = (compared, token), _compared(token, compared.value)
    negation = _before(parts[0], tokens, Kind.NEGATION, text)
    if negation is None:
        return Stated(token, parts)
    flipped = _FLIPPED.get(token.relation)
    if flipped is not None:
        token = replace(token, relation=flipped)
    return Stated(token, (negation, *parts), excluded=flipped is None)


def _compared(token: ProtectedToken, comparison: str) -> ProtectedToken:
    """A time or an amount behind "newer than" or "heavier than"."""
    if comparison in _COMPARED:
        if token.kind is Kind.QUANTITY and token.value.isdigit() and len(token.value) == _YEAR:
            days = years(int(token.value), int(token.value))  # "more recent than 2019"
            token = replace(token, kind=Kind.TIME, value=days) if days else token
        return replace(token, relation=_COMPARED[comparison])
    scale, _, degree = comparison.partition(":")
    up, down = scale in _UPWARDS, scale in _DOWNWARDS
    return replace(token, relation=">" if up else "<") if degree == "comparative" and up != down else token


def _before(token: ProtectedToken, tokens: Sequence[ProtectedToken], kind: Kind, text: str) -> ProtectedToken | None:
    """The token of a kind right before another, with no more than a small word between them."""
    for other in tokens:
        between = text[other.end : token.start].strip().casefold()
        if other.kind is kind and other.end <= token.start and between in _LINKS:
            return other
    return None


def mention_of(value: Sequence[Word], reading: Reading) -> Mention | None:
    """What a text says of a value, given the words of the value; None where it does not mention it."""
    asked = [w for w in value if is_content(w)] or [w for w in value if is_word(w)]
    words = [w for w in reading.words if not reading.regions.is_withdrawn(w.i)]
    vocabulary = reading.vocabulary if len(words) == len(reading.words) else Vocabulary(words)
    if not asked:
        return None
    if not all(supports_value(vocabulary, w) for w in asked):
        if vocabulary.expands(asked) or (vocabulary is reading.vocabulary and _is_written_apart(asked, reading)):
            return Mention.SAID
        return _by_prefix(asked, words, reading)
    excluded = _excluded(reading)
    found = [_of_word(w, words, excluded) for w in asked]
    return max(found, key=_STRENGTH.index)


_STRENGTH = (Mention.SAID, Mention.EITHER, Mention.EXCLUDED)


def supports_value(vocabulary: Vocabulary, word: Word) -> bool:
    """True where a word of the pool is the word of a value; one digit makes another value."""
    return vocabulary.holds(word) or (word.text.isalpha() and vocabulary.supports_name(word))


def places_of(value: Iterable[Word], words: Iterable[Word]) -> list[Word]:
    """The words of a text that are words of a value, in any inflection."""
    forms = {form for w in value for text in (w.text, w.lemma) for form in forms_of(text)}
    return [w for w in words if forms.intersection((*forms_of(w.text), *forms_of(w.lemma)))]


def _of_word(asked: Word, words: Sequence[Word], excluded: dict[int, Mention]) -> Mention:
    found = {excluded.get(w.i, Mention.SAID) for w in places_of([asked], words)} or {Mention.SAID}
    return found.pop() if len(found) == 1 else Mention.EITHER


def _by_prefix(asked: Sequence[Word], words: Sequence[Word], reading: Reading) -> Mention | None:
    """For "unapproved": it excludes "approved"; and for "not approved": it says "unapproved"."""
    if len(asked) != 1:
        return None
    lower, excluded = asked[0].lower, _excluded(reading)
    for word in words:
        if negates(word.lower, lower):
            longer = len(word.lower) > len(lower)
            return Mention.EXCLUDED if longer else Mention.SAID if word.i in excluded else None
    return None


def _is_written_apart(asked: Sequence[Word], reading: Reading) -> bool:
    """True for "Wi-Fi" and "wifi"; the digits of a number are not written apart."""
    name = "".join(c for w in asked for c in w.lower if c.isalnum())
    return len(name) >= _SHORTEST_RUN and name.isalpha() and name in reading.letter_runs


def _excluded(reading: Reading) -> dict[int, Mention]:
    """The words of a text that are negated, by their place."""
    found: dict[int, Mention] = {}
    for token in reading.tokens:
        if token.kind is Kind.NEGATION and token.value:
            for head in _negated(token, reading):
                found[head.i] = Mention.EXCLUDED
                found |= _below(head, token, reading)
    for before, word in zip(reading.words, reading.words[1:], strict=False):
        prefixed = before.text == "-" and before.i and reading.words[before.i - 1].lower == "non"
        if before.lower == "non" or prefixed:
            found[word.i] = Mention.EXCLUDED
    return found


def _negated(token: ProtectedToken, reading: Reading) -> list[Word]:
    """The word that a negation negates: inside it ("smoke-free"), else the first behind it, else the last before it."""
    same = [w for w in reading.words if token.value in (w.stem, stem(w.lemma))]
    inside = [w for w in same if token.start <= w.start < token.end]
    behind = [w for w in same if w.start >= token.end]
    return (inside or behind)[:1] or same[-1:]


def _below(head: Word, token: ProtectedToken, reading: Reading) -> dict[int, Mention]:
    """The words behind a negation that belong to the word that it negates."""
    found: dict[int, Mention] = {}
    turned = next((w.i for w in reading.words if w.lower == "but" and w.i > head.i), len(reading.words))
    is_verb = head.pos == "VERB" and head.dep not in _CLAUSES
    for word in reading.words:
        if word.start < token.end or word.i >= turned:
            continue
        steps: list[str] = []
        above = word
        while above.i != head.i and above.head != above.i and len(steps) < _CHAIN:
            steps.append(above.dep)
            above = reading.words[above.head]
        if steps and above.i == head.i:
            direct = not is_verb and all(step in _DIRECT for step in steps)
            found[word.i] = Mention.EXCLUDED if direct else Mention.EITHER
    return found


def _is_withdrawn(reading: Reading, token: ProtectedToken) -> bool:
    return any(reading.regions.is_withdrawn(w.i) for w in reading.words_of(token))
