"""Edits of small words: negations, modals, quantifiers, modifiers that pick one of several things, comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import WORDS, AskingClause, any_of, ask, verb_after_subject

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
_NON = re.compile(r"\b(?P<word>non-)(?=[A-Za-z])")
_WITH_NO = re.compile(r"\bwith\s(?P<word>no)\s(?=[a-z])", re.IGNORECASE)
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
_DO = ("did", "does", "do")
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
_ALTERED = (
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
_QUALIFIERS = WORDS["qualifiers"]
_OTHER_QUALIFIER: dict[str, str] = dict(_QUALIFIERS["flip"])
_WORD = re.compile(
    rf"(?<![\w-])(?P<before>[\w'’]+\s{{1,2}})(?P<word>{any_of(_OTHER_QUALIFIER)})\s(?P<noun>[a-z][a-z-]{{2,20}})(?![\w-])"
)
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


def negation_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the negations of a question.

    A negated yes-or-no question ("Didn't they win?") asks the same as a plain one, so its negation is left alone.
    """
    clause = ask(question.text)
    polar = clause.start if clause and not clause.wh else len(question.text)
    for match in _NOT.finditer(question.text, 0, polar):
        previous = (match["before"] or "").strip().lower()
        if previous not in _NEGATIONS["idle_before"]:
            yield from _dropped(question, match)
    for pattern in (_CONTRACTED, _WITH_NO):
        for match in pattern.finditer(question.text, 0, polar):
            yield from _dropped(question, match)
    for match in _NON.finditer(question.text):
        if not _paired(question.text, match) and question.asked(*match.span()):
            yield question.replace(MutantKind.NEGATION, Edit.DROP, match.span("word"), "", "non-")
    for pattern, after in _TURNED:
        for match in pattern.finditer(question.text):
            if question.asked(*match.span("word")):
                new, trigger = like(match["word"], after), match["word"].lower()
                yield question.replace(MutantKind.NEGATION, Edit.ALTER, match.span("word"), new, trigger)
    if clause and not _NEGATED.search(question.text):
        yield from _invent_negation(question, clause)


def _dropped(question: Question, match: re.Match[str]) -> Iterator[Mutant]:
    if question.asked(*match.span("word")):
        yield question.drop(MutantKind.NEGATION, match.span("word"), match["word"].lower())


def _paired(text: str, match: re.Match[str]) -> bool:
    """True for "heme and non-heme", where the plain word stands beside the negated one."""
    word = re.match(r"\w+", text[match.end() :])
    return word is not None and re.search(rf"(?<![\w-]){re.escape(word[0])}\b", text) is not None


def _invent_negation(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Puts a negation where it is asked why something is so, or which things are."""
    verb = verb_after_subject(question, clause)
    at = clause.body
    if clause.wh == "why" and verb is not None:
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (verb, verb), "not ", "not")
    elif clause.wh == "why" and clause.aux in ("was", "is", "were", "are", "did", "does", "do"):
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (at, at), "n't", "n't")
    elif _asks_which(clause) and _STATE.match(question.text, at) and question.free(at, at + 2):
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (at, at), " not", "not")


def _asks_which(clause: AskingClause) -> bool:
    """True for "Who can ..." and "Which foods are ...", which ask for those of which something holds."""
    subject = clause.wh == "who" or (clause.wh == "which" and bool(clause.noun))
    return subject and clause.aux in _NEGATIONS["verbs_of_wh"]


def modal_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modal words of a question."""
    text = question.text
    clause = ask(text)
    for match in _MODAL.finditer(text):
        if question.asked(*match.span()) and _matters(text, match, clause):
            word = match["word"].lower()
            yield question.replace(
                MutantKind.MODALITY, Edit.ALTER, match.span(), like(match["word"], _ALTER[word]), word
            )
    for match in _OBLIGED.finditer(text):
        if question.asked(*match.span()):
            new = like(match["word"], _OBLIGATIONS[match["word"].lower()])
            trigger = " ".join(match["word"].split()[-2:])
            yield question.replace(MutantKind.MODALITY, Edit.ALTER, match.span(), new, trigger)
    for match in _HAVE_TO.finditer(text):
        if question.asked(*match.span("word")) and clause and clause.aux in _DO:
            yield question.drop(MutantKind.MODALITY, match.span("word"), match["word"])
    for match in _HAD_TO.finditer(text):
        if question.asked(*match.span()):
            new = "wanted" if match["word"] == "had" else "wants"
            yield question.replace(MutantKind.MODALITY, Edit.ALTER, match.span("word"), new, f"{match['word']} to")
    if clause:
        yield from _invent_modal(question, clause)


def _matters(text: str, match: re.Match[str], clause: AskingClause | None) -> bool:
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
        yield question.replace(MutantKind.MODALITY, Edit.INVENT, (verb, verb), "have to ", "have to")


def quantifier_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the quantifiers of a question."""
    text = question.text
    for pattern, after in _ALTERED:
        for match in pattern.finditer(text):
            if question.asked(*match.span("word")):
                new = like(match["word"], after)
                yield question.replace(
                    MutantKind.QUANTIFIER, Edit.ALTER, match.span("word"), new, match["word"].lower()
                )
    for match in _ONLY.finditer(text):
        if question.asked(*match.span("word")):
            yield question.drop(MutantKind.QUANTIFIER, match.span("word"), "only")
    for match in (*_FIRST.finditer(text), *_LAST.finditer(text)):
        # "the film he made" would ask for something else than one of several; "his film" may be any of them.
        if question.asked(*match.span("word")) and not match["owner"].startswith("the"):
            yield question.drop(MutantKind.QUANTIFIER, match.span("word"), match["word"])
    yield from _invent_quantifier(question)


def _invent_quantifier(question: Question) -> Iterator[Mutant]:
    """The yes-or-no question with "only" before a verb that may have one object or place of several."""
    clause = ask(question.text)
    if clause is None or clause.wh or _NO_ONLY.search(question.text):
        return
    verb = verb_after_subject(question, clause)
    if verb is not None and _EXCLUSIVE.match(question.text, verb):
        yield question.replace(MutantKind.QUANTIFIER, Edit.INVENT, (verb, verb), "only ", "only")


def qualifier_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modifiers of a question."""
    for match in _WORD.finditer(question.text):
        word, noun = match["word"], match["noun"]
        before = match["before"].strip().lower()
        if len(re.findall(rf"\b{word}\b", question.text)) > 1 or (noun == "community" and word == "international"):
            continue
        if noun in _QUALIFIERS["idle_after"] or not question.asked(*match.span("word")):
            continue
        if before not in _QUALIFIERS["openers"] and not before.endswith(("'s", "’s", "s'")):
            continue
        if not re.search(rf"\b{_OTHER_QUALIFIER[word]}\b", question.text):
            after = _OTHER_QUALIFIER[word]
            start = match.start("word")
            if before in ("a", "an"):
                article = ("an" if after[0] in "aeiou" else "a") + question.text[match.start() + len(before) : start]
                start = match.start()
                after = like(match["before"], article) + after
            yield question.replace(MutantKind.QUALIFIER, Edit.ALTER, (start, match.end("word")), after, word)
        started = re.search(r"\b(?:begin|start|commence|began|started)\b", question.text)
        if (
            before not in ("a", "an")
            and noun not in ("years", "age", "areas", "part", "parts", "services")
            and not started
        ):
            yield question.drop(MutantKind.QUALIFIER, match.span("word"), word)


def comparison_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the comparisons of a question, in the order of their classes."""
    yield from _scale(question)
    for pattern in (_MOST, _MORE):
        for match in pattern.finditer(question.text):
            if question.asked(*match.span("word")):
                yield _altered(question, match, _MORE_LESS[match["word"]])
    yield from _sides(question)
    yield from _drop(question)


def _altered(question: Question, match: re.Match[str], after: str) -> Mutant:
    word = match["word"]
    return question.replace(MutantKind.COMPARISON, Edit.ALTER, match.span("word"), like(word, after), word.lower())


def _scale(question: Question) -> Iterator[Mutant]:
    for match in _SCALE.finditer(question.text):
        if question.asked(*match.span("word")) and not _IDLE_BEFORE.search(question.text[: match.start()]):
            yield _altered(question, match, _OTHER_END[match["word"].lower()])


def _sides(question: Question) -> Iterator[Mutant]:
    """Asks for what came before an event in place of what came after it; left alone where both are named."""
    matches = list(_SIDE.finditer(question.text))
    if {match["word"] for match in matches} == set(_SIDES):
        return
    for match in matches:
        if question.asked(*match.span("word")) and not _SIDE_IDLE.search(question.text[: match.start()]):
            yield _altered(question, match, _SIDES[match["word"]])


def _drop(question: Question) -> Iterator[Mutant]:
    text = question.text
    for match in _MOST.finditer(text):
        if match["noun"] and question.asked(*match.span("word")):
            yield question.drop(MutantKind.COMPARISON, match.span("word"), "most")
    for match in _OWNED.finditer(text):
        known = match["word"] in _OTHER_END and match["noun"] not in _COMPARISONS["idle_after"]
        if known and question.asked(*match.span("word")):
            yield question.drop(MutantKind.COMPARISON, match.span("word"), match["word"])
    for match in _THAN.finditer(text):
        if question.asked(*match.span("phrase")) and not re.search(r"\b(?:better|worse|best)\b", text):
            yield question.drop(MutantKind.COMPARISON, match.span("phrase"), match["word"])
