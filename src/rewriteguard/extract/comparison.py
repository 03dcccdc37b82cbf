"""Comparatives, superlatives, directions and explicit comparisons.

Values: `large:superlative`, `old:comparative`, `direction:increase`, `versus`. Scales and directions with their
synonyms and opposites are closed lists; an opposite is never equal.
"""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, end_of, text_of, token, words_of
from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.language.words import Phrases
from rewriteguard.model.tokens import Kind, ProtectedToken

_DEGREES = {"JJR": "comparative", "RBR": "comparative", "JJS": "superlative", "RBS": "superlative"}
_IRREGULAR = {
    "better": "good", "best": "good", "worse": "bad", "worst": "bad", "farther": "far", "further": "far",
    "farthest": "far", "furthest": "far", "elder": "old", "eldest": "old",
}  # fmt: skip
_MARKERS = {"more": "comparative", "less": "comparative", "most": "superlative", "least": "superlative"}
_PLAIN = lexicon.words("comparison", "plain")
_BASES = {stem(w): group.split()[0] for group in lexicon.section("comparison")["bases"] for w in group.split()}
_MEASURED: dict[str, str] = dict(lexicon.section("comparison")["measured"])
_ANTONYMS = {a: b for one, other in lexicon.section("comparison")["antonyms"] for a, b in ((one, other), (other, one))}
_LOOSE = {word: scales.split() for word, scales in lexicon.section("comparison")["loose"].items()}
_VERSUS = Phrases((phrase.split(), "versus") for phrase in lexicon.phrases("comparison", "versus"))
_ANSWERED: dict[str, str] = dict(lexicon.section("comparison")["answered"])
_MEASURES: dict[str, str] = dict(lexicon.section("comparison")["measures"])
_JUDGED: dict[str, str] = dict(lexicon.section("comparison")["judged"])
_DEVELOPED = frozenset(map(stem, lexicon.words("comparison", "developed")))
_WORDS_OF = {group.split()[0]: group for group in lexicon.section("comparison")["bases"]}
_SPELLED = {value: tuple(words.split()) for value, words in lexicon.section("comparison")["spelled"].items()}
_PAIRS = lexicon.section("comparison")["opposites"]
_SYNONYMS: dict[str, str] = {
    stem(w): group.split()[0] for group in lexicon.section("comparison")["synonyms"] for w in group.split()
}


def _direction(word: str) -> str:
    """The one name of a direction, given the stem of any of its words."""
    return _SYNONYMS.get(word, word)


_OPPOSED = frozenset(frozenset({_direction(stem(one)), _direction(stem(other))}) for one, other in _PAIRS)
# Words that stand in a pair for a scale or a place as often as for a direction.
_UNDIRECTED = frozenset({"most", "least", "more", "less", "up", "down", "left", "right", "con", "pro"})
_PAIRED = frozenset(word for pair in _PAIRS for word in pair) - _UNDIRECTED
_DIRECTIONS = _PAIRED | {
    word
    for group in lexicon.section("comparison")["synonyms"]
    for word in group.split()
    if any(_direction(stem(word)) == _direction(stem(paired)) for paired in _PAIRED)
}


_DIRECTED_POS = frozenset({"VERB", "NOUN", "ADJ", "ADV", "ADP", "SCONJ", ""})


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The comparisons of `doc`."""
    text = text_of(doc)
    for word in words_of(doc):
        found = _VERSUS.at(doc, word) or _graded(doc, word) or _direction_of(word)
        if found:
            length, value = found
            yield token(Kind.COMPARISON, text, word.idx, end_of(doc, word, length), value)


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME on one scale in one degree, or in one direction; a synonym of the lists is the same, an opposite is not."""
    if ours.value == theirs.value:
        return Match.SAME
    alike = _synonym(ours.value) == _synonym(theirs.value) or _is_loose(ours.value, theirs.value)
    return Match.SAME if alike else Match.DIFFERENT


def spelled(value: str) -> tuple[str, ...]:
    """Single words that say a superlative without being read as one: "latest" for "most recent"."""
    return _SPELLED.get(value, ())


def _is_loose(ours: str, theirs: str) -> bool:
    """True for two words of which one is said of several scales: "greatest" for "highest" and "largest"."""
    (one, _, degree), (other, _, other_degree) = ours.rpartition(":"), theirs.rpartition(":")
    return degree == other_degree and (other in _LOOSE.get(one, ()) or one in _LOOSE.get(other, ()))


def opposed(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True where the two stand for opposite directions, synonyms included: "rise" and "drop"."""
    one, other = (_direction(token.value.removeprefix("direction:")) for token in (ours, theirs))
    return frozenset({one, other}) in _OPPOSED


def are_ends(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True for the two ends of one scale in the same degree: "bigger" and "smaller"."""
    (one, _, degree), (other, _, other_degree) = (token.value.rpartition(":") for token in (ours, theirs))
    return degree == other_degree and other == _ANTONYMS.get(one)


def is_graded(token: ProtectedToken) -> bool:
    """True for a comparative or superlative, false for directions and "versus"."""
    return token.value.endswith(("comparative", "superlative"))


def sets_side_by_side(token: ProtectedToken) -> bool:
    """True for what asks two things to be compared: "longer", "versus", "difference"; false for directions."""
    return is_graded(token) or _synonym(token.value).endswith("versus")


def is_comparing(key: str) -> bool:
    """True for the stem of a word that only says that things are compared: "differ", "comparison", "change"."""
    return key in _DEVELOPED or _direction(key) == "versus"


def is_measured(token: ProtectedToken) -> bool:
    """True for a scale on which a thing has a place of its own, such as age or price; false for "better"."""
    return any(end in _MEASURES for end in _ends(token))


def answered_by(token: ProtectedToken) -> str:
    """The kind of answer that tells where a thing stands on the scale: `cost` for "cheaper"; empty for most."""
    return next((_ANSWERED[end] for end in _ends(token) if end in _ANSWERED), "")


def measures(token: ProtectedToken) -> frozenset[str]:
    """Stems of the words that tell it: for "faster" those of "quick", "slow" and "speed"."""
    lists = (table.get(end, end) for end in _ends(token) for table in (_WORDS_OF, _MEASURES, _JUDGED))
    return frozenset(stem(word) for words in lists for word in words.split())


def _ends(token: ProtectedToken) -> tuple[str, ...]:
    """The two ends of the scale of a comparative or superlative, that of the token first."""
    scale = token.value.partition(":")[0]
    scale = scale if scale in _WORDS_OF else scale.removesuffix("li")  # "deeper" is tagged as one of "deeply" too
    return tuple(end for end in (scale, _ANTONYMS.get(scale)) if end)


def _synonym(value: str) -> str:
    prefix, _, word = value.partition(":")
    return f"{prefix}:{_direction(word)}" if prefix == "direction" else value


def _on_scale(marker: str, word: str) -> str:
    """The value of "more expensive", and of "less expensive", which is cheaper."""
    scale = _BASES.get(stem(word), stem(word))
    if marker in {"less", "least"}:
        scale = _ANTONYMS.get(scale, f"-{scale}")
    return f"{scale}:{_MARKERS[marker]}"


def _direction_of(word: Token) -> tuple[int, str] | None:
    lemma = (word.lemma_ or word.text).lower()
    return (1, f"direction:{stem(lemma)}") if lemma in _DIRECTIONS and word.pos_ in _DIRECTED_POS else None


def _graded(doc: Doc, word: Token) -> tuple[int, str] | None:
    """Number of words and value of a comparative or superlative that starts at `word`."""
    if word.lower_ in _MARKERS:
        verb = doc[word.i - 1].lemma_.lower() if word.i else ""
        if verb in _MEASURED:
            return 1, _on_scale(word.lower_, _MEASURED[verb])
        after = doc[word.i + 1] if word.i + 1 < len(doc) else None
        bound = word.i and doc[word.i - 1].lower_ == "at" and word.lower_ == "least"
        if after is None or bound or after.pos_ not in {"ADJ", "ADV"} or after.lower_ in _PLAIN:
            return None
        return 2, _on_scale(word.lower_, after.lower_)
    degree = _DEGREES.get(word.tag_)
    if degree is None or word.lower_ in _PLAIN or not word.lower_.endswith(("er", "st", "se")):
        known = _IRREGULAR.get(word.lower_)
        if known is None or word.tag_:
            return None if known is None or degree is None else (1, f"{known}:{degree}")
        degree = "superlative" if word.lower_.endswith("st") else "comparative"
    base = _IRREGULAR.get(word.lower_) or word.lemma_.lower()
    if base == word.lower_:  # a typo or a noun that the tagger took for a comparative
        return None
    return 1, f"{_BASES.get(stem(base), stem(base))}:{degree}"
