"""What `import rewriteguard` offers, and what it does not load."""

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import rewriteguard

HEAVY = {
    "spacy",
    "langchain_core",
    "numpy",
    "opentelemetry",
    "dateparser",
    "quantulum3",
    "rapidfuzz",
    "typer",
    "rich",
    "py3langid",
}


def loaded_by(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import rewriteguard; dir(rewriteguard)") & HEAVY == set()


def test_the_light_names_load_nothing_heavy() -> None:
    assert loaded_by("from rewriteguard import Conversation, HistoryError, Kind") & HEAVY == set()


def test_values_policy_and_telemetry_load_no_machinery() -> None:
    light = {"opentelemetry"}  # Telemetry's own ground
    statement = "from rewriteguard import Action, Hit, Kind, Policy, SetAssessment, Telemetry, Verdict"
    assert loaded_by(statement) & HEAVY == light


def test_the_set_would_show_a_heavy_import() -> None:
    assert "rich" in loaded_by("import rewriteguard.cli") & HEAVY


@pytest.mark.parametrize("name", rewriteguard.__all__)
def test_every_name_resolves(name: str) -> None:
    value = getattr(rewriteguard, name)
    assert name == "DEFAULT_EXTRACTORS" or value.__name__ == name


def test_names_are_sorted_and_listed() -> None:
    assert sorted(rewriteguard.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n)) == rewriteguard.__all__
    assert set(rewriteguard.__all__) <= set(dir(rewriteguard))


def test_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse(Path(rewriteguard.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("rewriteguard.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen == rewriteguard._HOMES
    assert set(seen) == set(rewriteguard.__all__)


def test_version_is_the_installed_one() -> None:
    assert rewriteguard.__version__ == importlib.metadata.version("rewriteguard")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Gaurd'"):
        rewriteguard.Gaurd  # noqa: B018
