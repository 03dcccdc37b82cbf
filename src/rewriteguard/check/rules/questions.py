"""What of a turn's questions and corrections a rewrite lost as a whole, or turned round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from rewriteguard.check.view import View, part_evidence, run_evidence, whole_evidence
from rewriteguard.language.words import END_MARKS, GRADED, Word
from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import LITERAL, Kind, in_turn
from rewriteguard.reading.self_corrections import Repair
from rewriteguard.reading.text import Reading
from rewriteguard.reading.units import QUESTION_WORDS, Unit, UnitKind
from rewriteguard.reading.vocabulary import is_content, negates

# Content words. Of turns with up to three, half or more were lost and nothing of the history was put in in 4 of 57
# changed, 2 of 160 preserved and 3 of 639 human rewrites (MTRAG, CAsT 2021, CANARD); in longer turns it was no sign.
_SHORT = 3
_SAID = 2  # content words that a lost question has, at least, unless it was cut out and the rest kept word by word
_RESUMED = 2  # words behind a self-correction that are what was meant, at least: "a new boiler"
_BETWEEN = frozenset({"to", "than", "into"})
# Of the content words, nouns only: it finds none of 160 preserved rewrites (MTRAG, CAsT 2021) and 1 of 639 human ones.
_CUT_SHARE = 0.33


def question_violations(view: View) -> Iterable[Violation]:
    """Questions and corrections of which nothing is left, nouns cut out, and roles that changed places."""
    yield from _lost_units(view)
    yield from _added_questions(view)
    yield from _ignored_repairs(view)
    yield from _cut_out(view)
    yield from _swapped_roles(view)
    yield from _turned_words(view)


def _lost_units(view: View) -> Iterable[Violation]:
    """Questions and corrections of which the rewrite holds nothing."""
    units = view.turn.regions.asking
    kept = {unit: _coverage(view, unit) for unit in units}
    # What fills a reference is often said with a paraphrase of the rest.
    filled = view.dependent and view.is_grounded
    for unit, (held, total) in kept.items():
        others = any(h for other, (h, _) in kept.items() if other is not unit)
        if unit.kind is UnitKind.CORRECTION and total and held * 2 < total:
            yield Violation(Rule.CORRECTION_LOST, None, (part_evidence("turn", view.turn, unit),))
        elif _is_lost(view, unit, total, held, len(units) == 1, others):
            yield Violation(Rule.QUESTION_LOST, None, (part_evidence("turn", view.turn, unit),))
        elif _is_half_lost(view, total, held, len(units), others, filled):
            yield Violation(Rule.QUESTION_LOST_HALF, None, (part_evidence("turn", view.turn, unit),))


def _is_half_lost(view: View, total: int, held: int, units: int, others: bool, filled: bool) -> bool:
    """True where half of a short question is gone, or one of several, and the rewrite asks fewer."""
    if not 0 < total <= _SHORT or held * 2 > total:
        return False
    if units == 1:
        return not filled
    fewer = len(view.rewrite.regions.asking) < units
    return others and not held and (fewer or not filled)


def _is_lost(view: View, unit: Unit, total: int, held: int, alone: bool, others: bool) -> bool:
    """True where nothing is left of a question, and the rest, if there is any, is there."""
    cut = view.alignment.only_cuts and not alone and _is_left_out(view, unit)
    if cut:
        return True
    return not held and (alone or others) and total >= _SAID


def _is_left_out(view: View, unit: Unit) -> bool:
    """True for a question behind another, of which the rewrite, which adds nothing, has no word in its place."""
    if unit is view.turn.regions.asking[0] or not _asks(view.turn, unit):
        return False
    return _says_none(view.turn, unit, {w.i for change in view.alignment.changes for w in change.lost})


def _says_none(reading: Reading, unit: Unit, apart: AbstractSet[int]) -> bool:
    """True where every telling word of a unit is among the positions `apart`."""
    words = reading.words[unit.first : unit.last]
    return all(w.i in apart for w in words if is_content(w) or w.lower in QUESTION_WORDS)


def _asks(reading: Reading, unit: Unit) -> bool:
    """True for a question with a question word: "Is that true?" asks for no more than the sentence before it."""
    return unit.kind is UnitKind.QUESTION and any(
        w.lower in QUESTION_WORDS for w in reading.words[unit.first : unit.last]
    )


def _added_questions(view: View) -> Iterable[Violation]:
    """Questions behind the turn's own that neither the turn nor the history asks."""
    units = view.rewrite.regions.asking
    if not view.alignment.is_edit or len(units) <= len(view.turn.regions.asking):
        return
    for unit in units:
        words = view.rewrite.words[unit.first : unit.last]
        said = [w for w in words if is_content(w)]
        own = any(view.turn.vocabulary.supports(w) for w in said)
        if unit.kind is not UnitKind.QUESTION:
            continue
        behind = bool(said) and unit is units[-1] and _is_put_behind(view, unit)
        from_nowhere = _asks(view.rewrite, unit) and not own and not _repeats(view.turn, words)
        if behind or (from_nowhere and not any(view.past.vocabulary.supports(w) for w in said)):
            yield Violation(Rule.INVENTED_QUESTION, None, (part_evidence("rewrite", view.rewrite, unit),))


def _is_put_behind(view: View, unit: Unit) -> bool:
    """True for a question behind the turn's own whole question, of which every word was kept."""
    whole = any(u.kind is UnitKind.QUESTION for u in view.turn.regions.asking)
    marks = {"?"} if "?" in view.turn.text else END_MARKS
    before = [w.text for w in view.rewrite.words[max(0, unit.first - 2) : unit.first + 1]]  # "and" may stand between
    # "... other than how it began and how it ended?", "the books Who Won? and Who Lost?"
    if not marks.intersection(before) or "," in before:
        return False
    new = {w.i for change in view.alignment.changes for w in change.new}
    return whole and view.alignment.only_adds and _says_none(view.rewrite, unit, new)


def _repeats(turn: Reading, words: Sequence[Word]) -> bool:
    """True where every word of a question stands in the turn: there it has no content words either."""
    lowers = {w.lower for w in turn.words}
    return all(w.lower in lowers for w in words)


def _ignored_repairs(view: View) -> Iterable[Violation]:
    """Self-corrections whose withdrawn words stand in the rewrite, and the words that were meant do not."""
    turn, rewrite = view.turn, view.rewrite
    for repair in turn.regions.repairs:
        if repair.unsure and not any(w.lower == "no" for w in rewrite.words):
            yield _lost_no(view, repair)
        taken_back, meant = turn.words[repair.first : repair.marker], turn.words[repair.resumed :]
        for counts in (is_content, _is_question_word):
            kept = [w for w in _only_in(taken_back, meant, counts) if rewrite.vocabulary.holds(w)]
            span = meant[: max(_RESUMED, len(taken_back))]
            lost = [w for w in _only_in(span, taken_back, counts) if not rewrite.vocabulary.holds(w)]
            if kept and lost:
                evidence = run_evidence("turn", turn, lost[:1]), run_evidence("turn", turn, kept[:1])
                yield Violation(Rule.CORRECTION_LOST, None, evidence)
                break
        beside = [w for w in _only_in(taken_back, meant, _is_literal) if rewrite.vocabulary.holds(w)]
        if beside and len(beside) == len([w for w in taken_back if is_content(w)]):
            yield Violation(Rule.CORRECTION_LOST_HALF, None, (run_evidence("turn", turn, beside[:1]),))


def _lost_no(view: View, repair: Repair) -> Violation:
    """What a "no" that perhaps took words back says once it is gone: where those words were kept, it negated."""
    turn = view.turn
    taken_back = [w for w in turn.words[repair.first : repair.marker] if is_content(w)]
    negated = all(map(view.rewrite.vocabulary.holds, taken_back))
    rule = Rule.DROPPED_NEGATION if negated else Rule.DROPPED_DOUBTFUL
    return Violation(rule, Kind.NEGATION, (run_evidence("turn", turn, [turn.words[repair.marker]]),))


def _only_in(words: Sequence[Word], others: Sequence[Word], counts: Callable[[Word], bool]) -> list[Word]:
    stems = {w.stem for w in others}
    return [w for w in words if counts(w) and w.stem not in stems]


def _is_literal(word: Word) -> bool:
    return is_content(word) and (word.text[:1].isupper() or word.text[:1].isdigit())


def _is_question_word(word: Word) -> bool:
    return word.lower in QUESTION_WORDS - {"what", "which"}


def _cut_out(view: View) -> Iterable[Violation]:
    """Nouns cut out of a complete turn, and nothing put in their place."""
    lost = [
        t
        for t in view.comparison.dropped
        if t.kind is Kind.TOPIC and view.turn.regions.protects(view.turn.words_of(t)[0].i)
    ]
    total = sum(view.turn.regions.protects(w.i) for w in view.turn.content)
    if view.alignment.only_cuts:  # found word by word
        return
    if not view.dependent and lost and len(lost) >= _CUT_SHARE * total and not view.new:
        yield Violation(Rule.DROPPED_CUT, Kind.TOPIC, tuple(in_turn(token) for token in lost))


def _swapped_roles(view: View) -> Iterable[Violation]:
    """Who does it and to whom it is done changed places: "who beat X" and "whom did X beat"."""
    ours, theirs = ({*_clauses(reading), *_ends(reading)} for reading in (view.turn, view.rewrite))
    for one, between, other in sorted(ours - theirs):
        if one != other and (other, between, one) in theirs - ours:
            yield Violation(Rule.ALTERED_ROLES, Kind.TOPIC, (whole_evidence("turn", view.turn.text),))


def _turned_words(view: View) -> Iterable[Violation]:
    """A word and its negated form in each other's place: "opened" and "unopened"."""
    ours = [w for w in view.turn.content if view.turn.regions.protects(w.i) and not view.rewrite.vocabulary.holds(w)]
    theirs = [w for w in view.rewrite.content if not view.turn.vocabulary.holds(w)]
    for word in ours:
        other = next((t for t in theirs if negates(word.lower, t.lower)), None)
        if other is not None:
            evidence = run_evidence("turn", view.turn, [word]), run_evidence("rewrite", view.rewrite, [other])
            yield Violation(Rule.ALTERED_NEGATION, Kind.NEGATION, evidence)


def _clauses(reading: Reading) -> Iterable[tuple[str, str, str]]:
    """Stems of subject, verb and object of each active clause."""
    arguments: dict[int, dict[str, Word]] = {}
    for word in reading.words:
        if word.dep in {"nsubj", "dobj"}:
            arguments.setdefault(word.head, {})[word.dep] = word
    for verb, found in sorted(arguments.items()):
        if len(found) == 2:
            yield found["nsubj"].stem, reading.words[verb].stem, found["dobj"].stem


def _ends(reading: Reading) -> Iterable[tuple[str, str, str]]:
    """Stems of what stands on both sides of "to" and "than": "from Oslo to Bergen", "is tea stronger than coffee"."""
    before: Word | None = None
    waiting: tuple[Word, Word] | None = None
    for word in reading.words:
        if word.lower in _BETWEEN and before is not None:
            waiting = (before, word)
        elif is_content(word) and word.tag not in GRADED:
            if waiting is not None:
                yield waiting[0].stem, waiting[1].lower, word.stem
                waiting = None
            before = word


def _coverage(view: View, unit: Unit) -> tuple[int, int]:
    judged = {w.i for t in view.turn.tokens if t.kind in LITERAL for w in view.turn.words_of(t)}
    pointing = {i for r in view.references for i in range(r.first, r.last)}
    words = [
        w for w in view.turn.words[unit.first : unit.last]
        if is_content(w) and w.i not in pointing and w.i not in judged and not view.turn.regions.is_withdrawn(w.i)
    ]  # fmt: skip
    kept = [pair.ours for pair in view.comparison.kept]
    held = [
        view.rewrite.vocabulary.supports(w) or any(t.start < w.end and w.start < t.end for t in kept) for w in words
    ]
    return sum(held), len(words)
