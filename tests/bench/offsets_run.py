"""`casebook run 40` on 5 GB of commits as a whole process, start and report included, against dump-log on 200 MB of them.

    python tests/bench/offsets_run.py [rounds]

The log dir is the half gigabyte of ``commits.py`` under many partition numbers, by hard links. Dump-log is extrapolated by bytes.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import commits
import ended
import memory
import peers
import sizes

from casebook.facts.disks import OFFSETS_TOPIC

ROUNDS, GIGABYTES, DUMPED = sizes.of(5, quick=1), sizes.of(5.4, quick=0.5), 2
DISK = 3
BOUND = 10


def main() -> None:
    """Take turns, print medians, fail below the bound."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    dumped = sorted((commits.offsets() / f"{OFFSETS_TOPIC}-0").glob("*.log"))[:DUMPED]
    with tempfile.TemporaryDirectory(dir=commits.HOME) as place:  # hard links need the same file system
        log_dir = Path(place, "logs")
        log_dir.mkdir()
        read = sum(map(commits.size, memory.repeated(GIGABYTES, log_dir)))
        times_more = read / sum(segment.stat().st_size for segment in dumped)
        found = [(run(log_dir, Path(place, str(turn))), timed(peers.dump_log, *dumped)) for turn in range(rounds)]
    ours, theirs = (median(column) for column in zip(*found, strict=True))
    ratio = median(other * times_more / own for own, other in found)
    print(
        f"casebook run 40 on {read / 1e9:.1f} GB: {ours:.0f} s; dump-log: {theirs:.0f} s for a {times_more:.0f}th; ratio {ratio:.1f}"
    )
    if ratio < BOUND:
        sizes.beyond(f"Less than {BOUND} times dump-log's speed.")


def run(log_dir: Path, scratch: Path) -> float:
    """Seconds of a run on a fresh case, which has no scan to take up."""
    case = scratch / "case"
    subprocess.run(
        [*ended.CASEBOOK, "collect", "--log-dirs", f"1={log_dir}", "--out", case], stdout=subprocess.DEVNULL, check=True
    )
    command = [*ended.CASEBOOK, "run", "40", "--source", case, "--runs", scratch / "runs"]
    took = timed(subprocess.run, command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not list(case.rglob("derived/**/*.parquet")):
        raise RuntimeError("Nothing was scanned.")
    return took


def timed(work: object, *arguments: object, **named: object) -> float:
    """Wall seconds."""
    began = time.perf_counter()
    work(*arguments, **named)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
