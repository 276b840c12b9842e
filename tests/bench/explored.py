"""Whatever bytes and texts Python's readers meet: their properties on examples drawn anew, for a time.

python tests/bench/explored.py [5m] [seed]
"""

import subprocess
import sys
from random import SystemRandom

import sizes

BUDGET = sizes.of("5m", quick="15s")
READERS = ("tests/formats", "tests/collect", "tests/test_case.py")


def main() -> None:
    """Print what held, by file and seed."""
    budget = sys.argv[1] if len(sys.argv) > 1 else BUDGET
    seed = sys.argv[2] if len(sys.argv) > 2 else str(SystemRandom().randrange(10**6))
    subprocess.run([sys.executable, "-m", "tests.explore", budget, seed, *READERS], check=True)


if __name__ == "__main__":
    main()
