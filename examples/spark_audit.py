"""Checks a log that outgrows one machine: the rewrites of a JSONL log on Spark, through `mapInArrow`.

Run it with: python examples/spark_audit.py LOG.jsonl [--system NAME] [--out FOLDER] (needs Java 17 or 21 and the extra
`spark`). Without a cluster Spark runs in this process and its workers on this machine.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from rewriteguard.audit import check_record_batches

FINDINGS = (
    "id string, verdict string, dependent boolean, faults array<string>, kinds array<string>, violations string, "
    "error string"
)


def check_log(log: DataFrame, system: str | None = None) -> DataFrame:
    """The finding about each row that holds a rewrite; the rows of one conversation are checked in one place."""
    rewrite = col("rewrite") if system is None else col("rewrites")[system]
    names = [
        name for name in ("id", "original", "turn", "history", "reference_date", "conversation") if name in log.columns
    ]
    rows = log.select(*names, rewrite.alias("rewrite")).where("rewrite is not null")
    if "conversation" in names:
        rows = rows.repartition("conversation")  # a history that was read is not read again
    return rows.mapInArrow(check_record_batches, FINDINGS)


def main(argv: Sequence[str] | None = None) -> None:
    """Prints how often each verdict was found, and writes the findings as Parquet where a folder is named."""
    parser = argparse.ArgumentParser(description="Checks the rewrites of a log on Spark.")
    parser.add_argument("log", help="JSONL with history, original and rewrite on each line")
    parser.add_argument("--system", help="read rewrites.SYSTEM of each line")
    parser.add_argument("--out", help="folder for the findings")
    options = parser.parse_args(argv)

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers need this environment
    spark = SparkSession.builder.appName("rewriteguard").getOrCreate()
    found = check_log(spark.read.json(options.log), options.system).persist()
    found.groupBy("verdict").count().orderBy("verdict").show()
    if options.out:
        found.write.parquet(options.out)
    spark.stop()


if __name__ == "__main__":
    main()
