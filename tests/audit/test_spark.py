"""The Spark example on real conversations gives the findings of one by one; `make spark` runs it."""

import importlib.util
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewriteguard import Guard
from rewriteguard.audit.arrow import RESULT_SCHEMA

pyspark_sql = pytest.importorskip("pyspark.sql", reason="the extra `spark` is not installed")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]

SYSTEM = "mtrag_official_mixtral-8x7b"
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_audit.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("spark_audit", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    session = pyspark_sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()
    patch.undo()


def expected(guard: Guard, row: dict[str, Any]) -> dict[str, Any]:
    found = guard.check(row["original"], row["rewrites"][SYSTEM], row["history"])
    return {
        "id": row["id"],
        "verdict": found.verdict.value,
        "dependent": found.dependent,
        "faults": sorted({v.fault.value for v in found.violations}),
        "kinds": sorted({v.kind.value for v in found.violations if v.kind}),
        "violations": json.dumps([v.to_dict() for v in found.violations]),
        "error": None,
    }


def test_spark_finds_what_one_process_finds(guard: Guard, shared: Path, spark: Any, example: Any) -> None:
    path = shared / "data" / "conversations" / "mtrag.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    wanted = {row["id"]: expected(guard, row) for row in rows if row["rewrites"].get(SYSTEM)}
    found = [row.asDict() for row in example.check_log(spark.read.json(str(path)), SYSTEM).collect()]
    assert len(found) == len(wanted) > 300
    assert {row["id"]: row for row in found} == wanted


def test_a_bad_row_stops_no_job(spark: Any, example: Any) -> None:
    rows = [("a", "Is bay 3 free?", "Is bay 3 free?", None), ("b", None, "Is bay 3 free?", None)]
    log = spark.createDataFrame(rows, "id string, original string, rewrite string, history string")
    found = {row.id: row for row in example.check_log(log).collect()}
    assert (found["a"].verdict, found["a"].error) == ("preserved", None)
    assert found["b"].verdict is None
    assert "without 'original' and 'turn'" in found["b"].error


def test_the_columns_of_the_example_are_those_of_the_schema(spark: Any, example: Any) -> None:
    empty = spark.createDataFrame([], example.FINDINGS)
    assert empty.columns == RESULT_SCHEMA.names
