"""Reads a policy file: what `Policy` is made of, and the predicates of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewriteguard.errors import PolicyError
from rewriteguard.model.assessment import Verdict
from rewriteguard.model.tokens import Kind
from rewriteguard.policy.classes import Predicate, Release, RequestClass
from rewriteguard.policy.toml_table import Table, read_table
from rewriteguard.policy.weights import Rows, Weights

if TYPE_CHECKING:
    import os

SWITCHES = ("carried", "one_search", "reject_uncertain", "shadow", "clarify")
"""The keys that are true or false."""
CONDITIONS = ("kinds", "dependent", "language", "min_words", "max_words")
"""The keys of a predicate."""
ARMS = ("original", "rewrite", "carried")
"""The keys of a row of weights."""
_ROWS = ("weights", "complete_weights")


def read_policy(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `Policy` that a file names.

    Raises:
        OSError: The file cannot be read.
        PolicyError: It is no TOML, or a key or value is none that a policy has; the message names table and key.
    """
    table = read_table(path, PolicyError).only(("name", "k", *SWITCHES, *_ROWS, "class"))
    found: dict[str, Any] = {}
    if "name" in table:
        found["name"] = table.text("name")
    if "k" in table:
        found["k"] = table.number("k")
    found |= {key: table.boolean(key, False) for key in SWITCHES if key in table}
    found |= {key: _rows(table.table(key)) for key in _ROWS if key in table}
    return {**found, "classes": tuple(map(_class, table.tables("class")))}


def predicate_from(table: Table) -> Predicate:
    """The predicate that a table `when` says.

    Raises:
        RewriteGuardError: A key or value is none that a predicate has; of the table's own type.
    """
    table.only(CONDITIONS)
    kinds = table.choices("kinds", Kind)
    dependent = table.boolean("dependent", False) if "dependent" in table else None
    language = table.text("language") if "language" in table else None
    fewest = table.count("min_words", 0)
    most = table.count("max_words") if "max_words" in table else None
    try:
        return Predicate(kinds, dependent, language, fewest, most)
    except PolicyError as error:
        raise table.fault("", str(error)) from None


def _class(table: Table) -> RequestClass:
    table.only(("name", "when", "release"))
    name, when, release = table.text("name"), predicate_from(table.table("when")), table.choice("release", Release)
    try:
        return RequestClass(name, when, release)
    except PolicyError as error:
        raise table.fault("", str(error)) from None


def _rows(table: Table) -> Rows:
    verdicts = [verdict.value for verdict in Verdict]
    table.only(verdicts)
    return Rows(**{verdict: _weights(table, verdict) for verdict in verdicts})


def _weights(table: Table, verdict: str) -> Weights:
    if verdict not in table:
        raise table.fault(verdict, "expected a row of weights, but it is missing")
    row = table.table(verdict).only(ARMS)
    arms = [row.number(arm) for arm in ARMS]
    try:
        return Weights(*arms)
    except PolicyError as error:
        raise row.fault("", str(error)) from None
