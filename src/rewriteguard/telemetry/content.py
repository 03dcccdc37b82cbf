"""What of the users' words may leave the process: capture mode, redaction, truncation and hashing."""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from opentelemetry import context as otel_context

from rewriteguard.errors import InputError

REDACTION_FAILED = "__REDACTION_FAILED__"
REDACTED = otel_context.create_key("rewriteguard.redacted")
"""Where the context of one call keeps what the redactor made of its texts, of which each is told several times."""

UNREADABLE = "unreadable"
"""Stands for an item whose own code failed."""

_LONGEST = 2_000  # code points of one text
_DEEPEST = 4  # levels of nested metadata
_WIDEST = 20  # entries of one mapping or list in metadata
_HASH_BYTES = 16

# Values of OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT that put content on spans; all others keep it off them.
_ON = frozenset({"true", "span_only", "span_and_event"})


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # made once: dumps() makes one a call


class Capture(StrEnum):
    """How texts are recorded: as they are, as keyed hashes, or not at all."""

    FULL = "full"
    HASH = "hash"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Content:
    """What may be recorded, and how.

    Attributes:
        capture: How texts are recorded.
        redact: Gets each text before anything else is done to it and returns the text to record.
        inputs: Whether the turn, the history and the terms carried from it are recorded.
        outputs: Whether the rewrite is recorded.
        documents: Whether documents are recorded.
        longest: How much of one text is recorded, in code points.
    """

    capture: Capture
    redact: Callable[[str], str] | None = None
    inputs: bool = True
    outputs: bool = True
    documents: bool = True
    longest: int = _LONGEST

    @property
    def errors(self) -> bool:
        """Whether the text of an error may be recorded; it often quotes the query."""
        return self.readable and self.redact is None and self.documents

    @property
    def readable(self) -> bool:
        """Whether turn, history and rewrite are recorded as words."""
        return self.capture is Capture.FULL and self.inputs and self.outputs

    def text(self, value: str) -> str:
        """One text as it may be recorded: redacted, then cut to the `longest`, then hashed under `hash`.

        A redactor that raises, or that returns no string, leaves `__REDACTION_FAILED__`.
        """
        kept = value if self.redact is None else _redacted_once(self.redact, value)
        if len(kept) > self.longest:
            kept = f"{kept[: self.longest]}... [{len(kept) - self.longest} more characters]"
        return _hashed(kept) if self.capture is Capture.HASH and kept != REDACTION_FAILED else kept

    def tree(self, value: Any, depth: int = 0) -> Any:
        """A JSON value whose texts, names and numbers are as they may be recorded."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, Mapping) and depth < _DEEPEST:
            return {self.text(str(name)): self.tree(item, depth + 1) for name, item in list(value.items())[:_WIDEST]}
        if isinstance(value, Sequence) and not isinstance(value, str | bytes) and depth < _DEEPEST:
            return [self.tree(item, depth + 1) for item in value[:_WIDEST]]
        return self.text(value if isinstance(value, str) else str(value))

    def _number(self, value: float) -> float | str:
        """A number where neither hash nor redactor changes its digits, and JSON has it; else its text."""
        in_json = isinstance(value, int) or math.isfinite(value)
        if in_json and self.capture is not Capture.HASH and self.redact is None:
            return value
        told = str(value)
        kept = self.text(told)
        return value if in_json and kept == told else kept


def content_from(
    capture: str | None, redact: Callable[[str], str] | None, environ: Mapping[str, str] = os.environ
) -> Content:
    """The content rules of an application: its arguments, then the switches of the environment, then full capture.

    Raises:
        InputError: `capture` is none of the three words.
    """
    if capture is not None and capture not in tuple(Capture):
        raise InputError(f"capture: expected 'full', 'hash' or 'off', got {capture!r}")
    mode = Capture(capture) if capture is not None else _capture_of(environ)
    shown = mode is not Capture.OFF
    return Content(
        capture=mode,
        redact=redact,
        inputs=shown and not _is_set(environ, "OPENINFERENCE_HIDE_INPUTS"),
        outputs=shown and not _is_set(environ, "OPENINFERENCE_HIDE_OUTPUTS"),
        documents=shown
        and not _is_set(environ, "OPENINFERENCE_HIDE_OUTPUTS")
        and not _is_set(environ, "OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS"),
    )


def identity_of(item: Any) -> str | None:
    """The id that a found item says of itself; None where it says none."""
    identity = None if isinstance(item, str) else _field(item, "id")
    return None if identity is None else str(identity)


def describe(item: Any) -> tuple[str | None, str, Mapping[str, Any]]:
    """Id, text and metadata of a found item: a document, a mapping or an object that looks like one, or text."""
    if isinstance(item, str):
        return None, item, {}
    texts = (_field(item, name) for name in ("page_content", "content", "text"))
    text = next((found for found in texts if isinstance(found, str)), None)
    metadata = _field(item, "metadata")
    return (
        identity_of(item),
        str(item) if text is None else text,
        metadata if isinstance(metadata, Mapping) else {},
    )


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def encodable(text: str) -> str:
    """The same text, with half a surrogate pair, which UTF-8 cannot hold, as its escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def as_json(value: Any) -> str:
    """`value` as compact JSON, letters as they are."""
    return _ENCODER.encode(value)


def _capture_of(environ: Mapping[str, str]) -> Capture:
    own = environ.get("REWRITEGUARD_CAPTURE_CONTENT", "").strip().lower()
    if own:
        return Capture(own) if own in tuple(Capture) else Capture.OFF  # a switch that cannot be read protects the user
    general = environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").strip().lower()
    return Capture.FULL if not general or general in _ON else Capture.OFF


def _is_set(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() in ("true", "1")


def _redacted_once(redact: Callable[[str], str], value: str) -> str:
    """What the redactor makes of a text; it is asked once in a call, where that has spans."""
    known = otel_context.get_value(REDACTED)
    if not isinstance(known, dict):
        return _redacted(redact, value)
    place = id(redact), value  # a rewriter may search with a telemetry of its own
    if place not in known:
        known[place] = _redacted(redact, value)
    return str(known[place])


def _redacted(redact: Callable[[str], str], value: str) -> str:
    try:
        kept = redact(value)
    except Exception:  # noqa: BLE001 - the text must not leave unredacted, and the retrieval must go on
        return REDACTION_FAILED
    return kept if isinstance(kept, str) else REDACTION_FAILED


def _hashed(value: str) -> str:
    digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES, key=_hash_key())
    return f"blake2b:{digest.hexdigest()}"


@lru_cache(maxsize=1)
def _hash_key() -> bytes:
    """The key of this process: REWRITEGUARD_HASH_KEY, so that hashes compare between processes, else a random one."""
    given = os.environ.get("REWRITEGUARD_HASH_KEY", "")
    return hashlib.blake2b(given.encode("utf-8")).digest() if given else secrets.token_bytes(64)
