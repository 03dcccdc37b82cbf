"""What a comparison of a filter claims that the user said, and whether one text of the conversation says it."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from rewriteguard.bounds import RELATIONS, days_of, is_rougher, numbers_of, periods, same_days
from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.entity import canonical
from rewriteguard.extract.quantity_units import written
from rewriteguard.filter_tree import Leaf
from rewriteguard.filters import joined, related
from rewriteguard.language import lexicon
from rewriteguard.mentions import Mention, Stated, mention_of, places_of, stated
from rewriteguard.reading import Reading
from rewriteguard.tokens import Kind, ProtectedToken
from rewriteguard.words import Word

_BOUNDED = (Kind.TIME, Kind.QUANTITY, Kind.VERSION)
_WORDED = frozenset({"eq", "in", "contain", "like", "exists"})
_PLAIN = frozenset({"", "=", "~"})
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


@dataclass(frozen=True, slots=True)
class Backing:
    """What a text says of a claim: the rule that it breaks, or none, and the words that show it."""

    rule: str
    tokens: tuple[ProtectedToken, ...]


def fault_of_form(leaf: Leaf) -> str:
    """The rule that a comparison breaks whatever the user said; empty where it can be compared."""
    if not _FIELD.fullmatch(leaf.attribute):
        return "malformed.syntax"
    if leaf.comparator not in RELATIONS and leaf.comparator != "exists":
        return "not_checked.comparator"
    for value in leaf.values:
        if isinstance(value, str) and (len(value) > _LONGEST or _SYNTAX.search(value)):
            return "malformed.syntax"
        if not isinstance(value, str | int | float | date) or not _is_finite(value):
            return "not_checked.comparator"
    return "" if leaf.values else "not_checked.comparator"


def claims_of(leaf: Leaf, read: Callable[[str, bool], Reading]) -> tuple[Claim, ...]:
    """The claims of a comparison that can be compared, one for each of its values."""
    claims = tuple(_claim(leaf, value, read) for value in leaf.values)
    span = _span(claims)
    return tuple(replace(claim, bounds=(*claim.bounds, *span)) for claim in claims)


def attribute_words(leaf: Leaf, read: Callable[[str, bool], Reading]) -> tuple[Word, ...]:
    """The words of the name of a field: `has_pool`, `releaseDate`, `metadata.status`."""
    return read(_SEAMS.sub(" ", leaf.attribute).strip(), True).words


def with_ranges(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims of comparisons that must all hold; the two ends of a range also claim the range."""
    return tuple(replace(claim, bounds=(*claim.bounds, *_ranges(claim, claims))) for claim in claims)


def backing(claim: Claim, reading: Reading, facts: Facts) -> Backing | None:
    """What a text says of a claim; None where it does not mention it."""
    said = stated(reading) if claim.bounds else ()
    agreed = [s.token for s in said if s.excluded == claim.excluded and _agrees(claim, s, facts)]
    if agreed:
        return Backing("", tuple(agreed))
    near = [s for s in said if any(_is_near(bound, s.token, facts) for bound in claim.bounds)]
    if near:
        turned = any(s.excluded != claim.excluded for s in near)
        return Backing("altered.negation" if turned else "altered.comparator", tuple(s.token for s in near))
    unresolved = [s.token for s in said if s.token.value.startswith("relative") and not periods(s.token, facts)]
    if unresolved and any(bound.kind is Kind.TIME for bound in claim.bounds):
        return Backing("not_checked.reference_date", tuple(unresolved))
    if any(bound.kind is Kind.TIME for bound in claim.bounds) and any(_says_else(claim, s.token, facts) for s in said):
        return None
    return _worded(claim, reading, facts) if claim.leaf.comparator in _WORDED else None


def _says_else(claim: Claim, ours: ProtectedToken, facts: Facts) -> bool:
    """True where the words of a value stand in a time that keeps other days: 2019 in "after March 2019"."""
    place = ours.text.casefold().find(claim.words[0].lower) if claim.words else -1
    return ours.kind is Kind.TIME and place >= 0 and bool(days_of(ours, facts))


def _worded(claim: Claim, reading: Reading, facts: Facts) -> Backing | None:
    mention = mention_of(claim.words, reading) or _by_alias(claim, reading, facts)
    if mention is None:
        return None
    places = places_of([w for w in claim.words if w.pos != "ADP"], reading.words)
    tokens = tuple(_token(reading, place) for place in places)
    wanted = Mention.EXCLUDED if claim.excluded else Mention.SAID
    return Backing("" if mention in (wanted, Mention.EITHER) else "altered.negation", tokens)


def _token(reading: Reading, place: Word) -> ProtectedToken:
    whole = (t for t in reading.tokens if t.kind is Kind.ENTITY and t.start <= place.start < t.end)
    single = ProtectedToken(Kind.TOPIC, reading.text[place.start : place.end], place.start, place.end, place.stem)
    return next(whole, single)


def _by_alias(claim: Claim, reading: Reading, facts: Facts) -> Mention | None:
    text = f" {' '.join(w.lower for w in reading.words)} "
    others = facts.equivalents.get(canonical(str(claim.value)), frozenset())
    return Mention.SAID if any(f" {other} " in text for other in others) else None


def _agrees(claim: Claim, said: Stated, facts: Facts) -> bool:
    return any(_is_same(bound, said.token, facts, rougher=not said.excluded) for bound in claim.bounds)


def _is_same(bound: ProtectedToken, ours: ProtectedToken, facts: Facts, *, rougher: bool) -> bool:
    if Kind.TIME in (bound.kind, ours.kind):
        both = bound.kind is ours.kind
        return both and (same_days(ours, bound, facts) or (rougher and is_rougher(bound, ours, facts)))
    if " " in bound.value and ours.kind is Kind.QUANTITY:  # a value that names its unit
        return same_for(Kind.QUANTITY)(ours, bound, facts) in (Match.SAME, Match.NARROWER)
    equal = bound.relation == ours.relation or (bound.relation in _PLAIN and ours.relation in _PLAIN)
    return equal and _is_number(bound, ours)


def _is_number(bound: ProtectedToken, ours: ProtectedToken) -> bool:
    if ours.kind is Kind.VERSION:  # 3.1 is not 3.10
        return bound.text.casefold().removeprefix("v") == ours.value
    return bound.value.split(" ")[0] in numbers_of(ours)


def _is_near(bound: ProtectedToken, ours: ProtectedToken, facts: Facts) -> bool:
    """True for the same time or number, kept on another side or in another way."""
    if Kind.TIME not in (bound.kind, ours.kind):
        return _is_number(bound, ours)
    if bound.kind is not ours.kind:
        return False
    if bound.value == ours.value:
        return True
    ends = {end for days in days_of(ours, facts) for end in days if end is not None}
    own = {end for days in days_of(bound, facts) for end in days if end is not None}
    return bool(ends & own) or bool(set(periods(ours, facts)) & set(periods(bound, facts)))


def _claim(leaf: Leaf, value: Any, read: Callable[[str, bool], Reading]) -> Claim:
    truth = value if isinstance(value, bool) else _TRUTH.get(str(value).casefold())
    if truth is not None:
        words = attribute_words(leaf, read)
        named = [w for w in words if w.lower not in _NEGATIVE]  # `gluten_free`, `no_smoking`
        turned = len(named) < len(words) and words[0].lower != "free"
        return Claim(leaf, value, tuple(named) if turned else words, (), leaf.negated == (truth ^ turned), Kind.TOPIC)
    text = _text(leaf, value)
    reading = read(text, True)
    bounds = [t for t in reading.tokens if t.kind in _BOUNDED and t.start == 0 and t.end == len(text)]
    number = _number(text) if leaf.attribute else None
    if number is not None and not any(t.kind is Kind.QUANTITY for t in bounds):
        bounds.append(ProtectedToken(Kind.QUANTITY, text, 0, len(text), number))
    own = tuple(related(bound, leaf.comparator) for bound in bounds)
    kinds = [t.kind for t in reading.tokens]
    kind = own[0].kind if own else kinds[0] if kinds else Kind.TOPIC
    return Claim(leaf, value, reading.words, own, leaf.negated, kind)


def _text(leaf: Leaf, value: Any) -> str:
    """The value as a user would write it."""
    field = _SEAMS.sub(" ", leaf.attribute).split()[-1].casefold()
    if field == "month" and isinstance(value, int) and 1 <= value <= 12:
        return calendar.month_name[value]
    if field == "quarter" and isinstance(value, int):
        return f"Q{value}"
    if isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    text = str(value).strip("%* ") if leaf.comparator == "like" else str(value).strip()
    stamp = _STAMP.fullmatch(text)
    return stamp["day"] if stamp else text


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
