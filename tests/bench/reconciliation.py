"""Reconciling a ledger with stored records against the join that a good Spark user would write, in turns at local[2].

    python tests/bench/reconciliation.py [rows ...]

Both sides are generated once: ids as applications make them, twelve partitions, one in a thousand sends reported failed, thirty
records lost. The plain join tells stored from missing; ours tells every verdict. Each runs in a process of its own, so that its
memory is seen: of its JVM and its Python together. The time of a row holds compiling, of which few rows have more to bear.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

import sizes

from casebook import spark as scans
from casebook.facts.records import Limits, RecordVerdict
from casebook.questions.loss.analysis.loss import verdict
from casebook.questions.loss.scans.reconciliation import Reconciliation
from tests.bench.memory import peak

SIZES, ROUNDS, PARTITIONS, LOST = sizes.of((1_000_000, 10_000_000, 100_000_000), quick=(100_000,)), sizes.of(3, quick=1), 12, 30
DISK = 20
T0 = 1_795_168_800_000
SPEED, MEMORY, GROWTH = 1.0, 6000, 1.2
"""Bounds: times as fast as the plain join, for the most rows; MB; the time of a row as a multiple of that with the fewest."""
_ONCE = 100_000_000
_ROWS_A_TASK = 500_000


class Measured(NamedTuple):
    """Medians for so many rows a side."""

    row: float
    memory: float
    ratio: float


def main() -> None:
    """Measure, print, fail beyond a bound."""
    found = [measured(int(float(rows))) for rows in sys.argv[1:] or SIZES]
    first, last = found[0], found[-1]
    if last.ratio < SPEED or max(of.memory for of in found) > MEMORY or last.row > GROWTH * first.row:
        sizes.beyond(f"Beyond a bound: {SPEED} times as fast, {MEMORY} MB, {GROWTH} times the time of a row.")


def measured(rows: int) -> Measured:
    """Ours and the plain join in turns."""
    with tempfile.TemporaryDirectory() as folder:
        _of_its_own(folder, rows, "generate")
        rounds = ROUNDS if rows < _ONCE else 1
        turns = [[_of_its_own(folder, rows, which) for which in ("ours", "plain")] for _ in range(rounds)]
    for which, ran in zip(("ours", "plain join"), zip(*turns, strict=True), strict=True):
        seconds, memory = (median(one[of] for one in ran) for of in ("seconds", "megabytes"))
        print(f"{which}: {rows:,} rows a side in {seconds:.1f} s, {1e6 * seconds / rows:.2f} us a row, {memory:.0f} MB")
    ratio = median(plain["seconds"] / ours["seconds"] for ours, plain in turns)
    print(f"{ratio:.2f} times as fast as the plain join", flush=True)
    ours = [turn[0] for turn in turns]
    return Measured(median(one["seconds"] for one in ours) / rows, max(one["megabytes"] for one in ours), ratio)


def _of_its_own(folder: str, rows: int, which: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--in", folder, str(rows), which]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def _inside(folder: str, rows: int, which: str) -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[2] --conf spark.local.dir={folder} pyspark-shell"
    spark = scans.session()
    if which == "plain":  # ours sees by itself how many tasks it needs
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
    limits = [
        Limits("orders", number, "broker 1", 0, rows // PARTITIONS + 1, T0, T0 + rows, False) for number in range(PARTITIONS)
    ]
    ledger, stored = spark.read.parquet(f"{folder}/ledger"), spark.read.parquet(f"{folder}/stored")
    with tempfile.TemporaryDirectory(dir=folder) as out:
        asked = Reconciliation(
            spark=spark, ledger=ledger, stored=stored, limits=limits, partitions={"orders": PARTITIONS}, folder=Path(out)
        )
        found = asked.counts()
    assert sum(row.records for row in found if verdict(row.signature) is RecordVerdict.LOST) == _lost(rows)


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
