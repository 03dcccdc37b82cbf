"""Takes off what a model wrapped around its query: `clean` gives the text that is judged and searched."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rewriteguard.language.normal import visible

# A query is at most a few sentences; a longer text is not unwrapped, only folded, and is judged as it is.
_MAX_LENGTH = 20_000
_ROUNDS = 6


class Wrapping(StrEnum):
    """What was taken off a rewrite."""

    INVISIBLE = "invisible"
    THINK = "think"
    TEMPLATE = "template"
    CODE_FENCE = "code_fence"
    JSON = "json"
    LABEL = "label"
    PREFACE = "preface"
    NARRATION = "narration"
    DIALOGUE = "dialogue"
    EXPLANATION = "explanation"
    LIST = "list"
    MARKDOWN = "markdown"
    QUOTES = "quotes"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A rewrite without its wrapping.

    Attributes:
        text: The query on one line; empty where nothing is left.
        removed: What was taken off, in the order of `Wrapping`, each once.
    """

    text: str
    removed: tuple[str, ...]


def clean(rewrite: str) -> Cleaned:
    """The query in a rewriter's output: one line, NFKC, without labels, quotes, fences, reasoning and remarks.

    Of several queries the first is taken. The time is linear in the length of the output.
    """
    text = visible(rewrite)
    removed = {Wrapping.INVISIBLE} if text != rewrite else set()
    text = text.replace("\u00b4", "'")  # NFKC would make a space and an accent of it
    text = unicodedata.normalize("NFKC", text).replace("\r\n", "\n").replace("\r", "\n").strip()
    text = _applied(without_reasoning, Wrapping.THINK, text, removed)
    if len(text) <= _MAX_LENGTH:
        for _ in range(_ROUNDS):
            before = text
            for wrapping, step in _STEPS:
                text = _applied(step, wrapping, text, removed)
            if text == before:
                break
    return Cleaned(" ".join(text.split()), tuple(wrapping.value for wrapping in Wrapping if wrapping in removed))


def _applied(step: Callable[[str], str], wrapping: Wrapping, text: str, removed: set[Wrapping]) -> str:
    result = step(text).strip()
    if result != text:
        removed.add(wrapping)
    return result


_REASONING_TAG = re.compile(r"<(?P<close>/?)(?:think|thinking|thought|reasoning|reflection|scratchpad)>", re.IGNORECASE)
# Marks of the chat templates in wide use, which stand around messages and say nothing.
TEMPLATE = re.compile(
    r"""
    <\|start_header_id\|>\w{1,20}<\|end_header_id\|>
    | <\|im_start\|>(?:\w{1,20}(?=\n))?
    | <\|[a-z_]{1,40}\|>
    | <(?:start|end)_of_turn>(?:(?:user|model)(?=\n))?
    | \[/?INST\] | <</?SYS>>
    | \A<s> | </s>\Z
    """,
    re.VERBOSE,
)
_FENCE_OPEN = re.compile(r"\A(?:```|~~~)(?:[\w+-]{0,20}[ \t]*\n)?")
_JSON_KEYS = (
    "query", "rewritten_query", "standalone_query", "search_query", "question", "rewritten_question",
    "standalone_question", "rewrite", "rewritten", "queries", "questions", "output",
)  # fmt: skip
# "Rewritten", "standalone" ... say that a query follows; "search", "user" ... do so only before "query" and its kin.
_STRONG = r"""(?:re-?written|re-?phrased|re-?formulated|re-?worded|revised|refined|condensed|contextuali[sz]ed|resolved
    |decontextuali[sz]ed|stand-?\ ?alone|self-?\ ?contained|rewrite|paraphrased|optimi[sz]ed)"""
_WEAK = (
    r"(?:search|final|improved|updated|clarified|new|user(?:'s|’s)?|original|current|follow-?\ ?up|input|output|the|a)"
)
_NOUN = r"(?:question|query|utterance|prompt|request)"
_LABEL_TEXT = rf"""
    (?:(?:sure|certainly|of\ course|okay|ok|absolutely)[,!.]?\s{{1,3}})?
    (?:(?:here(?:\ is|\ are|'s|’s)|this\ is)\s)?
    (?:{_WEAK}\ ){{0,3}}
    (?:
        {_STRONG}(?:[ ,]{{1,2}}(?:{_STRONG}|{_WEAK})){{0,3}}(?:\ (?:{_NOUN}|version|input|text|form))?
      | {_NOUN}
    )
    (?:\ (?:\([^()\n]{{1,40}}\)|(?:for|in|based\ on|from|of)\ [^:\n"“?]{{1,60}}))?
    (?:\ (?:is|are|(?:would|could|can|might)\ be|reads)(?:\ as\ follows)?)?
"""
_LABEL = re.compile(
    rf"""
    \A(?:\#{{1,6}}\ )?(?:\*\*|__|\*)?
    {_LABEL_TEXT}
    (?:
        (?:\*\*|__|\*)?\s{{0,2}}:\s{{0,2}}(?:\*\*|__|\*)?   # label: ... , **label:** ... , **label**: ...
      | (?:\*\*|__)\n                                        # **label** on a line of its own
    )
    | \A(?:{_STRONG}|search|final)\ {_NOUN}\ [-–—]\ (?!\Z)    # search query - ...
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LATER_LABEL = re.compile(
    rf"""
    \n[ \t]*
    (?=(?:\#{{1,6}}\ )?(?:\*\*|__|\*)?(?:here(?:\ is|'s)\ )?(?:the\ )?{_STRONG}\ {_NOUN}(?:\ is)?(?:\*\*|__|\*)?\s?:)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "Q1: ..." is a quarter as often as a question.
_SPEAKER = re.compile(r"\A(?:(?:user|human|utterance|assistant)(?:\ ?\d)?|q)\ ?:\s", re.IGNORECASE | re.VERBOSE)
_PREFACE = re.compile(
    r"""
    \A(?:sure|certainly|of\ course|okay|ok|absolutely|here(?:'s|’s|\ is|\ are)|below\ is|based\ on|given)\b
    [^\n?"“]{0,200}[:.!]\s{0,3}\n
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NARRATION = re.compile(
    r"""
    (?P<before>[^\n]{0,600}?)
    \b(?:is|be|as|into|to)\s?:\s{0,3}(?P<quote>["“«`])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NARRATES = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE | re.VERBOSE)
_ABOUT_REWRITING = re.compile(rf"\b(?:{_STRONG}|conversation|context|user(?:'s|’s))\b", re.IGNORECASE | re.VERBOSE)
_CLOSERS = {'"': '"', "“": "”", "«": "»", "`": "`", "„": "“", "‘": "’", "'": "'", "‹": "›"}
_DIALOGUE = re.compile(
    r"""
    \n[ \t]*(?:\*\*)?
    (?:user|human|assistant|ai|bot|system|customer|agent|q|a|question|answer)(?:\ ?\d{1,2})?
    (?:\*\*)?\ ?:
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REMARK = re.compile(
    r"""
    \n[ \t]*\n                                                             # a blank line ends the query
    | \n[ \t]*[(*_\[]{0,3}(?:explanation|reasoning|rationale|justification|notes?|changes?|context)[*_]{0,2}\ ?:
    | \n[ \t]*\(?(?:this|the)\ (?:re-?written|rephrased|stand-?alone|query|question|rewrite)\b
    | \n[ \t]*\(?I\ (?:have\ )?(?:re-?wrote|rewritten|re-?phrased|removed|added|replaced|kept|resolved)\b
    | (?<=[.?!"”])[ \t]{1,3}(?:explanation|reasoning|rationale)\ ?:
    | (?<=[.?!"”])[ \t]{1,3}this\ (?:(?:re-?written|stand-?alone)\ )?(?:query|question|rewrite)
      \ (?:asks|focuses|preserves|assumes|keeps
      | (?:is|was)\ (?:unrelated|rewritten|based|about|self-contained|stand-?alone|not\ (?:directly\ )?related))\b
    | (?<=[.?!"”])[ \t]{1,3}the\ conversation\ history\ (?:does|did)\ not\b
    | [ \t]{1,3}\((?:(?:please\ )?notes?\b|the\ user\ (?:is|was|wants|asks)\b
      | this\ (?:re-?written|stand-?alone|query|question|response|rewrite)\b)
      (?=[^()\n]{0,600}(?:\([^()\n]{0,200}\)[^()\n]{0,600})?\)?\s{0,3}(?:\n|\Z))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(r"\A[ \t]*(?:1[.)]|\(1\))[ \t]+(?P<first>[^\n]+)\n+[ \t]*(?:2[.)]|\(2\))[ \t]")
_BULLET = re.compile(r"\A[-*•–][ \t]+(?P<first>[^\n]+)")
_EMPHASIS = re.compile(r"\A(?P<mark>\*\*\*|\*\*|\*|__|_)(?P<inner>[^*_\n]{1,2000})(?P=mark)\Z")


def without_reasoning(text: str) -> str:
    """What follows the last closing tag; where nothing follows, what stands before the first opening one."""
    tags = list(_REASONING_TAG.finditer(text))
    closing = [tag for tag in tags if tag["close"]]
    if closing:
        after = text[closing[-1].end() :]
        return after if after.strip() else text[: tags[0].start() if not tags[0]["close"] else 0]
    return "" if tags and not text[: tags[0].start()].strip() else text


def _without_template(text: str) -> str:
    """The first text between the markers of a chat template; behind an instruction's end where there is one."""
    if "[/INST]" in text:
        text = text.rsplit("[/INST]", 1)[1] if text.rsplit("[/INST]", 1)[1].strip() else text
    return next((part for part in TEMPLATE.split(text) if part.strip()), "")


def _without_fence(text: str) -> str:
    """What stands in a fence that opens the text; a fence behind the query goes."""
    opened = _FENCE_OPEN.match(text)
    if opened is None:
        return re.split(r"\n[ \t]*(?:```|~~~)", text, maxsplit=1)[0]
    return text[opened.end() :].split(opened[0][:3], 1)[0]


def json_in(text: str) -> Any:
    """The JSON object or list that the text is; None where it is neither."""
    try:
        return json.loads(text) if text.startswith(("[", "{")) else None
    except (ValueError, RecursionError):
        return None


def _without_json(text: str) -> str:
    """The query in a JSON object or list; the text itself where it is not one that holds a query."""
    value = json_in(text)
    if isinstance(value, dict):
        value = next((value[key] for key in _JSON_KEYS if key in value), None)
    if isinstance(value, list):
        value = next(iter(value), None)
    return value if isinstance(value, str) else text


def _without_label(text: str) -> str:
    """What stands behind a label that opens the text, or behind a later line's "Rewritten question:"."""
    later = _LATER_LABEL.search(text)
    if later:
        text = text[later.end() :]
    match = _SPEAKER.match(text) or _LABEL.match(text)
    return text[match.end() :] if match else text


def _without_narration(text: str) -> str:
    """The query that a sentence about the rewriting quotes; an open quote ends with the text."""
    match = _NARRATION.match(text)
    if match is None or not (_NARRATES.search(match["before"]) and _ABOUT_REWRITING.search(match["before"])):
        return text
    rest = text[match.end() :].split("\n\n", 1)[0]
    closer = _CLOSERS[match["quote"]]
    return rest.rsplit(closer, 1)[0] if closer in rest else rest


def _without_list(text: str) -> str:
    """The first item of a list. One line that opens with "1." stays: it may be a name ("1. FC ...")."""
    match = _NUMBERED.match(text) or _BULLET.match(text)
    return match["first"] if match else text


def _without_markdown(text: str) -> str:
    text = re.sub(r"\A#{1,6}[ \t]+", "", text)
    match = _EMPHASIS.match(text)
    return match["inner"] if match else text


def _without_quotes(text: str) -> str:
    """What stands between quotes that open and close the whole text; quotes inside it stay."""
    opener, body = text[:1], text[1:]
    closer = _CLOSERS.get(opener)
    if closer is None:
        return text[:-1] if text[-2:] in ('?"', '."', "?”") and text.count(text[-1]) == 1 and "“" not in text else text
    if closer not in body:  # a quote that a length limit or a stop word cut off
        return text if opener == "'" else body
    body = body[:-1] if body[-2:] == closer + "." else body
    inner = body[:-1]
    return inner if body.endswith(closer) and not _closes_early(inner, opener, closer) else text


def _closes_early(inner: str, opener: str, closer: str) -> bool:
    """True where the first quote mark inside closes the outer one, as in: "a" or "b"."""
    for i, character in enumerate(inner):
        if character == opener and (
            opener != closer or ((i == 0 or inner[i - 1] in " (") and inner[i + 1 : i + 2].strip())
        ):
            return False
        if character == closer:
            between_letters = i > 0 and inner[i - 1].isalnum() and inner[i + 1 : i + 2].isalnum()
            if not (closer in "'’" and between_letters):
                return True
    return False


_STEPS: tuple[tuple[Wrapping, Callable[[str], str]], ...] = (
    (Wrapping.TEMPLATE, _without_template),
    (Wrapping.CODE_FENCE, _without_fence),
    (Wrapping.JSON, _without_json),
    (Wrapping.NARRATION, _without_narration),
    (Wrapping.LABEL, _without_label),
    (Wrapping.PREFACE, lambda text: _PREFACE.sub("", text, count=1)),
    (Wrapping.LIST, _without_list),
    (Wrapping.DIALOGUE, lambda text: _DIALOGUE.split(text, maxsplit=1)[0]),
    (Wrapping.EXPLANATION, lambda text: _REMARK.split(text, maxsplit=1)[0]),
    (Wrapping.MARKDOWN, _without_markdown),
    (Wrapping.QUOTES, _without_quotes),
)
