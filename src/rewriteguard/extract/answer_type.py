"""What kind of answer a question wants: a person, a time, a place, a reason, a count, a cost, yes or no ...

Values: `person`, `time`, `place`, `reason`, `count`, `cost`, `amount`, `duration`, `frequency`, `degree`, `manner`,
`thing` (what, which), `polar` (yes or no). Only the first eight name one kind of answer and no other; `thing`,
`manner` and `polar` are asked for in each other's words.
Left alone: relative and subordinate "who", "when", "where" ("the man who", "when it rains").
"""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, end_of, text_of, token, words_of
from rewriteguard.language import lexicon
from rewriteguard.language.words import Phrases
from rewriteguard.model.tokens import Kind, ProtectedToken

STRONG = frozenset({"person", "time", "place", "reason", "count", "cost", "duration", "frequency"})
_TABLE = lexicon.section("answer_type")
_WH = {
    "who": "person", "whom": "person", "whose": "person", "when": "time", "where": "place", "why": "reason",
    "how": "manner", "what": "thing", "which": "thing", "whether": "polar",
}  # fmt: skip
_PHRASES = Phrases(
    (phrase.split(), name)
    for name in _TABLE
    for phrase in sorted(_TABLE[name], key=lambda p: (-len(p), p))
    if phrase.split()[0] in _WH and len(phrase.split()) > 1
)
_AUXILIARIES = lexicon.words("regions", "auxiliaries") | {"ca", "wo", "do", "does", "did"}
_ASKING = lexicon.words("regions", "asking")
_OPENERS = lexicon.words("words", "function") - {
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "if", "that", "not", "as", "while",
    "because", "since", "although", "until", "unless", "before", "after", "same", "i", "he", "she", "we", "you",
    "they", "one", "ones", "those", "this", "these", "it", "then",
}  # fmt: skip
SINCE = frozenset({"since", "until", "till"})
"""What makes "when" ask for a duration."""
_CLAUSE_ENDS = frozenset({".", "?", "!", ";", ":"})


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The kinds of answer that `doc` asks for, in reading order."""
    text, opened = text_of(doc), True
    for word in words_of(doc):
        if word.text in _CLAUSE_ENDS or "\n" in word.text:
            opened = True
            continue
        found = _asked(doc, word, opened)
        if found:
            length, value = found
            yield token(Kind.ANSWER_TYPE, text, word.idx, end_of(doc, word, length), value)
            opened = False
        elif not word.is_punct and word.lower_ not in _OPENERS and not _leads_to_question_word(doc, word):
            opened = False


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME for one kind of answer; kinds that are asked for in each other's words are the same too."""
    if ours.value == theirs.value or not {ours.value, theirs.value} & STRONG:
        return Match.SAME
    return Match.SAME if frozenset({ours.value, theirs.value}) in _SHARED else Match.DIFFERENT


_SHARED = frozenset({frozenset({"cost", "amount"}), frozenset({"count", "amount"}), frozenset({"duration", "time"})})


def exchanged(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True for a yes or no and one kind of answer in each other's place, "what" and one kind, "how long" and "when"."""
    values = {ours.value, theirs.value}
    if values == {"duration", "time"}:
        return True
    return bool(values & (STRONG | {"manner"}) and "polar" in values) or bool(values & STRONG and "thing" in values)


def paraphrases(value: str) -> tuple[tuple[str, ...], ...]:
    """The word sequences that ask for a kind of answer without its question word: "price of" for a cost."""
    return _PARAPHRASES.get(value, ())


WORDS = frozenset(phrase for phrases in _TABLE.values() for phrase in phrases if " " not in phrase)
"""Single words that ask for a kind of answer: "year", "price", "reason"."""
_PARAPHRASES = {name: tuple(tuple(phrase.split()) for phrase in phrases) for name, phrases in _TABLE.items()}


def _asked(doc: Doc, word: Token, opened: bool) -> tuple[int, str] | None:
    lower = word.lower_
    if lower in _WH and not _is_name(doc, word):
        if not (opened or _asks_inside(doc, word)):
            return None
        return _wh(doc, word)
    if opened and lower in _AUXILIARIES and _has_subject(doc, word):
        return 1, "polar"
    return None


def _leads_to_question_word(doc: Doc, word: Token) -> bool:
    """True for "since when" and "until when"; elsewhere these open a clause."""
    return word.lower_ in SINCE and word.i + 1 < len(doc) and doc[word.i + 1].lower_ in _WH


def _asks_inside(doc: Doc, word: Token) -> bool:
    """True where a question word opens a clause of its own inside a sentence."""
    if not word.i:
        return True
    before = doc[word.i - 1]
    if before.lower_ in _ASKING and word.lower_ not in {"that"}:
        return True
    after = doc[word.i + 1] if word.i + 1 < len(doc) else None
    joined = before.lower_ in {"and", "or", ","}
    if after is None or after.text == "?":
        return True
    if word.lower_ in {"what", "which", "how", "why"}:
        return joined
    return joined and (after.lower_ in _AUXILIARIES) and word.lower_ != "who" and doc[-1].text == "?"


def _is_name(doc: Doc, word: Token) -> bool:
    """True for "the WHO" in a sentence that is not all in capitals."""
    return word.text == "WHO" and not text_of(doc).isupper()


def _wh(doc: Doc, word: Token) -> tuple[int, str]:
    phrase = _PHRASES.at(doc, word)
    if phrase is not None:
        return phrase
    after = doc[word.i + 1] if word.i + 1 < len(doc) else None
    if word.lower_ == "how" and after is not None and after.pos_ in {"ADJ", "ADV"}:
        return 2, "degree"
    if word.lower_ == "how" and after is not None and after.lower_ == "about":
        return 2, "thing"
    return 1, _WH[word.lower_]


def _has_subject(doc: Doc, word: Token) -> bool:
    after = doc[word.i + 1] if word.i + 1 < len(doc) else None
    if after is None or after.is_punct:
        return False
    if word.lower_ in {"may", "will", "might", "do", "have"} and word.tag_ in {"NNP", "NN", "VB"}:
        return False
    # "Can you find ..." and "Could you tell ..." wrap a request.
    return not (after.lower_ in {"you", "u"} and word.lower_ in {"can", "could", "would", "will"})
