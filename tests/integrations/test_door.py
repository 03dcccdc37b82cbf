"""What `rewriteguard.integrations.langchain` offers, and what it does not load."""

import subprocess
import sys

import pytest
from langchain.agents.middleware import AgentMiddleware

from rewriteguard.integrations import langchain as door


@pytest.mark.parametrize("name", door.__all__)
def test_every_name_resolves(name):
    assert name == "FAITHFUL_CONDENSE_PROMPT" or getattr(door, name).__name__ == name


def test_agents_are_loaded_when_they_are_used():
    assert issubclass(door.GuardMiddleware, AgentMiddleware)
    script = "import sys, rewriteguard.integrations.langchain as door; {}; print('langgraph' in sys.modules)"
    for use, loaded in (("dir(door)", "False"), ("door.GuardMiddleware", "True")):
        ran = subprocess.run([sys.executable, "-c", script.format(use)], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == loaded


def test_a_name_that_is_none_is_said():
    with pytest.raises(AttributeError, match=r"langchain' has no attribute 'GuardedAgent'"):
        _ = door.GuardedAgent
