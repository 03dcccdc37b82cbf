"""Which language a short text is in, as far as the guard must know: English, another one, or too little to tell.

By script first, then by function words: those of spaCy's own stop lists that only one of the languages has.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from spacy.lang.da.stop_words import STOP_WORDS as DANISH
from spacy.lang.de.stop_words import STOP_WORDS as GERMAN
from spacy.lang.en.stop_words import STOP_WORDS as ENGLISH
from spacy.lang.es.stop_words import STOP_WORDS as SPANISH
from spacy.lang.fi.stop_words import STOP_WORDS as FINNISH
from spacy.lang.fr.stop_words import STOP_WORDS as FRENCH
from spacy.lang.it.stop_words import STOP_WORDS as ITALIAN
from spacy.lang.nb.stop_words import STOP_WORDS as NORWEGIAN
from spacy.lang.nl.stop_words import STOP_WORDS as DUTCH
from spacy.lang.pl.stop_words import STOP_WORDS as POLISH
from spacy.lang.pt.stop_words import STOP_WORDS as PORTUGUESE
from spacy.lang.ro.stop_words import STOP_WORDS as ROMANIAN
from spacy.lang.sv.stop_words import STOP_WORDS as SWEDISH
from spacy.lang.tr.stop_words import STOP_WORDS as TURKISH

_ENGLISH = ENGLISH | {"what", "how", "which", "does", "is", "are", "the"}
_OTHERS = {
    "da": DANISH,
    "de": GERMAN,
    "es": SPANISH,
    "fi": FINNISH,
    "fr": FRENCH,
    "it": ITALIAN,
    "nb": NORWEGIAN,
    "nl": DUTCH,
    "pl": POLISH,
    "pt": PORTUGUESE,
    "ro": ROMANIAN,
    "sv": SWEDISH,
    "tr": TURKISH,
}
_SHARE = 0.3  # of the letters: one foreign name in an English question stays below it
_ENOUGH = 2  # function words that English does not have; one may be a name or a loan ("a la carte")
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=4_096)
def language_of(text: str) -> str:
    """A language code, a script name for what is not written in Latin letters, or "" where too little is there."""
    letters = [c for c in text if c.isalpha()]
    foreign = [c for c in letters if not c.isascii() and not _is_latin(c)]
    if letters and len(foreign) > _SHARE * len(letters):
        return unicodedata.name(foreign[0], "unknown").split()[0].lower()
    words = [word.casefold() for word in _WORD.findall(text) if len(word) > 1]
    english = sum(word in _ENGLISH for word in words)
    accented = any(not c.isascii() for c in letters)
    best, found = "", 0
    for code, stops in _OTHERS.items():
        own = sum(word in stops and word not in _ENGLISH for word in words)
        if own > found:
            best, found = code, own
    if found >= (1 if accented else _ENOUGH) and found > english:
        return best
    return "en" if english else ""


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN")
