"""What makes two items the same, where telling them apart may raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Identity:
    """An item's identity that can always be hashed and compared.

    What cannot be hashed is compared one by one; what raises when it is compared is equal to itself alone.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __hash__(self) -> int:
        try:
            return hash(self._value)
        except Exception:  # noqa: BLE001 - the item's own code: lists raise here, and so may anything
            return 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identity):
            return NotImplemented
        try:
            return self._value is other._value or bool(self._value == other._value)
        except Exception:  # noqa: BLE001 - the item's own code: an array, for one, is neither true nor false
            return False


def identities(key: Callable[[Any], Any] | None, failed: Callable[[Exception], None]) -> Callable[[Any], Identity]:
    """What gives an item's identity: what `key` makes of it, or the item itself where there is no key or it raises."""

    def identity(item: Any) -> Identity:
        if key is None:
            return Identity(item)
        try:
            return Identity(key(item))
        except Exception as error:  # noqa: BLE001 - the application's key must not break its retrieval
            failed(error)
            return Identity((item,))

    return identity
