"""What is wrong with a filter as it is built: fields it may not name, alternatives and values that no one joined so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rewriteguard.filters.backing import Backing, places_of, stated
from rewriteguard.filters.claims import Claim, Read, attribute_words, fault_of_form
from rewriteguard.filters.finding import FilterViolation
from rewriteguard.filters.tree import Branch, Leaf, Node, field_name, leaves
from rewriteguard.language.words import Word
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import Kind, ProtectedToken, in_turn
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import is_content

_PREFIX = 5  # letters that the name of a field and a word of the turn share: "director", "directed"


def fault_of_shape(node: Node, fixed: frozenset[str]) -> Iterator[FilterViolation]:
    """What is wrong with a part whatever the user said."""
    for leaf in leaves(node):
        rule = Rule.ALTERED_DEVELOPER if field_name(leaf.attribute) in fixed else fault_of_form(leaf)
        if rule:
            yield _violation(rule, leaf)
    if isinstance(node, Branch) and not any(True for _ in leaves(node)):
        yield FilterViolation(Rule.NOT_CHECKED_COMPARATOR, None, (), "", node.operator, None)


def unsaid_alternatives(
    node: Node, readings: Sequence[Reading], places: Callable[[Leaf, Reading], Sequence[Word]]
) -> Iterator[FilterViolation]:
    """Alternatives over several fields that no one offered: no "or" stands between the words that say them."""
    if isinstance(node, Leaf):
        return
    found = list(leaves(node))
    several = len({leaf.attribute for leaf in found}) > 1
    if node.operator == "or" and several and not any(_offers(node, reading, places) for reading in readings):
        yield _violation(Rule.ALTERED_OPERATOR, found[0])
    for part in node.parts:
        yield from unsaid_alternatives(part, readings, places)


def _offers(node: Branch, reading: Reading, places: Callable[[Leaf, Reading], Sequence[Word]]) -> bool:
    """True where an "or" stands between the words of the parts, and within those of none."""
    parts = [[word.i for leaf in leaves(part) for word in places(leaf, reading)] for part in node.parts]
    if not all(parts):
        return False
    for joint in (word.i for word in reading.words if word.lower == "or"):
        sides = [{i < joint for i in own} for own in parts]
        if {True} in sides and {False} in sides and {True, False} not in sides:
            return True
    return False


def name_contradictions(nodes: Sequence[Node], found: Sequence[list[FilterViolation]]) -> None:
    """Names two values of one field that must both hold: "French or Italian" asks for either."""
    equal = [(i, n) for i, n in enumerate(nodes) if isinstance(n, Leaf) and n.comparator == "eq" and not n.negated]
    for i, leaf in equal:
        if any(leaf.attribute == other.attribute and leaf.value != other.value for _, other in equal):
            found[i].append(_violation(Rule.ALTERED_OPERATOR, leaf))


def parted_alternatives(
    backed: Sequence[Sequence[tuple[Claim, Backing | None]]], turn: Reading
) -> Iterator[tuple[int, FilterViolation]]:
    """Two fields that must both hold where the turn offers either: "open or of high priority"; each with its part.

    `backed` holds for each part its claims, and what the turn says of them.
    """
    placed = [
        (word.i, part, claim, token)
        for part, own in enumerate(backed)
        for claim, said in own
        if said is not None and not said.rule and not claim.excluded
        for token in said.tokens
        for word in turn.words_of(token)
    ]
    for joint in (word.i for word in turn.words if word.lower == "or"):
        before = max((i for i, *_ in placed if i < joint), default=joint)
        behind = min((i for i, *_ in placed if i > joint), default=joint)
        left, right = ([each for each in placed if each[0] == i] for i in (before, behind))
        if joint in (before, behind, *(i for i, *_ in placed)) or not _is_joined(turn.words, before, joint, behind):
            continue
        if not {claim.leaf.attribute for _, _, claim, _ in left} & {claim.leaf.attribute for _, _, claim, _ in right}:
            for (_, part, claim, _), (_, other, _, token) in ((left[0], right[0]), (right[0], left[0])):
                if part != other:
                    yield part, _violation(Rule.ALTERED_OPERATOR, claim.leaf, (token,))


def _is_joined(words: Sequence[Word], before: int, joint: int, behind: int) -> bool:
    """True where an "or" stands between two words or what they belong to: "comedy films or anything after 2010"."""
    above = {words[i].head for i in (before, behind)}
    above |= {words[i].head for i in above}
    others = [w for w in words[before + 1 : behind] if is_content(w) and w.i not in above]
    return all(w.i > joint and w.pos in ("VERB", "AUX") for w in others)


def nearer_value(claim: Claim, said: Backing, turn: Reading, read: Read) -> tuple[ProtectedToken, ...]:
    """What stands nearer to the field's name than the value does: "3 bedrooms and 2 bathrooms"."""
    names = _named(attribute_words(claim.leaf, read), turn)
    own = [token for token in said.tokens if token.kind is not Kind.TOPIC]
    if not names or not own:
        return ()
    if claim.bounds:
        rivals = [s.token for s in stated(turn) if s.token.kind is own[0].kind]
    else:
        rivals = [t for t in turn.tokens if t.kind is own[0].kind]
    nearest = min((t for t in rivals if t not in own), key=lambda t: _gap(t, names), default=None)
    if nearest is None or _gap(nearest, names) >= min(_gap(t, names) for t in own):
        return ()
    return (nearest,)


def lost_alternatives(
    claim: Claim, said: Backing, claims: Sequence[Claim], turn: Reading
) -> tuple[ProtectedToken, ...]:
    """What the turn offers beside a value and the filter leaves out: "in Lund or Malmö" and only Lund."""
    if claim.excluded:
        return ()
    own = [w for token in said.tokens for w in turn.words_of(token)]
    claimed = places_of([w for each in claims for w in each.words], turn.words)
    # Of "science fiction or comedy films" the parse joins "fiction" and "films", to which "comedy" belongs.
    heads = {w.head for w in claimed if w.dep != "conj"}
    beside = [w for word in own for w in _alternatives(word, turn.words)]
    lost = [w for w in beside if is_content(w) and w not in claimed and w.i not in heads]
    return tuple(ProtectedToken(Kind.TOPIC, w.text, w.start, w.end, w.stem) for w in lost)


def _alternatives(word: Word, words: Sequence[Word]) -> list[Word]:
    """The words that are joined to a word by "or"."""
    group = [w for w in words if _first_of(w, words) is _first_of(word, words)]
    span = words[group[0].i : group[-1].i]
    return [w for w in group if w is not word] if any(w.lower == "or" for w in span) else []


def _first_of(word: Word, words: Sequence[Word]) -> Word:
    """The first word of a list: "Lund" for "Malmö" in "Lund, Ystad or Malmö"."""
    while word.dep == "conj" and word.head < word.i:
        word = words[word.head]
    return word


def comparator_of(leaf: Leaf) -> str:
    """How a comparison compares, as a violation says it."""
    return f"not {leaf.comparator}" if leaf.negated else leaf.comparator


def _named(attribute: Sequence[Word], turn: Reading) -> list[Word]:
    """The words of the turn that name a field."""
    words = [w for w in attribute if is_content(w)]
    starts = {w.lower[:_PREFIX] for w in words if len(w.lower) >= _PREFIX}
    return places_of(words, turn.words) + [w for w in turn.content if w.lower[:_PREFIX] in starts]


def _gap(token: ProtectedToken, names: Sequence[Word]) -> int:
    return min(max(token.start - name.end, name.start - token.end, 0) for name in names)


def _violation(rule: Rule, leaf: Leaf, said: Sequence[ProtectedToken] = ()) -> FilterViolation:
    evidence = tuple(map(in_turn, said))
    return FilterViolation(rule, None, evidence, leaf.attribute, comparator_of(leaf), leaf.value)
