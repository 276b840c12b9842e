"""Reconciling a ledger with stored records against the join that a good Spark user would write, in turns at local[2].

    python tests/bench/reconciliation.py [rows [rounds]]

Both sides are generated once: ids as applications make them, twelve partitions, one in a thousand sends reported failed, thirty
records lost. The plain join tells stored from missing; ours tells every verdict. Each runs in a process of its own, so that its
memory is seen.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from casebook import scans
from casebook.analysis.loss import verdict
from casebook.loss import Limits, Verdict
from casebook.scans.reconciliation import Reconciliation
from tests.bench.memory import peak

ROWS, ROUNDS, PARTITIONS, LOST = 10_000_000, 3, 12, 30
T0 = 1_795_168_800_000
BOUND = 1.0
_ROWS_A_TASK = 500_000


def main() -> None:
    """Measure, print, fail below the bound."""
    rows, rounds = (
        int(float(given)) if given else usual for given, usual in zip([*sys.argv[1:], "", ""], (ROWS, ROUNDS), strict=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        _of_its_own(folder, rows, "generate")
        found = [[_of_its_own(folder, rows, which) for which in ("ours", "plain")] for _ in range(rounds)]
    for place, which in enumerate(("ours", "plain join")):
        seconds, memory = (median(turn[place][of] for turn in found) for of in ("seconds", "megabytes"))
        print(f"{which}: {rows:,} rows a side in {seconds:.1f} s, {1e6 * seconds / rows:.2f} us a row, {memory:.0f} MB")
    ratio = median(plain["seconds"] / ours["seconds"] for ours, plain in found)
    print(f"{ratio:.2f} times as fast as the plain join (bound: {BOUND})")
    if ratio < BOUND:
        sys.exit("Below the bound.")


def _of_its_own(folder: str, rows: int, which: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--in", folder, str(rows), which]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def _inside(folder: str, rows: int, which: str) -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[2] --conf spark.local.dir={folder} pyspark-shell"
    spark = scans.session()
    spark.conf.set("spark.sql.shuffle.partitions", str(max(2, 2 * rows // _ROWS_A_TASK)))
    began = time.perf_counter()
    {"generate": _generate, "ours": _ours, "plain": _plain}[which](spark, folder, rows)
    seconds = time.perf_counter() - began
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    print(json.dumps({"seconds": seconds, "megabytes": peak("self") + peak(jvm)}))


def _generate(spark, folder: str, rows: int) -> None:
    failed, lost = "id % 1000 = 7", f"id % {rows // LOST} = 5"
    place = ["'orders' AS topic", f"CAST(id % {PARTITIONS} AS int) AS partition", f"id DIV {PARTITIONS} AS offset"]
    at = f"timestamp_millis({T0} + id DIV 100) AS at"
    numbers = spark.range(rows)
    numbers.selectExpr(
        "concat('order-', id) AS id", *place, at,
        f"IF({failed}, 'failed', 'acked') AS outcome", "'1' AS acks", "CAST(NULL AS string) AS key", "'billing' AS producer",
    ).write.parquet(f"{folder}/ledger")  # fmt: skip
    numbers.where(f"NOT ({failed}) AND NOT ({lost})").selectExpr(
        "concat('order-', id) AS id", *place, at, "xxhash64(id) AS key", "false AS tombstone", "'data' AS state",
        "7 AS leader_epoch",
    ).write.parquet(f"{folder}/stored")  # fmt: skip


def _ours(spark, folder: str, rows: int) -> None:
    limits = [Limits("orders", number, "broker 1", 0, rows, T0, T0 + rows, False) for number in range(PARTITIONS)]
    ledger, stored = spark.read.parquet(f"{folder}/ledger"), spark.read.parquet(f"{folder}/stored")
    found = Reconciliation(spark=spark, ledger=ledger, stored=stored, limits=limits, partitions={"orders": PARTITIONS}).counts()
    assert sum(row.records for row in found if verdict(row.signature) is Verdict.LOST) == _lost(rows)


def _plain(spark, folder: str, rows: int) -> None:
    ledger, stored = spark.read.parquet(f"{folder}/ledger"), spark.read.parquet(f"{folder}/stored")
    both = ledger.alias("l").join(stored.alias("s"), ["topic", "id"], "full_outer")
    told = both.selectExpr("coalesce(l.partition, s.partition) AS partition", "outcome", "state IS NOT NULL AS stored")
    found = told.groupBy("partition", "outcome", "stored").count().collect()
    assert sum(row["count"] for row in found if row.outcome == "acked" and not row.stored) == _lost(rows)


def _lost(rows: int) -> int:
    return sum(number % 1000 != 7 for number in range(5, rows, rows // LOST))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in"]:
        _inside(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
