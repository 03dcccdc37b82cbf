"""The check of a filter that a model wrote: what the conversation supports stays, everything else is named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rewriteguard.extract.base import Facts
from rewriteguard.extract.quantity import number_at
from rewriteguard.filters.backing import Backing, Mention, backing, mention_of, places_of, stated, supports_value
from rewriteguard.filters.bounds import days_of
from rewriteguard.filters.claims import Claim, Read, claims_of, fault_of_form, with_ranges
from rewriteguard.filters.finding import FilterAssessment, FilterViolation
from rewriteguard.filters.shape import (
    comparator_of,
    fault_of_shape,
    lost_alternatives,
    name_contradictions,
    nearer_value,
    parted_alternatives,
    unsaid_alternatives,
)
from rewriteguard.filters.tree import Branch, Leaf, Node, fields_of, read_tree
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.model.conversation import Role
from rewriteguard.model.rules import Rule, gravest
from rewriteguard.model.tokens import Evidence, Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.vocabulary import Vocabulary, is_content

_BESIDES = lexicon.words("filters", "besides")
_REQUESTS, _FIRST, _RESULTS = (
    lexicon.words("filters", key) for key in ("requests", "first_of_results", "names_of_results")
)
_NOUNS = frozenset({"NOUN", "PROPN"})
_COUNTS = frozenset({"", "=", "~", "<="})  # "exactly 5", "about 5", "up to 5"
MAX_LIMIT = 20
"""The cap of a limit unless another is given: as many as an arm fetches where lists are fused."""


def assess_filter(
    structured: Any,
    turn: Reading,
    past: Past,
    facts: Facts,
    read: Read,
    *,
    developer_filter: Any = None,
    max_limit: int | None = MAX_LIMIT,
) -> FilterAssessment:
    """The finding about a filter: a structured query, a part of one, or a mapping; None is no filter.

    The fields of the application's own filter are not the model's to name. No cap (`max_limit`) caps nothing.

    Raises:
        InputError: One of the filters has a shape that cannot be read.
    """
    pieces = read_tree(structured)
    check = _Check(turn, past, facts, read, fields_of(developer_filter))
    found = check.violations([piece.node for piece in pieces])
    kept = tuple(piece.source for piece, wrong in zip(pieces, found, strict=True) if not wrong)
    limit, wrong_limit = check.limit(getattr(structured, "limit", None), max_limit)
    violations = (*(violation for wrong in found for violation in wrong), *wrong_limit)
    return FilterAssessment(gravest(v.rule.alone for v in violations), violations, kept, limit)


@dataclass
class _Check:
    """One check: what it compares with, and which words of the turn the filter has taken up."""

    turn: Reading
    past: Past
    facts: Facts
    read: Read
    fixed: frozenset[str]

    def __post_init__(self) -> None:
        said = [*zip(self.past.messages, self.past.readings, strict=True)][::-1]
        self.users = [(message.index, reading) for message, reading in said if message.role is Role.USER]
        self.others = [(message.index, reading) for message, reading in said if message.role is not Role.USER]
        self.used: set[ProtectedToken] = set()
        self.claims: list[Claim] = []

    @property
    def _users_own(self) -> list[Reading]:
        return [self.turn, *(reading for _, reading in self.users)]

    def violations(self, nodes: Sequence[Node]) -> list[list[FilterViolation]]:
        """The violations of each part, in order."""
        found: list[list[FilterViolation]] = [
            [*fault_of_shape(node, self.fixed), *unsaid_alternatives(node, self._users_own, self._places)]
            for node in nodes
        ]
        claims = with_ranges(
            [(node, [] if wrong else self._claims(node)) for node, wrong in zip(nodes, found, strict=True)]
        )
        self.claims = [claim for own in claims for claim in own]
        backed = [[(claim, backing(claim, self.turn, self.facts)) for claim in own] for own in claims]
        for own in backed:
            for _, said in own:
                if said is not None and not said.rule:
                    self.used.update(said.tokens)
        for wrong, own in zip(found, backed, strict=True):
            wrong += [v for claim, said in own if (v := self._judged(claim, said)) is not None]
        for part, violation in parted_alternatives(backed, self.turn):
            found[part].append(violation)
        name_contradictions(nodes, found)
        return found

    def limit(self, limit: Any, cap: int | None) -> tuple[int | None, tuple[FilterViolation, ...]]:
        """The limit that the user asked for, at most the cap; and what is wrong with the model's."""
        if limit is None:
            return None, ()
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            return None, (FilterViolation(Rule.NOT_CHECKED_COMPARATOR, None, (), "limit", "eq", limit),)
        if any(_asks_for(limit, text, self.used if text is self.turn else ()) for text in self._users_own):
            return limit if cap is None else min(limit, cap), ()
        return None, (FilterViolation(Rule.INVENTED_VALUE, Kind.QUANTITY, (), "limit", "eq", limit),)

    def _claims(self, node: Node) -> list[Claim]:
        if isinstance(node, Leaf):
            return list(claims_of(node, self.read))
        parts = sorted(node.parts, key=lambda part: isinstance(part, Branch))
        groups = [(part, self._claims(part)) for part in parts]
        together = with_ranges(groups) if node.operator == "and" else [group for _, group in groups]
        return [claim for group in together for claim in group]

    def _places(self, leaf: Leaf, reading: Reading) -> list[Word]:
        """The words of a text that say a comparison."""
        said = [backing(claim, reading, self.facts) for claim in (() if fault_of_form(leaf) else self._claims(leaf))]
        return [word for each in said if each is not None for token in each.tokens for word in reading.words_of(token)]

    def _judged(self, claim: Claim, said: Backing | None) -> FilterViolation | None:
        """The violation of a claim, given what the turn says of it."""
        if said is not None:
            if said.rule:
                return _found(claim, said.rule, said.tokens)
            lost = lost_alternatives(claim, said, self.claims, self.turn)
            if lost:
                return _found(claim, Rule.ALTERED_OPERATOR, lost)
            nearer = nearer_value(claim, said, self.turn, self.read)
            return _found(claim, Rule.ALTERED_PAIR, nearer) if nearer else None
        for index, reading in self.users:
            said = backing(claim, reading, self.facts)
            if said is not None:
                contrary = () if said.rule else self._contrary(said)
                if contrary:
                    return _found(claim, Rule.ALTERED_VALUE, contrary)
                rule, rivals = _rivals_of(claim, said, reading, self.claims, self.turn)
                if rivals and not said.rule:
                    return _found(claim, rule, rivals)
                return _found(claim, said.rule, said.tokens, index) if said.rule else None
        if self._is_said_together(claim):
            return None
        for index, reading in self.others:
            said = backing(claim, reading, self.facts)
            if said is not None:
                return _found(claim, Rule.LOW_TRUST, said.tokens, index)
        replaced = self._replaced(claim)
        return _found(claim, Rule.ALTERED_VALUE if replaced else Rule.INVENTED_VALUE, replaced)

    def _open(self, kind: Kind) -> list[ProtectedToken]:
        """The amounts of the turn, or the times whose days are known, that no part of the filter takes up."""
        found = [s.token for s in stated(self.turn) if s.token.kind is kind and s.token.value != "present"]
        named = [token for token in found if kind is not Kind.TIME or days_of(token, self.facts)]
        return [token for token in named if token not in self.used]

    def _contrary(self, said: Backing) -> tuple[ProtectedToken, ...]:
        """What the turn says instead of what the history said: another date, another amount of the same unit."""
        if any(token.kind is Kind.TIME for token in said.tokens):
            return tuple(self._open(Kind.TIME))
        units = {_unit(token) for token in said.tokens if token.kind is Kind.QUANTITY} - {""}
        return tuple(t for t in self._open(Kind.QUANTITY) if _unit(t) in units)

    def _replaced(self, claim: Claim) -> tuple[ProtectedToken, ...]:
        """What the turn says in place of a value that no one said."""
        for bound in claim.bounds:
            found = self._open(Kind.TIME if bound.kind is Kind.TIME else Kind.QUANTITY)
            if bound.kind is not Kind.TIME:
                found = [token for token in found if bound.relation and token.relation == bound.relation]
            if found:
                return tuple(found)
        return ()

    def _is_said_together(self, claim: Claim) -> bool:
        """True for a name of several words of which the turn says some and the user's earlier messages the rest."""
        words = [w for w in claim.words if is_content(w)]
        if claim.bounds or claim.excluded or len(words) < 2:
            return False
        vocabulary = Vocabulary.joined(reading.vocabulary for reading in self._users_own)
        return all(supports_value(vocabulary, w) for w in words)


def _unit(token: ProtectedToken) -> str:
    return token.value.partition(" ")[2]


def _found(claim: Claim, rule: Rule, tokens: Sequence[ProtectedToken], turn: int | None = None) -> FilterViolation:
    kind = Kind.NEGATION if rule is Rule.ALTERED_NEGATION else claim.kind
    where = "turn" if turn is None else "history"
    evidence = tuple(Evidence(where, t.text, t.start, t.end, turn) for t in dict.fromkeys(tokens))
    return FilterViolation(rule, kind, evidence, claim.leaf.attribute, comparator_of(claim.leaf), claim.value)


def _rivals_of(
    claim: Claim, said: Backing, then: Reading, claims: Sequence[Claim], turn: Reading
) -> tuple[Rule, tuple[ProtectedToken, ...]]:
    """The names of the turn that take an earlier name's place, and the rule that it breaks then; none where it stands.

    A name behind the same preposition takes its place; one in "What about Malmö?" may. A name that the filter has in
    another field takes no one's place, nor does any beside "also".
    """
    names = [token for token in said.tokens if token.kind is Kind.ENTITY]
    elsewhere = [w for each in claims if each.leaf.attribute != claim.leaf.attribute for w in each.words]
    taken = places_of([*elsewhere, *claim.words], turn.words)
    free = [t for t in turn.tokens if t.kind is Kind.ENTITY and not any(w in taken for w in turn.words_of(t))]
    rivals = [token for token in free if mention_of(turn.words_of(token), turn) is not Mention.EXCLUDED]
    if claim.excluded or not names or any(w.lower in _BESIDES for w in turn.words):
        return Rule.ALTERED_VALUE, ()
    own = {_link(token, then) for token in names} - {""}
    same = tuple(token for token in rivals if _link(token, turn) in own)
    if same:
        return Rule.ALTERED_VALUE, same
    return Rule.NOT_CHECKED_REPLACED, tuple(token for token in rivals if _begins(token, turn))


def _link(token: ProtectedToken, reading: Reading) -> str:
    """The small word in front of a name, articles left out; empty where there is none."""
    before = [w for w in _before(token, reading) if w.lower not in ("the", "a", "an")]
    return before[-1].lower if before and not is_content(before[-1]) else ""


def _begins(token: ProtectedToken, reading: Reading) -> bool:
    """True where a turn has no more than "And" or "What about" in front of a name."""
    before = _before(token, reading)
    return _link(token, reading) in ("", "and", "about", "or", "but") and not any(map(is_content, before))


def _before(token: ProtectedToken, reading: Reading) -> list[Word]:
    return [w for w in reading.words if w.end <= token.start]


def _asks_for(limit: int, reading: Reading, used: Collection[ProtectedToken] = ()) -> bool:
    """True where a text asks for `limit` results: "top 5", "show me 5 surveys", "the 5 newest", "5 results".

    One that was not parsed says it by the words beside the number alone. Numbers that a filter has taken up (`used`)
    count something else.
    """
    return any(
        _value(word, reading) == limit
        and not any(token.start <= word.start < token.end for token in used)
        and (_is_beside(word, reading) or _is_requested(word, reading))
        for word in reading.words
    )


def _value(word: Word, reading: Reading) -> int | None:
    """What a word counts; None where it is no number, or part of a date, a version, a code or a measure."""
    if word.lower == "couple":
        return 2
    for token in reading.tokens:
        if token.start <= word.start < token.end and token.kind is not Kind.TOPIC:
            plain = token.kind is Kind.QUANTITY and token.value.isdigit() and token.relation in _COUNTS
            return int(token.value) if plain else None
    number = number_at(reading.text, word.start)
    return int(number.value) if number is not None and number.value.denominator == 1 else None


def _is_beside(word: Word, reading: Reading) -> bool:
    """True right behind "top" or right before "results"; beside a superlative too."""
    sides = [(a, b) for a, b in pairwise(reading.words) if word in (a, b)]
    return any(
        (other.lower in _FIRST and other.i < word.i)
        or (other.lemma in _RESULTS and other.i > word.i)
        or other.tag in ("JJS", "RBS")
        for pair in sides
        for other in pair
        if other is not word
    )


def _is_requested(word: Word, reading: Reading) -> bool:
    """True for what a request asks for: "give me 3 films", "3 films"; not "5 star hotels", "flats with 3 rooms"."""
    head = reading.words[word.head] if word.dep == "nummod" else word
    if any(between.pos in _NOUNS for between in reading.words[word.i + 1 : head.i]):
        return False
    begins = word.i == 0 and head.dep == "ROOT" and head.tag == "NNS"
    return begins or (head.dep == "dobj" and reading.words[head.head].lemma in _REQUESTS)
