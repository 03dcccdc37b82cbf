"""An evaluation as GitHub-flavoured Markdown, in which the words of the data stay words, and as JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from rewriteguard.report.evaluation.page import shown
from rewriteguard.report.evaluation.report import EvaluationReport, ranking, sort_of
from rewriteguard.report.evaluation.tables import gains_of_all
from rewriteguard.report.evaluation.verdicts import broken_clauses
from rewriteguard.report.render import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from rewriteguard.report.table import Cell

_HARMLESS = re.compile(r"[\w .,;:?!'’%()/=+–−-]+")  # needs no care inside backticks, in a table or out of it
_PROSE = re.compile(r"(?! .* www\. ) (?: [^\W_] | (?<=[^\W_])_(?=[^\W_]) | [ .,;:?!'’%()=+–−·<>-] )+", re.VERBOSE)
# The last two of each plane are no characters, of which Markdown makes a replacement character.
_NONE = "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_UNSEEN = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef{_NONE}]+")
_SPECIAL = re.compile(r"[^\w ,-]|_")
_MOST = {
    "rows": 40,  # of a table in the summary: GitHub shows no more than 1 MiB of it
    "regressions": 200,  # that the full text tells; the page and the JSON file hold all
}


def quoted(text: str) -> str:
    """Words of the data as code, which GitHub reads neither as markup nor as a mention or a link.

    Where they hold more than plain characters each of these is an HTML entity: neither a pipe, which would end a cell
    of a table even inside backticks, nor a backtick can do harm then.
    """
    text = _UNSEEN.sub(" ", text).strip()
    if not text:
        return ""
    if _HARMLESS.fullmatch(text):
        return f"`{text}`"
    return f"<code>{_SPECIAL.sub(lambda match: f'&#{ord(match[0])};', text)}</code>"


def prose(text: str) -> str:
    """Words of the report itself as they are; as code where they hold what Markdown could read as something else."""
    if not text or _PROSE.fullmatch(text):
        return text.replace("<", "&lt;").replace(">", "&gt;")
    return quoted(text)


def cell(of: Cell) -> str:
    """A cell of a table; a drawing is left out, since the words say it."""
    text = quoted(of.text) if of.quoted else prose(of.text)
    if of.tone:
        text = f"**{text}**"
    small = prose(of.small)
    return " ".join(part for part in (text, f"({small})" if small else "") if part)


FILTERS: dict[str, Callable[..., Any]] = {"quoted": quoted, "cell": cell, "ranking": ranking, "sort": sort_of}
"""What the templates of the Markdown need beside the filters of every template."""


def write_summary(target: TextIO, report: EvaluationReport) -> None:
    """Writes the short Markdown: releases with what decided them, vetoes, gains and losses on all requests."""
    _write(target, "summary.md.j2", report)


def write_markdown(target: TextIO, report: EvaluationReport) -> None:
    """Writes the full Markdown: the summary, then what the page shows."""
    _write(target, "evaluation.md.j2", report)


def write_json(target: TextIO, report: EvaluationReport) -> None:
    """Writes the whole report as one JSON object, the same for the same report."""
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=1)
    # Half a surrogate pair, which UTF-8 cannot hold, becomes its JSON escape.
    target.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def _write(target: TextIO, template: str, report: EvaluationReport) -> None:
    further = {"gains_of_all": gains_of_all(report), "broken_clauses": broken_clauses(report), "most": _MOST}
    write(target, template, shown(report) | further, FILTERS)
