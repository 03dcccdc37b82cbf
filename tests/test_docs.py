"""Every Python block of the README and the documentation runs, and every link inside the repository leads somewhere."""

import importlib
import re
from pathlib import Path

import pytest

from rewriteguard import Guard

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[Path, int, str]]:
    """Page, number of the first line, and code of every Python block."""
    return [
        (page, text.count("\n", 0, block.start("code")), block["code"])
        for page, text in ((page, page.read_text("utf-8")) for page in PAGES)
        for block in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize(("page", "line", "code"), blocks(), ids=lambda value: getattr(value, "name", None))
def test_code_blocks_run(page: Path, line: int, code: str) -> None:
    exec(compile("\n" * line + code, str(page), "exec"), {"__name__": "__main__"})  # blank lines: errors name the line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_are_python_or_text(page: Path) -> None:
    fences = re.findall(r"^```(\w*)", page.read_text("utf-8"), re.MULTILINE)
    assert set(fences) <= {"python", "text", ""}
    assert fences[1::2] == [""] * (len(fences) // 2)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)(?P<target>[^)#]+)", page.read_text("utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


SAID = {
    "05_evaluate.py": (
        "How long did it last?\n  follow-ups: fall_back (skipped)\n",
        "the rewriter is asked: Backups are paused with E-402",
        "  error codes: use_rewrite (ok)\n",
    )
}


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("[0-9]*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace = {"__name__": "__main__", "__file__": str(example)}
    exec(compile(example.read_text("utf-8"), str(example), "exec"), namespace)
    printed = capsys.readouterr().out
    assert printed
    assert "guard_error" not in printed  # a guard that fails is contained, and would go unseen here
    assert [line for line in SAID.get(example.name, ()) if line not in printed] == []


# The conversation that the table of docs/index.md assumes.
HISTORY = [
    ("user", "Which routes did not run in winter 2023?"),
    ("assistant", "The routes to Gull Island and Northbank."),
    ("user", "When is Heron Rock open?"),
    ("assistant", "From May to October. The ferry to Heron Rock goes every hour."),
]
ROW = re.compile(r"^\| (?P<turn>[^|]+) \| (?P<rewrite>[^|]+) \| [^|]+ \| `(?P<verdict>[A-Z]+)`[^|]*\|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    """Turn, rewrite and verdict of each row of the table."""
    text = (ROOT / "docs" / "index.md").read_text("utf-8").replace("**", "")
    return [(row["turn"], row["rewrite"], row["verdict"].lower()) for row in ROW.finditer(text)]


def test_the_table_of_verdicts_is_read() -> None:
    assert len(rows()) >= 6


@pytest.mark.parametrize(("turn", "rewrite", "verdict"), rows())
def test_verdicts_in_the_table_are_true(turn: str, rewrite: str, verdict: str) -> None:
    assert Guard().check(turn, rewrite, HISTORY).verdict == verdict


def test_telemetry_page_names_what_the_code_emits() -> None:
    name = r"(rewriteguard(?:\.[a-z_]+)+)"
    page = (ROOT / "docs" / "telemetry.md").read_text("utf-8")
    code = (ROOT / "src" / "rewriteguard" / "telemetry" / "names.py").read_text("utf-8")
    assert set(re.findall(name, page)) == set(re.findall(f'"{name}"', code))


def api_members() -> list[tuple[str, str]]:
    """Module and name of everything that the API page lists."""
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    entry = r"^::: (\S+)\n    options:\n(?:      show_\w+: false\n)+      members: \[(.+)\]$"
    listed = re.findall(entry, page, re.MULTILINE)
    return [(module, name) for module, names in listed for name in names.split(", ")]


def test_the_api_page_lists_what_the_modules_have() -> None:
    missing = [each for each in api_members() if not hasattr(importlib.import_module(each[0]), each[1])]
    assert len(api_members()) >= 20
    assert missing == []  # mkdocs leaves such names out without a word
