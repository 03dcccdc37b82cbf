"""The guard: reads turn, rewrite and history, compares them and judges. Pure: it emits nothing and keeps no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from rewriteguard import extract
from rewriteguard.check.assess import MAX_REWRITE, MAX_TURN, assess, is_dependent, texts_of
from rewriteguard.check.compare import counts
from rewriteguard.check.foreign.check import literal_kinds
from rewriteguard.check.sets.sets import assess_set
from rewriteguard.check.sets.together import Member
from rewriteguard.check.view import language_of_turn
from rewriteguard.errors import HistoryError, InputError
from rewriteguard.extract.base import Extractor, Facts
from rewriteguard.filters.check import MAX_LIMIT, assess_filter
from rewriteguard.filters.finding import FilterAssessment
from rewriteguard.guard.batch import BATCH_SIZE, Row, check_batch
from rewriteguard.language.detect import is_foreign
from rewriteguard.language.names import equivalents_of
from rewriteguard.language.pipeline import pipeline_version
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Assessment, Profile, SetAssessment
from rewriteguard.model.conversation import Conversation, text_from, texts_from
from rewriteguard.model.decision import Decision, Reason
from rewriteguard.model.tokens import ProtectedToken
from rewriteguard.policy.carry import CarriedQuery, carried_query, digest, recent
from rewriteguard.policy.classes import ENGLISH, Release, RequestClass, Traits, first_class
from rewriteguard.policy.policy import Policy, decide, without_rewrite
from rewriteguard.reading.lists import as_they_are, listed_queries
from rewriteguard.reading.text import Past, Reader, Reading

_CACHED_CHECKS = 256  # findings that are kept, for a call that is repeated
_LONGEST_CACHED = 20_000  # characters of a conversation of which a finding is kept, since it is kept with it
_KEPT_CARRIED = 500_000  # characters of carried queries that are kept
_DEFAULT_POLICY = Policy()
_BRIEF = 4  # content words; a turn of fewer has no filler whose loss would help a search


class Guard:
    """Checks rewrites against the user's turn and the conversation; one guard serves all threads.

    The English pipeline is loaded once a process, on first use or by `warm_up()`. Texts that were read before are
    not read again, as long as the last half million characters hold them.

    Args:
        aliases: Further names of a thing: `{"IBM": ["Big Blue"]}`.
        extractors: What finds the protected tokens, built-in and your own; earlier ones win where two overlap.
        history_window: Read only the last so many messages; set it to what the rewriter is given.
    """

    def __init__(
        self,
        aliases: Mapping[str, Iterable[str]] | None = None,
        extractors: Sequence[Extractor] = extract.DEFAULT_EXTRACTORS,
        history_window: int | None = None,
    ) -> None:
        if history_window is not None and (not isinstance(history_window, int) or history_window < 0):
            raise InputError(f"history_window: expected a number of messages of at least 0, got {history_window!r}")
        self._equivalents = equivalents_of(aliases or {})
        self._window = history_window
        self._extractors = tuple(extractors)
        self._read = Reader(self._extractors)
        carried: LRUCache[bytes, CarriedQuery] = LRUCache(_KEPT_CARRIED, lambda query: len(query.text) + 1)
        self._carry: Callable[..., CarriedQuery] = cached(carried, key=digest, lock=Lock())(carried_query)
        found: LRUCache[Any, Assessment] = LRUCache(_CACHED_CHECKS)
        self._assess = partial(assess, read=self._read, equivalents=self._equivalents)
        self._assess_again: Callable[..., Assessment] = cached(found, lock=Lock())(self._assess)

    @property
    def settings(self) -> dict[str, Any]:
        """What the findings depend on beside the version of the package; the pipeline is loaded where it was not.

        Raises:
            PipelineNotFoundError: No English spaCy pipeline is installed.
        """
        return {
            "history_window": self._window,
            "aliases": {name: sorted(others) for name, others in sorted(self._equivalents.items())},
            "extractors": self._extractors,
            "pipeline": pipeline_version(),
        }

    def warm_up(self) -> None:
        """Pays all first-call costs now, some four seconds once a process: pipeline, unit data, date parser.

        Raises:
            PipelineNotFoundError: No English spaCy pipeline is installed.
        """
        extract.warm_up()
        self.check("When did it open?", "When did the 5 km tunnel open on 6 June 2024?", [("user", "The tunnel?")])

    def extract(self, text: str) -> tuple[ProtectedToken, ...]:
        """The protected tokens of `text` in reading order; offsets are code points of `text`.

        Raises:
            InputError: `text` is not a string.
        """
        return self._read(text_from(text, "text"), True).tokens

    def prepare(self, turn: Any, history: Any = ()) -> None:
        """Reads a turn and its history now, so that the check of a rewrite that comes later has less to do.

        Raises:
            InputError: `turn` is not text.
            HistoryError: An item of the history has an unknown shape.
        """
        conversation = Conversation.read(turn, history, self._window)
        # Judged as its own rewrite: that reads all that a check looks at. Nothing of it is kept but the readings.
        self._assess(conversation, conversation.turn)
        self._carried(conversation)

    def check(
        self,
        turn: Any,
        rewrite: Any,
        history: Any = (),
        *,
        profile: Profile = Profile.CONDENSE,
        reference_date: date | None = None,
        filter: Any = None,  # noqa: A002
    ) -> Assessment:
        """The finding about a rewrite: verdict, violations with evidence, and what was checked.

        Args:
            turn: The user's turn: a string or a message.
            rewrite: The rewriter's output: a string or a message.
            history: The messages before the turn, oldest first, in any form that `Conversation.read` takes.
            profile: What kind of rewriter wrote it.
            reference_date: The day that "today" means; without it a relative period and a date cannot be compared.
            filter: A structured query or mapping beside the rewrite; what it carries counts as kept.

        Raises:
            InputError: `turn` or `rewrite` is not text.
            HistoryError: An item of the history has an unknown shape.
        """
        return self._check(Conversation.read(turn, history, self._window), rewrite, profile, reference_date, filter)

    def check_all(
        self,
        turn: Any,
        rewrites: Iterable[Any],
        history: Any = (),
        *,
        profile: Profile = Profile.EXPAND,
        reference_date: date | None = None,
        filter: Any = None,  # noqa: A002
        listed: bool = True,
    ) -> SetAssessment:
        """The finding about several rewrites of one turn, judged together; `assessments` has one for each.

        Args:
            turn: The user's turn: a string or a message.
            rewrites: The rewriter's outputs: strings or messages, or the lines of one output as they came. Numbers and
                bullets are taken off; blank items, prefaces and closing remarks are left out.
            history: The messages before the turn, oldest first, in any form that `Conversation.read` takes.
            profile: What kind of rewriter wrote them.
            reference_date: The day that "today" means; without it a relative period and a date cannot be compared.
            filter: A structured query or mapping beside the rewrites; what it carries counts as kept.
            listed: Whether the rewrites may be the lines of a list; False takes each as one query, as tool calls are.

        Raises:
            InputError: `turn` is not text, or `rewrites` is no list of texts or holds no query.
            HistoryError: An item of the history has an unknown shape.
        """
        asked = Conversation.read(turn, history, self._window)
        return self._check_all(asked, rewrites, profile, reference_date, filter, listed=listed)

    def check_filter(
        self,
        structured_query: Any,
        turn: Any,
        history: Any = (),
        *,
        developer_filter: Any = None,
        reference_date: date | None = None,
        max_limit: int | None = MAX_LIMIT,
    ) -> FilterAssessment:
        """The finding about a filter that a model derived from the turn: what is wrong with it, and what may stay.

        Args:
            structured_query: A LangChain structured query, operation or comparison, or a MongoDB-style mapping.
            turn: The user's own turn, not a rewrite of it: a string or a message.
            history: The messages before the turn, oldest first, in any form that `Conversation.read` takes.
            developer_filter: The application's own filter, in either form; the model may not name its fields.
            reference_date: The day that "today" means; without it a relative period and a date cannot be compared.
            max_limit: The cap of the number of results; None caps nothing.

        Raises:
            InputError: The turn is not text, a filter cannot be read, or another argument is of no use.
            HistoryError: An item of the history has an unknown shape.
        """
        conversation = Conversation.read(turn, history, self._window)
        arguments.count("max_limit", max_limit)
        return assess_filter(
            structured_query,
            self._read(conversation.turn[:MAX_TURN], True),
            self._read.past(conversation.history),
            Facts(arguments.day("reference_date", reference_date), self._equivalents),
            self._read,
            developer_filter=developer_filter,
            max_limit=max_limit,
        )

    def check_batch(self, rows: Iterable[Any], *, batch_size: int = BATCH_SIZE) -> Iterator[Assessment]:
        """The finding about each row of a log, in order and equal to those of `check`; memory stays flat.

        Args:
            rows: `(turn, rewrite)` or `(turn, rewrite, history)`, or mappings with `original` (or `turn`), `rewrite`
                and optionally `history` and `reference_date` (a date or YYYY-MM-DD); an endless stream will do.
            batch_size: How many rows are read in one pass of the pipeline.

        Raises:
            InputError: `rows` or `batch_size` is of no use; or, at its place, a row cannot be read: the message starts
                with `rows[7]`, counted from 0.
            HistoryError: At its place, the history of a row cannot be read.
        """
        return check_batch(self, rows, batch_size=batch_size)

    def decide(
        self,
        turn: Any,
        rewrite: Any,
        history: Any = (),
        *,
        policy: Policy | None = None,
        profile: Profile | None = None,
        reference_date: date | None = None,
        filter: Any = None,  # noqa: A002
    ) -> Decision:
        """What to search: `check`, then the policy. The verdict is the same under every policy.

        Several rewrites of one turn are a list or tuple: `check_all`, then the policy. The original is searched, and
        each rewrite that is not CHANGED, among which the weight that the policy gives a rewrite is shared equally.
        Without a profile one rewrite is judged as CONDENSE and several are judged as EXPAND.

        Raises:
            InputError: `turn` or `rewrite` is not text, or a list of rewrites holds no query.
            HistoryError: An item of the history has an unknown shape.
        """
        conversation = Conversation.read(turn, history, self._window)
        several, policy = isinstance(rewrite, list | tuple), policy or _DEFAULT_POLICY
        given = texts_from(rewrite, "rewrites") if several else []
        if profile is None:
            profile = Profile.EXPAND if several else Profile.CONDENSE
        check = self._check_all if several else self._check
        assessment = check(conversation, given if several else rewrite, profile, reference_date, filter)
        of_class = self._class_of(conversation, policy)
        off = of_class is not None and of_class.release is Release.FALL_BACK
        if assessment.profile is Profile.SHORTEN and not off and self._is_brief(assessment.turn):
            unchecked = given or assessment.raw_rewrite
            return without_rewrite(policy, assessment.turn, Reason.SKIPPED, unchecked=unchecked, request_class=of_class)
        return decide(policy, assessment, self._carried(conversation), given=given, request_class=of_class)

    def without_rewrite(
        self, turn: Any, reason: Reason, history: Any = (), *, policy: Policy | None = None
    ) -> Decision:
        """What to search where no rewrite was judged.

        With `Reason.SKIPPED` the policy's classes say whether the rewriter is off for this turn.
        """
        conversation = Conversation.read(turn, history, self._window)
        carried, policy = self._carried(conversation), policy or _DEFAULT_POLICY
        # Elsewhere the class changes nothing, and a rewriter that was late leaves no time to read the turn.
        found = self._class_of(conversation, policy) if reason is Reason.SKIPPED else None
        return without_rewrite(policy, conversation.turn, reason, carried, request_class=found)

    def carried(self, turn: Any, history: Any = ()) -> CarriedQuery:
        """The carried query of a turn: its words and the most salient terms of the history."""
        return self._carried(Conversation.read(turn, history, self._window))

    def dependent(self, turn: Any, history: Any = ()) -> bool:
        """True where the turn needs the conversation to be understood."""
        conversation = Conversation.read(turn, history, self._window)
        return is_dependent(self._read(conversation.turn[:MAX_TURN], True), self._read.past(conversation.history))

    def class_of(self, turn: Any, history: Any = (), *, policy: Policy) -> RequestClass | None:
        """The class of a policy that a turn belongs to; None where it belongs to none.

        Raises:
            InputError: `turn` is not text.
            HistoryError: An item of the history has an unknown shape.
        """
        return self._class_of(Conversation.read(turn, history, self._window), policy) if policy.classes else None

    def _class_of(self, conversation: Conversation, policy: Policy) -> RequestClass | None:
        return first_class(policy.classes, self._traits(conversation)) if policy.classes else None

    def _traits(self, conversation: Conversation) -> Traits:
        text = conversation.turn[:MAX_TURN]
        self._read.together(text, *self._read.said(conversation.history))
        return _traits_of(conversation.turn, self._read(text, True), self._read.past(conversation.history))

    def _is_brief(self, turn: str) -> bool:
        """True for a turn that is as short as a query already."""
        return len(turn) <= MAX_TURN and len(self._read(turn, True).content) < _BRIEF

    def _check_all(
        self,
        conversation: Conversation,
        rewrites: Any,
        profile: Profile,
        reference_date: date | None,
        filtered: Any,
        *,
        listed: bool = True,
    ) -> SetAssessment:
        given = texts_from(rewrites, "rewrites")
        passages = profile == Profile.EXPAND
        queries = listed_queries(given, conversation.turn, passages=passages) if listed else as_they_are(given)
        if not queries:
            raise InputError("rewrites: expected at least one query, got none")
        # Sub-questions are read as any rewrite: what one of them may leave out shows only beside the others.
        alone = Profile.CONDENSE if profile == Profile.DECOMPOSE else profile
        self._read.together(*(text for each in queries for text in texts_of(conversation, each.text, self._read)))
        found = [self._check(conversation, each.text, alone, reference_date, filtered) for each in queries]
        members = [
            Member(replace(a, raw_rewrite=each.raw), self._read(a.rewrite[:MAX_REWRITE], True))
            for a, each in zip(found, queries, strict=True)
        ]
        turn, past = self._read(conversation.turn[:MAX_TURN], True), self._read.past(conversation.history)
        return assess_set(turn, past, members, Profile(profile))

    def _check(
        self, conversation: Conversation, rewrite: Any, profile: Profile, reference_date: date | None, filtered: Any
    ) -> Assessment:
        day = arguments.day("reference_date", reference_date)
        if profile not in list(Profile):
            raise InputError(f"profile: expected one of {', '.join(Profile)}, got {profile!r}")
        text = text_from(rewrite, "rewrite")
        size = len(conversation.turn) + sum(len(message.text) for message in conversation.history)
        if filtered is None and size <= _LONGEST_CACHED:
            return self._assess_again(conversation, text, profile=Profile(profile), reference_date=day)
        return self._assess(conversation, text, profile=Profile(profile), reference_date=day, filtered=filtered)

    def read_ahead(self, rows: Sequence[Row]) -> None:
        """Reads what is new of several rows together, which takes the pipeline less time than one by one.

        A row that cannot be read is left out.
        """
        texts: list[str] = []
        for row in rows:
            with suppress(InputError, HistoryError):
                conversation = Conversation.read(row.turn, row.history, self._window)
                texts += texts_of(conversation, text_from(row.rewrite, "rewrite"), self._read)
        with suppress(Exception):  # an extractor of the application; the check of that row will say it at its place
            self._read.together(*texts)

    def _carried(self, conversation: Conversation) -> CarriedQuery:
        return self._carry(conversation.turn, recent(conversation.history))


def _traits_of(text: str, turn: Reading, past: Past) -> Traits:
    """The traits of a turn as written, of which `turn` is the part that is read.

    Filler, and what the user took back, is of no kind.
    """
    language = language_of_turn(turn, past)
    if is_foreign(language):
        kinds = literal_kinds(turn.text, language)
    else:
        kinds, language = frozenset(token.kind for token in turn.tokens if counts(turn, token)), ENGLISH
    return Traits(kinds, is_dependent(turn, past), language, len(text.split()))
