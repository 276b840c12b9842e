"""Runs that are killed at random moments (SIGKILL), with all that they use of temporary files: what is left after the next one?

python tests/bench/killed.py [kills] [notebook] [source]
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import sizes

KILLS = sizes.of(50, quick=1)
SETTLED = 10.0
"""Seconds in which the kernel and the Java of a killed run have ended by themselves."""


def run(home: Path, notebook: str, source: str) -> subprocess.Popen:
    """Start one; everything that it writes lies below a folder."""
    command = [sys.executable, "-c", "from casebook.cli import main; main()", "run", notebook, "--source", source]
    environment = os.environ | {"TMPDIR": str(home / "tmp"), "CASEBOOK_RUNS": str(home / "runs")}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def left(home: Path) -> list[str]:
    """Temporary files, and what lies among the runs and is no whole run."""
    runs = [path for path in (home / "runs").iterdir() if path.name not in (".lock", ".locks", "index.html")]
    torn = [path for path in runs if path.name.startswith(".") or not (path / "report.html").is_file() or not _told(path)]
    return [str(path.relative_to(home)) for path in (*torn, *(home / "tmp").iterdir())]


def _told(folder: Path) -> bool:
    try:
        return all(json.loads((folder / name).read_bytes()) for name in ("run.json", "findings.json", "summary.json"))
    except (OSError, ValueError):
        return False


def main() -> None:
    """Print how many were killed, how far they were, and what was left."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    notebook, source = [*sys.argv[2:], "20", "sample:leader_minus_one"][:2] if len(sys.argv) < 4 else sys.argv[2:4]
    remains: list[tuple[int, list[str]]] = []
    published = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "tmp").mkdir()
        began = monotonic()
        run(home, notebook, source).wait()
        takes = monotonic() - began
        for seed in range(kills):
            running, before = run(home, notebook, source), len(list((home / "runs").glob("2*")))
            sleep(random.Random(seed).uniform(0, takes))
            running.send_signal(signal.SIGKILL)
            running.wait()
            published += len(list((home / "runs").glob("2*"))) > before
            next_one = run(home, notebook, source)
            next_one.wait()
            sleep(0.2)
            if found := left(home):
                sleep(SETTLED)  # what the killed one had started may have been there still: it is for the start after this
                run(home, notebook, source).wait()
                found = left(home)
            if found:
                remains.append((seed, found))
    print(f"{kills} runs of {notebook} killed within {takes:.1f} s, {published} of them after they were published")
    print(f"something left after the next start: {len(remains)}")
    for seed, found in remains:
        print(f"  seed {seed}: {found}")


if __name__ == "__main__":
    main()
