"""Damaged and made-up segments within a budget of time: no crash, no hang, no silent end, nothing lost that is whole.

    python tests/bench/fuzz.py [seconds] [seed]

Half of the time Jazzer, led by the code that is reached, makes up bytes whose checksums fit; the other half our own fuzzer
(``tests/scans/jvm/Fuzz.java``) damages sound segments, one in ten with large batches, with a seed that is said.
"""

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import fetched
import java_programs
import sizes

SECONDS = sizes.of(120, quick=10)
ROUND = sizes.of(5_000, quick=500)
NEEDS = {"javac": "a JDK"}
FETCHES = ("jazzer",)
CONTENTS = ("200", "300", "100", "900", "50")
"""Bytes of the records of the batches of a sound segment."""


def main() -> None:
    """Compile, write sound segments, and let both loose on them."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    with tempfile.TemporaryDirectory() as scratch:
        classes, written = Path(scratch, "classes"), Path(scratch, "written")
        written.mkdir()
        path = java_programs.compiled(classes)
        java_programs.run(["java"], path, ["Corpus", written, seed, *CONTENTS])
        segments = sorted(written.glob("*/*.log"))
        by_jazzer(path, segments, seconds / 2, scratch)
        by_ours(path, segments, seconds / 2, seed)


def by_jazzer(path: Sequence[Path], segments: Sequence[Path], seconds: float, scratch: str) -> None:
    """Print how many inputs Jazzer made up. Each file that it found worth keeping stays in the temporary folder only."""
    corpus = Path(scratch, "corpus")
    corpus.mkdir()
    for number, segment in enumerate(segments):
        shutil.copy(segment, corpus / str(number))
    jazzer = fetched.fetch(fetched.JAZZER, "Jazzer")
    said = java_programs.run(
        ["java", "-Xmx512m", "-XX:+UseSerialGC"],
        (*jazzer, *path),
        (
            "com.code_intelligence.jazzer.Jazzer",
            "--target_class=Jazz",
            "--instrumentation_includes=casebook.**:org.apache.kafka.common.**",
            f"-max_total_time={seconds:.0f}",
            corpus,
        ),
        cwd=scratch,
    )
    print("Jazzer:", next(line for line in said.splitlines() if line.startswith("Done ")))


def by_ours(path: Sequence[Path], segments: Sequence[Path], seconds: float, seed: int) -> None:
    """Print how many files our fuzzer damaged, and the seeds."""
    until, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        java_programs.run(["java", "-Xmx256m", "-XX:+UseSerialGC"], path, ("Fuzz", ROUND, seed + rounds, 10, *segments))
        rounds += 1
    print(f"Fuzz: {rounds * ROUND} files, seeds {seed} to {seed + rounds - 1}")


if __name__ == "__main__":
    main()
