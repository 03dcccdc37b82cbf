"""The words of one text or of several, arranged to be looked up: each arrangement is made on first use and kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain

from rewriteguard.extract.entity import canonical, country
from rewriteguard.language import lexicon
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
