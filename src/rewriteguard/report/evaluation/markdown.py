"""An evaluation as GitHub-flavoured Markdown, in which the words of the data stay words, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewriteguard.report.evaluation.report import EvaluationReport
from rewriteguard.report.evaluation.tables import (
    FAMILIES,
    FAMILIES_NOTE,
    SCORES,
    TESTS_NOTE,
    gain_tables,
    gains_of_all,
    group_table,
    measure_table,
    score_tables,
)
from rewriteguard.report.evaluation.verdicts import (
    broken_clauses,
    conditions,
    fates,
    headline,
    kinds,
    outcomes,
    turns,
    unknown_words,
    verdicts,
    vetoes,
)
from rewriteguard.report.table import many, worded

if TYPE_CHECKING:
    from typing import TextIO

    from rewriteguard.report.table import Cell, Column, Table


_HARMLESS = re.compile(r"[\w .,;:?!'’%()/=+–−-]+")  # needs no care inside backticks, in a table or out of it
_PROSE = re.compile(r"(?! .* www\. ) (?: [^\W_] | (?<=[^\W_])_(?=[^\W_]) | [ .,;:?!'’%()=+–−·<>-] )+", re.VERBOSE)
# The last two of each plane are no characters, of which Markdown makes a replacement character.
_NONE = "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_UNSEEN = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef{_NONE}]+")
_SPECIAL = re.compile(r"[^\w ,-]|_")
_MOST = 40  # rows of a table in the summary: GitHub shows no more than 1 MiB of it
_REGRESSIONS = 200  # that the full text tells; the page and the JSON file hold all
_FIRST = 10  # documents of a ranking that are told beside those with a label


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


def table_lines(table: Table, most: int | None = None) -> Iterator[str]:
    """The lines of a table, no more than `most` of its rows; drawings are left out, since the words say it."""
    places = [place for place, column in enumerate(table.columns) if not column.drawn]
    columns = [table.columns[place] for place in places]
    yield _row(_heading(column) for column in columns)
    yield _row("---:" if column.number else "---" for column in columns)
    for row in table.rows[:most]:
        yield _row(_cell(row[place]) for place in places)
    left = table.left_out + max(0, len(table.rows) - (most or len(table.rows)))
    if left:
        yield ""
        yield f"{many(left, 'more row')} left out."


def section(
    title: str, tables: Iterable[Table], note: str = "", *, most: int | None = None, always: bool = False
) -> Iterator[str]:
    """A heading, its note and its tables, each under its caption where there are several.

    Nothing where no table has a row, unless it is to be said `always`.
    """
    shown = [table for table in tables if table.rows]
    if not shown and not always:
        return
    yield from ("", f"## {title}")
    if note:
        yield from ("", note)
    for table in shown:
        if len(shown) > 1:
            yield from ("", f"**{table.caption}**")
        yield ""
        yield from table_lines(table, most)


def _heading(column: Column) -> str:
    return quoted(column.name) if column.quoted else column.name


def _cell(cell: Cell) -> str:
    text = quoted(cell.text) if cell.quoted else prose(cell.text)
    if cell.tone:
        text = f"**{text}**"
    small = prose(cell.small)
    return " ".join(part for part in (text, f"({small})" if small else "") if part)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write_summary(target: TextIO, report: EvaluationReport) -> None:
    """Writes the short Markdown: releases with what decided them, vetoes, gains and losses on all requests."""
    _write(target, _summary(report))


def write_markdown(target: TextIO, report: EvaluationReport) -> None:
    """Writes the full Markdown: the summary, then what the page shows."""
    _write(target, _summary(report))
    _write(target, _rest(report))


def write_json(target: TextIO, report: EvaluationReport) -> None:
    """Writes the whole report as one JSON object, the same for the same report."""
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=1)
    # Half a surrogate pair, which UTF-8 cannot hold, becomes its JSON escape.
    target.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def _write(target: TextIO, lines: Iterator[str]) -> None:
    for line in lines:
        target.write(line + "\n")


def _summary(report: EvaluationReport) -> Iterator[str]:
    results = report.results
    yield from ("# Rewrite evaluation", "")
    for rewriter in report.rewriters:
        yield f"- {quoted(rewriter)}: {_headline(report, rewriter)}"
    yield from (
        "",
        f"{many(results['requests'], 'request')} in {many(results['clusters'], 'independent conversation')}, "
        f"{results['judged']:,} with relevant documents, {many(results['contracts'], 'contract')}; "
        f"{results['k']} documents per request.",
    )
    yield from section("Vetoes", [vetoes(report)], "No score makes up for these.", most=_MOST)
    for rewriter in report.rewriters:
        yield from section(f"Releases of {quoted(rewriter)}", [verdicts(report, rewriter)], most=_MOST)
    yield from section("Gains and losses on all requests", [gains_of_all(report)], TESTS_NOTE, most=_MOST)


def _headline(report: EvaluationReport, rewriter: str) -> str:
    found = headline(report, rewriter)
    parts = (f"**{worded(release)}** {', '.join(map(quoted, groups))}" for release, groups in found.items())
    return "; ".join(parts) or "nothing was decided"


def _rest(report: EvaluationReport) -> Iterator[str]:
    for number, score in enumerate(SCORES, 1):
        tables = score_tables(score, report.arms)
        note = score.note if tables else f"{score.note} Nobody measured it here."
        yield from section(f"Score {number}: {score.title.lower()}", tables, note, always=True)
    if (families := measure_table("families-table", FAMILIES, report.arms)) is not None:
        yield from section("Families", [families], FAMILIES_NOTE)
    for place, group in enumerate(report.groups):
        sort = "class" if group["enforced"] else "slice"
        title = f"Scores on the {sort} {quoted(group['name'])}, {many(group['requests'], 'request')}"
        yield from section(title, [group_table(place, group)])
    for rewriter, table in gain_tables(report):
        yield from section(
            f"Gains and losses {f'of {quoted(rewriter)}' if rewriter else 'without a rewriter'}", [table]
        )
    yield from section("Where requests broke", [outcomes(report), turns(report)])
    for rewriter, table in unknown_words(report):
        yield from section(f"Words of {quoted(rewriter)} that no document holds", [table], table.note)
    yield from section("Constraint matrix", [kinds(report), fates(report), broken_clauses(report)])
    yield from _regressions(report)
    yield from section("Conditions", [conditions(report)])


def _regressions(report: EvaluationReport) -> Iterator[str]:
    found = report.results["regressions"]
    if not found:
        return
    yield from ("", "## Regressions", "")
    for each in found[:_REGRESSIONS]:
        yield from _regression(each)
    if len(found) > _REGRESSIONS:
        yield from ("", f"{many(len(found) - _REGRESSIONS, 'more regression')} left out.")


def _regression(each: Mapping[str, Any]) -> Iterator[str]:
    of = f" of {quoted(each['rewriter'])}" if each["rewriter"] else ""
    at = f", lost at {each['stage']}" if each["stage"] else ""
    yield f"- {quoted(each['case'])}: {worded(each['arm'])}{of} against the {each['base']}{at}"
    yield f"  - turn: {quoted(each['original'])}"
    yield f"  - searched: {', '.join(map(quoted, each['queries'])) or 'nothing'}"
    if each["dropped"]:
        yield f"  - not kept: {', '.join(map(quoted, each['dropped']))}"
    yield f"  - came back, {each['base']}: {_ranking(each['base_results'])}"
    yield f"  - came back, this arm: {_ranking(each['results'])}"


def _ranking(documents: Sequence[Mapping[str, str]]) -> str:
    told = (
        f"{place}: {quoted(each['id'])}" + (f" **{worded(each['label'])}**" if each["label"] else "")
        for place, each in enumerate(documents, 1)
        if each["label"] or place <= _FIRST
    )
    return ", ".join(told) or "nothing"
