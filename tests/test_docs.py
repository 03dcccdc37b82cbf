"""Every Python block of the README and the documentation runs, and every link inside the repository leads somewhere."""

import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace = {"__name__": "__main__"}
    exec(compile(example.read_text("utf-8"), str(example), "exec"), namespace)
    assert capsys.readouterr().out
