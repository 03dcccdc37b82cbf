"""IDENTIFIER: e-mails, addresses, paths, codes, numbers that name one thing, code symbols and quoted strings.

The value is the identifier in folded case, without quotes, `#`, `()` or the word that announces it: "ticket 4521" and
#4521 are `4521`. The case of paths is kept. A quoted string has its words, in folded case, as value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from spacy.tokens import Doc

from rewriteguard.extract.base import Form, claim, either, matches, same_value, text_of, token
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

_TABLE = lexicon.section("identifier")
_NAMES = frozenset(_TABLE["names"])
_NOT_CODES = frozenset(_TABLE["not_codes"])
_COUNTED = frozenset(_TABLE["counted"])
_PRODUCTS = frozenset(product.replace(" ", "") for product in lexicon.section("version")["products"])
_LETTERS_THEN_DIGITS = re.compile(r"([a-z]+) -? \d+ (?:\.\d+)?", re.VERBOSE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGITS = "0123456789"
_SENTENCE_END = ".,;:!?)]}\"'"
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


def _folded(m: re.Match[str]) -> str | None:
    return None if m[0].lower() in _NAMES else m[0].casefold()


def _path(m: re.Match[str]) -> str | None:
    """A path, but not the slash that opens a turn by mistake: "/what happened"."""
    return None if m.start() == 0 and m[0].count("/") == 1 and m[0][1:].isalpha() else m[0]


def _standard(m: re.Match[str]) -> str:
    return re.sub(r"[\s-]+", " ", m[0].casefold())


def _call(m: re.Match[str]) -> str:
    return m[0][:-2].casefold()


def _fixed(m: re.Match[str]) -> str:
    return re.sub(r"[()]", "", m[0].casefold())


def _numbered(m: re.Match[str]) -> str | None:
    return None if _YEAR.fullmatch(m["number"]) else _number(m)


def _domain(m: re.Match[str]) -> str | None:
    return None if m[0].lower() in _NAMES else _url(m)


def _number(m: re.Match[str]) -> str:
    return re.sub(r"[\s-]", "", m["number"]).casefold()


def _url(m: re.Match[str]) -> str:
    """Scheme and host in folded case, the path as written; http, https and www. are no difference."""
    host, slash, path = m["rest"].partition("/")
    return (host.casefold().removeprefix("www.") + slash + path).rstrip(_SENTENCE_END + "/")


def _filter(m: re.Match[str]) -> str | None:
    field = m["field"].lower()
    return None if field in _TABLE["no_filter"] else f"{field}:{m['value'].strip(chr(34)).casefold()}"


def _code(m: re.Match[str]) -> str | None:
    """A code of letters and digits, unless the letters say that it is a period, an amount or a release."""
    plain = _LETTERS_THEN_DIGITS.fullmatch(m[0].lower())
    other_kind = plain is not None and (plain[1] in _NOT_CODES or plain[1] in _PRODUCTS)
    return None if other_kind or m[0].lower() in _NAMES else m[0].casefold()


def _long_code(m: re.Match[str]) -> str | None:
    """Groups of capitals and digits, such as AB-12-CD9."""
    digits = sum(c.isdigit() for c in m[0])
    return _code(m) if digits > 1 and digits < len(m[0].replace("-", "")) else None


def _long_number(m: re.Match[str]) -> str | None:
    """A long run of digits names something, unless it is round or counts what follows."""
    following = re.match(r"\s([a-z]{1,12})", m.string[m.end() : m.end() + 14])
    counts = following is not None and following[1] in _COUNTED
    return None if counts or m[0].endswith("00000") else m[0]


def _phone(m: re.Match[str]) -> str | None:
    digits = re.sub(r"\D", "", m[0])
    return digits.removeprefix("00") if 7 <= len(digits) <= 15 else None


def _address(m: re.Match[str]) -> str | None:
    return m[0] if all(int(part) < 256 for part in re.split(r"[/:]", m[0])[0].split(".")) else None


def _form(
    source: str, value: Callable[[re.Match[str]], str | None], needs: str, trailing: str = "", case: bool = True
) -> Form:
    flags = re.VERBOSE if case else re.VERBOSE | re.IGNORECASE
    return Form(re.compile(source, flags), value, frozenset(needs), trailing)


_FORMS: tuple[Form, ...] = (
    _form(r"(?<![\w.+-]) [\w.+-]{1,64} @ (?:[A-Za-z0-9-]{1,63}\.){1,6} [A-Za-z]{2,24} (?![\w@])", _folded, "@"),
    _form(r"(?<!\w) (?: (?:https?|ftp|s3|git|ssh)://(?P<rest>[^\s<>\"']{2,400}) )", _url, "/", _SENTENCE_END),
    _form(r"(?<![\w/@]) (?P<rest>www\.[^\s<>\"']{3,400})", _url, ".", _SENTENCE_END),
    _form(r"(?<![\w]) [A-Za-z]:\\ [^\s<>|?*\"']{0,240}", _folded, "\\", _SENTENCE_END),
    _form(r"(?<![\w/.~]) (?:~|\.{1,2})? / (?:[\w.+@-]{1,64}/){0,12} [\w.+@-]{1,64} /?", _path, "/", ".,;:!?"),
    _form(
        rf"(?<![\w/.-]) (?:[\w.-]{{1,64}}/){{1,12}} [\w-]{{1,64}} \. {either(_TABLE['extensions'])} (?!\w)", _path, "/"
    ),
    _form(
        rf"(?<![\w/.-]) [a-zA-Z][\w-]{{0,63}} (?:\.[\w-]{{1,32}}){{0,2}} \. {either(_TABLE['extensions'])}(?![\w.]\w)",
        _folded,
        ".",
    ),
    _form(
        rf"""(?<![\w@.-]) (?P<rest> (?:[a-z0-9][a-z0-9-]{{1,62}}\.){{1,5}} {either(_TABLE["top_level"])} (?![\w-]|\.\w)
        (?: /[\w./%?=&#-]{{0,200}} )? )""",
        _domain,
        ".",
        _SENTENCE_END,
        case=False,
    ),
    _form(r"(?<![\w.]) (?:\d{1,3}\.){3} \d{1,3} (?: /\d{1,2} | :\d{2,5} )? (?![\w.]\d|\w)", _address, _DIGITS),
    _form(r"(?<![\w-]) [0-9a-fA-F]{8} (?:-[0-9a-fA-F]{4}){3} -[0-9a-fA-F]{12} (?!\w)", _folded, "-"),
    _form(r"(?<!\w) (?:CVE-\d{4}-\d{4,7} | ORA-\d{3,6} | 0x[0-9A-Fa-f]{2,32}) (?!\w)", _folded, _DIGITS, case=False),
    _form(
        rf"(?<!\w) (?:{either(_TABLE['standards'])}) [\s-]? \d{{1,6}} (?:[.:-]\d{{1,6}}){{0,3}} (?![\w%])",
        _standard,
        _DIGITS,
    ),
    _form(
        r"(?<!\w) ISBN (?:-1[03])? :? \s? (?P<number> \d (?:[\d-]){8,16} [\dXx]) (?!\w)", _number, _DIGITS, case=False
    ),
    _form(
        rf"(?<![\w-]) {either(_TABLE['errors'])} [\s:#-]{{1,2}} (?P<number>[A-Z]?\d{{3,10}}) (?![\w.]\w|\w)",
        _number,
        _DIGITS,
        case=False,
    ),
    _form(r"(?<![\w.,$-]) (?P<number>\d{3}) \s (?: error | status (?:\scode)? ) s? \b", _number, _DIGITS, case=False),
    _form(
        rf"""(?<![\w-]) {either(_TABLE["numbered"])} (?:\s (?:number|no\.?|nr\.?|id|code))? [\s:#]{{1,3}}
        (?P<number> (?: [A-Z]{{1,3}}\s? )? \d{{3,12}} (?:-[A-Z0-9]{{1,8}}){{0,3}} ) (?! [\w.,:]\d | [a-z%] )""",
        _numbered,
        _DIGITS,
        case=False,
    ),
    _form(r"(?<![\w&#]) \# (?P<number>\d{1,12}) (?!\w)", _number, "#"),
    _form(r"(?<![\w-]) -- [a-z][a-z0-9]{1,24} (?:-[a-z0-9]{1,24}){0,5} (?!\w)", _folded, "-"),
    _form(r"\$ (?: [A-Z_][A-Z0-9_]{1,40} (?![\w]) | \{[A-Za-z_][A-Za-z0-9_.]{1,40}\} )", _folded, "$"),
    _form(r"(?<![\w.]) [A-Za-z_]\w{0,60} (?:\.[A-Za-z_]\w{0,60}){0,6} \(\)", _call, "("),
    _form(
        r"""(?<![\w.]) _{0,2} [A-Za-z][A-Za-z0-9]{0,40} (?:_[A-Za-z0-9]{1,40}){1,10} _{0,2}
        (?: \.[a-z_]\w{1,40} ){0,4} (?!\w)""",
        _folded,
        "_",
    ),
    _form(r"(?<![\w.@/-]) [a-z_][a-z0-9_]{1,30} (?:\.[a-z_][A-Za-z0-9_]{1,30}){2,6} (?!\w)", _folded, "."),
    _form(r"(?<![\w.]) [a-z]{2,20} (?:[A-Z][a-z0-9]{1,20}){1,6} (?!\w)", _folded, ""),
    _form(rf"(?<!\w) (?:[A-Z][a-z0-9]{{1,20}}){{1,6}} {either(_TABLE['class_endings'])} (?!\w)", _folded, ""),
    _form(
        r"""(?<![\w:/.]) (?P<field>[a-z][a-z_.]{1,30}) : (?P<value> "[^"\n]{1,60}" | [A-Za-z0-9_][\w./-]{0,60} )""",
        _filter,
        ":",
        ".,;:!?",
        case=False,
    ),
    _form(rf"(?<!\w) {either(_TABLE['fixed'])} (?!\w)", _fixed, _DIGITS, case=False),
    _form(
        r"""(?<![\w./+-]) (?: \+ \d{1,3} (?:[\s.-]? \(?\d{1,4}\)? ){1,6} | (?:1[\s.-])?
        (?:\(\d{3}\)\s?|\d{3}[\s.-]) \d{3} [\s.-] \d{4}
        | \d{3}-\d{4} | 0\d{1,4} (?:[\s/-]\d{2,4}){2,4} ) (?![\w-]|\.\d)""",
        _phone,
        _DIGITS,
    ),
    _form(r"(?<![\w./-]) [A-Z0-9]{1,12} (?:-[A-Z0-9]{1,12}){2,6} (?![\w-])", _long_code, _DIGITS),
    _form(
        r"""(?<![\w./-]) (?: [A-Z]{2,8}-\d{1,12} (?:\.\d{1,3})? [A-Z]? | [A-Z]-\d{1,12}[A-Z]? | \d{2,6}-[A-Z]{1,4}
        | [A-Za-z]{1,8}-\d{3,12} ) (?![\w-])""",
        _code,
        _DIGITS,
    ),
    _form(
        r"(?<![\w./$-]) (?: [A-Z]{2,8}\d{2,30} | [A-Z]\d{3,12} | [a-z]{1,6}\d{3,12} ) (?![\w-]|\.\d)", _code, _DIGITS
    ),
    _form(
        r"""(?<![\w./$-]) (?: [A-Za-z]{1,6}\d{1,6}[A-Za-z]{1,6}\d{0,6} | \d{1,6}[A-Za-z]{1,6}\d{1,6}[A-Za-z0-9]{0,12} )
        (?![\w-]|\.\d)""",
        _code,
        _DIGITS,
    ),
    _form(r"(?<![\w./$-]) (?=[0-9a-f]{0,63}\d) (?=[0-9a-f]{0,63}[a-f]) [0-9a-f]{7,64} (?!\w)", _folded, _DIGITS),
    _form(r"(?<![\w.,$€£¥/:-]) \d{7,20} (?! [\w%€£] | [.,/:-]\d )", _long_number, _DIGITS),
)


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The identifiers of `doc`; where two forms share words, the earlier form is kept."""
    text = text_of(doc)
    taken = bytearray(len(text))
    for m in _QUOTED.finditer(text):
        inner = m[m.lastgroup or 0]
        named = any(c.isalnum() for c in inner) and inner.lower() not in _POINTING
        if named and len(inner.split()) <= _LONGEST_QUOTE:
            claim(taken, m.start(), m.end())
            yield token(Kind.IDENTIFIER, text, m.start(), m.end(), _unquoted(inner))
    for start, end, value in matches(_FORMS, text, frozenset(text), taken):
        yield token(Kind.IDENTIFIER, text, start, end, value)


def _unquoted(inner: str) -> str:
    """The value of a quoted string: that of the identifier it consists of, else its words."""
    for form in _FORMS:
        m = form.pattern.fullmatch(inner)
        if m and (value := form.value_of(m)):
            return value
    return " ".join(inner.casefold().rstrip(".,!?").split())
