"""What a comparison of a filter claims that the user said."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from rewriteguard.extract.quantity import unit, written
from rewriteguard.filters.bounds import RELATIONS, in_its_year, joined, related
from rewriteguard.filters.tree import Leaf, Node
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading

Read = Callable[[str, bool], Reading]
"""Gives the reading of a text, tagged and parsed or by its words alone."""
_BOUNDED = (Kind.TIME, Kind.QUANTITY, Kind.VERSION)
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_NEGATIVE = lexicon.words("negation", "members") | {"free", "non"}
_LONGEST = 200  # characters of a value that are compared; no user names a value in more
_LARGEST = 10**15
# Quotation marks, brackets and comments of query languages; an apostrophe stands between letters.
_SYNTAX = re.compile(r"""["`\\;{}\x00-\x1f] | (?<![^\W\d_])' | '(?![^\W\d_]) | -- | /\*""", re.VERBOSE)
_FIELD = re.compile(r"[^\W\d] [\w. -]{0,99}", re.VERBOSE)
_STAMP = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)[T\ ]\d\d:\d\d[\d:.+Z-]{0,20}", re.VERBOSE)
_SEAMS = re.compile(r"[\W_]+ | (?<=[a-z])(?=[A-Z])", re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of a comparison, read.

    Attributes:
        leaf: The comparison.
        value: The value.
        words: Its words; for true and false those of the field.
        bounds: The times, amounts and versions that the value may be, with the relation of the comparator.
        excluded: Whether it must not hold.
        kind: What kind of thing the value is.
    """

    leaf: Leaf
    value: Any
    words: tuple[Word, ...]
    bounds: tuple[ProtectedToken, ...]
    excluded: bool
    kind: Kind

    @property
    def measure(self) -> str | None:
        """The unit that the field's name ends in, as in `runtime_minutes`."""
        return unit(_last_part(self.leaf), glued=True)


def fault_of_form(leaf: Leaf) -> Rule | None:
    """The rule that a comparison breaks whatever the user said; None where it can be compared."""
    if not _FIELD.fullmatch(leaf.attribute):
        return Rule.MALFORMED_SYNTAX
    if leaf.comparator not in RELATIONS and leaf.comparator != "exists":
        return Rule.NOT_CHECKED_COMPARATOR
    for value in leaf.values:
        if isinstance(value, str) and (len(value) > _LONGEST or _SYNTAX.search(value)):
            return Rule.MALFORMED_SYNTAX
        if not isinstance(value, str | int | float | date) or not _is_finite(value):
            return Rule.NOT_CHECKED_COMPARATOR
    return None if leaf.values else Rule.NOT_CHECKED_COMPARATOR


def claims_of(leaf: Leaf, read: Read) -> tuple[Claim, ...]:
    """The claims of a comparison that can be compared, one for each of its values."""
    claims = tuple(_claim(leaf, value, read) for value in leaf.values)
    span = _span(claims)
    return tuple(replace(claim, bounds=(*claim.bounds, *span)) for claim in claims)


def attribute_words(leaf: Leaf, read: Read) -> tuple[Word, ...]:
    """The words of the name of a field: `has_pool`, `releaseDate`, `metadata.status`."""
    return read(_SEAMS.sub(" ", leaf.attribute).strip(), True).words


def with_ranges(groups: Sequence[tuple[Node, list[Claim]]]) -> list[list[Claim]]:
    """The claims of parts that must all hold, one group each; those of single comparisons with what they say together.

    That is the range between two ends of one field, and a month or a quarter of the year that another field names.
    """
    leaves = [group for node, group in groups if isinstance(node, Leaf)]
    claims = [claim for group in leaves for claim in group]
    single = [group[0] for group in leaves if len(group) == 1 and not group[0].excluded]
    return [
        [replace(c, bounds=(*c.bounds, *_ranges(c, claims), *_in_years(c, single))) for c in group]
        if isinstance(node, Leaf)
        else group
        for node, group in groups
    ]


def _claim(leaf: Leaf, value: Any, read: Read) -> Claim:
    truth = value if isinstance(value, bool) else _TRUTH.get(str(value).casefold())
    if truth is not None:
        words = attribute_words(leaf, read)
        named = [w for w in words if w.lower not in _NEGATIVE]  # `gluten_free`, `no_smoking`
        turned = len(named) < len(words) and words[0].lower != "free"
        return Claim(leaf, value, tuple(named) if turned else words, (), leaf.negated == (truth ^ turned), Kind.TOPIC)
    text = _text(leaf, value)
    reading = read(text, True)
    bounds = [t for t in reading.tokens if t.kind in _BOUNDED and t.start == 0 and t.end == len(text)]
    if isinstance(value, int) and text in calendar.month_name:  # "March" alone may be another word
        bounds = [ProtectedToken(Kind.TIME, text, 0, len(text), f"--{value:02}")]
    number = _number(text) if leaf.attribute else None
    if number is not None and not any(t.kind is Kind.QUANTITY for t in bounds):
        bounds.append(ProtectedToken(Kind.QUANTITY, text, 0, len(text), number))
    own = tuple(related(bound, leaf.comparator) for bound in bounds)
    kinds = [t.kind for t in reading.tokens]
    kind = own[0].kind if own else kinds[0] if kinds else Kind.TOPIC
    return Claim(leaf, value, reading.words, own, leaf.negated, kind)


def _text(leaf: Leaf, value: Any) -> str:
    """The value as a user would write it."""
    field = _last_part(leaf).casefold()
    if field == "month" and isinstance(value, int) and 1 <= value <= 12:
        return calendar.month_name[value]
    if field == "quarter" and isinstance(value, int):
        return f"Q{value}"
    if isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    text = str(value).strip("%* ") if leaf.comparator == "like" else str(value).strip()
    stamp = _STAMP.fullmatch(text)
    return stamp["day"] if stamp else text


def _last_part(leaf: Leaf) -> str:
    return "".join(_SEAMS.sub(" ", leaf.attribute).split()[-1:])


def _number(text: str) -> str | None:
    try:
        return written(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return None


def _is_finite(value: Any) -> bool:
    return not isinstance(value, int | float) or (math.isfinite(value) and abs(value) <= _LARGEST)


def _ranges(claim: Claim, claims: Sequence[Claim]) -> Iterator[ProtectedToken]:
    for other in claims:
        if other.leaf.attribute == claim.leaf.attribute and other is not claim:
            pairs = [(a, b) for a in claim.bounds for b in other.bounds]
            yield from (both for a, b in pairs for both in (joined(a, b) or joined(b, a),) if both is not None)


def _in_years(claim: Claim, claims: Sequence[Claim]) -> Iterator[ProtectedToken]:
    if any(claim is each for each in claims):
        pairs = [(a, b) for other in claims for a in claim.bounds for b in other.bounds]
        yield from (both for a, b in pairs for both in (in_its_year(a, b) or in_its_year(b, a),) if both is not None)


def _span(claims: Sequence[Claim]) -> tuple[ProtectedToken, ...]:
    """The range of a list of whole numbers without gaps: [2019, 2020, 2021]."""
    values = [claim.value for claim in claims]
    if len(values) < 2 or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        return ()
    first, last = min(values), max(values)
    if sorted(values) != list(range(first, last + 1)):
        return ()
    low, high = (
        {b.kind: b for b in claim.bounds} for claim in (claims[values.index(first)], claims[values.index(last)])
    )
    pairs = [(related(low[kind], "gte"), related(high[kind], "lte")) for kind in low if kind in high]
    return tuple(both for one, other in pairs if (both := joined(one, other)) is not None)
