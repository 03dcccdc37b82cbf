"""What can be wrong with a rewrite or a filter: every rule is one row of one table, the same under every policy."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from rewriteguard.model.tokens import Kind


class Verdict(StrEnum):
    """The finding about one rewrite."""

    PRESERVED = "preserved"
    CHANGED = "changed"
    UNCERTAIN = "uncertain"

    @property
    def rank(self) -> int:
        """0 for the gravest: CHANGED, then UNCERTAIN, then PRESERVED."""
        return ("changed", "uncertain", "preserved").index(self.value)


class Severity(StrEnum):
    """CRITICAL findings decide alone; MINOR ones are only reported."""

    CRITICAL = "critical"
    MINOR = "minor"


class _Told(StrEnum):
    """A closed code, and the sentence that says it to a person."""

    sentence: str

    def __new__(cls, value: str, sentence: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member


class Fault(_Told):
    """What happened to the user's question; the sentence takes the kind and the words of turn and rewrite."""

    DROPPED = "dropped", "The user's {kind} {turn} is missing from the rewrite."
    INVENTED = "invented", "The rewrite adds the {kind} {rewrite}, which nobody mentioned."
    ALTERED = "altered", "The user's {kind} {turn} became {rewrite}."
    DRIFTED = (
        "drifted",
        "The rewrite brings in {rewrite} from earlier in the conversation, which this turn did not ask for.",
    )
    UNRESOLVED = "unresolved", "The words {any} still point to something that the rewrite does not name."
    AMBIGUOUS = "ambiguous", "The words {turn} can mean several things, and the rewrite picked one of them: {rewrite}."
    MALFORMED = "malformed", "The rewriter gave no usable query."
    NOT_A_QUERY = "not_a_query", "The rewriter's output is not a search query: {rewrite}."
    QUESTION_LOST = "question_lost", "Nothing of the question {turn} is left in the rewrite."
    CORRECTION_LOST = "correction_lost", "The user's correction {turn} is missing from the rewrite."
    LANGUAGE = "language", "The rewrite is in another language than the turn."
    LOW_TRUST = "low_trust", "The rewrite brings in {rewrite}, which no user has said."
    NOT_CHECKED = "not_checked", "This rewrite could not be fully checked."


class Gap(_Told):
    """What could not be checked."""

    LANGUAGE = (
        "language",
        "Not checked: the words of this language; numbers, dates, versions, codes and names were compared.",
    )
    NOTHING = "nothing_to_compare", "Not checked: the turn holds nothing that could be kept or lost."
    REFERENCE = "reference", "Not checked: what fills the reference could not be found in the conversation."
    SIZE = "size", "Not checked: the text is too long to be analysed in the time of a request."
    HISTORY_SIZE = "history_size", "Not checked: the oldest part of a very long history."
    REFERENCE_DATE = (
        "reference_date",
        "Not checked: a relative period became a date, and no reference date was given.",
    )


class Rule(StrEnum):
    """Every rule: its name, which begins with its fault, and the verdict that it gives alone.

    Attributes:
        fault: What happened to the user's question.
        alone: PRESERVED where it is only reported.
        in_filter: What it says of a comparison of a filter, with the user's words; empty where no filter can break it.
        sentence: What it says of a rewrite; that of its fault where the row has none.
    """

    fault: Fault
    alone: Verdict
    in_filter: str
    sentence: str

    def __new__(cls, value: str, alone: Verdict = Verdict.PRESERVED, in_filter: str = "", sentence: str = "") -> Self:
        """One row."""
        rule = str.__new__(cls, value)
        rule._value_, rule.fault = value, Fault(value.partition(".")[0])
        rule.alone, rule.in_filter, rule.sentence = alone, in_filter, sentence or rule.fault.sentence
        return rule

    DROPPED_TIME = "dropped.time", Verdict.CHANGED
    DROPPED_ENTITY = "dropped.entity", Verdict.CHANGED
    DROPPED_QUANTITY = "dropped.quantity", Verdict.CHANGED
    DROPPED_VERSION = "dropped.version", Verdict.CHANGED
    DROPPED_IDENTIFIER = "dropped.identifier", Verdict.CHANGED
    DROPPED_NEGATION = "dropped.negation", Verdict.CHANGED
    DROPPED_COMPARISON = "dropped.comparison", Verdict.CHANGED
    DROPPED_QUANTIFIER = "dropped.quantifier", Verdict.CHANGED
    DROPPED_MODALITY = "dropped.modality", Verdict.CHANGED
    DROPPED_ANSWER_TYPE = "dropped.answer_type", Verdict.CHANGED
    DROPPED_QUALIFIER = "dropped.qualifier", Verdict.CHANGED
    DROPPED_UNSAID = "dropped.unsaid", Verdict.UNCERTAIN
    DROPPED_DOUBTFUL = "dropped.doubtful", Verdict.UNCERTAIN
    DROPPED_CUT = "dropped.cut", Verdict.UNCERTAIN
    DROPPED_TOPIC = "dropped.topic", Verdict.PRESERVED
    DROPPED_SCENE = "dropped.scene", Verdict.PRESERVED
    DROPPED_REWORDED = "dropped.reworded", Verdict.PRESERVED
    DROPPED_DIRECTION = "dropped.direction", Verdict.PRESERVED
    DROPPED_ORDER = "dropped.order", Verdict.PRESERVED
    DROPPED_CONTRAST = "dropped.contrast", Verdict.PRESERVED
    ALTERED_TIME = "altered.time", Verdict.CHANGED
    ALTERED_ENTITY = "altered.entity", Verdict.CHANGED
    ALTERED_QUANTITY = "altered.quantity", Verdict.CHANGED
    ALTERED_VERSION = "altered.version", Verdict.CHANGED
    ALTERED_IDENTIFIER = "altered.identifier", Verdict.CHANGED
    ALTERED_NEGATION = (
        "altered.negation",
        Verdict.CHANGED,
        "The user said {said}: it is wanted here and excluded there.",
    )
    ALTERED_COMPARISON = "altered.comparison", Verdict.CHANGED
    ALTERED_QUANTIFIER = "altered.quantifier", Verdict.CHANGED
    ALTERED_MODALITY = "altered.modality", Verdict.CHANGED
    ALTERED_ANSWER_TYPE = "altered.answer_type", Verdict.CHANGED
    ALTERED_QUALIFIER = "altered.qualifier", Verdict.CHANGED
    ALTERED_TOPIC = "altered.topic", Verdict.CHANGED
    ALTERED_ITEM = "altered.item", Verdict.CHANGED
    ALTERED_ROLES = "altered.roles", Verdict.CHANGED
    ALTERED_LOOKALIKE = "altered.lookalike", Verdict.CHANGED, "", "The {kind} {rewrite} is not what the user said."
    ALTERED_UNSAID = "altered.unsaid", Verdict.UNCERTAIN
    ALTERED_DOUBTFUL = "altered.doubtful", Verdict.UNCERTAIN
    ALTERED_WORD = "altered.word", Verdict.UNCERTAIN
    ALTERED_SCENE = "altered.scene", Verdict.PRESERVED
    ALTERED_REWORDED = "altered.reworded", Verdict.PRESERVED
    INVENTED_TIME = "invented.time", Verdict.CHANGED
    INVENTED_ENTITY = "invented.entity", Verdict.CHANGED
    INVENTED_QUANTITY = "invented.quantity", Verdict.CHANGED
    INVENTED_VERSION = "invented.version", Verdict.CHANGED
    INVENTED_IDENTIFIER = "invented.identifier", Verdict.CHANGED
    INVENTED_NEGATION = "invented.negation", Verdict.CHANGED
    INVENTED_COMPARISON = "invented.comparison", Verdict.CHANGED
    INVENTED_QUANTIFIER = "invented.quantifier", Verdict.CHANGED
    INVENTED_MODALITY = "invented.modality", Verdict.CHANGED
    INVENTED_ANSWER_TYPE = "invented.answer_type", Verdict.CHANGED
    INVENTED_QUALIFIER = "invented.qualifier", Verdict.CHANGED
    INVENTED_QUESTION = "invented.question", Verdict.CHANGED
    INVENTED_FILL = "invented.fill", Verdict.UNCERTAIN
    INVENTED_COMPLETED = "invented.completed", Verdict.UNCERTAIN
    INVENTED_WORDS = "invented.words", Verdict.UNCERTAIN
    INVENTED_TOPIC = "invented.topic", Verdict.PRESERVED
    INVENTED_WORD = "invented.word", Verdict.PRESERVED
    INVENTED_REWORDED = "invented.reworded", Verdict.PRESERVED
    DRIFTED = "drifted", Verdict.UNCERTAIN
    DRIFTED_STALE = "drifted.stale", Verdict.UNCERTAIN
    DRIFTED_CHAT = "drifted.chat", Verdict.UNCERTAIN
    DRIFTED_PILE = "drifted.pile", Verdict.UNCERTAIN
    UNRESOLVED = "unresolved", Verdict.UNCERTAIN
    # 2 of 119 changed, none of 349 preserved rewrites and none of 960 human ones (MTRAG, CAsT 2021, CANARD).
    AMBIGUOUS_SET = "ambiguous.set", Verdict.CHANGED
    AMBIGUOUS_CANDIDATES = "ambiguous.candidates", Verdict.UNCERTAIN
    AMBIGUOUS_FILLS = "ambiguous.fills", Verdict.UNCERTAIN
    MALFORMED = "malformed", Verdict.CHANGED
    MALFORMED_LOOP = "malformed.loop", Verdict.CHANGED
    MALFORMED_SIZE = "malformed.size", Verdict.CHANGED
    NOT_A_QUERY = "not_a_query", Verdict.CHANGED
    NOT_A_QUERY_STATEMENT = "not_a_query.statement", Verdict.CHANGED
    NOT_A_QUERY_REPEATED = "not_a_query.repeated", Verdict.CHANGED
    NOT_A_QUERY_CORRECTION = "not_a_query.correction", Verdict.UNCERTAIN
    QUESTION_LOST = "question_lost", Verdict.CHANGED
    QUESTION_LOST_HALF = "question_lost.half", Verdict.UNCERTAIN
    CORRECTION_LOST = "correction_lost", Verdict.CHANGED
    CORRECTION_LOST_HALF = "correction_lost.half", Verdict.UNCERTAIN
    LANGUAGE = "language", Verdict.CHANGED
    LOW_TRUST = "low_trust", Verdict.UNCERTAIN, "Only the assistant or a tool said {said}."
    LOW_TRUST_SYNTAX = "low_trust.syntax", Verdict.UNCERTAIN
    NOT_CHECKED_NOTHING = "not_checked.nothing", Verdict.UNCERTAIN
    NOT_CHECKED_LANGUAGE = "not_checked.language", Verdict.UNCERTAIN
    NOT_CHECKED_SIZE = "not_checked.size", Verdict.UNCERTAIN
    NOT_CHECKED_REFERENCE_DATE = (
        "not_checked.reference_date",
        Verdict.UNCERTAIN,
        "The user said {said}, and no reference date says which days that is.",
    )
    # Of filters alone.
    ALTERED_DEVELOPER = "altered.developer", Verdict.CHANGED, "The application itself decides about it."
    ALTERED_COMPARATOR = "altered.comparator", Verdict.CHANGED, "The user said {said}, which keeps something else."
    ALTERED_VALUE = "altered.value", Verdict.CHANGED, "The user said {said}."
    ALTERED_PAIR = "altered.pair", Verdict.CHANGED, "The user said it of something else: {said} is nearer."
    ALTERED_OPERATOR = "altered.operator", Verdict.CHANGED, "The user joined it in another way."
    INVENTED_VALUE = "invented.value", Verdict.CHANGED, "No one in the conversation said it."
    MALFORMED_SYNTAX = "malformed.syntax", Verdict.CHANGED, "It holds characters that a query language may read."
    NOT_CHECKED_COMPARATOR = "not_checked.comparator", Verdict.UNCERTAIN, "What it does is not known here."
    NOT_CHECKED_REPLACED = "not_checked.replaced", Verdict.UNCERTAIN, "The user may have put {said} in its place."

    @classmethod
    def of(cls, fault: Fault, kind: Kind) -> Self:
        """The rule that a token of a kind breaks which was dropped, altered or invented."""
        return cls[f"{fault.name}_{kind.name}"]

    @property
    def severity(self) -> Severity:
        """How grave it is, whatever the kind."""
        return Severity.MINOR if self.alone is Verdict.PRESERVED else Severity.CRITICAL


def gravest(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of the verdicts; PRESERVED where there are none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.PRESERVED)
