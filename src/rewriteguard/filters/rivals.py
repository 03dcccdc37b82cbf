"""What a turn puts in the place of a name that an earlier message said: "Flats in Lund", then "And in Malmö?"."""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.filters.backing import Backing
from rewriteguard.filters.claims import Claim
from rewriteguard.filters.mentions import Mention, mention_of, places_of
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import is_content

_BESIDES = lexicon.words("filters", "besides")


def rivals_of(
    claim: Claim, said: Backing, then: Reading, claims: Sequence[Claim], turn: Reading
) -> tuple[str, tuple[ProtectedToken, ...]]:
    """The rule that an earlier name breaks, and the names of the turn that show it; an empty rule where none does.

    A name behind the same preposition takes its place; one in "What about Malmö?" may. A name that the filter has in
    another field takes no one's place, nor does any beside "also".

    Args:
        claim: A value that the turn does not mention.
        said: What the earlier message says of it.
        then: The earlier message.
        claims: What the filter claims.
        turn: The user's own turn.
    """
    names = [token for token in said.tokens if token.kind is Kind.ENTITY]
    elsewhere = [w for each in claims if each.leaf.attribute != claim.leaf.attribute for w in each.words]
    taken = places_of([*elsewhere, *claim.words], turn.words)
    free = [t for t in turn.tokens if t.kind is Kind.ENTITY and not any(w in taken for w in turn.words_of(t))]
    rivals = [token for token in free if mention_of(turn.words_of(token), turn) is not Mention.EXCLUDED]
    if claim.excluded or not names or any(w.lower in _BESIDES for w in turn.words):
        return "", ()
    own = {_link(token, then) for token in names} - {""}
    same = tuple(token for token in rivals if _link(token, turn) in own)
    if same:
        return "altered.value", same
    alone = tuple(token for token in rivals if _begins(token, turn))
    return ("not_checked.replaced", alone) if alone else ("", ())


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
