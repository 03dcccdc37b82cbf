"""An evaluation as Markdown, for a merge request or the summary of a CI job, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewriteguard.report.evaluation.breaks import (
    broken_clauses,
    conditions,
    fates,
    kinds,
    outcomes,
    turns,
    unknown_words,
)
from rewriteguard.report.evaluation.escape import quoted, section
from rewriteguard.report.evaluation.pairs import TESTS_NOTE, gain_tables, gains_of_all
from rewriteguard.report.evaluation.report import EvaluationReport
from rewriteguard.report.evaluation.tables import (
    FAMILIES,
    FAMILIES_NOTE,
    SCORES,
    group_table,
    measure_table,
    score_tables,
)
from rewriteguard.report.evaluation.verdicts import headline, verdicts, vetoes
from rewriteguard.report.wording import many, worded

if TYPE_CHECKING:
    from typing import TextIO

_MOST = 40  # rows of a table in the summary: GitHub shows no more than 1 MiB of it
_REGRESSIONS = 200  # that the full text tells; the page and the JSON file hold all
_FIRST = 10  # documents of a ranking that are told beside those with a label


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
