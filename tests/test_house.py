"""The house rules that a test can hold: rooms and their page, sizes of files, one word for one thing, doors."""

import ast
import importlib
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rewriteguard"
PAGE = ROOT / "docs" / "architecture.md"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}
DOORS = {
    "rewriteguard",
    "rewriteguard.audit",
    "rewriteguard.demo",
    "rewriteguard.evaluation",
    "rewriteguard.integrations.haystack",
    "rewriteguard.integrations.langchain",
    "rewriteguard.integrations.llama_index",
}
SMALL, LARGE, MOST_ENTRIES = 60, 500, 20
KIND = {"extract"}  # a kind is a file, however small


def name_of(path: Path) -> str:
    """The dotted name of a module; a package has that of its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def room_of(module: str) -> str:
    """The first part of a module's name below the package."""
    return ".".join(module.split(".")[:2])


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that a module imports, whole or by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in whole if name in MODULES)
            if node.module in MODULES and any(name not in MODULES for name in whole):
                yield node.module


def importers() -> Mapping[str, set[str]]:
    """Who imports each module."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, path in MODULES.items():
        for name in imported(TREES[path]):
            found[name].add(module)
    return found


def rooms_of_the_page() -> set[str]:
    """The rooms that the table of the page names in its first column."""
    rows = re.findall(r"^\| (`[a-z]+`(?:, `[a-z]+`)*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return {room for row in rows for room in re.findall(r"`([a-z]+)`", row)}


def test_the_page_lists_the_rooms_of_the_tree() -> None:
    assert rooms_of_the_page() == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}


def test_the_files_that_the_page_names_exist() -> None:
    text = PAGE.read_text("utf-8")
    known = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*")} | {"docs/", "tests/"}
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py|\.toml|/))`", text))
    assert len(named) >= 10
    missing = [name for name in sorted(named) if name.rstrip("/") not in known and not (ROOT / name).exists()]
    assert missing == []


def test_few_entries_stand_at_the_top() -> None:
    entries = [path.name for path in PACKAGE.iterdir() if path.name not in {"__pycache__", "py.typed"}]
    assert len(entries) <= MOST_ENTRIES


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_is_too_large(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LARGE


def test_a_helper_with_one_user_lives_in_that_users_file() -> None:
    users = importers()
    lonely = {
        module: next(iter(users[module]))
        for module, path in MODULES.items()
        if path.name != "__init__.py"
        and len(path.read_text("utf-8").splitlines()) < SMALL
        and len(users[module]) == 1
        and room_of(next(iter(users[module]))) == room_of(module)
        and not {node.name for node in TREES[path].body if isinstance(node, ast.FunctionDef)} >= KIND
        and MODULES[next(iter(users[module]))].name != "__init__.py"  # behind a door, or a command
    }
    assert lonely == {}


def test_no_class_name_is_defined_twice() -> None:
    names = Counter(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_what_is_private_to_a_room_stays_there() -> None:
    reached = [
        (user, module)
        for module, users in importers().items()
        if any(part.startswith("_") for part in module.split(".")[1:])
        for user in sorted(users)
        if not f"{user}.".startswith(f"{module.rpartition('.')[0]}.")
    ]
    assert reached == []


def test_no_import_stands_inside_a_function() -> None:
    inside = [
        f"{name_of(path)}:{node.lineno}"
        for path, tree in TREES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_documentation_names_doors_only(page: Path) -> None:
    """A dotted name is a door, a name that the door has, or a span, attribute or metric."""
    said = set(re.findall(r"\brewriteguard(?:\.\w+)+", page.read_text("utf-8")))
    emitted = (path.read_text("utf-8") for path in (PACKAGE / "telemetry").glob("*.py"))
    told = {name for text in emitted for name in re.findall(r'"(rewriteguard\.[a-z_.]+)"', text)}
    told |= {"rewriteguard.json"}  # the dashboard's file
    assert {name for name in said - told - DOORS if not _stands_behind_a_door(name)} == set()


def _stands_behind_a_door(name: str) -> bool:
    door = next((door for door in sorted(DOORS, key=len, reverse=True) if name.startswith(f"{door}.")), "")
    found: object = importlib.import_module(door)
    for part in name.removeprefix(f"{door}.").split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return not inspect.ismodule(found)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_import_doors_only(example: Path) -> None:
    assert {name for name in imported(ast.parse(example.read_text("utf-8"))) if name not in DOORS} == set()
