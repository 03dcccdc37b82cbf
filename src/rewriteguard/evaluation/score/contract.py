"""What queries make of a contract: which of its clauses they keep, alter, drop or add to.

| clause | holds where |
|---|---|
| constraint | a query says what it means in the conversation, as words or as tokens |
| must_preserve | the words stand in a query as they are written, letter case included |
| forbidden_assumption | no query has the words, unless an allowed expansion or the turn itself has them |

Several queries are judged by their union: one of them has to keep a clause. Tokens are those that `Guard.extract`
finds. They are equal where the guard takes them for the same: a relative period and its dates by the contract's
reference date. A constraint is kept by its tokens, or by the words of one of its forms:

| where a form stands in the query as words | it is kept where |
|---|---|
| a token of its kind is on or around the words | that token is equal to the conversation's |
| no such token, and the kind is a matter of grammar ("no. 5", "not only") | never: the word says something else there |
| no such token otherwise | always |

A form of one word that is short or all capitals has to stand in its own case: "US" is not "us". What a query denies
("not yet approved") is not kept, unless the user denies something too. A longer name ("Barack Obama") keeps a name
where the conversation says it. Topics are kept by their words alone: a stand-alone query joins them to others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.extract import answer_type, same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.time.value import interval
from rewriteguard.language.normal import normalise
from rewriteguard.model.tokens import Kind, ProtectedToken

Extract = Callable[[str], Sequence[ProtectedToken]]
"""Finds the protected tokens of a text, as `Guard.extract` does."""
Tokens = tuple[ProtectedToken, ...]
Span = tuple[int, int]
_POSSESSIVE = re.compile(r"(?<=\w)'s\b | (?<=s)'(?!\w)", re.VERBOSE)
# A word of these is one only in its grammatical place, which the extractor knows.
_GRAMMATICAL = frozenset({Kind.NEGATION, Kind.MODALITY, Kind.QUANTIFIER, Kind.ANSWER_TYPE})
_SHORT = 3  # letters up to which a name may also be a common word: US, IT, WHO, May
_BETWEEN = 1  # words between a negation and what it denies: "not yet approved", "not in 2023"


class Fate(StrEnum):
    """What queries made of a clause."""

    KEPT = "kept"
    ALTERED = "altered"  # the same kind with another value came instead
    DROPPED = "dropped"
    ABSENT = "absent"  # of a forbidden assumption: as it should be
    ADDED = "added"  # of a forbidden assumption


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a contract, and what queries made of it.

    Attributes:
        clause: `constraint`, `must_preserve` or `forbidden_assumption`.
        kind: The kind of the constraint; None for the other clauses.
        asked: What the contract says.
        critical: Whether a query that breaks it asks something else; so with every clause that is no constraint.
        fate: What the queries made of it.
        instead: The words that came instead, or that were added; empty otherwise.
        query: Place of the query that keeps, alters or adds it, from 0; None where there is none.
    """

    clause: str
    kind: Kind | None
    asked: str
    critical: bool
    fate: Fate
    instead: str = ""
    query: int | None = None

    @property
    def held(self) -> bool:
        """Whether the queries do what the clause says."""
        return self.fate in (Fate.KEPT, Fate.ABSENT)


def clauses(case: Case, queries: Sequence[str], extract: Extract) -> tuple[Clause, ...]:
    """What the union of the queries makes of each clause of the case's contract; no query keeps nothing."""
    contract = case.contract
    if contract is None:
        return ()
    return (
        *(_constraint(constraint, case, contract, queries, extract) for constraint in contract.constraints),
        *(_must_preserve(words, queries) for words in contract.must_preserve),
        *(_assumption(words, case, contract, queries) for words in contract.forbidden_assumptions),
    )


def _constraint(asked: Constraint, case: Case, contract: Contract, queries: Sequence[str], extract: Extract) -> Clause:
    told = ("constraint", asked.kind, asked.text, asked.critical)
    facts = Facts(contract.reference_date)
    meaning = meaning_of(asked, case, facts, extract)
    for place, query in enumerate(queries):
        if keeps(meaning, query, extract):
            return Clause(*told, Fate.KEPT, query=place)
    for place, query in enumerate(queries):
        other = _other(asked.kind, query, case, contract, extract)
        if other is not None:
            return Clause(*told, Fate.ALTERED, other.text, place)
    return Clause(*told, Fate.DROPPED)


def _must_preserve(words: str, queries: Sequence[str]) -> Clause:
    place = next((at for at, query in enumerate(queries) if stands(spaced(words), spaced(query))), None)
    return Clause("must_preserve", None, words, True, Fate.DROPPED if place is None else Fate.KEPT, query=place)


def _assumption(words: str, case: Case, contract: Contract, queries: Sequence[str]) -> Clause:
    form = folded(words)
    if not stands(form, folded(case.original)):
        for place, query in enumerate(queries):
            text = folded(query)
            for allowed in contract.allowed_expansion:
                text = without(folded(allowed), text)
            if stands(form, text):
                return Clause("forbidden_assumption", None, words, True, Fate.ADDED, words, place)
    return Clause("forbidden_assumption", None, words, True, Fate.ABSENT)


def _other(kind: Kind, query: str, case: Case, contract: Contract, extract: Extract) -> ProtectedToken | None:
    """A token of the kind that no constraint, no allowed expansion and not the turn itself says.

    Another topic word is no sign that it came instead of one: a stand-alone query has many.
    """
    if kind is Kind.TOPIC:
        return None
    facts = Facts(contract.reference_date)
    alike = [constraint for constraint in contract.constraints if constraint.kind is kind]
    said = [token for each in alike for token in meaning_of(each, case, facts, extract).tokens]
    said += of_kind(kind, case.original, extract)
    texts = [*contract.allowed_expansion, *(form for each in alike for form in (each.text, *each.forms))]
    for token in of_kind(kind, query, extract):
        known = any(equal(each, token, facts) for each in said)
        if not known and not any(stands(folded(token.text), folded(text)) for text in (case.original, *texts)):
            return token
    return None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a constraint means in its conversation.

    Attributes:
        constraint: The constraint.
        forms: Each of its forms with the groups of tokens that it stands for: one group for each place where it
            stands in the conversation, and what it says by itself. No groups where nothing was read in it.
        facts: The contract's reference date.
        told: The words of the conversation.
        denies: Whether the user denies anything.
    """

    constraint: Constraint
    forms: tuple[tuple[str, tuple[Tokens, ...]], ...]
    facts: Facts
    told: str
    denies: bool

    @property
    def tokens(self) -> Iterator[ProtectedToken]:
        """All tokens that a form stands for."""
        return (token for _, groups in self.forms for group in groups for token in group)


def meaning_of(constraint: Constraint, case: Case, facts: Facts, extract: Extract) -> Meaning:
    """What a constraint means in its conversation: in the turn, else in what the user said last, else by itself."""
    users = [text for role, text in reversed(case.history) if role == "user"]
    others = [text for role, text in reversed(case.history) if role != "user"]
    texts = (case.original, *users, *others)
    kind = constraint.kind
    forms = [(constraint.text, _said(kind, constraint.text, texts, extract) or _alone(kind, constraint.text, extract))]
    # Whoever wrote another form vouches for what it says by itself, also where the conversation says more.
    forms += [(form, _said(kind, form, texts, extract) + _alone(kind, form, extract)) for form in constraint.forms]
    return Meaning(
        constraint,
        tuple(forms),
        facts,
        folded(" | ".join(texts)),
        any(of_kind(Kind.NEGATION, text, extract) for text in (case.original, *users)),
    )


def keeps(meaning: Meaning, query: str, extract: Extract) -> bool:
    """Whether a query says what a constraint means."""
    kind = meaning.constraint.kind
    if any(_stands(meaning, form, groups, query, extract) for form, groups in meaning.forms):
        return True
    found = [
        token
        for token in of_kind(kind, query, extract)
        if not _is_denied(meaning, _span(token, query, folded), query, folded, extract)
    ]
    if any(
        all(any(equal(ours, theirs, meaning.facts) for theirs in found) for ours in group)
        for _, groups in meaning.forms
        for group in groups
    ):
        return True
    return kind is Kind.ANSWER_TYPE and _is_paraphrased(meaning, query, extract)


def equal(ours: ProtectedToken, theirs: ProtectedToken, facts: Facts) -> bool:
    """Whether a token of a query says what one of the conversation says, or that and more."""
    if same_for(ours.kind)(ours, theirs, facts) in (Match.SAME, Match.NARROWER):
        return True
    if ours.kind is Kind.TIME:
        return (start := _start(ours)) is not None and start == _start(theirs)
    return ours.kind is Kind.ENTITY and (_is_acronym(ours, theirs) or _is_acronym(theirs, ours))


def of_kind(kind: Kind, text: str, extract: Extract) -> list[ProtectedToken]:
    """The tokens of one kind in a text."""
    return [token for token in extract(text) if token.kind is kind]


def _said(kind: Kind, form: str, texts: Sequence[str], extract: Extract) -> tuple[Tokens, ...]:
    """The tokens of each place where a form stands in the first of the texts that has tokens there."""
    view = _view(form)
    for text in texts:
        tokens = of_kind(kind, text, extract)
        spans = places(view(form), view(text)) if tokens else []
        groups = [tuple(token for token in tokens if _overlap(_span(token, text, view), span)) for span in spans]
        if any(groups):
            return tuple(filter(None, groups))
    return ()


def _alone(kind: Kind, form: str, extract: Extract) -> tuple[Tokens, ...]:
    """The tokens of a form by itself, where a negation without anything it negates says nothing."""
    tokens = tuple(token for token in of_kind(kind, form, extract) if kind is not Kind.NEGATION or token.value)
    return (tokens,) if tokens else ()


def _stands(meaning: Meaning, form: str, groups: Sequence[Tokens], query: str, extract: Extract) -> bool:
    kind, view = meaning.constraint.kind, _view(form)
    for span in places(view(form), view(query)):
        if _is_denied(meaning, span, query, view, extract):
            continue
        tokens = [(token, _span(token, query, view)) for token in of_kind(kind, query, extract)]
        on = [(token, at) for token, at in tokens if _overlap(at, span)]
        if kind is Kind.TOPIC or (not on and not (groups and kind in _GRAMMATICAL)):
            return True
        if on and all(_fits(meaning, groups, token, at, span) for token, at in on):
            return True
    return False


def _fits(meaning: Meaning, groups: Sequence[Tokens], token: ProtectedToken, at: Span, span: Span) -> bool:
    """Whether a token on the words of a form says what the form means."""
    if any(equal(ours, token, meaning.facts) for ours in meaning.tokens):
        return True
    if token.kind is Kind.ENTITY and stands(folded(token.text), meaning.told):
        return True
    return not groups and span[0] <= at[0] and at[1] <= span[1]


def _is_denied(meaning: Meaning, span: Span, query: str, view: Callable[[str], str], extract: Extract) -> bool:
    kind = meaning.constraint.kind
    if meaning.denies or kind in (Kind.NEGATION, Kind.ANSWER_TYPE):
        return False
    text = view(query)
    for negation in of_kind(Kind.NEGATION, query, extract):
        start, end = _span(negation, query, view)
        before, after = text[end : span[0]], text[span[1] : start]
        if end <= span[0] and len(before.split()) <= _BETWEEN and before.replace(" ", "a").isalnum():
            return True
        if kind is Kind.MODALITY and span[1] <= start and not after.strip():
            return True
    return False


def _is_paraphrased(meaning: Meaning, query: str, extract: Extract) -> bool:
    """Whether other words ask for the kind of answer, as "the price" does; question words were read as tokens."""
    text = folded(query)
    phrases = (" ".join(words) for token in meaning.tokens for words in answer_type.paraphrases(token.value))
    return any(stands(phrase, text) and not of_kind(Kind.ANSWER_TYPE, phrase, extract) for phrase in phrases)


def _view(form: str) -> Callable[[str], str]:
    is_cased = form.isalpha() and form != form.lower() and (len(form) <= _SHORT or form.isupper())
    return bare if is_cased else folded


def _span(token: ProtectedToken, text: str, view: Callable[[str], str]) -> Span:
    start = len(view(text[: token.start] + "x")) - 1
    return start, start + len(view(token.text))


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _start(token: ProtectedToken) -> object:
    """The first day of a period without an end: after 2021 is since 2022."""
    days = interval(token.value)
    if days is None or token.relation not in ("after", "since"):
        return None
    return days[1] if token.relation == "after" else days[0]


def _is_acronym(one: ProtectedToken, other: ProtectedToken) -> bool:
    """Whether the first name is the initials of the other: "R.I." of "Rhode Island"."""
    letters, words = one.text.replace(".", ""), other.value.split()
    return letters.isupper() and len(words) > 1 and letters.casefold() == "".join(word[0] for word in words)


@lru_cache(maxsize=65_536)
def folded(text: str) -> str:
    """The text in lower case, without accents and possessive endings, with single spaces."""
    return bare(text.casefold())


@lru_cache(maxsize=65_536)
def bare(text: str) -> str:
    """The text in its own case, without accents and possessive endings, with single spaces."""
    plain = unicodedata.normalize("NFKD", normalise(text).text)
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(_POSSESSIVE.sub("", letters).split())


@lru_cache(maxsize=65_536)
def spaced(text: str) -> str:
    """The text as written, in NFKC with straight quotes and single spaces."""
    return " ".join(normalise(text).text.split())


def stands(form: str, text: str) -> bool:
    """Whether the words of `form` stand in `text` as whole words; both in one of the forms above.

    "approved" does not stand in "non-approved", "2023" not in "2023-07", "5" not in "5.2" and "10" not in "10 %".
    """
    return bool(form) and form in text and _as_words(form).search(text) is not None


def places(form: str, text: str) -> list[tuple[int, int]]:
    """Where the words of `form` stand in `text`; half-open offsets."""
    return [match.span() for match in _as_words(form).finditer(text)] if form and form in text else []


def without(form: str, text: str) -> str:
    """`text` with a gap where the words of `form` stand."""
    return _as_words(form).sub(" | ", text) if form and form in text else text


@lru_cache(maxsize=65_536)
def _as_words(form: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?<! [\w$€£] ) (?<! \w[-@] ) (?<! \d[./,:] )
        {re.escape(form)}
        (?! \w | [-@]\w | [./,:]\d | [ ]?% )
        """,
        re.VERBOSE,
    )
