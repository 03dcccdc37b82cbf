"""Times that are said in words or by the clock: relative periods, weekdays, holidays, parts of the day."""

from __future__ import annotations

import re

from rewriteguard.extract.base import Form, group
from rewriteguard.extract.time.value import (
    CARDINALS,
    DIGIT,
    SEASONS,
    UNITS,
    WORDS,
    count_of,
    either,
    form,
    pattern,
)

_DIRECTION: dict[str, int] = WORDS["direction"]
_WEEKDAYS: dict[str, int] = WORDS["weekdays"]
_DAY_PARTS: dict[str, str] = WORDS["day_parts"]
_HOLIDAYS: dict[str, str] = WORDS["holidays"]
_NAMED = [*UNITS, *_WEEKDAYS, *WORDS["months"], *SEASONS, *_DAY_PARTS, "weekend", "fiscal year", "fiscal quarter"]
_HOURS = [word for word, number in CARDINALS.items() if 1 <= number <= 12]
_YTD = "relative:year-to-date"

_DATED = pattern(
    r"""\b (?: in|on|of|since|by|until|till|before|after|during|from|through|to|late|early|mid|every|around|for|and|or|
    between ) [\s-] (?: late\s|early\s|mid-|the\s )? $"""
)
_OPENS = re.compile(r"(?: ^ | [.!?\"(] ) \s* $", re.VERBOSE)
_CAPITAL = re.compile(r"\s [A-Z]", re.VERBOSE)
_BEFORE = re.compile(r"(?<![\w]) ([a-z]{1,12}) \s $", re.VERBOSE | re.IGNORECASE)
_WORD = re.compile(r"\s [a-z']{1,12}", re.VERBOSE)


def _dated(m: re.Match[str]) -> bool:
    """True behind a word that dates something: on Monday, since May."""
    return _DATED.search(m.string, max(0, m.start() - 16), m.start()) is not None


def _in_name(m: re.Match[str]) -> bool:
    """True for the first word of a name: June Carter, Easter Island, Sunday Times."""
    return not _dated(m) and _CAPITAL.match(m.string, m.end()) is not None


def _run(m: re.Match[str]) -> str:
    """The last three years, the next few days, the past decade: a run that ends or begins today."""
    unit, count = UNITS[group(m, "unit")], count_of(m)
    ahead = _DIRECTION.get(group(m, "way"), -1) > 0
    return f"relative:{unit}:0..{count}" if ahead else f"relative:{unit}:-{count}..0"


def _relative(m: re.Match[str]) -> str | None:
    what = group(m, "what")
    step = _DIRECTION[group(m, "way").removeprefix("this ")]
    if what in UNITS:
        return None if UNITS[what] in ("day", "hour", "minute") else f"relative:{UNITS[what]}:{step}"
    if what in _WEEKDAYS:
        return f"relative:weekday-{_WEEKDAYS[what]}:{step}"
    if what in WORDS["months"]:
        plain = step == 0 and what in WORDS["months_also_words"] and m["what"].islower()  # "this may be"
        return None if plain else f"relative:month-{WORDS['months'][what]:02}:{step}"
    if what in _DAY_PARTS:
        return f"relative:day:{step}:{_DAY_PARTS[what]}"
    return f"relative:{SEASONS.get(what, what.replace(' ', '-'))}:{step}"


def _ago(m: re.Match[str]) -> str:
    return f"relative:{UNITS[group(m, 'unit')]}:-{count_of(m)}"


def _near_day(m: re.Match[str]) -> str | None:
    word = group(m, "word")
    if m["word"][0].isupper() and not _OPENS.search(m.string, max(0, m.start() - 4), m.start()):  # The Tonight Show
        return None
    step = {"yesterday": -1, "tomorrow": 1}.get(word, 0) * (2 if m["beyond"] else 1)
    part = "night" if word == "tonight" else _DAY_PARTS.get(group(m, "part"), "")
    return f"relative:day:{step}" + (f":{part}" if part else "")


def _clock(m: re.Match[str]) -> str | None:
    hour, minute, half = int(m["hour"]), int(group(m, "minute") or 0), group(m, "half")
    if hour > (12 if half else 24) or (half and hour == 0):
        return None
    zone = f" {m['zone'].upper()}" if m["zone"] else ""
    hours = [hour % 24]
    if half:
        hours = [hour % 12 + (12 if half == "p" else 0)]
    elif 1 <= hour < 12 and not group(m, "h24") and not m["hour"].startswith("0"):  # 5:30: morning or afternoon
        hours = [hour % 12, hour % 12 + 12]
    return "|".join(f"T{h:02}:{minute:02}{zone}" for h in hours)


def _oclock(m: re.Match[str]) -> str | None:
    word = group(m, "hour")
    hour = int(word) if word.isdigit() else CARDINALS[word]
    return f"T{hour % 12:02}:00|T{hour % 12 + 12:02}:00" if 1 <= hour <= 12 else None


def _month(m: re.Match[str]) -> str | None:
    name = group(m, "month")
    if _in_name(m) or (name in WORDS["months_also_words"] and not _dated(m)):
        return None
    return f"--{WORDS['months'][name]:02}"


def _weekday(m: re.Match[str]) -> str | None:
    return None if _in_name(m) else f"weekday:{_WEEKDAYS[group(m, 'name')]}"


def _holiday(m: re.Match[str]) -> str | None:
    name = _HOLIDAYS[group(m, "name")]
    if m["year"]:
        return f"{m['year']}-{name}"
    if " " in group(m, "name"):
        return name
    # "Christmas tree", "Easter Island": a name that only describes the next noun is no time.
    free = _dated(m) or _WORD.match(m.string, m.end()) is None
    return None if _CAPITAL.match(m.string, m.end()) or not free else name


def _now(m: re.Match[str]) -> str | None:
    if group(m, "word") == "now":
        behind = _WORD.match(m.string, m.end())
        opens = _OPENS.search(m.string, max(0, m.start() - 4), m.start())
        if opens or m["word"] != "now" or (behind and behind[0].strip() in WORDS["not_now"]):
            return None
    return "present"


def _current(m: re.Match[str]) -> str | None:
    """The current price, but not an electric current."""
    before = _BEFORE.search(m.string, max(0, m.start() - 14), m.start())
    flows = before and before[1].lower() in WORDS["not_current_before"]
    return None if flows or group(m, "after") in WORDS["not_current_after"] else "present"


_NOON = {"noon": "T12:00", "midday": "T12:00", "midnight": "T00:00"}

# A later form does not read what an earlier one took.
TIMES: tuple[Form, ...] = (
    form(r"(?<![\w.:$€£-]) (?P<hour>\d{1,2}) (?:[:.](?P<minute>[0-5]\d))? \s? <<MERIDIEM>> <<ZONE>>", _clock, {DIGIT}),
    form(
        r"""(?<![\w.:/$-]) (?P<hour>[01]?\d|2[0-4]) : (?P<minute>[0-5]\d) (?::[0-5]\d)? (?P<h24>\s?h(?:rs|ours)?\b)?
            (?![\w:/]) <<ZONE>>""",
        _clock,
        {DIGIT},
    ),
    form(rf"\b (?P<hour>\d{{1,2}}|{either(_HOURS)}) \s+ o'?clock\b", _oclock, ("o", "oclock")),
    form(r"\b (?P<word>noon|midday|midnight)\b", lambda m: _NOON[group(m, "word")], _NOON),
    form(
        r"\b (?:year[\s-]to[\s-]date|ytd|so\s+far\s+this\s+year|this\s+year\s+so\s+far)\b",
        lambda _: _YTD,
        ("year", "ytd"),
    ),
    form(
        r"\b (?:the\s+)? (?P<way>last|past|previous|next|coming|upcoming|prior) \s+ <<COUNT>> \s+ <<UNIT>>",
        _run,
        _DIRECTION,
    ),
    form(r"\b (?:the\s+)? (?P<count>recent) \s+ <<UNIT>>", _run, ("recent",)),
    form(r"(?<!half\s) (?<!\w) (?<!this\s) (?:the\s+)? \b (?P<way>past) \s+ <<UNIT>> (?!\s+of\b)", _run, ("past",)),
    form(
        r"""(?: (?<=\bin\s) | (?<=\bover\s) | (?<=\bduring\s) | (?<=\bwithin\s) | (?<=\bfor\s) )
            the \s+ (?P<way>last|next|coming) \s+ <<UNIT>> (?!\s+of\b)""",
        _run,
        ("last", "next", "coming"),
    ),
    form(r"\b <<COUNT>> \s+ <<UNIT>> \s+ ago\b", _ago, ("ago",)),
    form(
        rf"""\b (?P<beyond>(?:the\s+)?day\s+(?:before|after)\s+)? (?P<word>yesterday|tomorrow|today|tonight)\b
            (?: \s+ (?P<part>{either(_DAY_PARTS)})\b )?""",
        _near_day,
        ("yesterday", "today", "tomorrow", "tonight"),
    ),
    form(
        rf"""\b (?:the\s+)? (?P<way>last|previous|prior|this(?:\s+past)?|current|next|coming|upcoming) \s+
            (?P<what>{either(_NAMED)})\b (?!\s+of\b)""",
        _relative,
        _DIRECTION,
    ),
    form(rf"\b (?P<name>{either(_HOLIDAYS)})\b (?:\s+(?P<year>(?:19|20)\d\d)\b)?", _holiday, _HOLIDAYS),
    form(
        rf"\b (?P<name>{either(_WEEKDAYS)})s?\b (?!['’]s\b)", _weekday, (*_WEEKDAYS, *(f"{day}s" for day in _WEEKDAYS))
    ),
    form(
        r"\b (?P<day>weekday|weekend)s?\b (?!\s+(?:edition|warrior))",
        lambda m: group(m, "day"),
        ("weekday", "weekdays", "weekend", "weekends"),
    ),
    form(r"\b <<FULL_MONTH>>", _month, WORDS["months"]),
    form(
        r"(?: (?<=\bin\s) | (?<=\bduring\s) | (?<=\bevery\s) | (?<=\beach\s) ) (?:the\s+)? <<SEASON>>",
        lambda m: SEASONS[group(m, "season")],
        SEASONS,
    ),
    form(
        rf"(?: (?<=\bin\s) | (?<=\bduring\s) ) the \s+ (?P<part>{either(_DAY_PARTS)})\b",
        lambda m: _DAY_PARTS[group(m, "part")],
        _DAY_PARTS,
    ),
    form(
        rf"\b (?P<part>{either(WORDS['day_parts_alone'])})\b",
        lambda m: WORDS["day_parts_alone"][group(m, "part")],
        ("night", "dawn", "dusk", "sunset", "sunrise"),
    ),
    form(
        rf"\b (?P<word>{either(WORDS['now'])})\b",
        _now,
        ("now", "just", "right", "currently", "nowadays", "presently", "present", "moment", "these"),
    ),
    form(r"\b current (?= \s (?P<after>[a-z-]{2,20})\b )", _current, ("current",)),
)
