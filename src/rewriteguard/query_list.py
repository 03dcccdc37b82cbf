"""The queries in a model's list: numbers, bullets, labels, prefaces and closing remarks taken off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rewriteguard.sanitize import clean
from rewriteguard.wrapping import without_reasoning

_MARKED = re.compile(
    r"""
    \A[ \t]*(?:\#{1,6}[ \t]+)?(?:\*\*|__)?
    (?:
        (?P<label>(?:(?:search|sub-?|step-?back|alternative|rewritten|re-?phrased)[ -]?)?
           (?:quer(?:y|ies)|questions?|versions?|variants?|variations?|alternatives?|rewrites?|options?|q))?
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
        (?:sure|certainly|of\ course|okay|ok|absolutely)\b[^?\n]{0,300}[:.!]
      | (?:here|below|these|the\ following)\b[^?\n]{0,300}:
      | [^?\n]{0,200}\b(?:quer(?:y|ies)|questions|versions|variants|variations|alternatives|rewrites|perspectives)
        \b[^?:\n]{0,200}:
    )\s{0,3}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REMARK = re.compile(
    r"""
    \A(?:
        (?:these|the\ above|all\ (?:of\ )?these|each\ of\ these)\ (?:\w{1,20}\ ){0,3}?
        (?:quer(?:y|ies)|questions|versions|variants|variations|alternatives|rewrites|rephrasings)\b[^?\n]{0,400}[.!]
      | (?:i\ hope|let\ me\ know|feel\ free|hope\ this|note\ that\ the(?:se)?\ (?:quer|question|version))\b[^?\n]{0,400}
    )\s{0,3}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]{0,20}\s*\Z")
_LISTED = 2  # lines with a mark from which the text is a list: one alone may be a name ("1. FC ...")


@dataclass(frozen=True, slots=True)
class Listed:
    """One query of a list: the item as it came, and the item without its mark."""

    raw: str
    text: str


def listed_queries(items: Iterable[str], *, passages: bool = False) -> tuple[Listed, ...]:
    """The items that hold a query, in their order, without their marks; what only introduces or closes is left out.

    Args:
        items: The items of a list, or the lines of an output that holds one.
        passages: Whether an item of several lines may be a text of sentences; otherwise notes stand behind its query.
    """
    given = list(items)
    whole = without_reasoning("\n".join(given))
    entries = _json_entries(whole.strip())
    if entries is not None:
        given = entries
    elif whole != "\n".join(given):
        given = whole.split("\n")
    lines = [line for item in given for line in _taken_apart(item, passages=passages)]
    marks = [_MARKED.match(line.text) for line in lines]
    is_list = _is_list(marks) or any(_is_preface(line.text) for line in lines)
    noted = is_list and sum(mark is not None for mark in marks) >= _LISTED  # then what has no mark is about the list
    found = []
    for line, mark in zip(lines, marks, strict=True):
        if _is_preface(line.text) or _REMARK.match(line.text.strip()) or (mark is None and noted):
            continue
        text = line.text[mark.end() :].strip() if mark is not None and (is_list or mark["label"]) else line.text
        if clean(text).text:
            found.append(Listed(line.raw, text))
    return tuple(found)


def queries_in(output: str) -> tuple[str, ...]:
    """The lines of an output that holds a list of queries, as they stand there."""
    return tuple(line for line in output.split("\n") if line.strip())


def _taken_apart(item: str, *, passages: bool) -> Sequence[Listed]:
    """The item, or its lines where it is a whole list; a passage becomes one line."""
    lines = [line for line in item.splitlines() if line.strip() and not _FENCE.match(line)]
    body = lines[1:] if lines and _is_preface(lines[0]) else lines
    if not lines:
        return []
    if body and _MARKED.match(body[0]) and _is_list([_MARKED.match(line) for line in lines]):
        return [Listed(line, line) for line in lines]
    if passages and body and body[0].rstrip().endswith((".", "!", '."')):
        return [Listed(item, " ".join(" ".join(body).split()))]
    return [Listed(item, item)]


def _is_list(marks: Sequence[re.Match[str] | None]) -> bool:
    """True for bullets, and for numbers that count up from 1."""
    numbers = [int(mark["number"] or mark["bracketed"]) for mark in marks if mark and not mark["bullet"]]
    bullets = sum(bool(mark and mark["bullet"]) for mark in marks)
    counted = len(numbers) >= _LISTED and numbers == sorted(numbers) and numbers[0] <= 1
    return bullets >= _LISTED or counted


def _is_preface(line: str) -> bool:
    return _PREFACE.match(line.strip()) is not None


def _json_entries(text: str) -> list[str] | None:
    """The strings of a JSON list, or of the first list in a JSON object; None where the text is neither."""
    body = re.sub(r"\A\s*```\w{0,20}\s*|\s*```\s*\Z", "", text).strip()
    if body[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = next((entry for entry in value.values() if isinstance(entry, list)), None)
    return value if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else None
