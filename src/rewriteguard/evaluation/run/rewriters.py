"""The rewriters of a run, how each is asked or where its recorded rewrites are, and who answers from what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import Attempt
from rewriteguard.evaluation.run.conditions import described
from rewriteguard.evaluation.run.journal import Answered
from rewriteguard.evaluation.run.outcome import Ended, Outcome
from rewriteguard.model.assessment import Profile
from rewriteguard.retrieve.flow import called
from rewriteguard.retrieve.rewriter import ask_for, rewritten

RECORDED = "recorded"
"""Stands for a rewriter whose rewrites the cases hold."""
_SEVERAL = frozenset({Profile.EXPAND, Profile.DECOMPOSE, Profile.STEP_BACK})
Answer = Callable[[str, Any, Sequence[Any]], str]
Judge = Callable[[Case, str, Sequence[Any]], bool | None]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A rewriter and what is known about it.

    Attributes:
        ask: A callable `f(turn, history)` or `f(turn)`, a runnable that gets {"input", "chat_history"}, or `recorded`.
        profile: What kind of rewriter it is.
        settings: What a run should remember of it, such as the model and the version of the prompt.
    """

    ask: Any
    profile: Profile = Profile.CONDENSE
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def recorded(self) -> bool:
        """Whether its rewrites are in the cases."""
        return isinstance(self.ask, str)

    @property
    def expands(self) -> bool:
        """Whether its queries are meant to be searched beside the turn."""
        return self.profile in _SEVERAL


class Rewriters(Mapping[str, Rewriter]):
    """Rewriters by their labels.

    Args:
        given: A `Rewriter`, or what `Rewriter.ask` takes, by label.
        cases: The cases that they rewrite.

    Raises:
        InputError: A label is empty, a rewriter cannot be asked, or no case holds a rewrite of a recorded one.
    """

    def __init__(self, given: Mapping[str, Any], cases: Sequence[Case]) -> None:
        self._by_label = {label: _rewriter(label, each) for label, each in given.items()}
        for label, each in self._by_label.items():
            if each.recorded and not any(label in case.rewrites for case in cases):
                labels = ", ".join(sorted({known for case in cases for known in case.rewrites})) or "none"
                raise InputError(f"rewriters[{label!r}]: no case holds a rewrite of it; they hold those of {labels}")

    def __getitem__(self, label: str) -> Rewriter:
        return self._by_label[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_label)

    def __len__(self) -> int:
        return len(self._by_label)

    def measurable(self, label: str, case: Case) -> bool:
        """Whether the rewriter is asked for a case, or was: its arms are not run for others.

        Guarded searches ask no rewriter on first turns, so neither does the evaluation: they would stand for requests
        on which the rewriter has no say. A rewrite that is recorded for one shows that it was asked.
        """
        return label in case.rewrites if self[label].recorded else bool(case.history)

    def ask(self, label: str, case: Case) -> Answered:
        """What the rewriter gives for a case that is measurable."""
        rewriter = self[label]
        if not rewriter.recorded:
            return _asked(rewriter.ask, case)
        texts = case.rewrites[label]
        return Answered(texts, several=len(texts) != 1 or rewriter.expands)

    def settings(self) -> dict[str, Any]:
        """Each rewriter as plain JSON values."""
        return {
            label: {"rewriter": described(each.ask), "profile": each.profile.value, **dict(each.settings)}
            for label, each in self._by_label.items()
        }


def history_of(case: Case) -> list[dict[str, str]]:
    """The messages before the turn in the form that chat models and prompts take."""
    return [{"role": role, "content": text} for role, text in case.history]


def _asked(rewriter: Any, case: Case) -> Answered:
    try:
        output = rewritten(called(ask_for(rewriter, case.original, history_of(case), in_loop=False).function))
    except Exception as error:  # noqa: BLE001 - the application's rewriter: that it fails is what is measured
        return Answered(error=type(error).__name__)
    return Answered((output,)) if isinstance(output, str) else Answered(output, several=True)


def _rewriter(label: str, given: Any) -> Rewriter:
    if not isinstance(label, str) or not label:
        raise InputError(f"rewriters: expected labels that are texts, got {label!r}")
    rewriter = given if isinstance(given, Rewriter) else Rewriter(given)
    if rewriter.profile not in tuple(Profile):
        raise InputError(f"rewriters[{label!r}]: expected a profile, got {rewriter.profile!r}")
    if rewriter.recorded and rewriter.ask != RECORDED:
        raise InputError(f"rewriters[{label!r}]: expected a callable, a runnable or 'recorded', got {rewriter.ask!r}")
    ask_for(rewriter.ask, "", (), in_loop=False)  # says now what it would say at the first case
    return rewriter


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers and what judges; None where nothing does.

    Attributes:
        answer: Called as answer(turn, history, documents).
        judge: Called as judge(case, answer, documents).
    """

    answer: Answer | None = None
    judge: Judge | None = None

    def __call__(self, case: Case, ended: Attempt) -> Outcome:
        """The outcome with its answer and whether that is right and supported."""
        outcome = ended.outcome
        if self.answer is None or outcome.status not in (Ended.OK, Ended.EMPTY):
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
