"""Answers from the documents that an arm gave, and whether they are right: both are asked of the application."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import Ended
from rewriteguard.evaluation.run.outcome import Outcome, Status
from rewriteguard.evaluation.run.rewriters import history_of

Answer = Callable[[str, Any, Sequence[Any]], str]
Judge = Callable[[Case, str, Sequence[Any]], bool | None]


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers and what judges; None where nothing does.

    Attributes:
        answer: Called as answer(turn, history, documents).
        judge: Called as judge(case, answer, documents).
    """

    answer: Answer | None = None
    judge: Judge | None = None

    def __call__(self, case: Case, ended: Ended) -> Outcome:
        """The outcome with its answer and whether that is right and supported."""
        outcome = ended.outcome
        if self.answer is None or outcome.status not in (Status.OK, Status.EMPTY):
            return outcome
        try:
            answer = str(self.answer(case.original, history_of(case), ended.documents))
        except Exception as error:  # noqa: BLE001 - the application's generator: that it fails is what is measured
            return replace(outcome, stage=outcome.stage or "generation", error=outcome.error or type(error).__name__)
        if self.judge is None:
            return replace(outcome, answer=answer)
        try:
            supported = self.judge(case, answer, ended.documents)
        except Exception as error:  # noqa: BLE001 - the application's judge: nobody has said then what the answer is
            return replace(outcome, answer=answer, error=outcome.error or f"judge: {type(error).__name__}")
        return replace(outcome, answer=answer, supported=None if supported is None else bool(supported))
