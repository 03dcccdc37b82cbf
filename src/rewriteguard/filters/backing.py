"""Whether one text of the conversation says what a comparison of a filter claims, excludes it, or may mean either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.time.value import years
from rewriteguard.filters.bounds import days_of, is_rougher, numbers_of, periods, same_days
from rewriteguard.filters.claims import Claim
from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.language.names import canonical
from rewriteguard.language.words import Word, is_word
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import Vocabulary, forms_of, is_content, negates

_BOUNDED = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION})
# "not before 2020" is since 2020.
_FLIPPED = {
    "before": "since", "since": "before", "after": "until", "until": "after", "by": "after",
    ">": "<=", "<=": ">", "<": ">=", ">=": "<",
}  # fmt: skip
_COMPARED = {"new:comparative": "after", "old:comparative": "before"}  # "newer than 2020"
_UPWARDS, _DOWNWARDS = (
    frozenset(form for word in lexicon.words("filters", key) for form in (word, stem(word)))
    for key in ("upwards", "downwards")
)
_LINKS = frozenset({"", "in", "on", "from", "of", "during", "for", "the", "with", "than"})
# What belongs to a word that is negated is negated with it; what only hangs on it by a preposition may not be.
_DIRECT = frozenset(
    {"dobj", "attr", "acomp", "oprd", "compound", "conj", "amod", "nmod", "appos", "poss", "nummod", "npadvmod"}
)
_CLAUSES = frozenset({"relcl", "acl"})  # "films that do not star ..." says which; "why can I not open ..." does not
_YEAR = 4  # digits
_CHAIN = 6  # steps up the tree from a word to the word that it belongs to
_SHORTEST_RUN = 4  # letters of a name that may be written apart
_WORDED = frozenset({"eq", "in", "contain", "like", "exists"})
_PLAIN = frozenset({"", "=", "~"})


@dataclass(frozen=True, slots=True)
class Backing:
    """What a text says of a claim: the rule that it breaks, or none, and the words that show it."""

    rule: Rule | None
    tokens: tuple[ProtectedToken, ...]


def covered(claim: Claim, reading: Reading, facts: Facts) -> tuple[ProtectedToken, ...] | None:
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
        return Backing(None, tuple(agreed))
    near = [s for s in said if any(_is_near(claim, bound, s.token, facts) for bound in claim.bounds)]
    if near:
        turned = any(s.excluded != claim.excluded for s in near)
        return Backing(Rule.ALTERED_NEGATION if turned else Rule.ALTERED_COMPARATOR, tuple(s.token for s in near))
    unresolved = [s.token for s in said if s.token.value.startswith("relative") and not periods(s.token, facts)]
    if unresolved and any(bound.kind is Kind.TIME for bound in claim.bounds):
        return Backing(Rule.NOT_CHECKED_REFERENCE_DATE, tuple(unresolved))
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
    return Backing(None if mention in (wanted, Mention.EITHER) else Rule.ALTERED_NEGATION, tokens)


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


class Mention(StrEnum):
    """What a text says of a value."""

    SAID = "said"
    EXCLUDED = "excluded"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Stated:
    """A time, an amount or a version that a text states, with its relation; or that it excludes.

    `parts` are the tokens of the text that say so: in "newer than 2020" a comparison and a number.
    """

    token: ProtectedToken
    parts: tuple[ProtectedToken, ...]
    excluded: bool = False


def stated(reading: Reading) -> tuple[Stated, ...]:
    """The times, amounts and versions of a text; withdrawn ones are left out."""
    tokens = [t for t in reading.tokens if not _is_withdrawn(reading, t)]
    return tuple(_stated(t, tokens, reading.text) for t in tokens if t.kind in _BOUNDED)


def _stated(token: ProtectedToken, tokens: Sequence[ProtectedToken], text: str) -> Stated:
    compared = _before(token, tokens, Kind.COMPARISON, text)
    parts: tuple[ProtectedToken, ...] = (token,)
    if compared is not None and not token.relation:
        parts, token = (compared, token), _compared(token, compared.value)
    negation = _before(parts[0], tokens, Kind.NEGATION, text)
    if negation is None:
        return Stated(token, parts)
    flipped = _FLIPPED.get(token.relation)
    if flipped is not None:
        token = replace(token, relation=flipped)
    return Stated(token, (negation, *parts), excluded=flipped is None)


def _compared(token: ProtectedToken, comparison: str) -> ProtectedToken:
    """A time or an amount behind "newer than" or "heavier than"."""
    if comparison in _COMPARED:
        if token.kind is Kind.QUANTITY and token.value.isdigit() and len(token.value) == _YEAR:
            days = years(int(token.value), int(token.value))  # "more recent than 2019"
            token = replace(token, kind=Kind.TIME, value=days) if days else token
        return replace(token, relation=_COMPARED[comparison])
    scale, _, degree = comparison.partition(":")
    up, down = scale in _UPWARDS, scale in _DOWNWARDS
    return replace(token, relation=">" if up else "<") if degree == "comparative" and up != down else token


def _before(token: ProtectedToken, tokens: Sequence[ProtectedToken], kind: Kind, text: str) -> ProtectedToken | None:
    """The token of a kind right before another, with no more than a small word between them."""
    for other in tokens:
        between = text[other.end : token.start].strip().casefold()
        if other.kind is kind and other.end <= token.start and between in _LINKS:
            return other
    return None


def mention_of(value: Sequence[Word], reading: Reading) -> Mention | None:
    """What a text says of a value, given the words of the value; None where it does not mention it."""
    asked = [w for w in value if is_content(w)] or [w for w in value if is_word(w)]
    words = [w for w in reading.words if not reading.regions.is_withdrawn(w.i)]
    vocabulary = reading.vocabulary if len(words) == len(reading.words) else Vocabulary(words)
    if not asked:
        return None
    if not all(supports_value(vocabulary, w) for w in asked):
        if vocabulary.expands(asked) or (vocabulary is reading.vocabulary and _is_written_apart(asked, reading)):
            return Mention.SAID
        return _by_prefix(asked, words, reading)
    excluded = _excluded(reading)
    found = [_of_word(w, words, excluded) for w in asked]
    return max(found, key=_STRENGTH.index)


_STRENGTH = (Mention.SAID, Mention.EITHER, Mention.EXCLUDED)


def supports_value(vocabulary: Vocabulary, word: Word) -> bool:
    """True where a word of the pool is the word of a value; one digit makes another value."""
    return vocabulary.holds(word) or (word.text.isalpha() and vocabulary.supports_name(word))


def places_of(value: Iterable[Word], words: Iterable[Word]) -> list[Word]:
    """The words of a text that are words of a value, in any inflection."""
    forms = {form for w in value for text in (w.text, w.lemma) for form in forms_of(text)}
    return [w for w in words if forms.intersection((*forms_of(w.text), *forms_of(w.lemma)))]


def _of_word(asked: Word, words: Sequence[Word], excluded: dict[int, Mention]) -> Mention:
    found = {excluded.get(w.i, Mention.SAID) for w in places_of([asked], words)} or {Mention.SAID}
    return found.pop() if len(found) == 1 else Mention.EITHER


def _by_prefix(asked: Sequence[Word], words: Sequence[Word], reading: Reading) -> Mention | None:
    """For "unapproved": it excludes "approved"; and for "not approved": it says "unapproved"."""
    if len(asked) != 1:
        return None
    lower, excluded = asked[0].lower, _excluded(reading)
    for word in words:
        if negates(word.lower, lower):
            longer = len(word.lower) > len(lower)
            return Mention.EXCLUDED if longer else Mention.SAID if word.i in excluded else None
    return None


def _is_written_apart(asked: Sequence[Word], reading: Reading) -> bool:
    """True for "Wi-Fi" and "wifi"; the digits of a number are not written apart."""
    name = "".join(c for w in asked for c in w.lower if c.isalnum())
    return len(name) >= _SHORTEST_RUN and name.isalpha() and name in reading.letter_runs


def _excluded(reading: Reading) -> dict[int, Mention]:
    """The words of a text that are negated, by their place."""
    found: dict[int, Mention] = {}
    for token in reading.tokens:
        if token.kind is Kind.NEGATION and token.value:
            for head in _negated(token, reading):
                found[head.i] = Mention.EXCLUDED
                found |= _below(head, token, reading)
    for before, word in zip(reading.words, reading.words[1:], strict=False):
        prefixed = before.text == "-" and before.i and reading.words[before.i - 1].lower == "non"
        if before.lower == "non" or prefixed:
            found[word.i] = Mention.EXCLUDED
    return found


def _negated(token: ProtectedToken, reading: Reading) -> list[Word]:
    """The word that a negation negates: inside it ("smoke-free"), else the first behind it, else the last before it."""
    same = [w for w in reading.words if token.value in (w.stem, stem(w.lemma))]
    inside = [w for w in same if token.start <= w.start < token.end]
    behind = [w for w in same if w.start >= token.end]
    return (inside or behind)[:1] or same[-1:]


def _below(head: Word, token: ProtectedToken, reading: Reading) -> dict[int, Mention]:
    """The words behind a negation that belong to the word that it negates."""
    found: dict[int, Mention] = {}
    turned = next((w.i for w in reading.words if w.lower == "but" and w.i > head.i), len(reading.words))
    is_verb = head.pos == "VERB" and head.dep not in _CLAUSES
    for word in reading.words:
        if word.start < token.end or word.i >= turned:
            continue
        steps: list[str] = []
        above = word
        while above.i != head.i and above.head != above.i and len(steps) < _CHAIN:
            steps.append(above.dep)
            above = reading.words[above.head]
        if steps and above.i == head.i:
            direct = not is_verb and all(step in _DIRECT for step in steps)
            found[word.i] = Mention.EXCLUDED if direct else Mention.EITHER
    return found


def _is_withdrawn(reading: Reading, token: ProtectedToken) -> bool:
    return any(reading.regions.is_withdrawn(w.i) for w in reading.words_of(token))
