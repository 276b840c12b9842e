"""Typing log lines at local[2] against ripgrep, which only counts the lines in the same wordings, and a loop over them in Python.

    python tests/bench/logs.py [rounds]

The lines are those of the shipped cases' brokers, again and again. All the fields of every event are made and dropped. ripgrep gets
all wordings as alternatives without their groups' names; Python tries one wording after the other, on a part of the lines. Then the
most memory of 100 MB is held against that of 2 GB, a process of its own for each.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import memory
import sizes

from casebook.formats.broker.log_patterns import patterns
from casebook.machine import places
from casebook.questions.timeline.scans import logs
from casebook.spark import session

ROUNDS, WARMING = sizes.of(5, quick=1), sizes.of(4, quick=1)
MB = 1_000_000
SIZE, SMALL, LARGE, LOOPED = sizes.of((200 * MB, 100 * MB, 2000 * MB, 2 * MB), quick=(20 * MB, 10 * MB, 200 * MB, MB // 5))
DISK = 3
NEEDS = {"rg": "ripgrep"}
OF_RIPGREP, OF_PYTHON, MEMORY = 0.25, 15, 1.2


def corpus(folder: Path, size: int) -> Path:
    """That many bytes of lines, as three brokers' logs one after the other."""
    found = sorted(places.samples_dir().glob("*/brokers/*/logs/*"))
    content = b"".join(path.read_bytes() for path in found)
    target = folder / "server.log"
    with target.open("wb") as log:
        while log.tell() < size:
            log.write(content)
    return target


def alternatives() -> list[str]:
    """Every wording without its ends, its groups' names, and what ripgrep's engine does not know: some escapes, looking ahead.

    Those that span lines are left out: it reads one line at a time; so are the few that look ahead or behind over groups.
    """
    plain = (re.sub(r"\(\?P<\w+>", "(?:", pattern.regex.removeprefix("^").removesuffix("$")) for pattern in patterns())
    seen = (re.sub(r"\(\?<?[=!](?:\[[^\]]*\]|\\.|[^()\[\\])*\)", "", regex) for regex in plain)
    lines = (regex for regex in seen if r"\n" not in regex.replace(r"[^\n]", "") and not re.search(r"\(\?<?[=!]", regex))
    return [re.sub(r"\\([\"'/])", r"\1", regex) for regex in lines]


def typed(spark: object, log: Path) -> None:
    """Make every row with all its columns, and drop it."""
    logs.logs(spark, log).write.format("noop").mode("overwrite").save()


def ripgrep(log: Path, wordings: Path) -> None:
    """Count the lines that are in any of the wordings."""
    command = [
        "rg",
        "--no-config",
        "--text",
        "--count",
        "--regex-size-limit",
        "2G",
        "--dfa-size-limit",
        "2G",
        "--file",
        wordings,
        log,
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def loop(log: Path) -> None:
    """Try one wording after the other on every line, and keep the first one's fields."""
    wordings = [re.compile(pattern.regex) for pattern in patterns()]
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            next((found.groupdict() for wording in wordings if (found := wording.search(line))), None)


def rate(size: int, work: Callable[[], None]) -> float:
    """MB a second."""
    began = time.perf_counter()
    work()
    return size / MB / (time.perf_counter() - began)


def main() -> None:
    """Take turns, print medians and the ratios of the rounds, fail below the bounds."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    with tempfile.TemporaryDirectory() as place:
        log, wordings = corpus(Path(place), SIZE), Path(place, "wordings")
        part = Path(place, "part.log")
        part.write_bytes(log.read_bytes()[:LOOPED])
        wordings.write_text("\n".join(alternatives()))
        spark = session()
        for _ in range(WARMING):
            typed(spark, log)
        works = ((SIZE, lambda: typed(spark, log)), (SIZE, lambda: ripgrep(log, wordings)), (LOOPED, lambda: loop(part)))
        rates = [[rate(size, work) for size, work in works] for _ in range(rounds)]
    ours, theirs, looped = (median(column) for column in zip(*rates, strict=True))
    of_ripgrep, of_python = median(r[0] / r[1] for r in rates), median(r[0] / r[2] for r in rates)
    print(f"typed {ours:.0f} MB/s; ripgrep {theirs:.0f} MB/s, ratio {of_ripgrep:.2f} (bound: {OF_RIPGREP})")
    print(f"Python's re {looped:.2f} MB/s, ratio {of_python:.0f} (bound: {OF_PYTHON})")
    grown = peak(LARGE) / peak(SMALL)
    print(f"memory of {LARGE // MB} MB against {SMALL // MB} MB: {grown:.2f} (bound: {MEMORY})")
    if of_ripgrep < OF_RIPGREP or of_python < OF_PYTHON or grown > MEMORY:
        sizes.beyond("Beyond a bound.")


def peak(size: int) -> float:
    """The JVM's most memory, in MB, of a scan in a process of its own."""
    said = subprocess.run([sys.executable, __file__, "scan", str(size)], check=True, stdout=subprocess.PIPE, text=True)
    print(f"{size // MB} MB of logs: {float(said.stdout):.0f} MB", flush=True)
    return float(said.stdout)


def scan(size: int) -> None:
    """Scan; print the JVM's peak."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    with tempfile.TemporaryDirectory() as place:
        log = corpus(Path(place), size)
        spark = session()
        typed(spark, log)
        print(memory.peak(spark._jvm.java.lang.ProcessHandle.current().pid()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["scan"]:
        scan(int(sys.argv[2]))
    else:
        main()
