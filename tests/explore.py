"""`make explore`: property tests on examples that are drawn anew, file after file, until the time is over.

python -m tests.explore [10m] [seed] [folder or file ...]

Tests themselves draw the same examples in each run, so that they say the same in each run. What is found here becomes a case of
theirs: an ``@example`` above ``@given`` with the arguments that are printed, or a test of its own where these cannot be written.
"""

import re
import secrets
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic

NO_TESTS = 5
"""What pytest ends with where a file has none that are to run."""


def main(budget: str, seed: int, places: Sequence[Path]) -> int:
    """Return how many files fail."""
    until = monotonic() + _seconds(budget)
    files = sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py")))
    files = [file for file in files if re.search(r"@given\b|RuleBasedStateMachine", file.read_text())]
    assert files, "no property test there"
    failed: dict[Path, int] = {}
    print(f"{len(files)} files, {budget}, seed {seed}", flush=True)
    for drawn, file in ((at, file) for at in count(seed) for file in Random(at).sample(files, len(files))):
        if (left := until - monotonic()) <= 0:
            break
        if file not in failed and not _holds(file, drawn, left):
            failed[file] = drawn
    return _told(failed, drawn - seed)


def _holds(file: Path, seed: int, seconds: float) -> bool:
    """Whether a file's properties hold, as far as the time lets them be tried."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-m", "hypothesis and not alone"]
    command += ["--hypothesis-profile=anew", f"--hypothesis-seed={seed}", str(file)]
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"{file}: seed {seed}: not to its end: the time is over", flush=True)
        return True
    print(f"{file}: seed {seed}: {ran.stdout.strip().splitlines()[-1]}", flush=True)
    if ran.returncode in (0, NO_TESTS):
        return True
    print(ran.stdout)
    return False


def _told(failed: dict[Path, int], rounds: int) -> int:
    print(f"{rounds} whole rounds; {len(failed)} files fail")
    for file, seed in failed.items():
        print(
            f"  {file}: again with `make explore SEED={seed}`; as a case: @example(...) above its @given, with what is printed above"
        )
    return len(failed)


def _seconds(budget: str) -> float:
    amount, unit = re.fullmatch(r"(\d+)([smh])", budget).groups()
    return int(amount) * {"s": 1, "m": 60, "h": 3600}[unit]


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(
        main(
            given[0] if given else "10m",
            int(given[1]) if given[1:] else secrets.randbelow(10**6),
            [Path(place) for place in given[2:]] or [Path("tests")],
        )
        and 1
    )
