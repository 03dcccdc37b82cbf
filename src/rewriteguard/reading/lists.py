"""The queries in a model's list: numbers, bullets, labels, prefaces and closing remarks taken off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rewriteguard.reading.unwrap import clean, json_in, without_reasoning

_MARKED = re.compile(
    r"""
    \A[ \t]*(?:\#{1,6}[ \t]+)?(?:\*\*|__)?
    (?:
        (?:
            (?P<own>(?:search|sub-?|step-?back|alternative|rewritten|re-?phrased)[ -]?(?:quer(?:y|ies)|questions?)
              |quer(?:y|ies)|rewrites?)
          | (?P<label>questions?|versions?|variants?|variations?|alternatives?|options?|q)
        )?
        [ \t]{0,2}\#?(?P<number>\d{1,3})[ \t]?(?:[.):](?!\d)|[ ][-–—](?=[ ]))   # "1." "2)" "Query 3:" "Version 1 - "
      | \((?P<bracketed>\d{1,3})\)                                             # "(1)"
      | (?P<bullet>[-*•–])(?=[ \t])
    )
    (?:\*\*|__)?[ \t]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PREFACE = re.compile(
    r"""
    \A(?:
        (?:sure|certainly|of\ course|okay|ok|absolutely)(?:[!.,]?|\b[^?\n]{0,300}:)
      | (?:sure|certainly|of\ course|okay|ok|absolutely)[!.,]\ {1,2}(?:I|here|below|these)\b[^?\n]{0,300}[.!:]
      | (?:here(?:\ is|\ are|'s|’s)|below|these|the\ following)\b[^?\n]{0,300}:
      | (?!(?:what|which|how|who|when|where|why|is|are|does|do|did|can)\b)[^?\n]{0,200}
        \b(?:quer(?:y|ies)|questions|versions|variants|variations|alternatives|rewrites|perspectives)\b[^?:\n]{0,200}:
    )\s{0,3}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOSING = re.compile(
    r"""
    \A(?:
        (?:i\ hope\ (?:this|these|that)|let\ me\ know\ (?:if|whether)|feel\ free\ to)\b[^?\n]{0,400}[.!]
      | (?:would\ you\ like|do\ you\ want)\ me\ to\b[^?\n]{0,400}\?
    )\s{0,3}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REMARK = re.compile(
    r"""
    \A(?:these|the\ above|all\ (?:of\ )?these|each\ of\ these|note\ that\ the(?:se)?)\ (?:\w{1,20}\ ){0,3}?
    (?:quer(?:y|ies)|questions?|versions?|variants|variations|alternatives|rewrites|rephrasings)\b[^?\n]{0,400}[.!]
    \s{0,3}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Beside the items of a list: an indented line, a heading, a rule, or a sentence, which no query is.
_NOTE = re.compile(
    r"""
    \A(?: [ ]{2,}\S | \t | \#{1,6}[ ] | \*\*[^*\n]{1,200}\*\*\s*\Z | [-*_]{3,}\s*\Z | [^\n]{0,2000}[.!:]\s*\Z )
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]{0,20}\s*\Z")
_LISTED = 2  # lines with a mark from which the text is a list: one alone may be a name ("1. FC ...")
_SAID_AS = {"q": r"q\d?|quarters?|questions?", "query": "quer(?:y|ies)"}  # what a turn says for a label


@dataclass(frozen=True, slots=True)
class Listed:
    """One query of a list: the item as it came, and the item without its mark."""

    raw: str
    text: str


def listed_queries(items: Iterable[str], turn: str = "", *, passages: bool = False) -> tuple[Listed, ...]:
    """The items that hold a query, in their order; what only introduces or closes the list is left out.

    Numbers and labels are taken off where all items have one and they count up from 1, bullets where all have one:
    otherwise, and where the turn says them too ("option 2", "1. FC ..."), they are a part of the query.

    Args:
        items: The items of a list, or the lines of an output that holds one.
        turn: What they were written for.
        passages: Whether an item of several lines may be a text of sentences; otherwise notes stand behind its query.
    """
    given = list(items)
    whole = without_reasoning("\n".join(given))
    entries = _json_entries(whole.strip())
    if entries is not None:
        given = entries
    elif whole != "\n".join(given):
        given = whole.split("\n")
    lines = [line for item in given for line in _taken_apart(item, turn, passages=passages)]
    left = [line for line in lines if clean(line.text).text and not _is_preface(line.text)]
    return tuple(_unmarked(left, turn, introduced=any(_is_preface(line.text) for line in lines)))


def as_they_are(items: Iterable[str]) -> tuple[Listed, ...]:
    """Each item as one query, whatever it looks like; blank ones are left out."""
    return tuple(Listed(item, item) for item in items if clean(item).text)


def _unmarked(lines: Sequence[Listed], turn: str, *, introduced: bool) -> Iterable[Listed]:
    """The queries among `lines`, without the marks of the list that they are, if they are one."""
    items = _items([line.text for line in lines], turn, least=1 if introduced else _LISTED)
    for line in lines:
        mark = _MARKED.match(line.text)
        if items and mark is not None and line.text in items:
            text = line.text[mark.end() :].strip()
            if clean(text).text:
                yield Listed(line.raw, text)
        elif items or (line is lines[-1] and lines[1:] and _closes(line.text, introduced)):
            continue
        else:
            yield line


def _closes(line: str, introduced: bool) -> bool:
    return bool(_CLOSING.match(line.strip()) or (introduced and _REMARK.match(line.strip())))


def queries_in(output: str) -> tuple[str, ...]:
    """The lines of an output that holds a list of queries, as they stand there."""
    return tuple(line for line in output.split("\n") if line.strip())


def _taken_apart(item: str, turn: str, *, passages: bool) -> Sequence[Listed]:
    """The item, or its lines where it is a whole list; a passage becomes one line."""
    lines = [line for line in item.splitlines() if line.strip() and not _FENCE.match(line)]
    body = lines[1:] if lines and _is_preface(lines[0]) else lines
    if not lines:
        return []
    if body and _MARKED.match(body[0]) and _items(body, turn):
        return [Listed(line, line) for line in lines]
    if passages and body and body[0].rstrip().endswith((".", "!", '."')):
        return [Listed(item, " ".join(" ".join(body).split()))]
    return [Listed(item, item)]


def _items(lines: Sequence[str], turn: str, least: int = _LISTED) -> frozenset[str]:
    """The lines that are the items of one list, with their marks; empty where the lines are no list.

    Every line has to have a mark, but for notes; a mark that the turn says too, or without which two items would be
    one, is a part of its query.
    """
    marks = {line: mark for line in lines if (mark := _MARKED.match(line))}
    margin = min(map(_indent, marks), default=0)
    marks = {line: mark for line, mark in marks.items() if _indent(line) == margin}
    if not all(line in marks or _NOTE.match(line) or _CLOSING.match(line.strip()) for line in lines):
        return frozenset()
    found = [marks[line] for line in lines if line in marks]
    own = len(found) == 1 and found[0]["own"] is not None
    if len(found) < (1 if own else least) or not (_are_bullets(found) or _count_up(found)):
        return frozenset()
    if any(_says(turn, mark) for mark in found) or (any(map(_label, found)) and _merges(found)):
        return frozenset()
    return frozenset(marks)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _are_bullets(marks: Sequence[re.Match[str]]) -> bool:
    return all(mark["bullet"] for mark in marks)


def _count_up(marks: Sequence[re.Match[str]]) -> bool:
    """True for 1, 2, 3, for 1, 1, 1 and for 1, 2, 1, 2."""
    numbers = [int(mark["number"] or mark["bracketed"] or 0) for mark in marks]
    return all(number in (1, before + 1) for before, number in pairwise([0, *numbers]))


def _label(mark: re.Match[str]) -> str:
    """The last word of the label in lower case, in the singular; empty for a bare number."""
    words = re.findall(r"[a-z]+", (mark["own"] or mark["label"] or "").casefold().replace("queries", "query"))
    return words[-1].rstrip("s") if words else ""


def _says(turn: str, mark: re.Match[str]) -> bool:
    """True where the turn has the label, or the number before the same word, as in "1. FC"."""
    label = _label(mark)
    if label:
        return re.search(rf"\b(?:{_SAID_AS.get(label, f'{label}s?')})\b", turn, re.IGNORECASE) is not None
    number = mark["number"] or mark["bracketed"]
    word = re.match(r"\w+", mark.string[mark.end() :])
    if number is None or word is None:
        return False
    return re.search(rf"\b{number}\b\W{{0,3}}{re.escape(word[0])}\b", turn, re.IGNORECASE) is not None


def _merges(marks: Sequence[re.Match[str]]) -> bool:
    """True where two items would be one without their marks."""
    texts = [mark.string[mark.end() :].strip().casefold() for mark in marks]
    return len(set(texts)) < len(texts)


def _is_preface(line: str) -> bool:
    return _PREFACE.match(line.strip()) is not None


def _json_entries(text: str) -> list[str] | None:
    """The strings of a JSON list, or of the first list in a JSON object; None where the text is neither."""
    value = json_in(re.sub(r"\A\s*```\w{0,20}\s*|\s*```\s*\Z", "", text).strip())
    if isinstance(value, dict):
        value = next((entry for entry in value.values() if isinstance(entry, list)), None)
    return value if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None
