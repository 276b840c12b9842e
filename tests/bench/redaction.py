"""Secrets out of the lines of brokers' logs as they are, on one core.

    python tests/bench/redaction.py [rounds]

The logs of the samples, four times over: most lines are seen to be plain, the others are judged by all rules. MB a second of
processor time, and for comparison of the same lines passed through Python's own ``re`` once, with a single pattern.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

import sizes

from casebook.collect.redaction import redact_log
from tests.secrets import sentences

ROUNDS = sizes.of(5, quick=1)
PATTERN = re.compile(rb"password|secret|token|credential", re.IGNORECASE)


def main() -> None:
    """Take turns, print medians and the ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    lines = [f"{sentence}\n".encode() for sentence in sentences.real()] * 4
    list(redact_log(lines[:20_000]))
    turns = [(speed(lines, ours), speed(lines, one_pattern)) for _ in range(rounds)]
    mine, theirs = (median(turn[place] for turn in turns) for place in (0, 1))
    print(f"medians of {rounds} rounds in turns, {sum(map(len, lines)) / 1e6:.0f} MB\n")
    print(f"redaction    {mine:6.1f} MB/s\none pattern  {theirs:6.1f} MB/s\nratio        {mine / theirs:6.2f}")


def speed(lines: list[bytes], way: Callable[[list[bytes]], None]) -> float:
    """MB a second of processor time."""
    began = time.process_time()
    way(lines)
    return sum(map(len, lines)) / (time.process_time() - began) / 1e6


def ours(lines: list[bytes]) -> None:
    """All that a log goes through."""
    for _ in redact_log(lines):
        pass


def one_pattern(lines: list[bytes]) -> None:
    """A single regular expression, which finds little."""
    for line in lines:
        PATTERN.search(line)


if __name__ == "__main__":
    main()
