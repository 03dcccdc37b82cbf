"""Is the rewriter's output a query at all: no loop, answer, counter-question or query syntax that nobody wrote?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rewriteguard.check.view import View, language_of_turn, whole_evidence
from rewriteguard.language import lexicon
from rewriteguard.language.detect import are_apart, language_of
from rewriteguard.model.assessment import Violation
from rewriteguard.model.conversation import Role
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import Evidence, Kind
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.units import UnitKind
from rewriteguard.reading.vocabulary import is_content

# Lucene and its kin, SQL, JSON filters, and marks that make a link or an address. Prose has none of them.
_SYNTAX = re.compile(
    r"""
      (?P<operator> (?<![\w.&/-]) (?<!,\s) (?: AND | OR | NOT | NEAR | XOR ) (?![\w.&/-]) )   # not "Portland, OR"
    | (?P<field>    (?<![\w/?&.]) [A-Za-z][\w.-]{1,30} (?: (?: [=:!]?= | =~ ) [\w"'*(\[] | [<>]=? \d ) )   # year>=2020
    | (?P<range>    [\[{] [^\[\]{}]{1,60} \s TO \s [^\[\]{}]{1,60} [\]}] )
    | (?P<wild>     \*:\* | (?<!\S) \* (?!\S) | (?<![\w*]) \w{2,30} \* (?![\w*]) )
    | (?P<weight>   (?<!\w) [^\W\d_]{3,30} [\^~] \d )
    | (?P<sign>     (?<!\S) [-+] [^\W\d_]{3,30} (?!\S) )                      # -colour
    | (?P<statement> ['"] \s? ; | ; \s? -- | (?<=\s) \|\| (?=\s) | (?<=\s) && (?=\s) )
    | (?P<object>   [{}] )
    | (?P<link>     \] \( | \[ \. \] | hxxps? \[? :// )
    | (?P<address>  (?<![\w.]) (?: @ [^\W\d_] [\w-]{2,38} | \# [^\W\d_]{1,30} (?: - \w{1,30} ){1,4} ) )   # not #Hashtag
    """,
    re.VERBOSE,
)
# One of these is in each of them, and few rewrites hold one.
_SIGNS = re.compile(r"[=<>*^~;|&{}\[\]@#+-]")
_WORDS = ("AND", "OR", "NOT", "NEAR", "XOR", "hxxp")
_ANSWERS = lexicon.phrases("query", "answers")
_TALKED_ABOUT = lexicon.phrases("query", "talked_about")
_TALKS = lexicon.words("query", "talks")
_NOTHING = frozenset(lexicon.phrases("query", "nothing"))
_ASKS_BACK = lexicon.phrases("query", "asks_back")
_ASKS_BACK_INSIDE = lexicon.phrases("query", "asks_back_inside")
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_VERBAL = frozenset({"ROOT", "aux", "auxpass"})
_LOOP_WORDS, _LOOP_SHARE = 40, 0.25  # a query of 40 words in which three of four are repetitions runs in a loop
# Letters of other alphabets that are drawn as Latin ones; a word of two of them is no formula sign.
_LOOKALIKES = frozenset("аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅονκιαρυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_DISGUISE = 2
_REPEATED_SHARE = 0.9  # of the content words of an earlier question


def output_violations(view: View) -> Iterable[Violation]:
    """What shows that a rewrite is no query of its own."""
    return form_violations(view.turn, view.rewrite, view.past)


def form_violations(turn: Reading, rewrite: Reading, past: Past, *, english: bool = True) -> Iterable[Violation]:
    """The same; where it is not English, only what needs no English grammar."""
    whole = (whole_evidence("rewrite", rewrite.text),)
    if _runs_in_a_loop(rewrite):
        yield Violation(Rule.MALFORMED_LOOP, None, whole)
    span = _not_a_query(turn, rewrite, past)
    if span is not None:
        yield Violation(Rule.NOT_A_QUERY, None, (span,))
    elif english and _states_an_answer(turn, rewrite):
        yield Violation(Rule.NOT_A_QUERY_STATEMENT, None, whole)
    elif english and _still_corrects(turn, rewrite):
        yield Violation(Rule.NOT_A_QUERY_CORRECTION, None, whole)
    elif english and _repeats_question(turn, rewrite, past):
        yield Violation(Rule.NOT_A_QUERY_REPEATED, None, whole)
    yield from _syntax(turn, rewrite, past)
    said = (turn, *past.readings)
    for word in () if rewrite.text.isascii() else rewrite.words:
        if (_mixes_scripts(word.text) or _is_disguised(word.text, said)) and word.text not in turn.text:
            evidence = (Evidence("rewrite", word.text, word.start, word.end),)
            yield Violation(Rule.ALTERED_LOOKALIKE, Kind.ENTITY, evidence)
    ours, theirs = language_of_turn(turn, past), language_of(rewrite.text)
    if are_apart(ours, theirs) and _has_new_words(turn, rewrite, past):
        yield Violation(Rule.LANGUAGE, None, whole)


def _syntax(turn: Reading, rewrite: Reading, past: Past) -> Iterable[Violation]:
    """Operators, filters, wildcards, links and addresses that stand neither in the turn nor in what a user said."""
    if not (_SIGNS.search(rewrite.text) or any(word in rewrite.text for word in _WORDS)):
        return
    said = "\n".join([turn.text, *(message.text for message in past.by(Role.USER).messages)])
    spoken = f" {' '.join(turn.text.casefold().split())} "
    for match in _SYNTAX.finditer(rewrite.text):
        words = match["operator"] and f" {match['operator'].casefold()} "
        if match[0] not in said and not (words and words in spoken):  # capitals of a spoken "or" are the writer's style
            yield Violation(Rule.LOW_TRUST_SYNTAX, Kind.IDENTIFIER, (Evidence("rewrite", match[0], *match.span()),))


def _mixes_scripts(text: str) -> bool:
    """True for a word with Latin letters and look-alikes of another alphabet."""
    if text.isascii():
        return False
    scripts = {unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})


def _is_disguised(text: str, said: Iterable[Reading]) -> bool:
    """True for a word made of look-alikes alone, in an alphabet that nobody in the conversation uses."""
    letters = set(text)
    if text.isascii() or len(letters) < _DISGUISE or not letters <= _LOOKALIKES:
        return False
    return not any(letters & set(reading.text) for reading in said)


def _has_new_words(turn: Reading, rewrite: Reading, past: Past) -> bool:
    """False where a rewrite is made of names and words of the conversation, which are in no language of their own."""
    said = (turn.vocabulary, past.vocabulary)
    return any(not any(vocabulary.supports(w) for vocabulary in said) for w in rewrite.content)


def _runs_in_a_loop(rewrite: Reading) -> bool:
    lowers = [w.lower for w in rewrite.words]
    return len(lowers) >= _LOOP_WORDS and len(set(lowers)) < _LOOP_SHARE * len(lowers)


def _opens_with(text: str, phrase: str) -> bool:
    return text.startswith(phrase) and not text[len(phrase) : len(phrase) + 1].isalnum()


def _not_a_query(turn: Reading, rewrite: Reading, past: Past) -> Evidence | None:
    """The words by which the output answers, comments or asks back; None where the talk itself goes like that."""
    ours, theirs = turn.text.casefold(), rewrite.text.casefold()
    for phrase in _ANSWERS + _ASKS_BACK:
        if _opens_with(theirs, phrase) and phrase not in ours:
            return Evidence("rewrite", rewrite.text[: len(phrase)], 0, len(phrase))
    for phrase in _TALKED_ABOUT:
        behind = rewrite.words[len(phrase.split()) :]
        if _opens_with(theirs, phrase) and behind and behind[0].lower in _TALKS:
            said = f"{phrase} {behind[0].lower}"
            if said not in ours and not any(said in message.text.casefold() for message in past.messages):
                return Evidence("rewrite", rewrite.text[: behind[0].end], 0, behind[0].end)
    if theirs.strip(" .!\"'") in _NOTHING and theirs != ours:
        return whole_evidence("rewrite", rewrite.text)
    for phrase in _ASKS_BACK_INSIDE:
        start = theirs.find(phrase)
        if start >= 0 and phrase not in ours:
            return Evidence("rewrite", rewrite.text[start : start + len(phrase)], start, start + len(phrase))
    return None


def _states_an_answer(turn: Reading, rewrite: Reading) -> bool:
    """True where a question came back as a whole declarative sentence."""
    asks = any(unit.kind is UnitKind.QUESTION for unit in turn.regions.units)
    states = all(unit.kind in (UnitKind.STATEMENT, UnitKind.FILLER) for unit in rewrite.regions.units)
    if not asks or not states or "?" in rewrite.text:
        return False
    finite = {w.i if w.dep == "ROOT" else w.head for w in rewrite.words if w.tag in _FINITE and w.dep in _VERBAL}
    roots = {w.i for w in rewrite.words if w.dep == "ROOT"} & finite
    subjects = [w for w in rewrite.words if w.dep in {"nsubj", "nsubjpass"} and w.lower not in {"i", "we"}]
    return any(s.head in roots and s.i < s.head for s in subjects) and rewrite.text.rstrip().endswith((".", "!"))


def _still_corrects(turn: Reading, rewrite: Reading) -> bool:
    """True where "I meant ..." was copied instead of being applied to the question before."""
    kinds = [{unit.kind for unit in reading.regions.units} for reading in (turn, rewrite)]
    return all(UnitKind.CORRECTION in each for each in kinds) and UnitKind.QUESTION not in kinds[1]


def _repeats_question(turn: Reading, rewrite: Reading, past: Past) -> bool:
    """True where the output is an earlier question of the user, and holds nothing of this turn."""
    said = {w.stem for w in rewrite.content}
    new = {w.stem for w in turn.content}
    if not said or said & new:
        return False
    for reading in past.by(Role.USER).readings:
        earlier = {w.stem for w in reading.words if is_content(w)}
        if earlier and len(said & earlier) >= _REPEATED_SHARE * max(len(earlier), len(said)):
            return bool(new) or not turn.regions.asking
    return False
