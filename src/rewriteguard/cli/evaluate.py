"""`rewriteguard evaluate`: decides with evidence whether a rewriter may be used."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import rewriteguard
from rewriteguard import evaluation
from rewriteguard.cli.console import ERR, OUT, day_of, fail, printable
from rewriteguard.errors import RewriteGuardError

if TYPE_CHECKING:
    from rewriteguard.evaluation import Case, Evaluation

NOT_ACCEPTED = 1
CRASHED = 3
_STYLE = {"ship": "green", "fuse": "cyan", "clarify": "yellow", "fall_back": "red"}
_IN_A_NAME = re.compile(r"[^\w.-]+")


def evaluate(
    cases: Annotated[list[Path], typer.Argument(help="JSONL or CSV of cases, or triple logs.")],
    out: Annotated[Path, typer.Option(help="Directory of the run; one that was stopped goes on where it was.")],
    corpus: Annotated[
        Path | None, typer.Option(help="JSONL with id and text: searched with the built-in BM25.")
    ] = None,
    search: Annotated[str | None, typer.Option(help="MODULE:NAME of a retriever or of search(query).")] = None,
    rewriter: Annotated[
        list[str] | None,
        typer.Option(
            help="LABEL of recorded rewrites, or LABEL=MODULE:NAME. May be repeated; none: all recorded ones."
        ),
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Release rules; none: those of the package.")] = None,
    contracts: Annotated[Path | None, typer.Option(help="What `rewriteguard cases freeze` wrote.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file of the guarded arm; its classes are left out.")
    ] = None,
    guard: Annotated[
        str | None, typer.Option(help="MODULE:NAME of the Guard that production uses; none: a plain one.")
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="Documents that an arm returns.")] = 10,
    budget: Annotated[int, typer.Option(min=1, help="Documents that an arm may fetch.")] = 60,
    scope: Annotated[
        str | None, typer.Option(help="MODULE:NAME; gets a case's context, gives search keywords.")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="MODULE:NAME of answer(turn, history, documents).")] = None,
    judge: Annotated[str | None, typer.Option(help="MODULE:NAME of judge(case, answer, documents).")] = None,
    id_key: Annotated[str | None, typer.Option(help="Metadata key of the documents' ids.")] = None,
    fingerprint: Annotated[
        str | None, typer.Option(help="Names the state of the index; without it some changes go unseen.")
    ] = None,
    reference_date: Annotated[str | None, typer.Option(help='The day that "today" means, YYYY-MM-DD.')] = None,
    seed: Annotated[int, typer.Option(help="Orders the cases.")] = 0,
    summary: Annotated[
        Path | None, typer.Option(help="Append the summary to this file ($GITHUB_STEP_SUMMARY).")
    ] = None,
) -> None:
    """Runs the acceptance protocol.

    Exit code: 0 every class is released as the rules ask, 1 not, 2 wrong usage, 3 the run broke off by another error.
    """
    run, page, text = _loaded()
    try:
        known = evaluation.read_cases(*cases)
        if contracts is not None:
            evaluation.check_frozen(known, contracts)
        settings: dict[str, Any] = {
            "rules": evaluation.Rules.shipped() if rules is None else evaluation.Rules.load(rules),
            "policy": None if policy is None else rewriteguard.Policy.load(policy),
            "guard": _guard(guard),
            "out": out,
            "k": k,
            "budget": budget,
            "scope": _named("--scope", scope),
            "answer": _named("--answer", answer),
            "judge": _named("--judge", judge),
            "id_key": id_key,
            "fingerprint": fingerprint,
            "reference_date": day_of(reference_date),
            "seed": seed,
        }
        found = _run(run, known, _search(corpus, search), _rewriters(rewriter or [], known), settings)
        _write(page, text, found, out, summary)
    except (OSError, RewriteGuardError) as error:
        fail(str(error))
    except typer.Exit:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - 1 would say that the rewriter was refused
        ERR.print(printable("".join(traceback.format_exception(error))), soft_wrap=True)
        raise typer.Exit(CRASHED) from None
    OUT.print(_table(found))
    OUT.print(printable(f"Report: {out / 'report.html'}"), soft_wrap=True)
    raise typer.Exit(0 if found.accepted else NOT_ACCEPTED)


def _loaded() -> tuple[Callable[..., Evaluation], Any, Any]:
    """What evaluates, and the two modules that write reports: all that needs the extra `evaluation`."""
    try:
        page, text = (
            importlib.import_module(f"rewriteguard.report.evaluation.{name}") for name in ("page", "markdown")
        )
        return evaluation.evaluate, page, text
    except ModuleNotFoundError as error:
        fail(f"evaluate needs {error.name}; run: pip install 'rewriteguard[evaluation]'")


def _run(
    run: Callable[..., Evaluation],
    known: list[Case],
    search: Any,
    rewriters: dict[str, Any],
    settings: dict[str, Any],
) -> Evaluation:
    with Progress(console=ERR, transient=True, disable=not ERR.is_terminal) as bar:
        task = bar.add_task("running", total=len(known))

        def progress(done: int, _all: int) -> None:
            bar.update(task, completed=done)

        return run(known, search, rewriters, progress=progress, **settings)


def _search(corpus: Path | None, search: str | None) -> Any:
    if (corpus is None) == (search is None):
        fail("expected either --corpus FILE or --search MODULE:NAME")
    return _named("--search", search) if corpus is None else evaluation.Corpus.read(corpus)


def _guard(name: str | None) -> Any:
    found = _named("--guard", name)
    if not isinstance(found, rewriteguard.Guard | None):
        fail(f"--guard: {name}: expected a Guard, got {type(found).__name__}")
    return found


def _rewriters(given: list[str], cases: list[Case]) -> dict[str, Any]:
    """The rewriters by label; where none is given, those whose rewrites the cases hold."""
    if not given:
        labels = sorted({label for case in cases for label in case.rewrites})
        if not labels:
            fail("--rewriter: expected LABEL=MODULE:NAME, since no case holds a rewrite")
        return dict.fromkeys(labels, "recorded")
    found: dict[str, Any] = {}
    for each in given:
        label, separator, name = each.partition("=")
        if not label or label in found:
            fail(f"--rewriter: expected a label of its own, got {each!r}")
        found[label] = _named("--rewriter", name) if separator else "recorded"
    return found


def _named(option: str, name: str | None) -> Any:
    """What MODULE:NAME names; modules of the working directory are found too."""
    if name is None:
        return None
    module, separator, attribute = name.partition(":")
    if not separator or not module or not attribute:
        fail(f"{option}: expected MODULE:NAME, got {name!r}")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the module does when it is imported
        kind = "" if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: "
        fail(f"{option}: {name}: {kind}{error}")
    return value


def _write(page: Any, text: Any, found: Evaluation, out: Path, summary: Path | None) -> None:
    report = page.EvaluationReport(found.results, found.decisions, found.held_fixed, found.groups)
    for name, write in (
        ("report.html", page.write_evaluation_page),
        ("report.md", text.write_markdown),
        ("report.json", text.write_json),
    ):
        with (out / name).open("w", encoding="utf-8", newline="\n") as target:
            write(target, report)
    for rewriter, name in _policy_names(found.results.rewriters).items():
        (out / name).write_text(found.policy_of(rewriter), "utf-8")
    if summary is not None:
        with summary.open("a", encoding="utf-8", newline="\n") as target:
            text.write_summary(target, report)


def _policy_names(rewriters: Sequence[str]) -> dict[str, str]:
    """A file name for each rewriter: its label without what file systems refuse, and a number where two agree."""
    names: dict[str, str] = {}
    for rewriter in rewriters:
        plain = _IN_A_NAME.sub("-", rewriter)
        taken = sum(_IN_A_NAME.sub("-", other) == plain for other in names)
        names[rewriter] = f"policy.{plain}{f'.{taken + 1}' if taken else ''}.toml"
    return names


def _table(found: Evaluation) -> Table:
    table = Table()
    for name in ("rewriter", "class or slice", "requests", "release", "decided by"):
        table.add_column(name, justify="right" if name == "requests" else "left", overflow="fold")
    for each in found.decisions:
        group = each.group if each.enforced else f"{each.group} (slice)"
        table.add_row(
            printable(each.rewriter),
            printable(group),
            f"{each.n:,}",
            Text(each.release.value, style=_STYLE[each.release.value]),
            printable(", ".join(dict.fromkeys(each.decided_by)) or "-"),
        )
    return table
