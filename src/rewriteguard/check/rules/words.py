"""Words of a rewrite that the turn does not say: from nowhere, or from a history of which nothing may be carried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewriteguard.check.view import View, phrases_of, run_evidence
from rewriteguard.language.words import END_MARKS, Word
from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import LITERAL, Evidence, Kind
from rewriteguard.reading.text import Past

_INVENTED_SHARE = 0.2  # of the content words: in long texts two are a paraphrase (SummEdits)
# Put into the turn's own sentence: three words in 3 of 119 changed and 1 of 349 preserved rewrites; two into a complete
# turn in 2 of 349 preserved and 1 of 960 human ones (MTRAG, CAsT 2021, CANARD); one is no sign.
_SEVERAL = 2


def word_violations(view: View) -> Iterable[Violation]:
    """Words from nowhere: alone they are no sign, since good models add them as often."""
    words = _invented(view)
    rule = Rule.INVENTED_WORDS if _is_put_in(view, words) else Rule.INVENTED_WORD
    for word in words:
        yield Violation(rule, Kind.TOPIC, (Evidence("rewrite", word.text, word.start, word.end),))


def _invented(view: View) -> list[Word]:
    """The content words that neither turn nor history supports; numbers and codes are judged apart."""
    judged = [t for t in view.rewrite.tokens if t.kind in LITERAL and t.value != "present"]
    judged += [t for t in view.comparison.invented if t.kind is not Kind.TOPIC]
    aliases = {
        part for t in view.turn.tokens for name in view.facts.equivalents.get(t.value, ()) for part in name.split()
    }
    words = [
        w
        for w in view.new
        if not view.past.vocabulary.supports(w)
        and w.lower not in aliases
        and not any(t.start < w.end and w.start < t.end for t in judged)
    ]
    spans = ((run, view.rewrite.words[run[0].i : run[-1].i + 1]) for run in phrases_of(words))
    return [w for run, span in spans if not view.turn.vocabulary.expands(span) for w in run]


def _is_put_in(view: View, words: Sequence[Word]) -> bool:
    """True for several words put into the turn's own sentence, or that no conversation could have suggested."""
    asked = [w for w in words if view.rewrite.regions.protects(w.i)]
    if len(asked) < _SEVERAL:
        return False
    if not view.past.messages:
        return len(asked) >= _INVENTED_SHARE * len(view.rewrite.content)
    if view.alignment.is_edit and len(asked) > _SEVERAL:
        return True
    return view.alignment.only_adds and not view.dependent


def carried_words(view: View) -> Iterable[Violation]:
    """Names and words of the history that the turn does not say, for a rewriter that may carry nothing.

    One common word may be another word for one of the turn; a name is never one.
    """
    judged = [t for t in (*view.comparison.carried, *view.comparison.invented) if t.kind is not Kind.TOPIC]
    words = [
        w
        for w in view.new
        if view.past.vocabulary.holds(w) and not any(t.start < w.end and w.start < t.end for t in judged)
    ]
    names = [w for w in words if _is_named(w, view.past)]
    common = [w for w in words if w not in names]
    for word in names:
        yield Violation(Rule.INVENTED_ENTITY, Kind.ENTITY, (run_evidence("rewrite", view.rewrite, [word]),))
    rule = Rule.INVENTED_WORDS if len(common) > 1 else Rule.INVENTED_WORD
    yield from (Violation(rule, Kind.TOPIC, (run_evidence("rewrite", view.rewrite, [word]),)) for word in common)


def _is_named(word: Word, past: Past) -> bool:
    """True where the history writes the word with a capital only, in a name, or as here inside a sentence."""
    same = [(r, w) for r in past.readings for w in r.words if w.lower == word.lower]
    if not same or not all(w.text[:1].isupper() for _, w in same):
        return False
    if all(any(t.kind is Kind.ENTITY and w in r.words_of(t) for t in r.tokens) for r, w in same):
        return True
    return word.text[:1].isupper() and any(w.i > 0 and r.words[w.i - 1].text not in END_MARKS for r, w in same)
