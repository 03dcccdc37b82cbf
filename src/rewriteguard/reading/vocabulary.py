"""Which words of one text another text supports: by stem, derivation, compound, abbreviation, synonym or typo.

Source of the rules: what people's own good rewrites change (MTRAG, CAsT 2021, CANARD): Snowball stem, five-letter
prefix, parts of compounds, similarity of at least 80 from five letters, initials of acronyms, country and
nationality forms, number words, chat abbreviations, adjective and dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain

from rapidfuzz import fuzz, process
from rapidfuzz.distance import DamerauLevenshtein

from rewriteguard.language import lexicon
from rewriteguard.language.names import are_places, canonical, country, is_typo
from rewriteguard.language.stem import stem
from rewriteguard.language.words import Word, is_word

FUNCTION = lexicon.words("words", "function")
_EMPTY = FUNCTION | lexicon.words("words", "light")
_ABBREVIATIONS: dict[str, str] = dict(lexicon.section("equivalents")["abbreviations"])
_NUMBERS: dict[str, str] = dict(lexicon.section("equivalents")["numbers"])
PREFIX = 5
"""Letters that two forms of one word share at their start."""
LONGEST = 6
"""Letters of an acronym, and words that it stands for."""
_SHORTEST_ACRONYM = 3
_GROUPS: dict[str, frozenset[int]] = {}
_ENDING = 3  # letters: "-ean", "-ian", "-ese"
_CLEAR = 4  # letters from which "un-" and "non-" negate what follows
_NEGATIVE = tuple(sorted(lexicon.words("negation", "prefixes")))
_SIMILAR = 80


for _number, _group in enumerate(lexicon.section("equivalents")["groups"]):
    for _word in _group.split():
        _GROUPS[stem(_word)] = _GROUPS.get(stem(_word), frozenset()) | {_number}


def is_content(word: Word) -> bool:
    """True for a word that carries topic: no function word, no light verb, no mark."""
    return word.lower not in _EMPTY and is_word(word)


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


class WordIndex:
    """The words of a text.

    Args:
        words: The words and marks of the text.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        self._words = tuple(words)

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
        return frozenset(word.lower[:PREFIX] for word in self.content if len(word.lower) >= PREFIX)

    @cached_property
    def letters(self) -> str:
        """The first letters of the words that an acronym is made of."""
        return "".join(word.lower[0] for word in self.pool if word.lower not in FUNCTION)

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
            if word.text.isupper() or (_SHORTEST_ACRONYM <= len(word.text) < PREFIX and is_content(word))
        )

    @cached_property
    def mixed(self) -> frozenset[str]:
        """Acronyms with small letters in them."""
        return frozenset(word.text for word in self.content if is_mixed(word.text))


class JoinedIndex(WordIndex):
    """The words of several texts in their order: what was worked out for the parts is only put together."""

    def __init__(self, parts: Sequence[WordIndex]) -> None:
        self._parts = parts
        super().__init__(())

    @cached_property
    def pool(self) -> tuple[Word, ...]:
        """The words, marks left out."""
        return tuple(chain.from_iterable(part.pool for part in self._parts))

    @cached_property
    def keys(self) -> frozenset[str]:
        """All forms of all words."""
        return frozenset().union(*(part.keys for part in self._parts))

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that carry topic."""
        return tuple(chain.from_iterable(part.content for part in self._parts))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The words that carry topic, each once, in canonical form."""
        return tuple(dict.fromkeys(chain.from_iterable(part.plain for part in self._parts)))

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The first letters of the words that carry topic."""
        return frozenset().union(*(part.prefixes for part in self._parts))

    @cached_property
    def letters(self) -> str:
        """The first letters of the words that an acronym is made of."""
        return "".join(part.letters for part in self._parts)

    @cached_property
    def initials(self) -> frozenset[str]:
        """Those of the parts, and of the runs across their borders."""
        borders = accumulate(len(part.letters) for part in self._parts)
        across = chain.from_iterable(range(max(0, border - LONGEST + 1), border) for border in borders)
        return frozenset(_runs(self.letters, across)).union(*(part.initials for part in self._parts))

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """What may be an acronym, without its dots."""
        return frozenset().union(*(part.acronyms for part in self._parts))

    @cached_property
    def mixed(self) -> frozenset[str]:
        """Acronyms with small letters in them."""
        return frozenset().union(*(part.mixed for part in self._parts))


def is_mixed(text: str) -> bool:
    """True for an acronym with small letters in it: "BoE", "MSc", "MOOCs"."""
    return text[:1].isupper() and len(text) <= LONGEST and sum(c.isupper() for c in text) > 1 and not text.isupper()


def _runs(letters: str, starts: Iterable[int]) -> Iterator[str]:
    """The runs of two to six letters that start at the given places."""
    return (letters[i : i + n] for i in starts for n in range(2, LONGEST + 1) if i + n <= len(letters))


def negates(one: str, other: str) -> bool:
    """True where one word is the other with a negative prefix: "eligible" and "ineligible"."""
    short, long = sorted((one, other), key=len)
    prefix = long.removesuffix(short)
    return prefix in _NEGATIVE and len(short) >= (_CLEAR if prefix.startswith(("un", "non")) else PREFIX)


class Vocabulary:
    """The words of one or more texts, to ask whether they support a word.

    Args:
        words: The words of the texts.

    Attributes:
        index: The words, arranged to be looked up.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        self.index = WordIndex(words)

    @classmethod
    def joined(cls, vocabularies: Iterable[Vocabulary]) -> Vocabulary:
        """The words of several texts, in their order, as one vocabulary."""
        whole = cls(())
        whole.index = JoinedIndex([vocabulary.index for vocabulary in vocabularies])
        return whole

    def supports(self, word: Word) -> bool:
        """True where a word of the pool says the same as `word`."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self.index.initials
        return self._resembles(canonical(word.text))

    def supports_name(self, word: Word) -> bool:
        """True where a word of the pool is the name `word`: Austria and Australia resemble each other and are two."""
        if self.holds(word):
            return True
        acronym = word.text.replace(".", "")
        if acronym.isupper() and len(acronym) > 1:
            return acronym.lower() in self.index.initials
        if is_mixed(word.text) and any(
            _shortens(word.text, self.index.pool[i : i + LONGEST]) for i in range(len(self.index.pool))
        ):
            return True
        name = canonical(word.text)
        near = process.extract(name, self.index.plain, scorer=DamerauLevenshtein.distance, score_cutoff=1, limit=None)
        if any(is_typo(name, other) for other, _, _ in near):
            return True
        if not self._may_derive(name):
            return False
        return any(_is_derived(name, other) and not are_places(name, other) for other in self.index.plain)

    def holds(self, word: Word) -> bool:
        """True where a word of the pool is `word` itself in any inflection, or its listed equal."""
        return any(key in self.index.keys for form in (word.text, word.lemma) for key in forms_of(form))

    def holds_stem(self, key: str) -> bool:
        """True where a word of the pool has the stem `key`."""
        return key in self.index.keys

    def _resembles(self, lower: str) -> bool:
        if len(lower) < PREFIX or not lower.isascii() or any(c.isdigit() for c in lower):
            return False  # one digit makes another code
        if lower[:PREFIX] in self.index.prefixes:
            return True
        if self._may_compound(lower) and any(
            _is_compound(lower, other) and not negates(lower, other) for other in self.index.plain
        ):
            return True
        close = process.extractOne(lower, self.index.plain, scorer=fuzz.ratio, score_cutoff=_SIMILAR)
        return close is not None and len(close[0]) >= PREFIX and close[0].isascii() and not negates(lower, close[0])

    def _may_derive(self, name: str) -> bool:
        """False where no plain word starts with `name`, or is `name` without its last few letters."""
        row = self.index.row
        return f"\0{name}" in row or any(f"\0{name[:-i]}\0" in row for i in range(1, _ENDING + 1))

    def _may_compound(self, lower: str) -> bool:
        """False where no plain word starts or ends in `lower`, or is a start or end of it."""
        row, ends = self.index.row, range(3, len(lower))
        if f"\0{lower}" in row or f"{lower}\0" in row:
            return True
        return any(f"\0{lower[:i]}\0" in row or f"\0{lower[i:]}\0" in row for i in ends)

    def expands(self, words: Sequence[Word]) -> bool:
        """True where the initials of `words` are an acronym of the pool."""
        initials = "".join(word.lower[0] for word in words if word.lower not in FUNCTION and word.text[0].isalpha())
        return (len(initials) > 1 and initials in self.index.acronyms) or any(
            _shortens(a, words) for a in self.index.mixed
        )


def _shortens(acronym: str, words: Sequence[Word]) -> bool:
    """True where the letters of an acronym are the beginnings of `words`, one after the other from the first on.

    Each content word gives at least one letter; the words behind the last letter are not looked at.
    """
    left = acronym.removesuffix("s").lower() if acronym[-2:-1].isupper() else acronym.lower()
    for word in words:
        given = 0
        while given < len(left) and word.lower[given : given + 1] == left[given]:
            given += 1
        if not given and word.lower not in FUNCTION:
            return False
        left = left[max(given, 0) :]
        if not left:
            return True
    return False


def _is_derived(one: str, other: str) -> bool:
    """True for a name and a form of it: "Shakespeare" and "Shakespearean"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= PREFIX and long.startswith(short) and long.isalpha() and len(long) - len(short) <= _ENDING


def _is_compound(one: str, other: str) -> bool:
    """True where one word is a part of the other: "basin" of "catchbasin"."""
    short, long = sorted((one, other), key=len)
    clipped = len(short) >= 3 and len(long) - len(short) >= 4 and long.startswith(short)  # "vet", "veterinarian"
    return clipped or (len(short) >= 4 and len(long) - len(short) >= 3 and long.endswith(short))
