"""Findings that need the conversation: open, ambiguous and wrongly filled references, drift, low trust, lost questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rewriteguard.compare import Comparison
from rewriteguard.conversation import Role
from rewriteguard.grounding import source_of_words
from rewriteguard.language import lexicon
from rewriteguard.reading import Past, Reading
from rewriteguard.reference import Pointer, Reference, open_references, ordinal_of
from rewriteguard.regions import Unit, UnitKind
from rewriteguard.support import Vocabulary, is_content
from rewriteguard.tokens import Evidence, Finding, Kind, ProtectedToken, in_rewrite
from rewriteguard.words import Word


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn, its rewrite and what stands before them."""

    turn: Reading
    rewrite: Reading
    past: Past
    references: tuple[Reference, ...]
    comparison: Comparison
    dependent: bool


_OPEN = (Pointer.SINGULAR, Pointer.PLURAL, Pointer.SET, Pointer.PLACE, Pointer.ONE)
_NAMED = frozenset({Kind.ENTITY, Kind.TIME, Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER})
_ASKS_FOR_IDENTIFIER = re.compile(
    r"\b(?:link|url|address|website|e-?mail|phone|number|code|reference|id|ticket|file|path|name|command|error|key)s?\b", re.IGNORECASE
)
_ITEM = re.compile(r"(?:^|(?<=\s))(?P<number>\d{1,2})[.)]\s+(?P<item>\S[^\n]{0,200}?)(?=\s+\d{1,2}[.)]\s|\n|$)")
_PILED = 2  # questions of a rewrite, and content words of one, from which a repeated question counts
_RECENT = 2  # exchanges; an antecedent lies further back in under a tenth of people's rewrites of CANARD


def context_findings(scene: Scene) -> Iterable[Finding]:
    """What the conversation shows about a rewrite."""
    yield from _unresolved(scene)
    yield from _ambiguous_set(scene)
    yield from _wrong_item(scene)
    yield from _replaced_topic(scene)
    yield from _drifted(scene)
    yield from _low_trust(scene)
    yield from _lost_units(scene)


def new_words(rewrite: Reading, turn: Reading) -> tuple[Word, ...]:
    """The content words of a rewrite that its turn does not support."""
    return tuple(w for w in rewrite.content if not turn.vocabulary.supports(w))


def invented_words(scene: Scene) -> tuple[Word, ...]:
    """The content words of a rewrite that neither turn nor history supports; numbers and codes are judged apart."""
    judged = [t for t in scene.rewrite.tokens if t.kind in _NAMED and t.kind is not Kind.ENTITY]
    words = [
        w for w in new_words(scene.rewrite, scene.turn)
        if not scene.past.vocabulary.supports(w) and not any(t.start < w.end and w.start < t.end for t in judged)
    ]  # fmt: skip
    return tuple(w for run in phrases_of(words) if not scene.turn.vocabulary.expands(run) for w in run)


def phrases_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Runs of words that stand side by side, one function word between them allowed."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and word.i - runs[-1][-1].i <= 2:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [tuple(run) for run in runs]


def candidates(scene: Scene) -> tuple[str, ...]:
    """Two equal antecedents of a singular reference, of which the rewrite keeps one; empty otherwise."""
    if not any(r.pointer is Pointer.SINGULAR for r in scene.references):
        return ()
    source = scene.past.last(Role.USER)
    pair = _coordinated(source) if source else ()
    if not pair:
        return ()
    named = [_names_item(scene.rewrite.vocabulary, item, pair) for item in pair]
    return tuple(" ".join(w.text for w in item) for item in pair) if sum(named) == 1 else ()


def _coordinated(reading: Reading) -> tuple[tuple[Word, ...], ...]:
    """Two noun groups joined by "and" or "or" that name things of one sort; empty where there are none."""
    words = reading.words
    for word in words:
        if word.lower not in {"and", "or"} or not 0 < word.i < len(words) - 1:
            continue
        left, right = _group_before(words, word.i), _group_after(words, word.i + 1)
        named = [any(w.pos == "PROPN" or w.text[:1].isupper() for w in group) for group in (left, right)]
        if left and right and all(named) and (left[-1].stem == right[-1].stem or all(w.pos == "PROPN" for w in (left[-1], right[-1]))):
            return (left, right)
    return ()


def _group_before(words: Sequence[Word], end: int) -> tuple[Word, ...]:
    start = end
    while start > 0 and words[start - 1].pos in {"NOUN", "PROPN", "ADJ", "NUM"}:
        start -= 1
    return tuple(words[start:end])


def _group_after(words: Sequence[Word], start: int) -> tuple[Word, ...]:
    while start < len(words) and words[start].pos == "DET":
        start += 1
    end = start
    while end < len(words) and words[end].pos in {"NOUN", "PROPN", "ADJ", "NUM"}:
        end += 1
    return tuple(words[start:end])


def _names_item(vocabulary: Vocabulary, item: Sequence[Word], others: Sequence[Sequence[Word]]) -> bool:
    """True where the words that tell an item from the others are there."""
    shared = {w.stem for other in others if other is not item for w in other}
    own = [w for w in item if w.stem not in shared and is_content(w)]
    return bool(own) and all(vocabulary.supports(w) for w in own)


def _unresolved(scene: Scene) -> Iterable[Finding]:
    """References that the rewrite left as open as they were: nothing of the conversation was put in."""
    if not scene.past.messages or new_words(scene.rewrite, scene.turn):
        return
    regions = scene.turn.regions
    ours = {_lower(scene.turn, r) for r in scene.references if r.pointer in _OPEN and regions.protects(r.first)}
    for theirs in open_references(scene.rewrite, scene.past):
        if theirs.pointer in _OPEN and _lower(scene.rewrite, theirs) in ours:
            yield Finding("unresolved", None, (_span("rewrite", scene.rewrite, theirs),))
            return
    if any(r.pointer is Pointer.ELLIPSIS for r in scene.references):
        yield Finding("unresolved", None, (Evidence("turn", scene.turn.text, 0, len(scene.turn.text)),))


def _lower(reading: Reading, reference: Reference) -> str:
    return " ".join(w.lower for w in reading.words[reference.first : reference.last])


def _span(where: str, reading: Reading, reference: Reference) -> Evidence:
    start, end = reading.words[reference.first].start, reading.words[reference.last - 1].end
    return Evidence(where, reading.text[start:end], start, end)


def _ambiguous_set(scene: Scene) -> Iterable[Finding]:
    """A reference to several things whose word is gone, and one singular thing in its place."""
    for reference in scene.references:
        if reference.pointer is not Pointer.SET or _lower(scene.turn, reference) in scene.rewrite.text.casefold():
            continue
        new = new_words(scene.rewrite, scene.turn)
        joined = any(w.lower in {"and", "or", "both"} for w in scene.rewrite.words) and len(new) > 1
        plural = any(w.tag in {"NNS", "NNPS"} for w in new)
        if new and not joined and not plural and len(phrases_of(new)) == 1:
            fill = Evidence("rewrite", scene.rewrite.text[new[0].start : new[-1].end], new[0].start, new[-1].end)
            yield Finding("ambiguous.set", None, (_span("turn", scene.turn, reference), fill))


def _wrong_item(scene: Scene) -> Iterable[Finding]:
    """An ordinal ("the first one") filled with another item of the last list than the one it counts."""
    listed = scene.past.last(Role.ASSISTANT)
    items = [m.group("item").strip(" .;,") for m in _ITEM.finditer(listed.text)] if listed else []
    for reference in scene.references:
        number = ordinal_of(scene.turn, reference) if reference.pointer is Pointer.ORDINAL else 0
        if not number or not items or abs(number) > len(items):
            continue
        right = items[number - 1] if number > 0 else items[number]
        named = [item for item in items if item.casefold() in scene.rewrite.text.casefold()]
        if named and right not in named:
            start = scene.rewrite.text.casefold().find(named[0].casefold())
            fill = Evidence("rewrite", scene.rewrite.text[start : start + len(named[0])], start, start + len(named[0]))
            yield Finding("altered.item", Kind.ENTITY, (_span("turn", scene.turn, reference), fill))


def _replaced_topic(scene: Scene) -> Iterable[Finding]:
    """A noun of a complete turn with a phrase of the history in its place, and every other word kept."""
    if scene.dependent or not scene.past.messages:
        return
    ours = [w for w in scene.turn.words if any(c.isalnum() for c in w.text)]
    theirs = [w for w in scene.rewrite.words if any(c.isalnum() for c in w.text)]
    matcher = SequenceMatcher(None, [w.stem for w in ours], [w.stem for w in theirs], autojunk=False)
    changes = [(ours[a:b], theirs[c:d]) for operation, a, b, c, d in matcher.get_opcodes() if operation != "equal"]
    changes = [(lost, new) for lost, new in changes if any(map(is_content, lost)) or any(map(is_content, new))]
    if len(changes) != 1:
        return
    lost = [w for w in changes[0][0] if _is_common_noun(w) and not scene.rewrite.vocabulary.supports(w)]
    new = [w for w in changes[0][1] if _is_common_noun(w) and not scene.turn.vocabulary.supports(w)]
    if lost and new and source_of_words(new, scene.past) is not None:
        yield Finding("altered.topic", Kind.TOPIC, (_run("turn", scene.turn, lost), _run("rewrite", scene.rewrite, new)))


def _is_common_noun(word: Word) -> bool:
    """A name in place of a noun says which one is meant; another common noun is another thing."""
    return word.tag in {"NN", "NNS"} and word.text.islower() and is_content(word)


def _run(where: str, reading: Reading, words: Sequence[Word]) -> Evidence:
    return Evidence(where, reading.text[words[0].start : words[-1].end], words[0].start, words[-1].end)


def _drifted(scene: Scene) -> Iterable[Finding]:
    """Names and numbers of the history in a turn that was complete, or from a topic that was left."""
    carried = [t for t in scene.comparison.carried if t.kind in _NAMED and not _extends_own_name(scene, t)]
    names = [t for t in carried if t.kind is Kind.ENTITY]
    several = len({t.turn for t in names}) > 1 and any(t.kind is Kind.ENTITY for t in scene.turn.tokens)
    for token in carried:
        added = not scene.dependent and (token.kind is Kind.IDENTIFIER or (several and token in names))
        if added:
            yield Finding("drifted", token.kind, _with_source(token, scene.past))
        elif _is_stale(token, scene):
            yield Finding("drifted.stale", token.kind, _with_source(token, scene.past))
    if not scene.turn.regions.asking and not scene.dependent:
        new = new_words(scene.rewrite, scene.turn)
        if new:
            yield Finding("drifted.chat", Kind.TOPIC, (_run("rewrite", scene.rewrite, new[:1]),))
    yield from _piled_questions(scene)


def _extends_own_name(scene: Scene, token: ProtectedToken) -> bool:
    """True for "Salvador Dali" where the turn says "Dali"."""
    return any(scene.turn.vocabulary.supports(w) for w in scene.rewrite.words_of(token) if is_content(w))


def _is_stale(token: ProtectedToken, scene: Scene) -> bool:
    """True where the last exchanges neither name the thing nor point back to anything."""
    past = scene.past
    recent = past.recent(_RECENT)
    if len(recent.messages) == len(past.messages) or any(m.index == token.turn for m in recent.messages):
        return False
    if any(recent.vocabulary.supports(w) for w in scene.rewrite.words_of(token) if is_content(w)):
        return False
    return not any(open_references(reading, past) for reading in recent.by(Role.USER).readings)


def _piled_questions(scene: Scene) -> Iterable[Finding]:
    """Earlier questions of the user that stand whole beside the new one."""
    units = scene.rewrite.regions.asking
    if len(units) < _PILED:
        return
    earlier = [{w.stem for w in reading.content} for reading in scene.past.by(Role.USER).readings]
    own = {w.stem for w in scene.turn.content}
    for unit in units:
        said = {w.stem for w in scene.rewrite.words[unit.first : unit.last] if is_content(w)}
        if len(said) >= _PILED and said in earlier and not said & own:
            yield Finding("drifted.pile", Kind.TOPIC, (_unit_span("rewrite", scene.rewrite, unit),))


def _with_source(token: ProtectedToken, past: Past) -> tuple[Evidence, ...]:
    for message, reading in zip(past.messages, past.readings, strict=True):
        if message.index == token.turn:
            for theirs in reading.tokens:
                if theirs.kind is token.kind and theirs.value == token.value:
                    return (in_rewrite(token), Evidence("history", theirs.text, theirs.start, theirs.end, token.turn))
    return (in_rewrite(token),)


def _low_trust(scene: Scene) -> Iterable[Finding]:
    """Identifiers that no user said, carried into a rewrite whose turn does not ask for one."""
    user = scene.past.by(Role.USER)
    for token in scene.comparison.carried:
        said = any(t.value == token.value for r in user.readings for t in r.tokens) or token.text in " ".join(m.text for m in user.messages)
        if token.kind is Kind.IDENTIFIER and not said and not _ASKS_FOR_IDENTIFIER.search(scene.turn.text):
            yield Finding("low_trust", token.kind, _with_source(token, scene.past))


def _lost_units(scene: Scene) -> Iterable[Finding]:
    """Questions and corrections of which the rewrite holds nothing."""
    units = scene.turn.regions.asking
    kept = {unit: _coverage(scene, unit) for unit in units}
    for unit, (held, total) in kept.items():
        others = any(h for other, (h, _) in kept.items() if other is not unit)
        if unit.kind is UnitKind.CORRECTION and total and held * 2 < total:
            yield Finding("correction_lost", None, (_unit_span("turn", scene.turn, unit),))
        elif total >= 2 and not held and (len(units) == 1 or others):
            yield Finding("question_lost", None, (_unit_span("turn", scene.turn, unit),))


def _coverage(scene: Scene, unit: Unit) -> tuple[int, int]:
    pointing = {i for r in scene.references for i in range(r.first, r.last)}
    words = [
        w for w in scene.turn.words[unit.first : unit.last]
        if is_content(w) and w.i not in pointing and not scene.turn.regions.is_withdrawn(w.i)
    ]  # fmt: skip
    return sum(scene.rewrite.vocabulary.supports(w) for w in words), len(words)


def _unit_span(where: str, reading: Reading, unit: Unit) -> Evidence:
    start, end = reading.words[unit.first].start, reading.words[unit.last - 1].end
    return Evidence(where, reading.text[start:end], start, end)
