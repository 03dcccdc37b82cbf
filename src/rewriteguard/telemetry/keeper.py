"""What is kept of decisions beside spans and metrics: lines of the triple log, and questions to the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewriteguard.model.assessment import Verdict
from rewriteguard.model.conversation import Conversation, text_from
from rewriteguard.model.decision import Decision
from rewriteguard.telemetry._contain import warn_once
from rewriteguard.telemetry.content import Content
from rewriteguard.telemetry.judge import Judge, Outcome
from rewriteguard.telemetry.log import Retrieved, Row, answer_row, found_row, history_of, triple_row
from rewriteguard.telemetry.question import messages_of
from rewriteguard.telemetry.triple_log import TripleLog


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes decisions and answers to the log, and has a sample of the decisions judged.

    Attributes:
        content: What may be recorded.
        log: Where the lines go; None keeps none.
        judge: Who is asked; None asks nobody.
        failed: Gets the stage and the error of what went wrong.
        judged: Gets the guard's verdict and what the judge said, in a thread of the judge.
    """

    content: Content
    log: TripleLog | None
    judge: Judge | None
    failed: Callable[[str, Exception], None]
    judged: Callable[[Verdict, Outcome], None]

    def keep(
        self,
        identity: str,
        conversation: Conversation,
        decision: Decision,
        told: Mapping[str, Any],
        retrieved: Callable[[], Retrieved] | None,
    ) -> None:
        """Writes the line of a decision, and has it judged where it is in the sample."""

        def row() -> Row:
            found = {} if retrieved is None else found_row(retrieved(), self.content)
            return triple_row(identity, conversation, decision, self.content, told) | found

        self._write(row)
        self._sample(identity, conversation, decision)

    def answer(self, identity: str, answer: Any) -> None:
        """Writes the line of an answer, where outputs may be recorded."""
        if self.content.outputs:
            self._write(lambda: answer_row(identity, text_from(answer, "answer"), self.content))

    def _write(self, build: Callable[[], Row]) -> None:
        if self.log is None:
            return
        try:
            self.log.write(build())
        except Exception as error:  # noqa: BLE001 - a full disk, or text that cannot be read, must not break a retrieval
            self.failed("log", error)
            warn_once(f"the triple log misses lines: {type(error).__name__}")

    def _sample(self, identity: str, conversation: Conversation, decision: Decision) -> None:
        judge, found = self.judge, decision.assessment
        if judge is None or found is None or not judge.wants(identity, found.verdict):
            return
        if not self.content.readable:
            warn_once("the judge is not asked: the words may not be recorded")
        elif judge.calibration is None:
            warn_once("the judge is not asked: it is not calibrated")
        else:
            turn, rewrite = self.content.text(conversation.turn), self.content.text(found.rewrite)
            messages = messages_of(turn, rewrite, history_of(conversation, self.content))
            judge.ask_later(messages, partial(self.judged, found.verdict))
