"""Any search in one form: a query and a number of documents go in, documents with ids and scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.evaluation.run.fingerprint import described
from rewriteguard.integrations.langchain.keywords import own_count, require_keywords
from rewriteguard.retrieve._runners import call
from rewriteguard.retrieve.fuse import Hit
from rewriteguard.retrieve.search import takes_k
from rewriteguard.retrieve.threads import drive
from rewriteguard.telemetry.content import describe, identity_of


@dataclass(frozen=True, slots=True)
class Found:
    """A document that was found: the id that labels name it by, and the document itself."""

    id: str
    item: Any


class Searching:
    """A search of the application, asked for a number of documents where it can be.

    Args:
        search: A LangChain retriever or another runnable that gets a query, or a callable `search(query, **keywords)`;
            gives documents or `Hit(document, score)`, best first. One that has a parameter `k` is asked for as many as
            the budget allows.
        id_key: The key of the metadata that holds the id which labels name; None takes the document's own id.
        score_key: The key of the metadata that holds a document's score; state it only where higher is better.

    Attributes:
        counts: Whether it can be asked for a number of documents.

    Raises:
        InputError: It is nothing that can be searched.
    """

    def __init__(self, search: Any, id_key: str | None = None, score_key: str | None = None) -> None:
        self._runnable = callable(getattr(search, "invoke", None))
        if not self._runnable and not callable(search):
            raise InputError(f"search: expected a retriever or a callable, got {type(search).__name__}")
        self._search = search
        self._id_key = id_key
        self._score_key = score_key
        self.counts = own_count(search, {}, in_loop=False) is not None if self._runnable else takes_k(search)

    def __call__(self, query: str, limits: Mapping[str, Any], depth: int) -> list[Hit[Found]]:
        """At most `depth` documents, each id once, at its best rank.

        Raises:
            ScopeError: The search would not pass on the `limits`.
            InputError: It gave something else than a list of documents with ids.
            Exception: What it raised itself.
        """
        if self._runnable:
            require_keywords(self._search, limits)
        search = self._search.invoke if self._runnable else self._search
        keywords = {**limits, "k": depth} if self.counts else dict(limits)
        found = drive(call(search, query, **keywords))
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            raise InputError(f"search: expected a list of documents, got {type(found).__name__}")
        hits: dict[str, Hit[Found]] = {}
        for each in found:
            hit = self._hit(each)
            hits.setdefault(hit.item.id, hit)
        return list(hits.values())[:depth]

    def settings(self) -> dict[str, Any]:
        """The search and how it is asked, as plain JSON values."""
        return {
            "search": described(self._search),
            "id_key": self._id_key,
            "score_key": self._score_key,
            "takes_k": self.counts,
        }

    def _hit(self, given: Any) -> Hit[Found]:
        hit = given if isinstance(given, Hit) else Hit(given)
        score, metadata = hit.score, describe(hit.item)[2]
        if score is None and self._score_key is not None:
            score = metadata.get(self._score_key)
        identity = self._identity(hit.item, metadata)
        return Hit(Found(identity, hit.item), None if score is None else float(score))

    def _identity(self, item: Any, metadata: Mapping[str, Any]) -> str:
        if self._id_key is not None:
            found = metadata.get(self._id_key, item.get(self._id_key) if isinstance(item, Mapping) else None)
        else:
            found = item if isinstance(item, str) else identity_of(item)
        if found is None or found == "":
            where = "an id" if self._id_key is None else f"{self._id_key!r} in the metadata"
            raise InputError(
                f"search: expected documents with {where}, got {type(item).__name__} without; labels name documents "
                "by their ids, and `id_key` says where they stand"
            )
        return str(found)
