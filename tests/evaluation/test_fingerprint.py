"""Parts that do different things are described differently, and the same ones equally, in any process."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, PrivateAttr, SecretStr

from rewriteguard import Guard
from rewriteguard.evaluation.run.conditions import described
from rewriteguard.extract import DEFAULT_EXTRACTORS

PROMPT = "Rewrite."


def closure(prompt: str) -> Callable[..., str]:
    return lambda turn, history: prompt + turn


def by_default(prompt: str) -> Callable[..., str]:
    def rewrite(turn: str, history: Any, prompt: str = prompt) -> str:
        return prompt + turn

    return rewrite


def by_keyword(prompt: str) -> Callable[..., str]:
    def rewrite(turn: str, history: Any, *, prompt: str = prompt) -> str:
        return prompt + turn

    return rewrite


def asks(turn: str, history: Any) -> str:
    return PROMPT + turn


def by_global(prompt: str) -> Callable[..., str]:
    return FunctionType(asks.__code__, {**globals(), "PROMPT": prompt}, "asks")


def by_helper(prompt: str) -> Callable[..., str]:
    helper = by_global(prompt)
    return lambda turn, history: helper(turn, history)


def by_code(prompt: str) -> Callable[..., str]:
    held: dict[str, Any] = {"__name__": __name__}
    exec(f"def rewrite(turn, history):\n    return [{prompt!r} + each for each in turn]", held)
    return held["rewrite"]


def by_branch(prompt: str) -> Any:
    if prompt == "Be long.":

        class Branch:
            def __call__(self, turn: str, history: Any) -> str:
                return "long " + turn

    else:

        class Branch:  # type: ignore[no-redef]
            def __call__(self, turn: str, history: Any) -> str:
                return "brief " + turn

    return Branch()


def by_wrapper(prompt: str) -> Callable[..., str]:
    def wrapped(*given: Any) -> str:
        return "long " + asks(*given)

    def wrapped_too(*given: Any) -> str:
        return "brief " + asks(*given)

    return wraps(asks)(wrapped if prompt == "Be long." else wrapped_too)


def beside_what_is_set_later(prompt: str) -> Callable[..., str]:
    def rewrite(turn: str, history: Any) -> str:
        return prompt + turn + later

    if not prompt:
        later = ""
    return rewrite


class Public:
    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def rewrite(self, turn: str, history: Any) -> str:
        return self.prompt + turn

    def __call__(self, turn: str, history: Any) -> str:
        return self.rewrite(turn, history)


class Private:
    def __init__(self, prompt: str) -> None:
        self._template = f"{prompt} {{turn}}"


class Slotted:
    __slots__ = ("_prompt",)

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt


class Model(BaseModel):
    k: int = 3
    _prompt: str = PrivateAttr("")


class Node:
    def __init__(self, prompt: str) -> None:
        self.prompt, self.child, self.parent = "", SimpleNamespace(prompt=prompt), self


def of_model(prompt: str) -> Model:
    model = Model()
    model._prompt = prompt
    return model


def of_class(prompt: str) -> Any:
    return type("Made", (), {"PROMPT": prompt, "__module__": __name__})()


def of_method(prompt: str) -> Any:
    return type("Made", (), {"__call__": by_code(prompt), "__module__": __name__})()


SOURCE = """
def condense(turn, history):
    return [{prompt!r} + each for each in turn]


class Condenser:
    PROMPT = {prompt!r}


class Made:
    def __call__(self, turn, history):
        return {prompt!r} + turn


made = Made()
"""


MAKERS: dict[str, Callable[[str], Any]] = {
    "closure": closure,
    "default": by_default,
    "keyword": by_keyword,
    "global": by_global,
    "helper": by_helper,
    "code": by_code,
    "branch": by_branch,
    "wrapper": by_wrapper,
    "beside what is set later": beside_what_is_set_later,
    "public": Public,
    "private": Private,
    "slotted": Slotted,
    "private of a model": of_model,
    "class": of_class,
    "method of a class": of_method,
    "circle": Node,
    "nested": lambda prompt: Public(Public(prompt)),  # type: ignore[arg-type]
    "bound": lambda prompt: Public(prompt).rewrite,
    "built-in": lambda prompt: prompt.replace,
    "partial": lambda prompt: partial(asks, prompt),
    "runnable": lambda prompt: RunnableLambda(closure(prompt)),
    "cached": lambda prompt: lru_cache(closure(prompt)),
    "aliases": lambda prompt: Guard(aliases={prompt: ["Big Blue"]}),
    "extractor": lambda prompt: Guard(extractors=(*DEFAULT_EXTRACTORS, Public(prompt))),
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_does_another_thing_is_described_otherwise(name: str) -> None:
    one, same, other = (
        json.dumps(described(MAKERS[name](prompt))) for prompt in ("Be brief.", "Be brief.", "Be long.")
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize("name", ["condense", "Condenser", "made"])
def test_another_source_is_described_otherwise(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(folder: str, prompt: str) -> str:
        path = tmp_path / folder / "app_of_a_test.py"
        path.parent.mkdir()
        path.write_text(SOURCE.format(prompt=prompt), "utf-8")
        spec = spec_from_file_location(path.stem, path)
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        return json.dumps(described(getattr(module, name)))

    assert told("one", "Be brief.") == told("same", "Be brief.")
    assert told("again", "Be brief.") != told("other", "Be long.")


def test_what_a_package_has_is_known_by_its_version() -> None:
    of_today = described(RunnableLambda(asks))
    assert of_today["version"] == metadata.version("langchain-core")
    assert "code" not in of_today
    assert described(re.escape) == "re.escape"  # what Python itself has is known by its name


def test_two_lambdas_and_two_windows_differ() -> None:
    assert described(lambda turn: turn) != described(lambda turn: turn + "x")
    assert described(lambda turn: turn.lower()) != described(lambda turn: turn.upper())
    assert described(Guard(history_window=1)) != described(Guard())


def test_the_guard_tells_its_settings() -> None:
    told = described(Guard(history_window=4, aliases={"IBM": ["Big Blue"]}))
    assert (told["history_window"], told["aliases"]) == (4, {"big blue": ["ibm"], "ibm": ["big blue"]})
    assert told["extractors"][0] == "rewriteguard.extract.identifier.extract"
    assert "core_web_sm" in told["pipeline"]


def test_no_secret_is_told() -> None:
    secret = "s3cr3t-4711"
    held = Public("x")
    held.__dict__ |= {
        "_k": secret,
        "api_key": secret,
        "apiKey": secret,
        "pin": SecretStr(secret),
        "url": f"pg://me:{secret}@host/db",
    }
    text = json.dumps(described([held, lambda turn: turn + secret, partial(by_global(secret), token=secret)]))
    assert secret not in text
    assert " at 0x" not in text
    held.__dict__ |= {"api_key": "another"}
    assert described(held) == described([held])[0]


def test_what_a_client_draws_by_chance_is_not_read() -> None:
    """Of installed classes only what they were made with counts."""
    one, other = Random(1), Random(1)
    other.__dict__["session"] = "drawn"
    assert described(one) == described(other)


def test_large_things_take_a_moment_only() -> None:
    large = Public("x")
    large.__dict__["index"] = {str(place): [place] * 10 for place in range(200_000)}
    told = described(large)
    assert told == described(large)
    assert told["index"]["n"] == 200_000


def all_described() -> str:
    told = [described(make("Be brief.")) for make in MAKERS.values()]
    return json.dumps([told, described([set("abc"), lambda turn: turn in {"a", "b", "c"}])])


def test_another_process_says_the_same() -> None:
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(__file__).parents[1])])

    def said(code: str, seed: int) -> str:
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    # One that goes through a set in another order than this process.
    seed = next(seed for seed in range(1, 50) if said("print(*set('abc'))", seed) != " ".join(set("abc")))
    other = said("from evaluation import test_fingerprint as t; print(t.all_described())", seed)
    assert other == importlib.import_module("evaluation.test_fingerprint").all_described()
