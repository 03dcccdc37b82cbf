"""Query syntax in a rewrite that no user wrote: a search engine may read it as an order, not as words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rewriteguard.model.conversation import Role
from rewriteguard.model.tokens import Evidence, Finding, Kind
from rewriteguard.reading.text import Past, Reading

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


def syntax_findings(turn: Reading, rewrite: Reading, past: Past) -> Iterable[Finding]:
    """Operators, filters, wildcards, links and addresses that stand neither in the turn nor in what a user said."""
    if not (_SIGNS.search(rewrite.text) or any(word in rewrite.text for word in _WORDS)):
        return
    said = "\n".join([turn.text, *(message.text for message in past.by(Role.USER).messages)])
    spoken = f" {' '.join(turn.text.casefold().split())} "
    for match in _SYNTAX.finditer(rewrite.text):
        words = match["operator"] and f" {match['operator'].casefold()} "
        if match[0] not in said and not (words and words in spoken):  # capitals of a spoken "or" are the writer's style
            yield Finding("low_trust.syntax", Kind.IDENTIFIER, (Evidence("rewrite", match[0], *match.span()),))
