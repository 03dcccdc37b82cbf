"""IDENTIFIER: e-mails, addresses, paths, codes, numbers that name one thing, code symbols and quoted strings.

The value is the identifier in folded case, without quotes, `#`, `()` or the word that announces it: "ticket 4521" and
#4521 are `4521`. The case of paths is kept. A quoted string has its words, in folded case, as value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spacy.tokens import Doc

from rewriteguard.extract.base import same_value, text_of, token
from rewriteguard.extract.identifier_forms import FORMS, value_of
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

__all__ = ["extract", "same"]

same = same_value

_POINTING = frozenset(lexicon.section("identifier")["pointing"])
_LONGEST_QUOTE = 8  # words; longer ones are speech, not names
_QUOTED = re.compile(
    r"""(?<![\w"']) (?: " (?P<double> [^"\s] [^"\n]{0,78} (?<!\s) | [^"\s] ) "
    | “ (?P<curly> [^”\s] [^”\n]{0,78} ) ” | ‘ (?P<single> [^’\s] [^’\n]{0,78} ) ’
    | ' (?P<plain> (?! \d0s | tis\b | twas\b | em\b | til\b | cause\b )
        [^'\s] (?: [^'\n] | (?<=\w)'(?=\w) ){1,78} ) (?<!\s) '
    | ` (?P<code> [^`\s] [^`\n]{0,78} ) ` ) (?![\w"'])""",
    re.VERBOSE,
)


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The identifiers of `doc`; where two forms share words, the earlier form is kept."""
    text = text_of(doc)
    taken = bytearray(len(text))
    for m in _QUOTED.finditer(text):
        inner = m[m.lastgroup or 0]
        named = any(c.isalnum() for c in inner) and inner.lower() not in _POINTING
        if named and len(inner.split()) <= _LONGEST_QUOTE:
            taken[m.start() : m.end()] = b"\1" * (m.end() - m.start())
            yield token(Kind.IDENTIFIER, text, m.start(), m.end(), _unquoted(inner))
    characters = frozenset(text)
    for form in FORMS:
        if form.needs and not form.needs & characters:
            continue
        for m in form.pattern.finditer(text):
            value = value_of(form, m)
            start, end = m.start(), m.start() + len(m[0].rstrip(form.trailing))
            if value and taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                yield token(Kind.IDENTIFIER, text, start, end, value)


def _unquoted(inner: str) -> str:
    """The value of a quoted string: that of the identifier it consists of, else its words."""
    for form in FORMS:
        m = form.pattern.fullmatch(inner)
        if m and (value := value_of(form, m)):
            return value
    return " ".join(inner.casefold().rstrip(".,!?").split())
