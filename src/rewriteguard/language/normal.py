"""A text in the one form that is read, with the way back to the offsets of the text as written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# Zero-width and bidi characters, joiners, soft hyphen, variation selectors and tag characters: nobody sees them.
_INVISIBLE_RANGES = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
_INVISIBLE = re.compile(f"[{_INVISIBLE_RANGES}]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")  # half a surrogate pair: no UTF-8 text holds one, and spaCy refuses it
_STRAIGHT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc\uff07", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
    | dict.fromkeys("\u2028\u2029\u0085", " ")
)
# The tokeniser's time grows with the square of a run without white space; no word or address is longer than this.
_LONGEST_RUN = 400
_UNBROKEN = re.compile(rf"\S{{{_LONGEST_RUN + 1}}}")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A text in the form that the analysis reads.

    Attributes:
        text: The normal form.
        starts: For each character of `text` the offset in the original of the character it came from, and behind
            the last one the length of the original: one entry more than `text` has characters.
    """

    text: str
    starts: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The half-open span in the original that gave `text[start:end]`; it never cuts a character in two."""
        if end <= start:
            return self.starts[start], self.starts[start]
        while end < len(self.text) and self.starts[end] == self.starts[end - 1]:
            end += 1
        return self.starts[start], self.starts[end]


def normalise(text: str) -> Normalised:
    """The text in NFKC, with straight quotes and plain hyphens, without invisible characters.

    Runs of more than 400 characters without white space are broken by a space.
    Look-alike letters of other scripts stay what they are: a name written with them is another name.
    """
    if text.isascii() and not _CONTROL.search(text) and not _UNBROKEN.search(text):
        return Normalised(text, range(len(text) + 1))
    out: list[str] = []
    starts: list[int] = []
    position = run = 0
    text = _HALF_PAIR.sub("\ufffd", text)
    while position < len(text):
        end = position + 1
        while end < len(text) and unicodedata.combining(text[end]):  # a letter is read with its accents
            end += 1
        cluster = visible(text[position:end]).translate(_STRAIGHT)
        for character in unicodedata.normalize("NFKC", cluster):
            run = 0 if character.isspace() else run + 1
            if run > _LONGEST_RUN:
                out.append(" ")
                starts.append(position)
                run = 1
            out.append(character)
            starts.append(position)
        position = end
    return Normalised("".join(out), (*starts, len(text)))


def visible(text: str) -> str:
    """The text without invisible and control characters."""
    return _CONTROL.sub("", _INVISIBLE.sub("", text))
