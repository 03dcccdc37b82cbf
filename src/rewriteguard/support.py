"""Which words of one text another text supports: by stem, derivation, compound, abbreviation, synonym or typo.

Source of the rules: what people's own good rewrites change (MTRAG, CAsT 2021, CANARD): Snowball stem, five-letter
prefix, parts of compounds, similarity of at least 80 from five letters, initials of acronyms, country and
nationality forms, number words, chat abbreviations, adjective and dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rapidfuzz import fuzz, process

from rewriteguard.extract.entity import are_places, canonical, country, is_typo
from rewriteguard.language import lexicon
from rewriteguard.language.stem import stem
from rewriteguard.words import Word

_FUNCTION = lexicon.words("words", "function")
_LIGHT = lexicon.words("words", "light")
_ABBREVIATIONS: dict[str, str] = dict(lexicon.section("equivalents")["abbreviations"])
_NUMBERS: dict[str, str] = dict(lexicon.section("equivalents")["numbers"])
_PREFIX = 5
_ENDING = 3  # letters: "-ean", "-ian", "-ese"
_CLEAR = 4  # letters from which "un-" and "non-" negate what follows
_NEGATIVE = tuple(sorted(lexicon.words("negation", "prefixes")))
_SHORTEST_ACRONYM = 3
_SIMILAR = 80
_LONGEST = 6  # letters of an acronym, and words that it stands for
_GROUPS: dict[str, frozenset[int]] = {}
for _number, _group in enumerate(lexicon.section("equivalents")["groups"]):
    for _word in _group.split():
        _GROUPS[stem(_word)] = _GROUPS.get(stem(_word), frozenset()) | {_number}


def is_content(word: Word) -> bool:
    """True for a word that carries topic: no function word, no light verb, no mark."""
    return word.lower not in _FUNCTION and word.lower not in _LIGHT and any(c.isalnum() for c in word.text)


@lru_cache(maxsize=65_536)
def _keys(text: str) -> tuple[str, ...]:
    """The exact forms under which a word is looked up."""
    lower = text.casefold()
    forms = {stem(lower), canonical(lower), _NUMBERS.get(lower, ""), country(text) or ""}
    expansion = _ABBREVIATIONS.get(lower)
    if expansion:
        forms.update(stem(part) for part in expansion.split())
    forms.update(f"group:{number}" for number in _GROUPS.get(stem(lower), ()))
    return tuple(sorted(form for form in forms if form))


def negates(one: str, other: str) -> bool:
    """True where one word is the other with a negative prefix: "eligible" and "ineligible"."""
    short, long = sorted((one, other), key=len)
    prefix = long.removesuffix(short)
    return prefix in _NEGATIVE and len(short) >= (_CLEAR if prefix.startswith(("un", "non")) else _PREFIX)


class Vocabulary:
    """The words of one or more texts, to ask whether they support a word.

    Args:
        words: The words of the texts.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        pool = [word for word in words if any(c.isalnum() for c in word.text)]
        self._keys = frozenset(key for word in pool for form in (word.text, word.lemma) for key in _keys(form))
        content_words = [word for word in pool if is_content(word)]
        content = {word.lower: None for word in content_words}
        self._plain = tuple(dict.fromkeys(canonical(word) for word in content))
        self._prefixes = frozenset(word[:_PREFIX] for word in content if len(word) >= _PREFIX)
        self._initials = _initials(pool)
        # Chat is typed in lower case: "nyc" may stand for New York City.
        self._acronyms = frozenset(
            word.lower.replace(".", "")
            for word in pool
            if word.text.isupper() or (is_content(word) and _SHORTEST_ACRONYM <= len(word.text) < _PREFIX)
        )

        self._mixed = frozenset(word.text for word in content_words if _is_mixed(word.text))
        self._pool = tuple(pool)

    def supports(self, word: Word) -> bool:
        """True where a word of the pool says the same as `word`."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self._initials
        return self._resembles(canonical(word.text))

    def supports_name(self, word: Word) -> bool:
        """True where a word of the pool is the name `word`: Austria and Australia resemble each other and are two."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self._initials
        if _is_mixed(word.text) and any(
            _shortens(word.text, self._pool[i : i + _LONGEST]) for i in range(len(self._pool))
        ):
            return True
        name = canonical(word.text)
        return any(
            is_typo(name, other) or (_is_derived(name, other) and not are_places(name, other)) for other in self._plain
        )

    def holds(self, word: Word) -> bool:
        """True where a word of the pool is `word` itself in any inflection, or its listed equal."""
        return any(key in self._keys for form in (word.text, word.lemma) for key in _keys(form))

    def holds_stem(self, key: str) -> bool:
        """True where a word of the pool has the stem `key`."""
        return key in self._keys

    def _resembles(self, lower: str) -> bool:
        if len(lower) < _PREFIX or not lower.isascii() or any(c.isdigit() for c in lower):
            return False  # one digit makes another code
        if lower[:_PREFIX] in self._prefixes:
            return True
        if any(_is_compound(lower, other) and not negates(lower, other) for other in self._plain):
            return True
        close = process.extractOne(lower, self._plain, scorer=fuzz.ratio, score_cutoff=_SIMILAR)
        return close is not None and len(close[0]) >= _PREFIX and close[0].isascii() and not negates(lower, close[0])

    def expands(self, words: Sequence[Word]) -> bool:
        """True where the initials of `words` are an acronym of the pool."""
        initials = "".join(word.lower[0] for word in words if word.lower not in _FUNCTION and word.text[0].isalpha())
        return (len(initials) > 1 and initials in self._acronyms) or any(_shortens(a, words) for a in self._mixed)


def _is_mixed(text: str) -> bool:
    """True for an acronym with small letters in it: "BoE", "MSc", "MOOCs"."""
    return text[:1].isupper() and len(text) <= _LONGEST and sum(c.isupper() for c in text) > 1 and not text.isupper()


def _shortens(acronym: str, words: Sequence[Word]) -> bool:
    """True where the letters of an acronym are the beginnings of `words`, one after the other from the first on.

    Each content word gives at least one letter; the words behind the last letter are not looked at.
    """
    left = acronym.removesuffix("s").lower() if acronym[-2:-1].isupper() else acronym.lower()
    for word in words:
        given = 0
        while given < len(left) and word.lower[given : given + 1] == left[given]:
            given += 1
        if not given and word.lower not in _FUNCTION:
            return False
        left = left[max(given, 0) :]
        if not left:
            return True
    return False


def _initials(pool: Sequence[Word]) -> frozenset[str]:
    """The initials of every run of two to six content words."""
    letters = [word.lower[0] for word in pool if word.lower not in _FUNCTION]
    runs = ("".join(letters[i : i + n]) for n in range(2, 7) for i in range(len(letters) - n + 1))
    return frozenset(runs)


def _is_derived(one: str, other: str) -> bool:
    """True for a name and a form of it: "Shakespeare" and "Shakespearean"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _PREFIX and long.startswith(short) and long.isalpha() and len(long) - len(short) <= _ENDING


def _is_compound(one: str, other: str) -> bool:
    """True where one word is a part of the other: "basin" of "catchbasin"."""
    short, long = sorted((one, other), key=len)
    clipped = len(short) >= 3 and len(long) - len(short) >= 4 and long.startswith(short)  # "vet", "veterinarian"
    return clipped or (len(short) >= 4 and len(long) - len(short) >= 3 and long.endswith(short))


__all__ = ["Vocabulary", "canonical", "is_content", "is_typo"]
