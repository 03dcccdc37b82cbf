"""What was dropped, altered and invented, token by token, and how much each loss says where the token stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from rewriteguard.extract.comparison import is_graded
from rewriteguard.extract.negation import CONTRAST
from rewriteguard.regions import OPENERS, UnitKind
from rewriteguard.repairs import Repair
from rewriteguard.scene import Scene, invented_words, new_words
from rewriteguard.support import is_content
from rewriteguard.tokens import LITERAL, Evidence, Finding, Kind, ProtectedToken, in_rewrite, in_turn
from rewriteguard.words import Word

_INVENTED_SHARE = 0.2  # of the content words: in long texts two are a paraphrase (SummEdits)


# Of the words around a lost one, in their order. Where fewer are kept, the lists cannot tell a lost "not" from a
# paraphrase: there 3 of 119 changed and 8 of 349 preserved rewrites lost one (MTRAG, CAsT 2021).
_KEPT_SHARE = 0.8
_WORDED = frozenset({Kind.NEGATION, Kind.COMPARISON, Kind.QUANTIFIER, Kind.MODALITY, Kind.QUALIFIER})


def change_findings(scene: Scene, *, may_carry: bool = True) -> Iterable[Finding]:
    """Tokens of the turn that are lost or altered, and tokens of the rewrite from nowhere.

    Args:
        scene: Turn, rewrite and history.
        may_carry: Whether the rewriter may take anything over from the history; one that only shortens may not.
    """
    comparison = scene.comparison
    for token in comparison.dropped:
        yield Finding(f"dropped.{_row(scene, token)}", token.kind, (in_turn(token),))
    for pair in comparison.altered:
        if pair.theirs is not None:
            row = _row(scene, pair.ours)
            said = row in {"scene", "reworded"} and pair.ours.kind not in LITERAL
            rule = f"altered.{row if said else pair.ours.kind.value}"
            yield Finding(rule, pair.ours.kind, (in_turn(pair.ours), in_rewrite(pair.theirs)))
    for token in (*comparison.invented, *(() if may_carry else comparison.carried)):
        if token.kind is not Kind.TOPIC:
            yield Finding(f"invented.{token.kind.value}", token.kind, (in_rewrite(token),))


def invented_word_findings(scene: Scene) -> Iterable[Finding]:
    """Words from nowhere: a sign only where no conversation could have suggested them."""
    words = invented_words(scene)
    several = len(words) > 1 and len(words) >= _INVENTED_SHARE * len(scene.rewrite.content)
    rule = "invented.words" if several and not scene.past.messages else "invented.word"
    yield from (Finding(rule, Kind.TOPIC, (_word(word),)) for word in words)


def _row(scene: Scene, token: ProtectedToken) -> str:
    """The row of the rule table for a token of the turn: its kind, or `scene` where it only sets the scene."""
    positions = [w.i for w in scene.turn.words_of(token)]
    regions = scene.turn.regions
    if not any(regions.protects(i) for i in positions):
        return "scene"
    if any(_is_repaired(scene, token, repair) for repair in regions.repairs):
        return "scene"
    if token.kind not in LITERAL and token.kind is not Kind.ENTITY and _tells(scene, positions[0]):
        return "scene"
    if token.kind in _WORDED and _is_reworded(scene, token):
        return "reworded"
    if token.kind is Kind.COMPARISON and not is_graded(token):
        return "direction"
    if token.kind is Kind.NEGATION and (token.relation == CONTRAST or _sets_apart(scene, positions[0])):
        return "contrast"
    if token.kind is Kind.QUANTIFIER and _counts_off(token):  # what "first" picks is often named instead
        return "order" if scene.dependent or new_words(scene.rewrite, scene.turn) else token.kind.value
    return token.kind.value


def _is_reworded(scene: Scene, token: ProtectedToken) -> bool:
    """True where the rewrite says the question in words of its own, and so perhaps the token too.

    Either content words around it are gone and others came, or more words came than went. What a correction names
    has to stand whatever the wording.
    """
    turn, rewrite = scene.turn, scene.rewrite
    pointing = {i for r in scene.references for i in range(r.first, r.last)}
    own = {w.i for w in turn.words_of(token)}
    if any(u.kind is UnitKind.CORRECTION and u.holds(i) for u in turn.regions.asking for i in own):
        return False
    ours = [w for w in turn.words if turn.regions.protects(w.i) and w.i not in own | pointing and _is_word(w)]
    content = [w for w in ours if is_content(w)]
    if new_words(rewrite, turn) and sum(map(rewrite.vocabulary.supports, content)) < _KEPT_SHARE * len(content):
        return True
    theirs = [w for w in rewrite.words if _is_word(w)]
    matcher = SequenceMatcher(None, [w.stem for w in ours], [w.stem for w in theirs], autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    return kept < _KEPT_SHARE * len(ours) and len(theirs) > len(ours)


def _is_word(word: Word) -> bool:
    return any(c.isalnum() for c in word.text)


def _is_repaired(scene: Scene, token: ProtectedToken, repair: Repair) -> bool:
    """True before a self-correction, whose reach is a guess, and for withdrawn words said again after it."""
    words = scene.turn.words_of(token)
    said_again = {w.stem for w in scene.turn.words[repair.first : repair.marker] if is_content(w)}
    return repair.begin <= words[0].i < repair.marker or all(w.stem in said_again for w in words)


def _sets_apart(scene: Scene, position: int) -> bool:
    """True in a correction that ends in what was not meant: "I mean the continent, not the country"."""
    behind = scene.turn.words[position + 1 : position + 4]
    repaired = {w.stem for r in scene.turn.regions.repairs for w in scene.turn.words[r.first : r.marker]}
    if any(w.stem in repaired and is_content(w) for w in behind):  # "I mean pears, not grains"
        return True
    units = [u for u in scene.turn.regions.asking if u.holds(position)]
    return bool(units) and units[0].kind is UnitKind.CORRECTION and scene.turn.words[position - 1].text == ","


def _counts_off(token: ProtectedToken) -> bool:
    """True for ordinals, "first", "last" and "both"."""
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
