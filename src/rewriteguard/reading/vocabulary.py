"""Which words of one text another text supports: by stem, derivation, compound, abbreviation, synonym or typo.

Source of the rules: what people's own good rewrites change (MTRAG, CAsT 2021, CANARD): Snowball stem, five-letter
prefix, parts of compounds, similarity of at least 80 from five letters, initials of acronyms, country and
nationality forms, number words, chat abbreviations, adjective and dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import Any

from rapidfuzz import fuzz, process
from rapidfuzz.distance import DamerauLevenshtein

from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.language.names import are_places, canonical, country, is_typo
from rewriteguard.language.words import Word, is_word

_FUNCTION = lexicon.words("words", "function")
_EMPTY = _FUNCTION | lexicon.words("words", "light")
_ABBREVIATIONS: dict[str, str] = dict(lexicon.section("equivalents")["abbreviations"])
_NUMBERS: dict[str, str] = dict(lexicon.section("equivalents")["numbers"])
_NEGATIVE = tuple(sorted(lexicon.words("negation", "prefixes")))
_PREFIX = 5  # letters that two forms of one word share at their start
_LONGEST = 6  # letters of an acronym, and words that it stands for
_SHORTEST_ACRONYM = 3
_ENDING = 3  # letters: "-ean", "-ian", "-ese"
_CLEAR = 4  # letters from which "un-" and "non-" negate what follows
_SIMILAR = 80
_GROUPS: dict[str, frozenset[int]] = {}
for _number, _group in enumerate(lexicon.section("equivalents")["groups"]):
    for _word in _group.split():
        _GROUPS[stem(_word)] = _GROUPS.get(stem(_word), frozenset()) | {_number}


def is_content(word: Word) -> bool:
    """True for a word that carries topic: no function word, no light verb, no mark."""
    return word.lower not in _EMPTY and is_word(word)


def negates(one: str, other: str) -> bool:
    """True where one word is the other with a negative prefix: "eligible" and "ineligible"."""
    short, long = sorted((one, other), key=len)
    prefix = long.removesuffix(short)
    return prefix in _NEGATIVE and len(short) >= (_CLEAR if prefix.startswith(("un", "non")) else _PREFIX)


@lru_cache(maxsize=65_536)
def forms_of(text: str) -> tuple[str, ...]:
    """The exact forms under which a word is looked up."""
    lower = text.casefold()
    forms = {stem(lower), canonical(lower), _NUMBERS.get(lower, ""), country(text) or ""}
    expansion = _ABBREVIATIONS.get(lower)
    if expansion:
        forms.update(stem(part) for part in expansion.split())
    forms.update(f"group:{number}" for number in _GROUPS.get(stem(lower), ()))
    return tuple(sorted(form for form in forms if form))


class Vocabulary:
    """The words of a text, to ask whether they support a word.

    Args:
        words: The words and marks of the text.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        self._words = tuple(words)

    @staticmethod
    def joined(parts: Iterable[Vocabulary]) -> Vocabulary:
        """The words of several texts, in their order, as one vocabulary."""
        return _Joined(tuple(parts))

    @cached_property
    def pool(self) -> tuple[Word, ...]:
        """The words, marks left out."""
        return tuple(word for word in self._words if is_word(word))

    @cached_property
    def keys(self) -> frozenset[str]:
        """All forms of all words."""
        return frozenset(key for word in self.pool for form in (word.text, word.lemma) for key in forms_of(form))

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that carry topic."""
        return tuple(word for word in self.pool if is_content(word))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The words that carry topic, each once, in canonical form."""
        return tuple(dict.fromkeys(canonical(lower) for lower in dict.fromkeys(word.lower for word in self.content)))

    @cached_property
    def row(self) -> str:
        """The plain words in one string, to find those that start or end in another."""
        return "\0" + "\0".join(self.plain) + "\0"

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The first letters of the words that carry topic."""
        return frozenset(word.lower[:_PREFIX] for word in self.content if len(word.lower) >= _PREFIX)

    @cached_property
    def letters(self) -> str:
        """The first letters of the words that an acronym is made of."""
        return "".join(word.lower[0] for word in self.pool if word.lower not in _FUNCTION)

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials of every run of two to six content words."""
        return frozenset(_runs(self.letters, range(len(self.letters))))

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """What may be an acronym, without its dots."""
        # Chat is typed in lower case: "nyc" may stand for New York City.
        return frozenset(
            word.lower.replace(".", "")
            for word in self.pool
            if word.text.isupper() or (_SHORTEST_ACRONYM <= len(word.text) < _PREFIX and is_content(word))
        )

    @cached_property
    def mixed(self) -> frozenset[str]:
        """Acronyms with small letters in them."""
        return frozenset(word.text for word in self.content if _is_mixed(word.text))

    def supports(self, word: Word) -> bool:
        """True where a word of the pool says the same as `word`."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self.initials
        return self._resembles(canonical(word.text))

    def supports_name(self, word: Word) -> bool:
        """True where a word of the pool is the name `word`: Austria and Australia resemble each other and are two."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self.initials
        if _is_mixed(word.text) and any(
            _shortens(word.text, self.pool[i : i + _LONGEST]) for i in range(len(self.pool))
        ):
            return True
        name = canonical(word.text)
        near = process.extract(name, self.plain, scorer=DamerauLevenshtein.distance, score_cutoff=1, limit=None)
        if any(is_typo(name, other) for other, _, _ in near):
            return True
        if not self._may_derive(name):
            return False
        return any(_is_derived(name, other) and not are_places(name, other) for other in self.plain)

    def holds(self, word: Word) -> bool:
        """True where a word of the pool is `word` itself in any inflection, or its listed equal."""
        return any(key in self.keys for form in (word.text, word.lemma) for key in forms_of(form))

    def holds_stem(self, key: str) -> bool:
        """True where a word of the pool has the stem `key`."""
        return key in self.keys

    def _resembles(self, lower: str) -> bool:
        if len(lower) < _PREFIX or not lower.isascii() or any(c.isdigit() for c in lower):
            return False  # one digit makes another code
        if lower[:_PREFIX] in self.prefixes:
            return True
        if self._may_compound(lower) and any(
            _is_compound(lower, other) and not negates(lower, other) for other in self.plain
        ):
            return True
        close = process.extractOne(lower, self.plain, scorer=fuzz.ratio, score_cutoff=_SIMILAR)
        return close is not None and len(close[0]) >= _PREFIX and close[0].isascii() and not negates(lower, close[0])

    def _may_derive(self, name: str) -> bool:
        """False where no plain word starts with `name`, or is `name` without its last few letters."""
        row = self.row
        return f"\0{name}" in row or any(f"\0{name[:-i]}\0" in row for i in range(1, _ENDING + 1))

    def _may_compound(self, lower: str) -> bool:
        """False where no plain word starts or ends in `lower`, or is a start or end of it."""
        row, ends = self.row, range(3, len(lower))
        if f"\0{lower}" in row or f"{lower}\0" in row:
            return True
        return any(f"\0{lower[:i]}\0" in row or f"\0{lower[i:]}\0" in row for i in ends)

    def expands(self, words: Sequence[Word]) -> bool:
        """True where the initials of `words` are an acronym of the pool."""
        initials = "".join(word.lower[0] for word in words if word.lower not in _FUNCTION and word.text[0].isalpha())
        return (len(initials) > 1 and initials in self.acronyms) or any(_shortens(a, words) for a in self.mixed)


def _chained(name: str) -> cached_property[Any]:
    """The tuples that the parts have under `name`, one behind the other."""
    return cached_property(lambda whole: tuple(chain.from_iterable(getattr(part, name) for part in whole.parts)))


def _united(name: str) -> cached_property[Any]:
    """The union of the sets that the parts have under `name`."""
    return cached_property(lambda whole: frozenset().union(*(getattr(part, name) for part in whole.parts)))


class _Joined(Vocabulary):
    """The words of several texts in their order: what was worked out for the parts is only put together."""

    def __init__(self, parts: Sequence[Vocabulary]) -> None:
        super().__init__(())
        self.parts = parts

    pool, content = _chained("pool"), _chained("content")
    keys, prefixes, acronyms, mixed = map(_united, ("keys", "prefixes", "acronyms", "mixed"))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(part.plain for part in self.parts)))

    @cached_property
    def letters(self) -> str:
        return "".join(part.letters for part in self.parts)

    @cached_property
    def initials(self) -> frozenset[str]:
        """Those of the parts, and of the runs across their borders."""
        borders = accumulate(len(part.letters) for part in self.parts)
        across = chain.from_iterable(range(max(0, border - _LONGEST + 1), border) for border in borders)
        return frozenset(_runs(self.letters, across)).union(*(part.initials for part in self.parts))


def _is_mixed(text: str) -> bool:
    """True for an acronym with small letters in it: "BoE", "MSc", "MOOCs"."""
    return text[:1].isupper() and len(text) <= _LONGEST and sum(c.isupper() for c in text) > 1 and not text.isupper()


def _runs(letters: str, starts: Iterable[int]) -> Iterator[str]:
    """The runs of two to six letters that start at the given places."""
    return (letters[i : i + n] for i in starts for n in range(2, _LONGEST + 1) if i + n <= len(letters))


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
        left = left[given:]
        if not left:
            return True
    return False


def _is_derived(one: str, other: str) -> bool:
    """True for a name and a form of it: "Shakespeare" and "Shakespearean"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _PREFIX and long.startswith(short) and long.isalpha() and len(long) - len(short) <= _ENDING


def _is_compound(one: str, other: str) -> bool:
    """True where one word is a part of the other: "basin" of "catchbasin"."""
    short, long = sorted((one, other), key=len)
    clipped = len(short) >= 3 and len(long) - len(short) >= 4 and long.startswith(short)  # "vet", "veterinarian"
    return clipped or (len(short) >= 4 and len(long) - len(short) >= 3 and long.endswith(short))
