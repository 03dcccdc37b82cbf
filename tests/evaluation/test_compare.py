"""The short form, and what conditions say of the parts of an application."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

from evaluation.test_run import CASES, CORPUS, FIRST, rewrite
from rewriteguard import Guard, Policy, Profile
from rewriteguard.errors import HistoryError, InputError
from rewriteguard.evaluation import compare
from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.run.conditions import described

QUESTIONS = [
    {
        "id": case.id,
        "original": case.original,
        "history": [{"role": role, "content": text} for role, text in case.history],
        "relevant": list(case.relevant),
        "rewrites": {"bad": case.rewrites["bad"][0], "good": list(case.rewrites["good"])},
    }
    for case in CASES
]


def test_a_good_rewriter_wins(guard: Guard) -> None:
    found = compare(QUESTIONS, CORPUS, rewrite, k=1, guard=guard)
    assert found.recall["original"] == Figure(1 / 8, 8)
    assert found.recall["rewrite"] == Figure(1.0, 8)
    assert found.regressions == ()
    assert len(found.gains) == 7
    assert found == compare(CASES, CORPUS, "good", k=1, guard=guard)


def test_a_rewriter_that_drops_the_year_loses(guard: Guard) -> None:
    found = compare(QUESTIONS, CORPUS, "bad", k=1, guard=guard)
    assert found.recall["rewrite"].value == 0
    (lost,) = found.regressions
    assert (lost.case, lost.rewrite, lost.rank) == ("tram", "visitors of the tram", 1)
    assert lost.dropped == ("how many", "2022")
    assert lost.rank_guarded == 1
    assert found.reasons["dropped.time"] == 8
    text = str(found)
    assert "8 questions, 8 of them with relevant documents; k = 1" in text
    assert "recall, rewrite   0.000" in text
    assert "the rewrite wins 0 questions and loses 1:" in text
    assert "dropped or altered: 'how many', '2022'" in text
    assert json.loads(json.dumps(found.to_dict()))["regressions"][0]["dropped"] == ["how many", "2022"]


def test_failures_and_questions_without_labels_are_said(guard: Guard) -> None:
    def fails(turn: str) -> str:
        raise TimeoutError("model")

    history = [("user", "Tell me about the tram."), ("assistant", "It runs every hour.")]
    found = compare([{"original": "Where is the tram?", "history": history}], CORPUS, fails, guard=guard)
    assert found.recall["original"] == Figure(None, 0)
    assert found.failed == {"original": 0, "rewrite": 1, "guarded": 0}
    assert "recall, original      -" in str(found)
    assert "(1 failed)" in str(found)
    first = compare([FIRST], CORPUS, lambda turn: turn, guard=guard, policy=Policy.strict())
    assert (first.questions, first.left_out) == (0, 1)
    assert "1 left out: first turns, and turns without a recorded rewrite" in str(first)


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ("tram?", InputError, r"questions\[0\]: expected a Case or a mapping"),
        ({"question": "tram?"}, InputError, r"questions\[0\]: expected a Case or a mapping with text under 'original'"),
        ({"original": "tram?", "relevant": "a"}, InputError, r"questions\[0\]: expected a list under 'relevant'"),
        ({"original": "tram?", "history": ["a"]}, HistoryError, "history"),
    ],
)
def test_questions_that_cannot_be_read_are_named(guard: Guard, question: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        compare([question], CORPUS, rewrite, guard=guard)


def test_the_package_is_light_and_compare_stays_a_function() -> None:
    code = (
        "import sys, rewriteguard.evaluation; assert not {'spacy', 'numpy', 'langchain_core'} & set(sys.modules)\n"
        "import rewriteguard.evaluation.comparing, rewriteguard.evaluation.run\n"
        "from rewriteguard.evaluation import compare; assert callable(compare)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@dataclass
class Client:
    model: str
    temperature: float
    api_key: str = "s3cr3t"


class Index:
    def __init__(self, name: str, depth: int, vectors: Any = None, password: str = "s3cr3t") -> None:
        self.name, self.depth, self.vectors, self.password = name, depth, vectors, password
        self.calls = 3


def test_parts_are_described_by_their_settings() -> None:
    here = __name__
    assert described(rewrite)["function"] == "evaluation.test_run.rewrite"
    assert described(partial(rewrite, "a", history=())) == {
        "partial": described(rewrite),
        "args": [["a"], {"history": []}],
    }
    client = described(Client("m", 0.2))
    assert client == {"class": f"{here}.Client", "code": client["code"], "model": "m", "temperature": 0.2}
    index = described(Index("june", 3, object()))
    assert (index["name"], index["depth"], index["calls"]) == ("june", 3, 3)
    assert index["vectors"] == {"class": "builtins.object"}
    assert "password" not in index
    assert described({Profile.EXPAND: {3, 1}, "headers": "s3cr3t"}) == {"expand": [1, 3]}
    assert described(list(range(100)))["n"] == 100
    assert described("x" * 1000).startswith("sha256:")


def test_a_chain_is_described_by_its_prompt() -> None:
    def chain(text: str) -> Any:
        return ChatPromptTemplate.from_messages([("system", text), ("human", "{input}")]) | RunnableLambda(rewrite)

    one, same, other = (json.dumps(described(chain(text))) for text in ("Rewrite.", "Rewrite.", "Rewrite well."))
    assert one == same != other
    assert " at 0x" not in one
