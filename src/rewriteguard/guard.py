"""Interface of the guard (analysis arrives with the comparison work)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from rewriteguard.carry import CarriedQuery
from rewriteguard.policy import Decision, Policy, Reason
from rewriteguard.tokens import ProtectedToken
from rewriteguard.verdict import Assessment, Profile


class Guard:
    """Checks rewrites; thread-safe."""

    def __init__(
        self,
        aliases: Mapping[str, Iterable[str]] | None = None,
        extractors: Iterable[Any] | None = None,
        history_window: int | None = None,
    ) -> None:
        raise NotImplementedError

    def warm_up(self) -> None:
        """Pays every first-call cost now."""
        raise NotImplementedError

    def extract(self, text: str) -> tuple[ProtectedToken, ...]:
        """Tokens."""
        raise NotImplementedError

    def check(
        self,
        turn: Any,
        rewrite: Any,
        history: Any = (),
        *,
        profile: Profile = Profile.CONDENSE,
        reference_date: date | None = None,
        filter: Any = None,  # noqa: A002
    ) -> Assessment:
        """The finding."""
        raise NotImplementedError

    def carried(self, turn: Any, history: Any = ()) -> CarriedQuery:
        """The carried query of the turn."""
        raise NotImplementedError

    def decide(
        self,
        turn: Any,
        rewrite: Any,
        history: Any = (),
        *,
        policy: Policy | None = None,
        profile: Profile = Profile.CONDENSE,
        reference_date: date | None = None,
        filter: Any = None,  # noqa: A002
    ) -> Decision:
        """check, then policy."""
        raise NotImplementedError

    def decide_without_rewrite(
        self,
        turn: Any,
        reason: Reason,
        history: Any = (),
        *,
        policy: Policy | None = None,
        unchecked: str | None = None,
    ) -> Decision:
        """The decision where no rewrite was judged."""
        raise NotImplementedError

    def dependent(self, turn: Any, history: Any = ()) -> bool:
        """Whether the turn needs the conversation (for rewrite_when="dependent")."""
        raise NotImplementedError
