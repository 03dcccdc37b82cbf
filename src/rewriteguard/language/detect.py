"""Which language a short text is in, as far as the guard must know: English, another one, or too little to tell.

By script first, then by function words: those of spaCy's own stop lists that only one of the languages has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from spacy.lang.de.stop_words import STOP_WORDS as GERMAN
from spacy.lang.en.stop_words import STOP_WORDS as ENGLISH
from spacy.lang.es.stop_words import STOP_WORDS as SPANISH
from spacy.lang.fr.stop_words import STOP_WORDS as FRENCH
from spacy.lang.it.stop_words import STOP_WORDS as ITALIAN
from spacy.lang.nl.stop_words import STOP_WORDS as DUTCH
from spacy.lang.pt.stop_words import STOP_WORDS as PORTUGUESE

_LISTS = {
    "en": ENGLISH | {"what", "how", "which", "does", "is", "are"},
    "de": GERMAN, "es": SPANISH, "fr": FRENCH, "it": ITALIAN, "nl": DUTCH, "pt": PORTUGUESE,
}  # fmt: skip
_SHARE = 0.3  # of the letters: one foreign name in an English question stays below it
_MARGIN = 2  # function words: one may be a name or a loan ("a la carte")


def language_of(words: Iterable[str]) -> str:
    """A language code, a script code for what is not written in Latin letters, or "" where too little is there."""
    return _language_of(tuple(words))


@lru_cache(maxsize=4_096)
def _language_of(words: tuple[str, ...]) -> str:
    letters = [c for word in words for c in word if c.isalpha()]
    foreign = [c for c in letters if not c.isascii() and not _is_latin(c)]
    if letters and len(foreign) > _SHARE * len(letters):
        return unicodedata.name(foreign[0], "unknown").split()[0].lower()
    lowers = [word.casefold() for word in words]
    scores = {code: sum(word in stops for word in lowers) for code, stops in _LISTS.items()}
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    if best == "en" or scores[best] - scores["en"] < _MARGIN:
        return "en" if scores["en"] else ""
    return best


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN")
