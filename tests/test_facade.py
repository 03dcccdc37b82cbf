"""What the doors `rewriteguard`, `.audit` and `.evaluation` offer, and what they do not load."""

import ast
import importlib.metadata
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rewriteguard
import rewriteguard.audit
import rewriteguard.evaluation

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
    "pydantic",
}
DOORS = (rewriteguard, rewriteguard.audit, rewriteguard.evaluation)


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


def test_a_policy_loads_what_reads_its_file_when_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("k = 3")
    policy = "from rewriteguard import Policy; Policy.load"
    assert loaded_by(policy) & HEAVY == set()
    assert loaded_by(f"{policy}({str(tmp_path / 'policy.toml')!r})") & HEAVY == {"pydantic"}


def test_cases_and_logs_are_read_without_the_extras() -> None:
    reading = "from rewriteguard.evaluation import agreement, draft, read_cases, twins_of, Rules"
    extras = {"numpy", "scipy", "statsmodels", "ir_measures", "bm25s", "spacy", "pyarrow"}
    assert loaded_by(reading) & extras == set()
    assert loaded_by("from rewriteguard.audit import find, read_log") & extras == set()
    assert "pyarrow" in loaded_by("from rewriteguard.audit import check_record_batches")


def homes_of(door: ModuleType) -> dict[str, str]:
    """The module that a checker sees each name of a door come from."""
    tree = ast.parse(Path(str(door.__file__)).read_text("utf-8"))
    return {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rewriteguard")
        for alias in node.names
    }


@pytest.mark.parametrize(("door", "name"), [(door, name) for door in DOORS for name in door.__all__])
def test_every_name_comes_from_where_checkers_see_it(door: ModuleType, name: str) -> None:
    value, home = getattr(door, name), homes_of(door)[name]
    assert value is getattr(sys.modules[home], name)
    assert name.isupper() or value.__name__ == name


@pytest.mark.parametrize("door", DOORS)
def test_names_are_listed_once_and_hide_no_module(door: ModuleType) -> None:
    assert sorted(door.__all__) == sorted(homes_of(door))
    assert set(door.__all__) <= set(dir(door))
    assert set(door.__all__).isdisjoint(module.name for module in pkgutil.iter_modules(door.__path__))


def test_version_is_the_installed_one() -> None:
    assert rewriteguard.__version__ == importlib.metadata.version("rewriteguard")


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_name_is_an_attribute_error(door: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{door.__name__}' has no attribute 'Gaurd'"):
        door.Gaurd  # noqa: B018
