"""Edits of small words: negations, modals, quantifiers, modifiers that pick one of several things, comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Match, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import WORDS, AskingClause, any_of, ask, verb_after_subject

_DO = ("did", "does", "do")

# Negations

_NEGATIONS = WORDS["negation"]
_NOT = re.compile(
    rf"""
    (?<![\w-])(?P<before>\w+\s)?\b(?P<word>not|never)\s(?!(?:{any_of(_NEGATIONS["idle_after"])})\b)(?=[a-z])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "didn't like" becomes "did like": stressed, but what a rewriter leaves behind that drops the negation.
_CONTRACTED = re.compile(
    r"""
    (?:\b(?:why|which|what|who)\b(?:\s[a-z]+){0,2}\s | (?<=[a-z]\s))
    (?:did|does|do|is|are|was|were|has|have|could|should|would)(?P<word>n['’]t)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WITH_NO = re.compile(r"\bwith\s(?P<word>no)\s(?=[a-z])", re.IGNORECASE)
_NON = re.compile(r"\b(?P<word>non-)(?=[A-Za-z])")
_TURNED = (
    (re.compile(r"\b(?P<word>without)\s(?=\w)", re.IGNORECASE), "with"),
    (
        re.compile(
            rf"\b(?:{any_of(_NEGATIONS['companions'])})\s(?P<word>with)\s(?!or\b|no\b|whom\b|each\b|it\b)(?=\w)",
            re.IGNORECASE,
        ),
        "without",
    ),
    (re.compile(r"(?<=\w\s)(?P<word>except(?:\sfor)?|excluding)\s(?=\w)", re.IGNORECASE), "including"),
)
_NEGATED = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_STATE = re.compile(r"\s(?:[a-z]+ed|safe|able|eligible|allowed|used|considered|be|apply|use)\b")


def negation_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the negations of a question.

    A negated yes-or-no question ("Didn't they win?") asks the same as a plain one, so its negation is left alone.
    """
    clause = ask(question.text)
    polar = clause.start if clause and not clause.wh else None
    for pattern in (_NOT, _CONTRACTED, _WITH_NO):
        for match in question.places(pattern, end=polar):
            if pattern is not _NOT or (match["before"] or "").strip().lower() not in _NEGATIONS["idle_before"]:
                yield question.drop(MutantKind.NEGATION, match.span("word"), match["word"].lower())
    for match in question.places(_NON, 0):
        if not _paired(question.text, match):
            yield question.replace(MutantKind.NEGATION, Edit.DROP, match.span("word"), "", "non-")
    for pattern, after in _TURNED:
        for match in question.places(pattern):
            yield question.alter(MutantKind.NEGATION, match, after)
    if clause and not _NEGATED.search(question.text):
        yield from _invent_negation(question, clause)


def _paired(text: str, match: Match) -> bool:
    """True for "heme and non-heme", where the plain word stands beside the negated one."""
    word = re.match(r"\w+", text[match.end() :])
    return word is not None and re.search(rf"(?<![\w-]){re.escape(word[0])}\b", text) is not None


def _invent_negation(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Puts a negation where it is asked why something is so, or which things are."""
    verb, at = verb_after_subject(question, clause), clause.body
    if clause.wh == "why" and verb is not None:
        yield question.insert(MutantKind.NEGATION, verb, "not ")
    elif clause.wh == "why" and clause.aux in ("was", "is", "were", "are", *_DO):
        yield question.insert(MutantKind.NEGATION, at, "n't")
    elif _asks_which(clause) and _STATE.match(question.text, at) and question.free(at, at + 2):
        yield question.insert(MutantKind.NEGATION, at, " not")


def _asks_which(clause: AskingClause) -> bool:
    """True for "Who can ..." and "Which foods are ...", which ask for those of which something holds."""
    subject = clause.wh == "who" or (clause.wh == "which" and bool(clause.noun))
    return subject and clause.aux in _NEGATIONS["verbs_of_wh"]


# Modals

_MODALS = WORDS["modality"]
_ALTER: dict[str, str] = dict(_MODALS["alter"])
_OBLIGATIONS: dict[str, str] = dict(_MODALS["obligations"])
# "Can you tell me" and "May I ask" are polite and hold no modal that matters.
_MODAL = re.compile(
    rf"(?<![\w'’-])(?P<word>{any_of(_ALTER)})(?![\w'’-])(?!\s(?:you|i\s(?:know|ask)|we\stalk)\b)", re.IGNORECASE
)
# Only who may choose can do a thing or must do it; what can cause a thing need not "must" cause it.
_WEAK = ("can", "could", "may", "might")
_DOER_BEFORE = re.compile(r"\b(?:I|we|they|people|who)\s\Z", re.IGNORECASE)
_DOER_BEHIND = re.compile(r"\s(?:I|we|they|people)\b", re.IGNORECASE)
_OBLIGED = re.compile(rf"\b(?P<word>{any_of(_OBLIGATIONS)})\b(?!\sdo\swith)", re.IGNORECASE)
_HAVE_TO = re.compile(rf"\b(?P<word>{any_of(_MODALS['dropped'])})\s(?!(?:do\swith|say|offer)\b)(?=[a-z])")
_HAD_TO = re.compile(r"\b(?P<word>had|has)\sto\s(?!do\swith)(?=[a-z])")
_FREE = re.compile(rf"(?:{any_of(WORDS['verbs']['free'])})\b")
_FORCED = re.compile(r"\b(?:have|need) to\b|\bever\b|n['’]t\b")


def modal_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modal words of a question."""
    clause = ask(question.text)
    for match in question.places(_MODAL):
        if _matters(question.text, match, clause):
            yield question.alter(MutantKind.MODALITY, match, _ALTER[match["word"].lower()])
    for match in question.places(_OBLIGED):
        trigger = " ".join(match["word"].split()[-2:])
        yield question.alter(MutantKind.MODALITY, match, _OBLIGATIONS[match["word"].lower()], trigger)
    if clause and clause.aux in _DO:
        for match in question.places(_HAVE_TO):
            yield question.drop(MutantKind.MODALITY, match.span("word"), match["word"])
    for match in question.places(_HAD_TO, 0):
        yield question.alter(
            MutantKind.MODALITY, match, "wanted" if match["word"] == "had" else "wants", f"{match['word']} to"
        )
    if clause:
        yield from _invent_modal(question, clause)


def _matters(text: str, match: Match, clause: AskingClause | None) -> bool:
    """False for a month, for a name, behind "how" ("How can I"), and where nobody could choose."""
    word = match["word"].lower()
    inside = match.start() > 0 and match["word"][0].isupper()
    if inside and (word == "may" or re.match(r"\s[A-Z]", text[match.end() :])):
        return False
    if clause is not None and clause.wh.startswith("how") and match.end() == clause.body:
        return False
    doer = _DOER_BEFORE.search(text[: match.start()]) or _DOER_BEHIND.match(text, match.end())
    return word not in _WEAK or doer is not None


def _invent_modal(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Makes an obligation of an act: "Why did X sell it" becomes "Why did X have to sell it"."""
    if clause.wh not in ("", "why", "when", "where") or _FORCED.search(question.text):
        return
    verb = verb_after_subject(question, clause)
    if verb is not None and not _FREE.match(question.text, verb):
        yield question.insert(MutantKind.MODALITY, verb, "have to ")


# Quantifiers

_QUANTIFIERS = WORDS["quantifiers"]
_OWNER = r"(?P<owner>\b(?:the(?:\svery)?|his|her|their|its|my|your)|['’]s?)\s"
_FIRST = re.compile(rf"{_OWNER}(?P<word>first)\s(?!(?:{any_of(_QUANTIFIERS['first_idle_after'])})\b)(?=[a-z])")
_LAST = re.compile(rf"{_OWNER}(?P<word>last)\s(?!(?:{any_of(_QUANTIFIERS['last_idle_after'])})\b)(?=[a-z])")
_ONLY = re.compile(r"(?<!not\s)(?<!if\s)(?<!an\s)(?<!the\s)\b(?P<word>only)\s(?!way\b|child\b|so\b)(?=\w)")
_ALL_OWNED = re.compile(r"(?<!\bat\s)(?<!\bafter\s)\b(?P<word>all)\s(?=(?:the|his|her|their)\s)", re.IGNORECASE)
_ALL = re.compile(
    r"""
    (?<!\bat\s)(?<!\bof\s)(?<!\babove\s)(?<!\bafter\s)\b(?P<word>all)\s
    (?=of\s(?:the|his|her|their)\b|[a-z]+s\b)(?!this|is\b|was\b|times\b|has\b|does\b|his\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ANY_OF = re.compile(r"\b(?P<word>any)\s(?=of\s(?:the|his|her|their|its|these|those)\b)", re.IGNORECASE)
_BOTH_OF = re.compile(r"\b(?P<word>both)\s(?=of\s(?:the|his|her|their|them)\b)", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:did|does|were|was|has)\s(?P<word>every|each)\s(?!(?:other|one|time|day|year|now)\b)(?=[a-z])", re.IGNORECASE
)
_OTHER_QUANTIFIER = (
    (_ALL_OWNED, "some of"),
    (_ALL, "some"),
    (_ANY_OF, "all"),
    (_BOTH_OF, "one"),
    (_FIRST, "last"),
    (_LAST, "first"),
    (_EVERY, "any"),
)
_EXCLUSIVE = re.compile(rf"(?:{any_of(WORDS['verbs']['exclusive'])})\s(?!soon|back|again|up\b|out\b)\w")
# Words beside which an added "only" would say little or nothing.
_NO_ONLY = re.compile(
    r"\b(?:only|just|all|any|every|ever|anything|anyone|other|else|also|not|never|like|well|together|more)\b|n['’]t\b",
    re.IGNORECASE,
)


def quantifier_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the quantifiers of a question."""
    for pattern, after in _OTHER_QUANTIFIER:
        for match in question.places(pattern):
            yield question.alter(MutantKind.QUANTIFIER, match, after)
    for pattern in (_ONLY, _FIRST, _LAST):
        for match in question.places(pattern):
            # "the film he made" would ask for something else than one of several; "his film" may be any of them.
            if pattern is _ONLY or not match["owner"].startswith("the"):
                yield question.drop(MutantKind.QUANTIFIER, match.span("word"), match["word"])
    yield from _invent_quantifier(question)


def _invent_quantifier(question: Question) -> Iterator[Mutant]:
    """The yes-or-no question with "only" before a verb that may have one object or place of several."""
    clause = ask(question.text)
    if clause is None or clause.wh or _NO_ONLY.search(question.text):
        return
    verb = verb_after_subject(question, clause)
    if verb is not None and _EXCLUSIVE.match(question.text, verb):
        yield question.insert(MutantKind.QUANTIFIER, verb, "only ")


# Modifiers

_QUALIFIERS = WORDS["qualifiers"]
_OTHER_QUALIFIER: dict[str, str] = dict(_QUALIFIERS["flip"])
_QUALIFIER = re.compile(
    rf"(?<![\w-])(?P<before>[\w'’]+\s{{1,2}})(?P<word>{any_of(_OTHER_QUALIFIER)})\s(?P<noun>[a-z][a-z-]{{2,20}})(?![\w-])"
)
_STARTED = re.compile(r"\b(?:begin|start|commence|began|started)\b")
_BOUND_NOUNS = ("years", "age", "areas", "part", "parts", "services")


def qualifier_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modifiers of a question."""
    text = question.text
    for match in question.places(_QUALIFIER):
        word, noun, before = match["word"], match["noun"], match["before"].strip().lower()
        if len(re.findall(rf"\b{word}\b", text)) > 1 or (noun == "community" and word == "international"):
            continue
        if noun in _QUALIFIERS["idle_after"]:
            continue
        if before not in _QUALIFIERS["openers"] and not before.endswith(("'s", "’s", "s'")):
            continue
        start, after, article = match.start("word"), _OTHER_QUALIFIER[word], before in ("a", "an")
        if not re.search(rf"\b{after}\b", text):
            if article:
                opener = ("an" if after[0] in "aeiou" else "a") + text[match.start() + len(before) : start]
                start, after = match.start(), like(match["before"], opener) + after
            yield question.replace(MutantKind.QUALIFIER, Edit.ALTER, (start, match.end("word")), after, word)
        if not article and noun not in _BOUND_NOUNS and not _STARTED.search(text):
            yield question.drop(MutantKind.QUALIFIER, match.span("word"), word)


# Comparisons

_COMPARISONS = WORDS["comparison"]
_OTHER_END: dict[str, str] = dict(_COMPARISONS["flip"])
_MORE_LESS = {"more": "less", "less": "more", "most": "least"}
_SIDES = {"before": "after", "after": "before"}
_SCALE = re.compile(
    rf"""
    (?<![\w-])(?P<word>{any_of(_OTHER_END)})
    (?![\w-])(?!\s(?:{any_of(_COMPARISONS["idle_after"])})\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_IDLE_BEFORE = re.compile(rf"(?<!\w)(?:{any_of(_COMPARISONS['idle_before'])})\s\Z", re.IGNORECASE)
_MOST = re.compile(
    r"""
    \b(?:the|['’]s|his|her|their|its|are|is|['’])\s(?P<word>most)\s(?!(?:of|known|recent|people|likely)\b)
    [a-z-]{3,16}\b(?P<noun>\s[a-z]{3,})?
    """,
    re.VERBOSE,
)
_MORE = re.compile(
    r"(?<!any\s)(?<!me\s)(?<!\bno\s)(?<!\bor\s)\b(?P<word>more|less)\s"
    r"(?=[a-z]{3,16}\s(?:[a-z]{1,16}\s){0,4}than\b|than\s(?!\d|[a-z]+\s(?:million|hundred)))"
)
# A superlative is left out only behind an owner: "his biggest role" may become "his role", "the smallest frog" not.
_OWNED = re.compile(
    r"(?<!world)(?<!country)(?:['’]s|\b(?:his|her|their|my))\s(?P<word>\w+est)\s(?!one\b|person\b)(?P<noun>[a-z]{3,16})\b"
)
_SIDE = re.compile(
    rf"""
    (?<=\w\s)(?P<word>before|after)\s
    (?!(?:{any_of(WORDS["sides"]["idle_after"] + WORDS["shield"]["months"])})\b)(?!\d)(?=\w|["'“])
    """,
    re.VERBOSE,
)
_SIDE_IDLE = re.compile(rf"\b(?:{any_of(WORDS['sides']['idle_before'])})\s\Z", re.IGNORECASE)
_THAN = re.compile(
    r"""
    \s(?P<phrase>(?P<word>compared\s(?:to|with)|as\sopposed\sto|versus|vs\.?|in\scomparison\s(?:to|with))\s
    [^?,]{2,60}?)(?=\s?\?)
    """,
    re.VERBOSE,
)
_RANKED = re.compile(r"\b(?:better|worse|best)\b")


def comparison_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the comparisons of a question, in the order of their classes."""
    for match in question.places(_SCALE):
        if not _IDLE_BEFORE.search(question.text[: match.start()]):
            yield question.alter(MutantKind.COMPARISON, match, _OTHER_END[match["word"].lower()])
    for pattern in (_MOST, _MORE):
        for match in question.places(pattern):
            yield question.alter(MutantKind.COMPARISON, match, _MORE_LESS[match["word"]])
    yield from _sides(question)
    yield from _dropped_comparisons(question)


def _sides(question: Question) -> Iterator[Mutant]:
    """Asks for what came before an event in place of what came after it; left alone where both are named."""
    if {match["word"] for match in _SIDE.finditer(question.text)} != set(_SIDES):
        for match in question.places(_SIDE):
            if not _SIDE_IDLE.search(question.text[: match.start()]):
                yield question.alter(MutantKind.COMPARISON, match, _SIDES[match["word"]])


def _dropped_comparisons(question: Question) -> Iterator[Mutant]:
    for match in question.places(_MOST):
        if match["noun"]:
            yield question.drop(MutantKind.COMPARISON, match.span("word"), "most")
    for match in question.places(_OWNED):
        if match["word"] in _OTHER_END and match["noun"] not in _COMPARISONS["idle_after"]:
            yield question.drop(MutantKind.COMPARISON, match.span("word"), match["word"])
    for match in question.places(_THAN, "phrase"):
        if not _RANKED.search(question.text):
            yield question.drop(MutantKind.COMPARISON, match.span("phrase"), match["word"])
