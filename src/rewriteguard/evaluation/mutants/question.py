"""Reads a question for editing: word lists, names, what is shielded, where clauses, subjects and pointers stand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from rewriteguard.evaluation.mutants.mutant import Match, Question, Span, holds

WORDS: dict[str, Any] = tomllib.loads(
    files("rewriteguard.evaluation.mutants").joinpath("en.toml").read_text(encoding="utf-8")
)
"""The lists of `en.toml`, by section."""
_SHIELD = WORDS["shield"]
_PLAIN = frozenset(_SHIELD["plain"])
_MONTHS = frozenset(month.casefold() for month in _SHIELD["months"])


def any_of(words: Iterable[str]) -> str:
    """An alternation of the words, longest first, for use inside a larger expression."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


def whole(words: Iterable[str]) -> re.Pattern[str]:
    """An expression that finds the words as whole words, whatever their case."""
    return re.compile(rf"(?<![\w'’-])(?P<word>{any_of(words)})(?![\w'’-])", re.IGNORECASE)


# What an edit may look at

_QUOTED = re.compile(
    r"""
    "[^"]{1,200}" | “[^”]{1,200}” | (?<!\w)'[^']{1,200}'(?!\w) | (?<!\w)‘[^’]{1,200}’(?!\w) | \([^)]{1,200}\)
    | \[[^\]]{1,200}\]
    """,
    re.VERBOSE,
)
_EXCLUSION = re.compile(
    rf"(?<!\w)(?:{any_of(_SHIELD['exclusions'])})\b[^,?]{{1,300}}?"
    r"(?=,\s{1,3}(?:what|who|where|when|how|did|does|do|is|are|was|were|has|have|which|any)\b"
    r"|\s(?:What|Who|How|Did|Are|Is|Were|Was)\b|\?|\Z)",
    re.IGNORECASE,
)
_VAGUE = whole(_SHIELD["vague"])


def read(text: str, context: str, seed: int) -> Question:
    """The question with its names and shielded spans found."""
    shielded = [match.span() for pattern in (_QUOTED, _EXCLUSION) for match in pattern.finditer(text)]
    names = tuple((a, b) for a, b in _names(text) if not any(start < b and a < end for start, end in shielded))
    shielded += [_with_numbers(text, match.span()) for match in _NAME.finditer(text) if _is_name(text, match)]
    shielded += _lower_case_names(text, context)
    focus = (sentences(text) or [(0, len(text))])[-1]
    return Question(text, context, seed, tuple(sorted(shielded)), names, focus)


def is_vague(text: str) -> bool:
    """True where the question asks for anything at all, so that its details decide nothing."""
    return _VAGUE.search(text) is not None


def is_plain(word: str) -> bool:
    """True for a word that is no name although a capital may stand at its start."""
    return word.casefold().strip(",") in _PLAIN


# Sentences and the clause that asks

_SENTENCE = re.compile(r"(?<![A-Z]\.)(?<!\b[A-Z]r\.)(?<!\bvs\.)(?<!\bSt\.)(?<=[.?!])[\"”’]?\s{1,3}(?=[A-Z\"“'‘])")
_ASK = re.compile(
    r"""
    (?P<wh>who|whom|what|when|where|why|which|how(?:\s(?:many|much|long|often|far|old|well|big|fast))?)?
    (?P<noun>(?:\s[a-z-]{2,20}){0,3}?)\s?
    \b(?P<aux>(?:did|does|do|is|are|was|were|has|have|had|can|could|should|will|would|might|must|may)(?:n['’]t)?)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:In|Besides|Aside|Apart|Other|Along|During|After|Before|Since|Except)\b[^,?]{1,200},\s")


@dataclass(frozen=True, slots=True)
class AskingClause:
    """The clause that asks: `wh` and `noun` in front of `aux`, the offset behind `aux`, and where the clause ends.

    `wh` and `noun` are empty where the question is answered by yes or no; `end` is the offset of the question mark.
    """

    start: int
    wh: str
    noun: str
    aux: str
    body: int
    end: int


def sentences(text: str) -> list[Span]:
    """The spans of the sentences, in order, without the space between them."""
    cuts = [match.span() for match in _SENTENCE.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text.rstrip())]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _starts_sentence(text: str, start: int) -> bool:
    return start == 0 or any(match.end() == start for match in _SENTENCE.finditer(text, max(0, start - 4), start + 1))


def ask(text: str) -> AskingClause | None:
    """The asking clause of the last sentence; None where that is no plain question."""
    spans = sentences(text)
    if not spans or text[spans[-1][1] - 1] != "?":
        return None
    start, end = spans[-1]
    lead = _LEAD.match(text[start:end])
    start += lead.end() if lead else 0
    match = _ASK.match(text, start, end)
    if match is None or (match["noun"] and not match["wh"]):
        return None
    end -= 1
    while text[end - 1] in " .?":
        end -= 1
    if end <= match.end():
        return None
    return AskingClause(
        start, (match["wh"] or "").lower(), match["noun"].strip(), match["aux"].lower(), match.end(), end
    )


# Names

_CAPITAL = r"(?:[A-Z]\.(?:[ ]?[A-Z]\.){0,3}|[A-ZÀ-Þ0-9][\w&+/]*(?:[-.'’]\w+){0,4})"
_NAME = re.compile(
    rf"""
    (?<![\w'’.-])(?P<first>[A-ZÀ-Þ](?:\.|[\w&+/]*(?:[-.'’]\w+){{0,4}}))
    (?:(?:,?[ ])(?:(?:of|the|de|von|van|der|du|la|el|in|on|a|for|and|to|with|by|'n'|&)[ ]){{0,3}}{_CAPITAL}){{0,9}}
    """,
    re.VERBOSE,
)
_WIDE = re.compile(r"\s(?:in|on|a|for|and|to|with|by)\s|\s(?:in|on|for|to|with|by)\sthe\s|,\s")
_BESIDE = re.compile(r"\d[\d,.-]{0,6}\s\Z"), re.compile(r"(?:['’]s)?\s\d{1,3}\b(?!\s?(?:%|,|[a-z]))")


@lru_cache(maxsize=64)
def context_names(context: str) -> tuple[str, ...]:
    """The names of a conversation, each once, in the order of the text."""
    return tuple(dict.fromkeys(context[start:end] for start, end in narrow_names(context)))


def narrow_names(text: str) -> list[Span]:
    """The spans of names cut at commas and at small words that may also join two names."""
    spans = []
    for match in _NAME.finditer(text):
        start = match.start()
        for cut in [*_WIDE.finditer(match[0]), None]:
            end = match.start() + cut.start() if cut else match.end()
            spans.append((start, end))
            start = match.start() + cut.end() if cut else end
    return [span for span in (_trimmed(text, *span) for span in spans) if span[0] < span[1]]


def _names(text: str) -> list[Span]:
    """The names that may be edited: those that nothing is joined to."""
    result = []
    for start, end in narrow_names(text):
        beside = text[max(0, start - 5) : start], text[end : end + 6]
        joined = re.search(r"(?:\band|&|,|\d)\s\Z", beside[0]) or re.match(
            r"\s(?:and\b|&|\d|[A-Z])|,\s[A-Z]|[-/(]", beside[1]
        )
        if not joined and not any(c in "\"'“‘(" for c in text[max(0, start - 1) : start]):
            result.append((start, end))
    return result


def _trimmed(text: str, start: int, end: int) -> Span:
    """The span without a possessive ending and without plain words and months at its start."""
    words = text[start:end].split(" ")
    while words and (words[0].casefold() in _PLAIN or _month(words[0])):
        start += len(words.pop(0)) + 1
    while words and (words[-1].isdigit() or not words[-1][:1].isupper()):
        end -= len(words.pop()) + 1
    name = text[start:end] if words else ""
    if not name or (_starts_sentence(text, start) and " " not in name):
        return start, start
    return start, start + len(re.sub(r"(?:['’]s?|\.)\Z", "", name))


def _is_name(text: str, match: Match) -> bool:
    words = [word for word in match[0].split(" ") if word.casefold() not in _PLAIN and not _month(word)]
    words = [word for word in words if not word.strip(",").isdigit()]
    return bool(words) and not (len(words) == 1 and _starts_sentence(text, match.start()) and " " not in match[0])


def _month(word: str) -> bool:
    return word.strip(",.'’s").casefold() in _MONTHS or word.strip(",").casefold() in _MONTHS


def _with_numbers(text: str, span: Span) -> Span:
    """The span of a name with the numbers that may belong to it, and without the plain words in front of it."""
    start, end = span
    words = text[start:end].split(" ")
    while len(words) > 1 and (
        words[0].casefold() in _PLAIN - {"the"} or _month(words[0]) or words[0].strip(",").isdigit()
    ):
        start += len(words.pop(0)) + 1
    ahead = _BESIDE[0].search(text, max(0, start - 9), start)
    behind = _BESIDE[1].match(text, end)
    return ahead.start() if ahead else start, behind.end() if behind else end


def _lower_case_names(text: str, context: str) -> list[Span]:
    """The spans where a name of the context of two words or more stands, in lower case too."""
    return [
        match.span()
        for name in context_names(context)
        if " " in name and holds(text, name)
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    ]


# Subjects and pointers

_POINTERS = frozenset(WORDS["twins"]["pointers"])
_IDLE = tuple(re.compile(pattern, re.VERBOSE) for pattern in WORDS["twins"]["idle"])
_WORD = re.compile(r"[a-z]+")
_PRONOUN = re.compile(r"\s(?:i|you|we|they|he|she|it)(?=\s[a-z])", re.IGNORECASE)
_GROUP = re.compile(
    r"\s(?:the|his|her|their)\s(?:band|group|album|team|song|film|movie|family|members|company|fans|people|critics)(?=\s[a-z])"
)
_VERB = re.compile(
    rf"\s(?P<verb>{any_of(WORDS['verbs']['plain'])})(?=\s|\?|$)(?!\s(?:take\splace|against\s[^?]{{1,40}}\stake\b))"
)


def pointers(text: str) -> frozenset[str]:
    """The words that point outside the text, in lower case.

    Left out are those that only fill a place or join clauses: "is it possible to", "I heard that", "are there". Where
    the form can be either, they are left out too: a twin that means the same as its question would blame the guard.
    """
    text = text.lower().replace("’", "'")
    idle = {found.start(1) for pattern in _IDLE for found in pattern.finditer(text)}
    return _POINTERS & {found[0] for found in _WORD.finditer(text) if found.start() not in idle}


def verb_after_subject(question: Question, clause: AskingClause) -> int | None:
    """The offset of the main verb after "did", "does" or "do" and its subject; None where that is not plain.

    The subject must be one name, a pronoun, or a plain group such as "the band".
    """
    if clause.aux not in ("did", "does", "do"):
        return None
    ends = [end for start, end in question.names if start == clause.body + 1]
    for pattern in (_PRONOUN, _GROUP):
        match = pattern.match(question.text, clause.body)
        ends += [match.end()] if match else []
    for end in ends:
        verb = _VERB.match(question.text, end)
        if verb and verb.end() <= clause.end:
            return verb.start("verb")
    return None
