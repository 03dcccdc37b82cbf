"""What was dropped, altered and invented, token by token, and how much each loss says where the token stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewriteguard.extract.comparison import is_graded
from rewriteguard.extract.negation import CONTRAST
from rewriteguard.regions import OPENERS, UnitKind
from rewriteguard.scene import Scene, invented_words
from rewriteguard.tokens import LITERAL, Evidence, Finding, Kind, ProtectedToken, in_rewrite, in_turn
from rewriteguard.words import Word


def change_findings(scene: Scene, *, literal_only: bool, may_carry: bool = True) -> Iterable[Finding]:
    """Tokens of the turn that are lost or altered, and tokens of the rewrite from nowhere.

    Args:
        scene: Turn, rewrite and history.
        literal_only: Judge only the kinds that need no English word list.
        may_carry: Whether the rewriter may take anything over from the history; one that only shortens may not.
    """
    comparison = scene.comparison
    for token in comparison.dropped:
        if token.kind in LITERAL or not literal_only:
            yield Finding(f"dropped.{_row(scene, token)}", token.kind, (in_turn(token),))
    for pair in comparison.altered:
        if pair.theirs is not None and (pair.ours.kind in LITERAL or not literal_only):
            told = _row(scene, pair.ours) == "scene" and pair.ours.kind not in LITERAL
            rule = f"altered.{'scene' if told else pair.ours.kind.value}"
            yield Finding(rule, pair.ours.kind, (in_turn(pair.ours), in_rewrite(pair.theirs)))
    for token in (*comparison.invented, *(() if may_carry else comparison.carried)):
        if token.kind is not Kind.TOPIC and (token.kind in LITERAL or not literal_only):
            yield Finding(f"invented.{token.kind.value}", token.kind, (in_rewrite(token),))


def invented_word_findings(scene: Scene) -> Iterable[Finding]:
    """Words from nowhere: a sign only where no conversation could have suggested them."""
    words = invented_words(scene)
    rule = "invented.words" if not scene.past.messages and len(words) > 1 else "invented.word"
    yield from (Finding(rule, Kind.TOPIC, (_word(word),)) for word in words)


def _row(scene: Scene, token: ProtectedToken) -> str:
    """The row of the rule table for a token of the turn: its kind, or `scene` where it only sets the scene."""
    positions = [w.i for w in scene.turn.words_of(token)]
    if not any(scene.turn.regions.protects(i) for i in positions):
        return "scene"
    if token.kind not in LITERAL and token.kind is not Kind.ENTITY and _tells(scene, positions[0]):
        return "scene"
    if token.kind is Kind.COMPARISON and not is_graded(token):
        return "direction"
    if token.kind is Kind.NEGATION and (token.relation == CONTRAST or _sets_apart(scene, positions[0])):
        return "contrast"
    return "order" if token.kind is Kind.QUANTIFIER and _counts_off(token) else token.kind.value


def _sets_apart(scene: Scene, position: int) -> bool:
    """True in a correction that ends in what was not meant: "I mean the continent, not the country"."""
    units = [u for u in scene.turn.regions.asking if u.holds(position)]
    return bool(units) and units[0].kind is UnitKind.CORRECTION and scene.turn.words[position - 1].text == ","


def _counts_off(token: ProtectedToken) -> bool:
    """True for ordinals, "first", "last" and "both": what they pick is often named instead."""
    return token.value in {"both", "first", "last"} or token.value[0].isdigit()


def _tells(scene: Scene, position: int) -> bool:
    """True in the main clause of a sentence that asks nothing, where the rewrite made a question of it.

    "I do not like its look" becomes "How do I change its look?", "So it never opened?" becomes "Did it open?".
    """
    turn, words = scene.turn, scene.turn.words
    unit = next((u for u in turn.regions.asking if u.holds(position)), None)
    if unit is None or unit.kind not in (UnitKind.STATEMENT, UnitKind.QUESTION):
        return False
    if words[unit.first].lower in OPENERS or not any(u.kind is UnitKind.QUESTION for u in scene.rewrite.regions.units):
        return False
    return _in_main_clause(words, position) and any(
        w.dep in {"nsubj", "nsubjpass"} and words[w.head].dep == "ROOT" for w in words[unit.first : unit.last]
    )


def _in_main_clause(words: Sequence[Word], i: int) -> bool:
    """False inside a relative clause: "a hotel that only accepts adults" restricts, whatever the sentence does."""
    for _ in words:
        if words[i].dep in {"relcl", "acl"}:
            return False
        if words[i].head == i:
            return True
        i = words[i].head
    return True


def _word(word: Word) -> Evidence:
    return Evidence("rewrite", word.text, word.start, word.end)
