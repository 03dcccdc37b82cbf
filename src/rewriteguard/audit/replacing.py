"""Writes a file beside the one that it is to replace: what goes wrong meanwhile leaves the old one as it was."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A text file that becomes `path` at the end of the block, and vanishes where the block raises.

    It is UTF-8, and lines end as they are written. A device or a pipe is written to at once.

    Raises:
        OSError: The file cannot be written; the error names `path`.
    """
    # Where the output goes to a file, /dev/stdout is one, which others hold open.
    if path.exists() and (not path.is_file() or path.is_relative_to("/dev")):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    target = path.resolve()  # a link stays one
    waiting = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with _opened(waiting, path) as file:
            yield file
        if target.exists():
            shutil.copymode(target, waiting)
        waiting.replace(target)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise


def _opened(waiting: Path, named: Path) -> TextIO:
    try:
        return waiting.open("x", encoding="utf-8", newline="\n")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(named)) from None
