from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc

from rewriteguard.extract.base import same_value as same
from rewriteguard.tokens import ProtectedToken

__all__ = ["extract", "same"]


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    return ()
