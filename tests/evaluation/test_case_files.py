"""Files of cases: every form that is read, what is written, what the errors name, and the schema in step."""

import csv
import json
import subprocess
import sys
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case_sample import BARE, FULL
from rewriteguard import Guard, Telemetry, TripleLog, safe_rewrite
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.files import read_cases, write_cases
from rewriteguard.evaluation.cases.rows import FIELDS, case_of, row_of, schema
from rewriteguard.evaluation.errors import CaseError
from rewriteguard.model.tokens import Kind


def jsonl(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def table(tmp_path: Path, *rows: list[str]) -> Path:
    path = tmp_path / "cases.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.csv", "CASES.CSV"])
@pytest.mark.parametrize("cases", [[FULL, BARE], [BARE]])
def test_what_was_written_is_read_again(tmp_path: Path, name: str, cases: list[Case]) -> None:
    path = tmp_path / name
    write_cases(path, cases)
    assert read_cases(path) == cases


def test_the_full_case_leaves_no_field_out() -> None:
    assert [f.name for f in fields(Case) if getattr(FULL, f.name) == getattr(BARE, f.name)] == []
    assert set(FIELDS) == {f.name for f in fields(Case)} | {"domain"}


def test_half_a_surrogate_pair_is_kept_in_jsonl_and_refused_in_csv(tmp_path: Path) -> None:
    case = replace(BARE, original="Is caf\ud800 open?")
    write_cases(tmp_path / "cases.jsonl", [case])
    assert read_cases(tmp_path / "cases.jsonl") == [case]
    with pytest.raises(CaseError, match=r"cases.csv: .* is not text; write JSONL"):
        write_cases(tmp_path / "cases.csv", [case])


def test_a_null_and_an_empty_cell_are_absent(tmp_path: Path) -> None:
    rows = [row_of(BARE) | {name: None for name in FIELDS if name not in ("id", "original")}]
    assert read_cases(jsonl(tmp_path, *rows)) == [BARE]
    assert read_cases(table(tmp_path, list(FIELDS), ["7", "Is it open?", *[""] * (len(FIELDS) - 2)])) == [BARE]


def test_a_case_loads_no_reader() -> None:
    code = "import sys; import rewriteguard.evaluation.cases.case; assert not {'pydantic', 'spacy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_blank_words_are_not_unresolved() -> None:
    case = case_of({"id": "7", "original": "Is it open?", "contract": {"unresolved": " \n"}})
    assert case.contract == Contract(unresolved="")


def test_a_table_holds_json_in_cells_that_are_no_text(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        ["id", "original", "turn", "relevant", "rewrites", "contract"],
        ["7", "Is it open\nnow?", "3", '["d1"]', '{"a": "x"}', '{"constraints": [{"kind": "time", "text": "now"}]}'],
        ["08", "Why?"],
    )
    first, second = read_cases(path)
    assert (first.turn, first.relevant, first.rewrites) == (3, ("d1",), {"a": ("x",)})
    assert first.contract == Contract((Constraint(Kind.TIME, "now"),))
    assert second == Case(id="08", original="Why?")


@pytest.mark.parametrize(
    "history",
    [
        [{"role": "user", "text": "The quay?"}, {"role": "assistant", "text": "In Burford."}],
        [{"role": "human", "content": "The quay?"}, {"role": "ai", "content": "In Burford."}],
        [["user", "The quay?"], ["assistant", "In Burford."]],
        [["The quay?", "In Burford."]],
    ],
)
def test_history_is_read_in_every_form(history: Any) -> None:
    case = case_of({"id": "7", "original": "Is it open?", "history": history})
    assert case.history == (("user", "The quay?"), ("assistant", "In Burford."))


def test_a_retrieval_set_is_read(shared: Path) -> None:
    for name, size in (("mtrag", 396), ("qrecc", 1742)):
        path = shared / "data" / "retrieval" / name / "queries.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        cases = read_cases(path)
        assert len(cases) == size
        assert [case.id for case in cases] == [row["id"] for row in rows]
        assert [case.relevant for case in cases] == [tuple(row["relevant"]) for row in rows]
        assert [dict(case.rewrites) for case in cases] == [{k: (v,) for k, v in r["rewrites"].items()} for r in rows]
        assert [case.slices for case in cases] == [(row["domain"],) if "domain" in row else () for row in rows]


def test_a_triple_log_is_read(tmp_path: Path, guard: Guard, no_switches: None) -> None:
    log = TripleLog(tmp_path / "triples.jsonl")
    telemetry = Telemetry(log=log, rewriter="condense-v3", session_id="4711")
    talk = [("user", "Where is the quay?"), ("assistant", "In Burford.")]
    keywords: dict[str, Any] = {"guard": guard, "telemetry": telemetry, "reference_date": date(2022, 3, 4)}
    safe_rewrite("Is it open?", lambda turn: "Is the quay open?", talk, **keywords)
    safe_rewrite("Is it open?", lambda turn: 1 / 0, talk, **keywords)
    telemetry.log_answer("some id", "From nine to five.")
    assert log.path.read_text("utf-8").count("\n") == 3
    with log.path.open("a", encoding="utf-8") as file:
        file.write('{"id": "cut o')
    first, second = read_cases(log.path)
    assert (first.original, first.history, first.conversation) == ("Is it open?", tuple(talk), "4711")
    assert first.rewrites == {"condense-v3": ("Is the quay open?",)}
    assert (first.asked, first.reference_date, first.contract) == (date(2022, 3, 4), date(2022, 3, 4), None)
    assert (second.rewrites, second.answer) == ({}, None)


def logged(**more: Any) -> dict[str, Any]:
    return {"id": "t", "capture": "full", "verdict": "changed", "original": "Is it open?", "history": [], **more}


def test_searches_of_one_trace_are_cases_of_their_own(tmp_path: Path) -> None:
    rows = [logged(rewrite=["a", "b"]), logged(rewriter="v3", rewrite="c"), logged()]
    cases = read_cases(jsonl(tmp_path, *rows))
    assert [case.id for case in cases] == ["t", "t#2", "t#3"]
    assert [case.rewrites for case in cases] == [{"default": ("a", "b")}, {"v3": ("c",)}, {}]


def test_several_files_are_one_set(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    first, second = jsonl(tmp_path, row_of(BARE)), jsonl(tmp_path / "b", row_of(FULL))
    assert read_cases(first, second) == [BARE, FULL]
    with pytest.raises(CaseError, match=f"b/cases.jsonl, line 1: id: '7' is the id of {first}, line 1 too"):
        read_cases(first, jsonl(tmp_path / "b", row_of(BARE)))


GOOD = {"id": "7", "original": "Is it open?"}
BAD = [
    ({"id": "7"}, "original: missing"),
    ({"original": "a", "id": None}, "id: missing"),
    (GOOD | {"id": 7}, "id: expected text, got a number"),
    (GOOD | {"original": " "}, "original: expected text, got none"),
    (GOOD | {"contrct": {}}, "contrct: unknown field; did you mean 'contract'?"),
    (GOOD | {"unauthorized": []}, "unauthorized: unknown field; did you mean 'unauthorised'?"),
    (GOOD | {"zzz": 1}, "zzz: unknown field; expected one of id, original, history"),
    (GOOD | {"contract": {"constraint": []}}, "contract.constraint: unknown field; did you mean 'constraints'?"),
    (GOOD | {"contract": []}, "contract: expected an object, got a list"),
    (
        GOOD | {"contract": {"constraints": [{"kind": "tiem", "text": "now"}]}},
        "contract.constraints[0].kind: expected one of time, entity, ",
    ),
    (
        GOOD | {"contract": {"constraints": [{"kind": "time", "text": "a"}, {"text": "b"}]}},
        "constraints[1].kind: missing",
    ),
    (
        GOOD | {"contract": {"constraints": [{"kind": "time", "text": "a", "critical": "no"}]}},
        "critical: expected true",
    ),
    (GOOD | {"contract": {"constraints": [{"kind": "time", "text": "a", "forms": [5]}]}}, "forms[0]: expected text"),
    (GOOD | {"contract": {"reference_date": "4 May"}}, "contract.reference_date: expected YYYY-MM-DD, got '4 May'"),
    (GOOD | {"contract": {"reference_date": "2023-02-31"}}, "contract.reference_date: expected YYYY-MM-DD"),
    (GOOD | {"contract": {"readings": ["a"]}}, "contract.readings: readings of what?"),
    (GOOD | {"contract": {"unresolved": " ", "readings": ["a"]}}, "contract.readings: readings of what?"),
    (GOOD | {"history": [{"role": "narrator", "text": "a"}]}, "history[0]: unknown role 'narrator'"),
    (GOOD | {"history": "User: hi"}, "history: one string does not say who spoke"),
    (GOOD | {"context": {"plan": 5}}, "context.plan: expected text, got a number"),
    (GOOD | {"rewrites": ["a"]}, "rewrites: expected an object, got a list"),
    (GOOD | {"rewrites": {"a": []}}, "rewrites.a: expected at least 1 item, got 0"),
    (GOOD | {"rewrites": {"": "b"}}, "rewrites: expected a name"),
    (GOOD | {"relevant": "d1"}, "relevant: expected a list, got text"),
    (GOOD | {"relevant": ["d1", "d1"]}, "relevant[1]: 'd1' stands in the list before"),
    (GOOD | {"turn": 0}, "turn: expected a whole number from 1, got 0"),
    (GOOD | {"turn": True}, "turn: expected a whole number from 1, got True"),
    (GOOD | {"turn": 1.5}, "turn: expected a whole number from 1, got 1.5"),
]
BEYOND_THE_SCHEMA = [
    (GOOD | {"relevant": ["d1"], "forbidden": ["d2", "d1"]}, "forbidden[1]: 'd1' is under relevant too"),
    (GOOD | {"relevant": ["d1"], "near_misses": ["d1"]}, "near_misses[0]: 'd1' is under relevant too"),
    (logged(capture="hash"), "capture: it was logged with 'hash', so that there are no words to read"),
    (logged(original=None), "original: missing"),
    (logged(rewrite=5), "rewrite: expected a list, got a number"),
]


@pytest.mark.parametrize(("row", "message"), BAD + BEYOND_THE_SCHEMA)
def test_an_error_names_file_line_and_field(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = jsonl(tmp_path, row_of(FULL), "", row)
    with pytest.raises(CaseError) as raised:
        read_cases(path)
    assert str(raised.value).startswith(f"{path}, line 3: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["[1]"], "line 1: expected a JSON object, got a list"),
        ([json.dumps(GOOD), '{"id": '], "line 2: not JSON"),
        ([json.dumps(GOOD), json.dumps(GOOD)], r"line 2: id: '7' is the id of .*cases.jsonl, line 1 too"),
        ([""], "cases.jsonl: no case in it"),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read_cases(jsonl(tmp_path, *lines))


def test_a_repeated_name_hides_nothing(tmp_path: Path) -> None:
    twice = '{"id": "8", "original": "a", "contract": {"must_preserve": ["x"]}, "contract": {}}'
    for first in (json.dumps(GOOD), json.dumps(logged())):  # what a log leaves out is an unfinished line alone
        with pytest.raises(CaseError, match=r"cases\.jsonl, line 2: contract: one object holds it twice"):
            read_cases(jsonl(tmp_path, first, twice))
    cell = '{"must_preserve": ["x"], "must_preserve": []}'
    with pytest.raises(CaseError, match=r"cases\.csv, line 2: contract: must_preserve: one object holds it twice"):
        read_cases(table(tmp_path, ["id", "original", "contract"], ["8", "a", cell]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["id", "orignal"], ["7", "a"]], "line 1: orignal: unknown field; did you mean 'original'?"),
        ([["id", "id"], ["7", "a"]], "line 1: id: the header names it twice"),
        ([["id", "original"], ["7", "a\nb"], ["8", "a", "c"]], "line 4: 3 cells under 2 names"),
        ([["id", "original", "relevant"], ["7", "a", "d1;d2"]], "line 2: relevant: expected JSON, got 'd1;d2'"),
        ([["id", "original", "relevant"], ["7", "a", '"d1"']], "line 2: relevant: expected a list, got text"),
        ([["id", "original", "turn"], ["7", "a\nb", "1"], ["8", "a", "x"]], "line 4: turn: expected JSON, got 'x'"),
    ],
)
def test_errors_of_a_table_name_the_line_where_the_row_starts(tmp_path: Path, rows: Any, message: str) -> None:
    with pytest.raises(CaseError) as raised:
        read_cases(table(tmp_path, *rows))
    assert f"cases.csv, {message}" in str(raised.value)


def test_a_table_that_is_broken_or_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text('id,original\n7,"open\n', "utf-8")
    with pytest.raises(CaseError, match="line 2: not CSV"):
        read_cases(path)
    path.write_bytes(b"id,original\n7,caf\xe9\n")
    with pytest.raises(CaseError, match="not UTF-8"):
        read_cases(path)


def test_a_table_holds_cells_of_any_length(tmp_path: Path) -> None:
    long = replace(BARE, history=(("user", "x" * 200_000), ("assistant", "y")))
    limit = csv.field_size_limit()
    write_cases(tmp_path / "cases.csv", [long, FULL])
    assert read_cases(tmp_path / "cases.csv") == [long, FULL]
    with pytest.raises(CaseError, match="original: missing"):
        read_cases(table(tmp_path, ["id"], ["7"]))
    assert csv.field_size_limit() == limit


def test_a_number_of_too_many_digits(tmp_path: Path) -> None:
    digits = "1" * 5000
    with pytest.raises(CaseError, match=r"cases\.csv, line 2: turn: a number has too many digits"):
        read_cases(table(tmp_path, ["id", "original", "turn"], ["7", "a", digits]))
    with pytest.raises(CaseError, match=r"cases\.jsonl, line 1: .*a number has too many digits"):
        read_cases(jsonl(tmp_path, f'{{"id": "7", "original": "a", "turn": {digits}}}'))


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    write_cases(path, [FULL])
    with pytest.raises(CaseError, match="is not text"):
        write_cases(path, [BARE, replace(BARE, id="8", original="caf\ud800")])
    assert read_cases(path) == [FULL]
    assert list(tmp_path.iterdir()) == [path]


def test_other_names_are_refused(tmp_path: Path) -> None:
    for name in ("cases.json", "cases"):
        with pytest.raises(CaseError, match=r"expected a name that ends in \.jsonl or \.csv"):
            read_cases(tmp_path / name)
        with pytest.raises(CaseError, match=r"expected a name that ends in \.jsonl or \.csv"):
            write_cases(tmp_path / name, [BARE])


VALIDATOR = jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def read(row: Any) -> bool:
    try:
        case_of(row)
    except CaseError:
        return False
    return True


def test_the_schema_is_one_and_names_the_fields_that_are_read() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    assert tuple(VALIDATOR.schema["properties"]) == FIELDS
    parts = VALIDATOR.schema["$defs"]
    for of, name in ((Contract, "ContractFields"), (Constraint, "ConstraintFields")):
        assert list(parts[name]["properties"]) == [f.name for f in fields(of)]
    assert parts["Kind"]["enum"] == list(Kind)
    for part in (VALIDATOR.schema, parts["ContractFields"], parts["ConstraintFields"]):
        assert [name for name, said in part["properties"].items() if not said.get("description")] == []


def test_the_schema_takes_what_is_written() -> None:
    for case in (FULL, BARE):
        VALIDATOR.validate(row_of(case))


@pytest.mark.parametrize(("row", "message"), BAD)
def test_the_schema_refuses_what_the_reader_refuses(row: dict[str, Any], message: str) -> None:
    assert not VALIDATOR.is_valid(row), message


VALUES = st.sampled_from(
    [
        *(None, "", " ", "now", "time", "2024-05-06", "2023-02-31", True, 0, 1, 2.0, 2.5),
        *([], ["a"], ["a", "a"], [5], [None], [{"kind": "time", "text": "now"}]),
        *({}, {"a": "b"}, {"a": ["b"]}, {"": "a"}, {"kind": "time", "text": "now"}),
        *({"unresolved": "it"}, {"readings": ["a"]}, {"unresolved": "it", "readings": ["a"]}),
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


# The forms of a history are Conversation's, which takes more of them than the schema publishes.
PLACES = [
    place for place in places(row_of(FULL) | {"domain": "d"}) if place and place[0] not in ("history", "near_misses")
]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_reader_and_schema_agree_on_a_row_with_one_other_value(data: st.DataObject) -> None:
    row = json.loads(json.dumps(row_of(FULL) | {"domain": "d"}))
    *path, last = data.draw(st.sampled_from(PLACES))
    inner = row
    for key in path:
        inner = inner[key]
    if data.draw(st.booleans()):
        inner[last] = data.draw(VALUES)
    elif isinstance(inner, dict) and data.draw(st.booleans()):
        inner["other"] = data.draw(VALUES)
    else:
        del inner[last]
    assert read(row) == VALIDATOR.is_valid(row)
