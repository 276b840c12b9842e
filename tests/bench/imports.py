"""How long the command's modules take to import, whole processes in turns with Python's own start.

python tests/bench/imports.py [rounds]
"""

import subprocess
import sys
from statistics import median

import sizes

ROUNDS, BOUND = sizes.of(7, quick=1), 0.3
"""Bound: seconds within the process, the least of all rounds."""
MODULES = ("casebook", "casebook.cli")
CODE = "import time; began = time.perf_counter(); import {}; print(time.perf_counter() - began)"


def seconds(module: str) -> float:
    """Of one process."""
    return float(subprocess.run([sys.executable, "-c", CODE.format(module)], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print, fail beyond the bound."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    took = {module: [] for module in ("json", *MODULES)}
    for _ in range(rounds):
        for module, own in took.items():
            own.append(seconds(module))
    for module, own in took.items():
        print(f"{module:<14} least {min(own):.3f} s, median {median(own):.3f} s")
    if any(min(took[module]) >= BOUND for module in MODULES):
        sizes.beyond(f"At least {BOUND} s.")


if __name__ == "__main__":
    main()
