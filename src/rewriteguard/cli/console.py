"""What every command needs of a terminal: two consoles, text that is safe to print, and errors of usage."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from pathlib import Path

USAGE = 2
VERDICT_STYLE = {"preserved": "green", "changed": "red", "uncertain": "yellow"}

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)


def printable(text: str) -> Text:
    """The text for a terminal: no markup is read and control characters other than line ends are left out."""
    return Text("".join(character for character in text if character.isprintable() or character == "\n"))


def check_targets(files: dict[str, Path | None]) -> None:
    """Fails where a file would be written over one that is read, or two files would be one."""
    seen: dict[Path, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        other = seen.setdefault(path.resolve(), name)
        if other != name:
            fail(f"{name}: {other} would be overwritten")


def json_text(value: Any, indent: int | None = None) -> str:
    """The value as JSON that any UTF-8 stream takes: half a surrogate pair is written as its escape."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace").decode("utf-8")


def day_of(text: str | None) -> date | None:
    """The day that --reference-date says."""
    try:
        return date.fromisoformat(text) if text is not None else None
    except ValueError:
        fail(f"--reference-date: expected YYYY-MM-DD, got {text!r}")


def fail(message: str) -> NoReturn:
    """Ends the command as wrong usage, with the message on standard error."""
    ERR.print(printable(f"error: {message}"), soft_wrap=True)
    raise typer.Exit(USAGE)
