"""Finds self-corrections: "in Paris, no sorry, Lyon" takes Paris back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rewriteguard.language import lexicon
from rewriteguard.language.words import END_MARKS, SOFT_MARKS, Phrases, Word

_EDITING = Phrases.of("regions", "editing")
_HESITATIONS = Phrases.of("regions", "hesitations")
_LEADS = Phrases.of("regions", "leads")
_WISHES = Phrases.of("regions", "wishes")
_CLEAR = frozenset(lexicon.phrases("regions", "clear_repairs"))
_PAUSES = frozenset(lexicon.phrases("regions", "pauses"))
_NOT_MEANT = lexicon.words("regions", "not_meant")
_NEVER_ALONE = frozenset(lexicon.phrases("regions", "never_alone"))
_BEHIND_OR = frozenset(lexicon.phrases("regions", "takes_back_behind_or"))
_NOT_REPAIR_AFTER = lexicon.words("regions", "no_repair_after")
_NOT_REPAIR_BEFORE = lexicon.words("regions", "no_repair_before")
_STARTS = lexicon.words("regions", "broken_off")
_MEASURED = lexicon.words("regions", "measured")
_INVERTING = lexicon.words("regions", "inverting")
_QUESTION_WORDS = lexicon.words("regions", "questions")
_MILD = frozenset({"or", "like", "so", "well", "just", "but"})  # "just no idea": alone these open no self-correction
_DASHES = frozenset({",", "-", "--", "...", "(", ":"})
# A "no" behind these negates what follows it: "have no balcony", "with no fee", "is no longer".
_GOVERNORS = frozenset({"VERB", "AUX", "ADP", "CCONJ", "SCONJ", "PART", "ADV", "PUNCT", ""})
_NEGATED = frozenset({"ADJ", "NOUN", "PROPN", "NUM"})
_NOMINAL = frozenset({"DET", "ADJ", "NOUN", "PROPN", "NUM", "PART"})
_JOINERS = frozenset({"of", "and", "&", "the"})
_BARE = frozenset({"NOUN", "AUX"})
# Chosen by reading Disfl-QA; no other values were measured.
_BROKEN_OFF = 4
_INVERTS_WITHIN = 2
_FURTHEST = 12  # words before the marker at which a repeated word shows where the repair starts


@dataclass(frozen=True, slots=True)
class Repair:
    """A self-correction; positions are those of words.

    Attributes:
        begin: Where the sentence starts.
        first: Where the words that are taken back start.
        marker: Where the marker starts ("no sorry").
        resumed: Where the words start that are meant.
        unsure: True for a bare "no" before a noun, which may be negated: "what are places no dogs may enter".
    """

    begin: int
    first: int
    marker: int
    resumed: int
    unsure: bool = False


def repairs(words: Sequence[Word]) -> Iterable[Repair]:
    """The self-corrections of a text in reading order."""
    begin = i = 0
    while i < len(words):
        if words[i].text in END_MARKS:
            begin = i + 1
        again = _second_start(words, i) if i == begin else i
        if again > i:
            yield Repair(begin, begin, again, again)
            i = again
            continue
        resumed = _marker_end(words, begin, i) if i > begin else i
        if resumed > i and resumed < len(words) and words[resumed].text not in END_MARKS:
            bare = resumed == i + 1 and words[i].lower == "no" and words[resumed].pos in _NEGATED
            yield Repair(begin, _first_withdrawn(words, begin, i, resumed), i, resumed, bare)
            i = resumed
        else:
            i += 1


def _second_start(words: Sequence[Word], begin: int) -> int:
    """Where a question starts anew whose first start was broken off ("How many what is the"); `begin` for no such.

    What was broken off is a question word with a noun or an auxiliary: where more was said, it is a clause of its own
    ("When pregnant what should I eat?", "Who can see what is posted?").
    """
    if words[begin].lower not in _STARTS:
        return begin
    for i in range(begin + 1, min(begin + _BROKEN_OFF + 1, len(words))):
        asked = _question_start(words, i, len(words), within=2)
        if asked is not None:
            return i if i > begin + 1 and _inverts(words, asked) else begin
        if words[i].pos not in _BARE and words[i].lower not in _MEASURED:
            return begin
    return begin


def _inverts(words: Sequence[Word], i: int) -> bool:
    """True for a question word with its verb before the subject: "where was", "how many months did"."""
    ahead = words[i + 1 : i + 2 + _INVERTS_WITHIN]
    verb = next((n for n, w in enumerate(ahead) if w.pos == "AUX"), None)
    return verb is not None and all(w.pos in _NOMINAL for w in ahead[:verb]) and words[i].lower in _INVERTING


def _marker_end(words: Sequence[Word], begin: int, i: int) -> int:
    """Where the run of editing terms that starts at `i` ends; `i` where none starts there."""
    said, end, behind = [], i, i
    while end < len(words):
        hesitates = words[end].text.islower() and _HESITATIONS.length(words, end, len(words))  # "ER" is a name
        length = _EDITING.length(words, end, len(words)) or hesitates
        if not length:
            break
        said.append(" ".join(w.lower for w in words[end : end + length]))
        behind = end = end + length
        while end < len(words) and words[end].text in SOFT_MARKS and words[end].text not in END_MARKS:
            end += 1
    if not said or not _takes_back(words, begin, i, behind, said):
        return i
    lead = _LEADS.length(words, end, len(words))
    return end + lead


def _takes_back(words: Sequence[Word], begin: int, i: int, end: int, said: Sequence[str]) -> bool:
    """True where the editing terms `said`, which stand at `i` to `end`, take back what stands before them."""
    if end >= len(words):
        return False
    before, after = words[i - 1], words[end]
    restarts = after.lower in _QUESTION_WORDS
    if all(term in _NEVER_ALONE for term in said):  # "Where were or what gauge of rail is used"
        asks = any(w.lower in _QUESTION_WORDS for w in words[begin:i])  # "Is it Oslo or actually Bergen?" asks which
        wishes = len(said) == 1 and _WISHES.length(words, end, len(words)) > 0
        if said[0] == "or" and asks and (said[-1] in _BEHIND_OR or wishes):
            return True
        return restarts and ((before.pos == "AUX" and said[0] == "or") or said[-1] not in _MILD)
    if before.lower in _NOT_REPAIR_AFTER or (said[-1] == "no" and any(w.lower == "no" for w in words[begin:i])):
        return False  # "little or no rust", "no bus or no train"
    if len(said) > 1:
        return said[0] not in _MILD - {"or"}
    lead = _LEADS.length(words, end, len(words))
    if restarts or lead:
        return said[0] != "no" or lead > 1 or _bare_no_takes_back(words, begin, i)
    if said[0] == "no":
        return _bare_no_takes_back(words, begin, i)
    behind_thing = before.pos in _NOMINAL or before.text in _DASHES
    if said[0] in _CLEAR:  # "how do I scratch that off", "by local I mean not imported"
        return (behind_thing or said[0] in _PAUSES) and after.lower not in _NOT_MEANT
    if before.pos in _NOMINAL and (said[0] == "sorry" or (said[0] == "rather" and after.pos == "DET")):
        return True
    return before.text in _DASHES and (after.text in _DASHES or after.pos in {"NUM", "PROPN", "DET"})


def _bare_no_takes_back(words: Sequence[Word], begin: int, i: int) -> bool:
    """True for "the designs no weight of coal": no determiner, since nothing before it can govern it."""
    before, after = words[i - 1], words[i + 1] if i + 1 < len(words) else None
    if after is None or after.lower in _NOT_REPAIR_BEFORE:
        return False
    if _question_start(words, i + 1, len(words), within=2) is not None:
        return True
    if _acts(words, i + 1) or after.pos in {"AUX", "DET"} or before.pos == after.pos == "PROPN":
        return True
    if before.text in _DASHES:
        return after.text in _DASHES or after.pos in {"NUM", "PROPN"} or i + 2 >= len(words)
    if before.pos in _GOVERNORS or (i + 2 < len(words) and words[i + 2].text == "-"):  # "no in-person voting"
        return False
    # No determiner stands before "in"; "hotel no smoking" is a list.
    asked = any(w.lower in _QUESTION_WORDS for w in words[begin:i])
    return asked or after.pos == "ADP"


def _acts(words: Sequence[Word], i: int) -> bool:
    """True for a verb that something follows: "reflected no inspired the design", not "no registered users"."""
    follows = i + 1 < len(words) and words[i + 1].pos in {"DET", "ADP", "AUX", "PRON", "PROPN"}
    return words[i].pos == "VERB" and follows


def _first_withdrawn(words: Sequence[Word], begin: int, marker: int, resumed: int) -> int:
    """Where the words that are taken back start.

    At the question, where a new one starts; at the word that is said again; at the last number or name, where
    another follows; else at the last noun group.
    """
    end = marker
    while end > begin and words[end - 1].text in SOFT_MARKS:
        end -= 1
    after = words[resumed]
    nearest = range(end - 1, max(begin, end - _FURTHEST) - 1, -1)
    again = [i for i in nearest if words[i].lower == after.lower]
    follower = words[resumed + 1].lower if resumed + 1 < len(words) else ""
    for i in again:
        if i + 1 < end and words[i + 1].lower == follower:
            return i
    asked = _question_start(words, resumed, len(words), within=2)
    if asked is not None:
        return next((i for i in range(begin, end) if _question_start(words, i, end, within=2) is not None), begin)
    if again:
        return again[0]
    for is_alike in (_is_number, _is_name, _is_verb):
        alike = [i for i in nearest if is_alike(words[i])]
        if is_alike(after) and alike:
            return _run_start(words, begin, alike[0], is_alike)
    start = end
    while start > begin and words[start - 1].pos in _NOMINAL:
        start -= 1
    return min(start, max(end - 1, begin))


def _question_start(words: Sequence[Word], i: int, last: int, *, within: int) -> int | None:
    """The question word at `i`, or behind one preposition there: "what", "in what year"."""
    if words[i].lower in _QUESTION_WORDS:
        return i
    behind = i + 1 < min(last, i + within) and words[i].pos == "ADP" and words[i + 1].lower in _QUESTION_WORDS
    return i + 1 if behind else None


def _run_start(words: Sequence[Word], begin: int, i: int, is_alike: Callable[[Word], bool]) -> int:
    """Where the run of numbers or names that holds `i` starts, "of" and "and" inside it."""
    while i > begin:
        joined = words[i - 1].lower in _JOINERS and i - 1 > begin and is_alike(words[i - 2])
        if not joined and not is_alike(words[i - 1]):
            break
        i -= 2 if joined else 1
    return i


def _is_number(word: Word) -> bool:
    return word.text[:1].isdigit()


def _is_verb(word: Word) -> bool:
    return word.pos == "VERB"


def _is_name(word: Word) -> bool:
    return word.text[:1].isupper() and word.lower not in _QUESTION_WORDS
