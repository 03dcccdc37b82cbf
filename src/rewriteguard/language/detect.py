"""Which language a short text is in, as far as the guard must know: English, another one, or too little to tell.

By script first, then by py3langid, a model of byte n-grams that is read on first use (about one second, 75 MB; then
0.1 ms a text). Measured on 8,707 English turns and rewrites (CAsT 2021, CANARD, MTRAG, Disfl-QA) and on 40 turns each
in German, Spanish, French, Italian, Portuguese and Dutch: 3 English texts (0.03 %) are taken for another language, 236
of the 240 others are recognised. lingua (70 to 200 MB), at a likelihood of 50 %, took 14 and recognised 217; in its
low-accuracy mode 257 and 226.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from rewriteguard.language import lexicon

LATIN = ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pl", "pt", "ro", "sv", "tr", "cs")
"""The languages in Latin letters that are told from English; others pass for one of them."""
_SHARE = 0.3  # of the letters: one foreign name in an English question stays below it
# The highest likelihood of English at which a text is foreign, by how many English function words it holds; "was",
# "will" and "per" are German and Italian too. At 10 % twice as many English texts are misread, at 5 % two more others
# are missed.
_NOT_ENGLISH = (0.07, 0.01, 0.001)
_LIKELY = 0.25  # of 60 English titles full of foreign words it leaves 7 of 22 open that fit no language well
_ENGLISH = 0.5
_READ = 500  # characters, which is plenty
_FEWEST = 2  # words; single ones are names as often as not
_FUNCTION = frozenset(word for word in lexicon.words("words", "function") if len(word) > 2)
_WORD = re.compile(r"[^\W\d_]{2,}", re.VERBOSE)
_NUMBER = re.compile(r"[\W_]{0,8}\d[\W\d_]{0,24}", re.VERBOSE)  # it is in no language
_SCRIPTS = {"cjk": "zh", "hiragana": "ja", "katakana": "ja", "katakana-hiragana": "ja", "hangul": "ko"}


@lru_cache(maxsize=4_096)
def language_of(text: str) -> str:
    """A language code, a script name where the script has several languages, or "" where too little is there."""
    text = text[:_READ]
    letters = [c for c in text if c.isalpha()]
    foreign = [script for c in letters if not c.isascii() and (script := _script(c)) != "latin"]
    if letters and len(foreign) > _SHARE * len(letters):
        kana = next((script for script in foreign if _SCRIPTS.get(script) == "ja"), None)
        return _SCRIPTS.get(kana or foreign[0], foreign[0])
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < _FEWEST:
        return ""
    ranked = _identifier().rank(_NUMBER.sub(" ", text))
    english, (best, likelihood) = dict(ranked)["en"], ranked[0]
    count = min(len(_FUNCTION.intersection(words)), len(_NOT_ENGLISH) - 1)
    if english <= _NOT_ENGLISH[count]:
        return best if likelihood >= _LIKELY else ""
    return "en" if english >= _ENGLISH or count > 1 else ""


def is_foreign(language: str) -> bool:
    """True for a language that the guard has no word lists for; what is too little to tell is read as English."""
    return language not in {"", "en"}


def are_apart(ours: str, theirs: str) -> bool:
    """True for two languages that are told apart for sure: by script, or English and another one.

    Portuguese and Spanish, or Danish and Swedish, are not: a short question in one passes for the other.
    """
    kin = ({ours, theirs} <= set(LATIN) - {"en"}) or {ours, theirs} == {"zh", "ja"}
    return bool(ours and theirs) and ours != theirs and not kin


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LATIN)
    return identifier


def _script(character: str) -> str:
    return unicodedata.name(character, "unknown").split()[0].lower()
