"""Whether one text of the conversation says what a comparison of a filter claims."""

from __future__ import annotations

from dataclasses import dataclass

from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.entity import canonical
from rewriteguard.filters.bounds import days_of, is_rougher, numbers_of, periods, same_days
from rewriteguard.filters.claims import Claim
from rewriteguard.filters.mentions import Mention, Stated, mention_of, places_of, stated
from rewriteguard.language.words import Word
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading

_WORDED = frozenset({"eq", "in", "contain", "like", "exists"})
_PLAIN = frozenset({"", "=", "~"})


@dataclass(frozen=True, slots=True)
class Backing:
    """What a text says of a claim: the rule that it breaks, or none, and the words that show it."""

    rule: str
    tokens: tuple[ProtectedToken, ...]


def carried(claim: Claim, reading: Reading, facts: Facts) -> tuple[ProtectedToken, ...] | None:
    """The tokens of a text of which a claim says all, so that nothing else need say it; None where it says another.

    Words have no tokens here. A year says a month of it only together with the month.
    """
    said = [s for s in stated(reading) if _agrees(claim, s, facts, rougher=False)] if claim.bounds else []
    if said:
        return tuple(part for each in said for part in each.parts)
    found = backing(claim, reading, facts)
    bounded = found is not None and any(token.kind in (Kind.TIME, Kind.QUANTITY) for token in found.tokens)
    return () if found is not None and not found.rule and not bounded else None


def backing(claim: Claim, reading: Reading, facts: Facts) -> Backing | None:
    """What a text says of a claim; None where it does not mention it."""
    said = stated(reading) if claim.bounds else ()
    agreed = [s.token for s in said if _agrees(claim, s, facts, rougher=not s.excluded)]
    if agreed:
        return Backing("", tuple(agreed))
    near = [s for s in said if any(_is_near(claim, bound, s.token, facts) for bound in claim.bounds)]
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


def _agrees(claim: Claim, said: Stated, facts: Facts, *, rougher: bool) -> bool:
    agreed = any(_is_same(claim, bound, said.token, facts, rougher=rougher) for bound in claim.bounds)
    return agreed and said.excluded == claim.excluded


def _is_same(claim: Claim, bound: ProtectedToken, ours: ProtectedToken, facts: Facts, *, rougher: bool) -> bool:
    if Kind.TIME in (bound.kind, ours.kind):
        both = bound.kind is ours.kind
        return both and (same_days(ours, bound, facts) or (rougher and is_rougher(bound, ours, facts)))
    if " " in bound.value and ours.kind is Kind.QUANTITY:  # a value that names its unit
        return same_for(Kind.QUANTITY)(ours, bound, facts) in (Match.SAME, Match.NARROWER)
    equal = bound.relation == ours.relation or (bound.relation in _PLAIN and ours.relation in _PLAIN)
    return equal and _is_number(claim, bound, ours)


def _is_number(claim: Claim, bound: ProtectedToken, ours: ProtectedToken) -> bool:
    if ours.kind is Kind.VERSION:  # 3.1 is not 3.10
        return bound.text.casefold().removeprefix("v") == ours.value
    return bound.value.split(" ")[0] in numbers_of(ours, claim.measure)


def _is_near(claim: Claim, bound: ProtectedToken, ours: ProtectedToken, facts: Facts) -> bool:
    """True for the same time or number, kept on another side or in another way."""
    if Kind.TIME not in (bound.kind, ours.kind):
        return _is_number(claim, bound, ours)
    if bound.kind is not ours.kind:
        return False
    if bound.value == ours.value:
        return True
    ends = {end for days in days_of(ours, facts) for end in days if end is not None}
    own = {end for days in days_of(bound, facts) for end in days if end is not None}
    return bool(ends & own) or bool(set(periods(ours, facts)) & set(periods(bound, facts)))
