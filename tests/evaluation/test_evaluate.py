"""The protocol from end to end on the example's data: what it writes, refuses and decides, and what it survives."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rewriteguard
from rewriteguard import Guard, GuardedSearch, Hit, Policy, Telemetry, TripleLog
from rewriteguard.cli import app
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.cases.files import read_cases, write_cases
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.evaluating import Evaluation, evaluate
from rewriteguard.evaluation.release.release import is_accepted
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.evaluation.run.search import Corpus
from rewriteguard.model.tokens import Kind
from rewriteguard.policy.classes import REST, Release
from rewriteguard.retrieve.decider import default_guard

FOLDER = Path(__file__).parents[2] / "examples" / "evaluation"
TUTORIAL = FOLDER.parents[1] / "docs" / "evaluation.md"
CASES, CORPUS, RULES = FOLDER / "cases.jsonl", FOLDER / "corpus.jsonl", FOLDER / "rules.toml"
DAY = date(2025, 3, 10)
REPORTS = ("report.html", "report.json", "report.md")
POLICIES = ("policy.careful-1.toml", "policy.hasty-1.toml")
FEW = ("team-price", "errors", "two-plans")
"""The conversations of runs in which it is not the releases that count."""
AMBIGUOUS = "two-plans-2"  # "How long does it keep versions?", of two plans


def command(*args: object) -> Result:
    return CliRunner().invoke(app, [*map(str, args)], catch_exceptions=False)


def run(cases: Path, out: Path, *args: object, corpus: bool = True) -> Result:
    """`rewriteguard evaluate` with the settings of the example; what is in `args` overrides them."""
    settings = ("--rules", RULES, "--k", 3, "--budget", 18, "--reference-date", DAY)
    searched = ("--corpus", CORPUS) if corpus else ()
    return command("evaluate", cases, "--out", out, *settings, *searched, *args)


@cache
def known() -> tuple[Case, ...]:
    return tuple(read_cases(CASES))


def case_of(name: str) -> Case:
    return next(case for case in known() if case.id == name)


def rows(path: Path, kind: str) -> list[dict[str, Any]]:
    """The journal's rows of one kind, also while another process writes it."""
    return [json.loads(row) for each, row in journalled(path) if each == kind]


def journalled(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as file, suppress(sqlite3.DatabaseError):
        return file.execute("SELECT kind, row FROM kept ORDER BY rowid").fetchall()
    return []  # it is being begun


def report(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "report.json").read_text("utf-8"))
    return told


def releases(out: Path, rewriter: str) -> dict[str, str]:
    """The releases of a rewriter's classes."""
    found = [each for each in report(out)["releases"] if each["rewriter"] == rewriter and each["enforced"]]
    return {each["group"]: each["release"] for each in found}


def of(found: Evaluation, rewriter: str) -> dict[str, Release]:
    return {each.group: each.release for each in found.decisions if each.rewriter == rewriter and each.enforced}


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("few") / "cases.jsonl"
    write_cases(path, [case for case in known() if case.conversation in FEW])
    return path


@dataclass(frozen=True)
class Done:
    """A run of the command and its directory."""

    result: Result
    out: Path
    summary: Path


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The example as its reader runs it."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "summary.md").write_text("# Before\n", "utf-8")
    return Done(run(CASES, folder / "out", "--summary", folder / "summary.md"), folder / "out", folder / "summary.md")


@pytest.fixture(scope="module")
def short(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a finished run of a few cases."""
    out = tmp_path_factory.mktemp("short") / "out"
    assert run(few, out, "--rewriter", "hasty-1").exit_code == 0
    return out


# What is written


def test_a_run_leaves_its_journal_its_reports_and_a_policy_for_each_rewriter(example: Done) -> None:
    assert example.result.exit_code == 0, example.result.stderr
    assert {path.name for path in example.out.iterdir()} == {"run.sqlite", "rules.sha256", *REPORTS, *POLICIES}
    assert (example.out / "rules.sha256").read_text("utf-8") == Rules.load(RULES).hash + "\n"
    assert len(rows(example.out / "run.sqlite", "outcome")) == len(known()) * (3 + 3 * 2)
    assert f"Report: {example.out / 'report.html'}" in example.result.stdout
    assert releases(example.out, "careful-1") == {
        "dates": "ship",
        "exclusions": "ship",
        "error codes": "ship",
        "versions": "ship",
        "follow-ups": "ship",
        "complete questions": "ship",
        REST: "fuse",
    }
    assert releases(example.out, "hasty-1")["dates"] == "fuse"
    assert releases(example.out, "hasty-1")["follow-ups"] == "fall_back"


def test_the_summary_is_appended(example: Done) -> None:
    text = example.summary.read_text("utf-8")
    assert text.startswith("# Before\n# Rewrite evaluation\n")
    assert (example.out / "report.md").read_text("utf-8").startswith(text.removeprefix("# Before\n"))


def test_two_runs_write_the_same_bytes(few: Path, short: Path, tmp_path: Path) -> None:
    assert run(few, tmp_path / "again", "--rewriter", "hasty-1").exit_code == 0
    for name in (*REPORTS, "policy.hasty-1.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (short / name).read_bytes(), name


def test_a_finished_run_is_told_again_without_any_search(few: Path, short: Path) -> None:
    journal, told = (short / "run.sqlite").read_bytes(), (short / "report.json").read_bytes()
    (short / "report.json").unlink()
    assert run(few, short, "--rewriter", "hasty-1").exit_code == 0
    assert (short / "run.sqlite").read_bytes() == journal
    assert (short / "report.json").read_bytes() == told


def test_classes_that_are_not_released_as_the_rules_ask_end_with_1(few: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        re.sub(r"^accept = .*$", 'accept = ["ship"]', RULES.read_text("utf-8"), count=1, flags=re.MULTILINE), "utf-8"
    )
    done = run(few, tmp_path / "out", "--rewriter", "hasty-1", "--rules", rules)
    assert done.exit_code == 1, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert "follow-ups" in done.stdout


# What is refused


def refused(done: Result, *named: str) -> None:
    assert done.exit_code == 2, done.stdout
    for words in named:
        assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_another_corpus_is_refused(few: Path, short: Path, tmp_path: Path) -> None:
    other = tmp_path / "corpus.jsonl"
    other.write_text(CORPUS.read_text("utf-8") + '{"id": "new", "text": "Fares."}\n', "utf-8")
    done = run(few, short, "--rewriter", "hasty-1", "--corpus", other, corpus=False)
    refused(done, "run.sqlite was made under other conditions: corpus was 'sha256:", "' and is 'sha256:")


def test_other_rules_are_refused(few: Path, short: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES.read_text("utf-8").replace("minimum = 6", "minimum = 5"), "utf-8")
    done = run(few, short, "--rewriter", "hasty-1", "--rules", rules)
    refused(done, f"{short / 'rules.sha256'}: the run was begun by other release rules", "begin another one")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("--k", 2), "k was 3 and is 2"),
        (("--budget", 60), "budget was 18 and is 60"),
        (("--rewriter", "careful-1"), "rewriters.careful-1.rewriter was None and is 'recorded'"),
        (("--reference-date", "2024-01-01"), "reference_date was '2025-03-10' and is '2024-01-01'"),
        (("--seed", 1), "seed was 0 and is 1"),
        (("--fingerprint", "June"), "corpus was 'sha256:"),
    ],
)
def test_other_settings_are_refused(few: Path, short: Path, changed: Sequence[object], named: str) -> None:
    refused(run(few, short, "--rewriter", "hasty-1", *changed), "the journal run.sqlite", named)


def test_a_contract_that_was_changed_after_it_was_frozen_is_refused(few: Path, tmp_path: Path) -> None:
    lock, changed = tmp_path / "contracts.lock", tmp_path / "cases.jsonl"
    without = tmp_path / "without.jsonl"
    cases = read_cases(few)
    write_cases(without, [replace(case, rewrites={}) for case in cases])
    assert command("cases", "freeze", without, "--out", lock).exit_code == 0
    assert cases[1].contract is not None
    easier = replace(cases[1], contract=replace(cases[1].contract, constraints=()))
    write_cases(changed, [cases[0], easier, *cases[2:]])
    done = run(changed, tmp_path / "out", "--contracts", lock)
    refused(done, f"{lock}: the cases are not those that were frozen; changed: {easier.id}\n")
    assert not (tmp_path / "out").exists()
    write_cases(changed, cases[:1])
    refused(run(changed, tmp_path / "out", "--contracts", lock), "left out: errors-1, ")
    done = run(few, tmp_path / "out", "--contracts", lock, "--budget", 2)
    refused(done, "budget: expected at least k = 3")  # the lock holds: the next thing is wrong


BROKEN = '{"id": "x", "original": "When?", "contract": {"constraints": [{"kind": "date", "text": "2023"}]}}\n'


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("--rewriter", "quick"), "rewriters['quick']: no case holds a rewrite of it; they hold those of careful-1, h"),
        (("--rewriter", "x=nowhere:rewrite"), "--rewriter: nowhere:rewrite: No module named 'nowhere'"),
        (("--rewriter", "x=json:rewrite"), "--rewriter: json:rewrite: module 'json' has no attribute 'rewrite'"),
        (("--rewriter", "hasty-1", "--rewriter", "hasty-1"), "--rewriter: expected a label of its own, got 'hasty-1'"),
        (("--search", "json:dumps"), "expected either --corpus FILE or --search MODULE:NAME"),
        (("--k", 19), "budget: expected at least k = 19 documents, got 18"),
        (("--contracts", "none.lock"), "none.lock"),
        (("--policy", "none.toml"), "none.toml"),
        (("--rules", "none.toml"), "none.toml"),
        (("--reference-date", "today"), "--reference-date: expected YYYY-MM-DD, got 'today'"),
    ],
)
def test_wrong_usage_is_named(few: Path, tmp_path: Path, args: Sequence[object], named: str) -> None:
    refused(run(few, tmp_path / "out", *args), named)
    assert not (tmp_path / "out").exists()


def test_a_search_that_cannot_be_had_is_named(few: Path, tmp_path: Path) -> None:
    done = run(few, tmp_path / "out", "--search", "nowhere:index", corpus=False)
    refused(done, "--search: nowhere:index: No module named 'nowhere'")
    refused(
        run(few, tmp_path / "out", "--search", "index", corpus=False), "--search: expected MODULE:NAME, got 'index'"
    )
    refused(run(few, tmp_path / "out", corpus=False), "expected either --corpus FILE or --search MODULE:NAME")


def test_files_that_cannot_be_read_are_named_by_line_and_field(few: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(few.read_text("utf-8").split("\n")[0] + "\n\n" + BROKEN, "utf-8")
    refused(
        run(broken, tmp_path / "out"), f"{broken}, line 3: contract.constraints[0].kind: expected one of ", "'date'"
    )
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "a", "text": "b"}\n{"id": "c"}\n', "utf-8")
    refused(
        run(few, tmp_path / "out", "--corpus", corpus, corpus=False),
        "corpus.jsonl, line 2: text: expected text, got None",
    )
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES.read_text("utf-8").replace("minimum = 6", "minimum = 0"), "utf-8")
    refused(run(few, tmp_path / "out", "--rules", rules), f"{rules}", "default", "minimum")


# Parts of an application, in a module of the working directory


PARTS = '''
"""An application's own rewriter, retriever, generator and judge."""

import os
import time
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from rewriteguard.evaluation.cases.files import read_cases
from rewriteguard.evaluation.run.search import Corpus

HERE = Path(__file__).parent
CORPUS = Corpus.read({corpus!r})
HUMAN = {{case.original: case.human for case in read_cases({cases!r})}}


def said(what):
    with (HERE / "asked.txt").open("a") as file:
        file.write(what + "\\n")
    if os.environ.get("HANGS_AT") == str(len((HERE / "asked.txt").read_text().splitlines())):
        time.sleep(60)


def rewriter(turn, history):
    said("rewriter: " + turn)
    if "E-402" in turn:
        raise TimeoutError("model")
    return HUMAN[turn]


def answer(turn, history, documents):
    said("answer: " + turn)
    return documents[0].page_content


def judge(case, answer, documents):
    return documents[0].metadata["name"] in case.relevant


class Index(BaseRetriever):
    k: int = 18

    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(page_content=hit.item.text, metadata={{"name": hit.item.id}}) for hit in CORPUS(query, self.k)
        ]


class Parts:
    retriever = Index()
'''
OWN = ("--rewriter", "live=parts_of_app:rewriter", "--search", "parts_of_app:Parts.retriever", "--id-key", "name")
ANSWERS = ("--answer", "parts_of_app:answer", "--judge", "parts_of_app:judge")


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working directory with a module of the application."""
    folder = tmp_path_factory.mktemp("application")
    (folder / "parts_of_app.py").write_text(PARTS.format(corpus=str(CORPUS), cases=str(CASES)), "utf-8")
    (folder / "broken_app.py").write_text("raise RuntimeError('no index here')\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [path for path in sys.path if path])
        yield folder
    sys.modules.pop("parts_of_app", None)


@pytest.fixture(scope="module")
def own(few: Path, application: Path) -> Path:
    """The directory of a finished run with the application's own parts."""
    done = run(few, application / "whole", *OWN, *ANSWERS, corpus=False)
    assert done.exit_code == 0, done.stderr
    return application / "whole"


def test_rewriter_and_retriever_come_from_the_working_directory(own: Path) -> None:
    told = report(own)["conditions"]
    assert told["rewriters"]["live"]["rewriter"]["function"] == "parts_of_app.rewriter"
    assert (told["search"]["search"]["class"], told["search"]["search"]["k"]) == ("parts_of_app.Index", 18)
    assert (told["answer"]["function"], told["judge"]["function"]) == ("parts_of_app.answer", "parts_of_app.judge")
    found = rows(own / "run.sqlite", "outcome")
    human = {each["case"]: each["results"] for each in found if each["arm"] == "human"}
    alone = {each["case"]: each["results"] for each in found if each["arm"] == "rewrite" and each["status"] == "ok"}
    asked = {each["case"] for each in found if each["arm"] == "rewrite"}
    assert asked == {case.id for case in known() if case.id in human and case.history}  # as in production
    assert len(alone) == len(asked) - 1
    assert alone.items() <= human.items()
    assert human["errors-2"][0] == "error-210"


def test_answers_are_scored(own: Path) -> None:
    (alone,) = [each for each in report(own)["results"]["arms"] if each["arm"] == "human"]
    assert (alone["scores"]["answers"]["n"], alone["scores"]["answers"]["count"]) == (13, 12)
    assert "supported" in (own / "report.md").read_text("utf-8").lower()


def test_a_rewriter_that_raises_is_an_outcome(own: Path) -> None:
    found = [each for each in rows(own / "run.sqlite", "outcome") if each["case"] == "errors-3" and each["rewriter"]]
    assert {each["arm"]: (each["status"], each["stage"], each["error"]) for each in found} == {
        "rewrite": ("error", "rewrite", "TimeoutError"),
        "original+rewrite": ("error", "rewrite", "TimeoutError"),
        "guarded": ("ok", "rewrite", "TimeoutError"),
    }
    text = (own / "report.md").read_text("utf-8")
    assert re.search(r"\| rewrite \| `live` \|.*\b1\b", text)


def test_a_module_that_fails_is_wrong_usage(few: Path, application: Path, tmp_path: Path) -> None:
    done = run(few, tmp_path / "out", "--search", "broken_app:index", corpus=False)
    refused(done, "--search: broken_app:index: RuntimeError: no index here")


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_half_way_and_resumed_it_writes_the_same_bytes(few: Path, application: Path, own: Path) -> None:
    out, asked = application / "killed", application / "asked.txt"
    journal, whole = out / "run.sqlite", len(journalled(own / "run.sqlite"))
    calls = asked.read_text().splitlines()
    # Past the half, at the first arm of a rewriter that has just answered: some arms of its case are still to run.
    hangs_at = next(
        place
        for place in range(len(calls) * 2 // 3, len(calls))
        if calls[place - 2].startswith("rewriter") and calls[place - 1].startswith("answer")
    )
    asked.unlink()
    settings = ("--rules", RULES, "--k", 3, "--budget", 18, "--reference-date", DAY, *OWN, *ANSWERS)
    started = [sys.executable, "-m", "rewriteguard", "evaluate", *map(str, (few, "--out", out, *settings))]
    environment = {**os.environ, "HANGS_AT": str(hangs_at), "PYTHONPATH": str(Path(rewriteguard.__file__).parents[1])}
    process = subprocess.Popen(started, stderr=subprocess.PIPE, env=environment, cwd=application)
    while process.poll() is None and not (asked.exists() and len(asked.read_text().splitlines()) == hangs_at):
        time.sleep(0.005)
    process.kill()
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said.decode()
    before, answered = asked.read_text().splitlines(), rows(journal, "answer")
    assert whole / 2 <= len(journalled(journal)) < whole
    assert journalled(journal)[-1][0] == "answer"
    assert not (out / "report.json").exists()

    done = run(few, out, *OWN, *ANSWERS, corpus=False)
    assert done.exit_code == 0, done.stderr
    for name in (*REPORTS, "policy.live.toml", "rules.sha256"):
        assert (out / name).read_bytes() == (own / name).read_bytes(), name
    assert len(journalled(journal)) == whole
    after = asked.read_text().splitlines()[len(before) :]
    kept = {f"rewriter: {case_of(each['case']).original}" for each in answered}
    assert kept
    assert kept.isdisjoint(after)  # not even that of the case whose arms had not all ended
    answers = sum(each["answer"] is not None for each in rows(journal, "outcome"))
    asked_again = sum(line.startswith("answer") for line in before + after) - answers
    assert asked_again in (0, 1)  # the one that was under way when the process was killed


# Planted faults: rewriters made of what people wrote


EXPANSION = ", according to the backup service?"


def planted(guard: Guard) -> list[Case]:
    """The cases with rewrites of one that is careful, one that loses dates and a harmless expander."""

    def made(case: Case) -> Case:
        human = case.human or ""
        rewrites = {
            "careful": (human,),
            "dateless": (without_dates(human, guard),),
            "expander": (human.rstrip("?") + EXPANSION,),
        }
        return replace(case, rewrites=rewrites, slices=())

    return [made(case) for case in known()]


def without_dates(text: str, guard: Guard) -> str:
    for token in reversed([token for token in guard.extract(text) if token.kind is Kind.TIME]):
        text = text[: token.start] + text[token.end :]
    return " ".join(text.split())


def evaluated(cases: Sequence[Case], search: Any, labels: Sequence[str], **more: Any) -> Evaluation:
    settings = {"rules": Rules.load(RULES), "k": 3, "budget": 18, "reference_date": DAY, **more}
    return evaluate(cases, search, dict.fromkeys(labels, "recorded"), **settings)


@pytest.fixture(scope="module")
def faults() -> Evaluation:
    cases = planted(default_guard())
    return evaluated(cases, Corpus.read(CORPUS), sorted(cases[0].rewrites))


NAMED = ("dates", "exclusions", "error codes", "versions", "follow-ups", "complete questions")


def test_a_careful_rewriter_ships(faults: Evaluation) -> None:
    assert {name: of(faults, "careful")[name] for name in NAMED} == dict.fromkeys(NAMED, Release.SHIP)


def test_a_rewriter_that_loses_every_date_fails_the_dates_and_ships_in_others(faults: Evaluation) -> None:
    made = of(faults, "dateless")
    assert [name for name in NAMED if made[name] is not Release.SHIP] == ["dates", "follow-ups"]
    (dates,) = [each for each in faults.decisions if (each.rewriter, each.group) == ("dateless", "dates")]
    assert {"rewrite.critical_completeness", "rewrite.regression"} <= set(dates.decided_by)


def test_a_harmless_expander_ships_where_the_careful_one_does(faults: Evaluation) -> None:
    assert of(faults, "expander") == of(faults, "careful")


def test_an_arm_that_leaks_is_vetoed_and_named(example: Done) -> None:
    """Where the hasty rewriter asks what partners pay, its rewrite alone finds it, and the guarded arm does not."""
    told = [each for each in report(example.out)["releases"] if each["rewriter"] == "hasty-1"]
    vetoed = [each["group"] for each in told if each["enforced"] and "rewrite.unauthorised" in each["decided_by"]]
    assert vetoed == ["complete questions"]
    assert releases(example.out, "hasty-1")["complete questions"] == "fuse"
    page, text = ((example.out / name).read_text("utf-8") for name in ("report.html", "report.md"))
    assert "| rewrite | `hasty-1` | unauthorised | `seats-1` | `partner-prices` | 1 |" in text
    assert "partner-prices" in page


def test_strict_rules_pass_where_all_that_was_asked_ships(faults: Evaluation) -> None:
    rules = replace(faults.rules, accept=(Release.SHIP,))
    by_label = {
        label: [each for each in faults.decisions if each.rewriter == label] for label in faults.results.rewriters
    }
    assert {label: is_accepted(made, rules) for label, made in by_label.items()} == {
        "careful": True,
        "dateless": False,
        "expander": True,
    }


def test_a_document_that_every_arm_gets_puts_the_rewriter_out_and_is_named(tmp_path: Path) -> None:
    cases = [
        replace(case, slices=(), forbidden=("pay-card",) if case.id == "errors-3" else ())
        for case in known()
        if case.conversation in ("errors", "signed-out", "releases", "installing")
    ]
    path, out = tmp_path / "cases.jsonl", tmp_path / "out"
    write_cases(path, cases)
    assert (
        run(path, out, "--rewriter", "careful-1").exit_code == 1
    )  # whatever is accepted: it leaks without the rewriter
    made = releases(out, "careful-1")
    assert (made["error codes"], made["versions"]) == ("fall_back", "ship")
    text = (out / "report.md").read_text("utf-8")
    assert re.search(r"\| guarded \| `careful-1` \| forbidden \| `errors-3` \| `pay-card` \|", text)
    assert "it happens without the rewriter too: limit the search" in text
    assert "pay-card" in (out / "report.html").read_text("utf-8")
    off = Policy.load(out / "policy.careful-1.toml").classes[2]
    assert (off.name, off.release) == ("error codes", Release.FALL_BACK)


def test_a_changed_index_behind_the_same_name_is_refused(few: Path, tmp_path: Path) -> None:
    index = [Corpus.read(CORPUS)]

    def search(query: str, k: int = 10) -> list[Hit[Any]]:
        return index[0](query, k)

    cases = read_cases(few)[:4]
    first = evaluated(cases, search, ["hasty-1"], out=tmp_path)
    assert evaluated(cases, search, ["hasty-1"], out=tmp_path).to_dict() == first.to_dict()
    index[0] = Corpus([passage for passage in index[0].passages if passage.id != "price-team-2023"])
    with pytest.raises(ConditionsError, match=r"run\.sqlite was made under other conditions: probe: \d of 4 queries"):
        evaluated(cases, search, ["hasty-1"], out=tmp_path)


def test_without_a_date_a_run_that_goes_on_keeps_its_own(few: Path, tmp_path: Path) -> None:
    cases, corpus = read_cases(few)[:4], Corpus.read(CORPUS)
    first = evaluated(cases, corpus, ["hasty-1"], out=tmp_path)
    assert evaluated(cases, corpus, ["hasty-1"], out=tmp_path, reference_date=None).to_dict() == first.to_dict()


# What the decisions do in production


def test_the_policy_asks_the_rewriter_only_where_it_is_not_off(example: Done) -> None:
    policy = Policy.load(example.out / "policy.hasty-1.toml")
    assert {each.name: each.release for each in policy.classes} == {
        name: Release(each) for name, each in releases(example.out, "hasty-1").items()
    }
    asked: list[str] = []

    def rewriter(turn: str, history: Any) -> str:
        asked.append(turn)
        return next(case for case in known() if case.original == turn).rewrites["careful-1"][0]

    corpus = Corpus.read(CORPUS)
    search = GuardedSearch(lambda query, k=18: corpus(query, k), rewriter, policy=policy, key=lambda hit: hit.id)
    classes = {"team-price-5": "follow-ups", "signed-out-2": "error codes", "team-price-2": "dates"}
    off, shipped, fused = (
        search.run(case.original, case.history, reference_date=DAY).decision for case in map(case_of, classes)
    )
    assert [each.request_class for each in (off, shipped, fused)] == list(classes.values())
    assert asked == [case_of("signed-out-2").original, case_of("team-price-2").original]
    assert (off.action, off.reason) == ("fall_back", "skipped")
    assert [each.origin for each in off.queries] == ["original", "carried"]
    assert [each.origin for each in shipped.queries] == ["rewrite"]
    assert [each.origin for each in fused.queries] == ["original", "rewrite", "carried"]


# Several readings


def test_the_guarded_arm_asks_where_the_contract_has_several_readings(example: Done) -> None:
    found = rows(example.out / "run.sqlite", "outcome")
    (asked,) = [each for each in found if each["status"] == "clarified"]
    assert (asked["case"], asked["arm"], asked["rewriter"]) == (AMBIGUOUS, "guarded", "hasty-1")
    assert (asked["candidates"], asked["queries"], asked["results"]) == (["Team", "Studio"], [], [])
    assert not Policy.load(example.out / "policy.hasty-1.toml").clarify  # that is for classes released so
    scores = {
        (each["arm"], each["rewriter"]): each["scores"]["clarification"]
        for each in report(example.out)["results"]["arms"]
    }
    assert (scores["guarded", "hasty-1"]["asked"]["count"], scores["guarded", "hasty-1"]["asked"]["n"]) == (1, 4)
    assert scores["guarded", "hasty-1"]["not_asked"]["count"] == scores["guarded", "hasty-1"]["not_asked"]["n"] == 59
    assert scores["guarded", "careful-1"]["asked"]["count"] == 0


def test_the_tutorial_quotes_this_run(example: Done) -> None:
    page = TUTORIAL.read_text("utf-8")
    results = report(example.out)["results"]
    arms = {(each["arm"], each["rewriter"]): each for each in results["arms"]}
    three = [arms["original", ""]["scores"], *(arms[arm, "hasty-1"]["scores"] for arm in ("rewrite", "guarded"))]
    for name in ("preservation", "completeness"):
        assert " | " + ", ".join(f"{each[name]['count']} of {each[name]['n']}" for each in three) + " |" in page
    alone = arms["rewrite", "hasty-1"]["over_original"]
    assert f"lose {alone['lost']} of the {alone['both'] + alone['lost']} requests that the turn answers" in page
    low, high = (f"{alone['difference'][end]:+.3f}".replace("-", "\N{MINUS SIGN}") for end in ("low", "high"))
    assert f"{alone['difference']['value']:+.3f} ({low} to {high})" in page
    assert f'name = "{Policy.load(example.out / "policy.hasty-1.toml").name}"' in page
    (group,) = [each for each in results["groups"] if each["name"] == "follow-ups" and each["enforced"]]
    kept = {(each["arm"], each["rewriter"]): each["scores"]["preservation"] for each in group["arms"]}
    without, guarded = kept["without_rewrite", ""], kept["guarded", "hasty-1"]
    assert f"({without['count']} of {without['n']})" in page
    assert f"({guarded['count']} of {guarded['n']})" in page


def test_where_asking_is_right_the_release_is_to_ask(tmp_path: Path) -> None:
    case, asked = case_of(AMBIGUOUS), tmp_path / "rules.toml"
    asked.write_text(
        RULES.read_text("utf-8").replace("[default.floors]", "[default.floors]\nclarification = 0.8"), "utf-8"
    )
    cases = [replace(case, id=f"{case.id}-{n}", conversation=str(n), slices=()) for n in range(6)]
    corpus = Corpus.read(CORPUS)
    found = evaluated(cases, corpus, ["hasty-1"], rules=Rules.load(asked))
    assert of(found, "hasty-1")["follow-ups"] is Release.CLARIFY
    (tmp_path / "policy.toml").write_text(found.policy_of("hasty-1"), "utf-8")
    policy = Policy.load(tmp_path / "policy.toml")
    search = GuardedSearch(
        lambda query, k=18: corpus(query, k), case.rewrites["hasty-1"][0], policy=policy, key=lambda hit: hit.id
    )
    decision = search.run(case.original, case.history, reference_date=DAY).decision
    assert (decision.action, decision.candidates) == ("clarify", ("Team", "Studio"))


# The shadow log


@pytest.mark.usefixtures("no_switches")
def test_a_shadow_log_is_drafted_and_evaluated(tmp_path: Path) -> None:
    log, corpus = TripleLog(tmp_path / "triples.jsonl"), Corpus.read(CORPUS)
    rewrites = {case.original: case.rewrites["hasty-1"][0] for case in known()}
    search = GuardedSearch(
        lambda query, k=18: corpus(query, k),
        lambda turn, history: rewrites[turn],
        policy=Policy.observe(),
        telemetry=Telemetry(log=log, rewriter="live-1", session_id=lambda: "talk"),
        key=lambda passage: passage.id,
    )
    talk = [case for case in known() if case.conversation == "team-price"]
    for case in talk:
        search.run(case.original, case.history, reference_date=DAY)
    drafted = tmp_path / "drafted.jsonl"
    done = command("cases", "draft", log.path, "--out", drafted)
    assert (done.exit_code, done.stdout) == (0, "5 drafted, 0 had a contract\n"), done.stderr
    cases = read_cases(drafted)
    assert [case.original for case in cases] == [case.original for case in talk]
    assert [case.rewrites for case in cases[1:]] == [{"live-1": case.rewrites["hasty-1"]} for case in talk[1:]]
    assert cases[1].contract is not None
    assert "2023" in [each.text for each in cases[1].contract.constraints]

    done = run(drafted, tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    told = {each["arm"]: each for each in report(tmp_path / "out")["results"]["arms"] if each["rewriter"] == "live-1"}
    lost, kept = (told[arm]["scores"]["completeness"]["count"] for arm in ("rewrite", "guarded"))
    assert lost < kept
    assert run(log.path, tmp_path / "undrafted").exit_code == 0
