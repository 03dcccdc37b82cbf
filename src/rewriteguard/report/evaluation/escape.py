"""GitHub-flavoured Markdown of tables, in which the words of the data stay words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rewriteguard.report.wording import many

if TYPE_CHECKING:
    from rewriteguard.report.table import Cell, Column, Table

_HARMLESS = re.compile(r"[\w .,;:?!'’%()/=+–−-]+")  # needs no care inside backticks, in a table or out of it
_PROSE = re.compile(r"(?! .* www\. ) (?: [^\W_] | (?<=[^\W_])_(?=[^\W_]) | [ .,;:?!'’%()=+–−·<>-] )+", re.VERBOSE)
# The last two of each plane are no characters, of which Markdown makes a replacement character.
_NONE = "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_UNSEEN = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef{_NONE}]+")
_SPECIAL = re.compile(r"[^\w ,-]|_")


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
