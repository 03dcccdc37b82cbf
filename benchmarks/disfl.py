"""Makes wrong questions from self-corrections: the withdrawn words are kept instead of the correction.

`What did Ann no sorry Ben build?` with the fluent `What did Ben build?` gives `What did Ann build?`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from rapidfuzz.fuzz import ratio
from spacy.tokens import Doc, Token

# What stands between the withdrawn words and the correction: up to two hesitations, then often a turn.
_HESITATIONS = ("no", "er", "err", "uh", "um", "oh", "or", "wait")
_TURNS = ("", "sorry", "i mean", "i meant", "rather", "make that", "actually", "instead", "scratch that", "what about")
CUES = sorted(
    {
        (*hesitations, *turn.split())
        for turn in _TURNS
        for size in range(3)
        for hesitations in product(_HESITATIONS, repeat=size)
    }
    - {(), ("or",), ("oh",)},
    key=lambda cue: (-len(cue), cue),
)
_NOUNS = frozenset({"NOUN", "PROPN"})
_MODIFIERS = frozenset({"DET", "ADJ", "NUM"})
_CONTENT = _NOUNS | {"VERB", "ADJ", "ADV", "NUM"}
_QUESTION_WORDS = frozenset({"what", "who", "when", "where", "why"})  # not "which" and "how": often one with "what"
_MARKS = ".,;:?!-"
_LONGEST = 4  # withdrawn words; longer ones are seldom replaced word for word
_ADJECTIVE = re.compile(r"(?:ern|al|an|ish|ese|ic|ous|ive)$")  # "Eastern, no Northern Europe" leaves its noun out
_ALIKE = 75  # similarity of two spellings of one word, of 100


@dataclass(frozen=True, slots=True)
class Correction:
    """A self-correction taken apart; the fluent question is `prefix + repair + suffix`."""

    prefix: tuple[str, ...]
    withdrawn: tuple[str, ...]
    cue: tuple[str, ...]
    repair: tuple[str, ...]
    suffix: tuple[str, ...]

    @property
    def wrong(self) -> str:
        """The question with the withdrawn words in the place of the correction, and its punctuation."""
        mark = self.repair[-1][len(self.repair[-1].rstrip(_MARKS)) :]
        return " ".join((*self.prefix, *self.withdrawn[:-1], self.withdrawn[-1] + mark, *self.suffix))

    @property
    def fluent(self) -> str:
        """The question with the correction alone."""
        return " ".join((*self.prefix, *self.repair, *self.suffix))


def correction(original: str, fluent: str, parse: Callable[[str], Doc]) -> Correction | None:
    """The self-correction of `original`, or None where it is not certain which words the correction replaces.

    It is certain where withdrawn words and repair are as many words of the same classes, or both a whole noun phrase.

    Args:
        original: The question as it was said.
        fluent: The same question without the self-correction.
        parse: The tagger of whole questions.
    """
    deletion = _deletion(original.split(), fluent.split())
    if deletion is None:
        return None
    start, withdrawn, cue = deletion
    words = tuple(fluent.split())
    for size in (len(withdrawn), *(size for size in range(1, _LONGEST + 1) if size != len(withdrawn))):
        found = Correction(words[:start], withdrawn, cue, words[start : start + size], words[start + size :])
        if _is_clean(found, parse):
            return found
    return None


def _deletion(original: Sequence[str], fluent: Sequence[str]) -> tuple[int, tuple[str, ...], tuple[str, ...]] | None:
    """Where the fluent words lack one run of the original's that ends in a cue: place, withdrawn words, cue."""
    said, kept = [_bare(word) for word in original], [_bare(word) for word in fluent]
    extra = len(said) - len(kept)
    found = []
    for start in range(len(kept) + 1 if extra > 1 else 0):
        cut = said[start : start + extra]
        if said[:start] + said[start + extra :] != kept:
            continue
        cue = next((cue for cue in CUES if tuple(cut[-len(cue) :]) == cue), ())
        rest = cut[: extra - len(cue)]
        if cue and rest and len(rest) <= _LONGEST and not {*rest} & {*_HESITATIONS}:
            withdrawn = tuple(original[start : start + extra - len(cue)])
            found.append((start, (*withdrawn[:-1], withdrawn[-1].rstrip(_MARKS)), cue))
    return found[0] if len(found) == 1 else None  # repeated words may leave the place open


def _bare(word: str) -> str:
    return word.strip(".,;:?!'\"-()").lower()


def _is_clean(found: Correction, parse: Callable[[str], Doc]) -> bool:
    """True where withdrawn words and repair have the same role, end where they seem to, and differ in meaning."""
    wrong, right = parse(found.wrong), parse(found.fluent)
    begin = len(" ".join(found.prefix)) + bool(found.prefix)
    ours = _inside(wrong, begin, begin + len(" ".join(found.withdrawn)))
    theirs = _inside(right, begin, begin + len(" ".join(found.repair)))
    if not ours or not theirs or _runs_on(ours) or _runs_on(theirs):
        return False
    if [token.pos_ for token in ours] != [token.pos_ for token in theirs] and not _are_phrases(ours, theirs):
        return False
    return _has_new(ours, right) and _has_new(theirs, wrong)


def _inside(doc: Doc, start: int, end: int) -> list[Token]:
    return [token for token in doc if start <= token.idx < end and not token.is_punct]


def _are_phrases(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """True where both are names, or both noun phrases without a name."""
    if _ADJECTIVE.search(ours[-1].text):
        return False
    tokens = [token for token in (*ours, *theirs) if token.pos_ != "DET"]
    named = all(token.pos_ == "PROPN" and token.text[0].isupper() for token in tokens)
    common = all(token.pos_ in {"NOUN", *_MODIFIERS} and token.is_lower for token in tokens)
    return named or (common and ours[-1].pos_ == theirs[-1].pos_ == "NOUN")


def _runs_on(tokens: Sequence[Token]) -> bool:
    """True where the words break off inside a noun compound or a name, so that the correction may hold more words."""
    last = tokens[-1]
    if last.pos_ not in _NOUNS or last.i + 1 == len(last.doc):
        return False
    after = last.nbor()
    if after.pos_ in _NOUNS | {"PART"} or after.lower_ in {"and", "or"}:
        return True
    return last.text[0].isupper() and after.lower_ in {"of", "the", "-"}


def _has_new(tokens: Sequence[Token], other: Doc) -> bool:
    """True where one of the tokens matters and stands in the other question in no form and no near spelling."""
    matter = (t for t in tokens if t.lower_ in _QUESTION_WORDS or (t.pos_ in _CONTENT and not t.is_stop))
    return any(not any(_is_same(token, word) for word in other) for token in matter)


def _is_same(token: Token, other: Token) -> bool:
    ours, theirs = token.lemma_.lower(), other.lemma_.lower()
    return ours == theirs or (ours.isalpha() and ratio(ours, theirs) >= _ALIKE)
