"""All benchmarks one after the other, each in a process of its own.

What a script needs it names in constants, which are read before anything is started:

- ``NEEDS``: commands of others, each with the package that has it
- ``FETCHES``: jars and packages by name (:mod:`tests.bench.fetched`)
- ``DISK``: gigabytes of temporary files at its whole size
- ``GIVEN``: what only a person can give, as an argument

One that lacks something is left out; one that fails keeps no other from running.
"""

import ast
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench import fetched, sizes

_MAIN = "__" + "main__"
"""What a script has, and this module must not."""


def run(folder: Path) -> int:
    """Run those of a folder: scripts that say what they do when they are run. Return how many could not run, or failed."""
    scripts = sorted(path for path in folder.glob("[!_]*.py") if _MAIN in path.read_text())
    lacking = {script.stem: reason for script in scripts if (reason := "; ".join(lacks(script)))}
    print("\n".join(listed(lacking)), flush=True)
    failed: list[str] = []
    began = time.monotonic()
    for script in scripts:
        if script.stem not in lacking:
            print(f"\n## {script.stem}\n", flush=True)
            since = time.monotonic()
            if subprocess.run([sys.executable, str(script)], check=False).returncode:
                failed.append(script.stem)
            print(f"\n({time.monotonic() - since:.0f} s)", flush=True)
    print("\n".join(told(lacking, failed)))
    print(f"{(time.monotonic() - began) / 60:.1f} minutes.")
    return len(lacking) + len(failed)


def lacks(script: Path) -> Iterator[str]:
    """What this machine has not of what a script needs, in a few words each."""
    for command, package in declared(script, "NEEDS", {}).items():
        if not shutil.which(command):
            yield package
    for name in declared(script, "FETCHES", ()):
        if reason := fetched.why_not(name):
            yield f"{name}, which cannot be fetched: {reason}"
    free, wanted = shutil.disk_usage(tempfile.gettempdir()).free / 1e9, declared(script, "DISK", 0) * sizes.of(1, quick=0.1)
    if free < wanted:
        yield f"{wanted:g} GB in {tempfile.gettempdir()}, which has {free:.1f}"
    if given := declared(script, "GIVEN", None):
        yield given


def declared(script: Path, name: str, otherwise: object) -> object:
    """The constant that a script gives a name. It is not imported, as a script may run at once."""
    for statement in ast.parse(script.read_text()).body:
        if isinstance(statement, ast.Assign) and [ast.unparse(target) for target in statement.targets] == [name]:
            return ast.literal_eval(statement.value)
    return otherwise


def listed(lacking: dict[str, str]) -> Iterator[str]:
    """What is not here, a line for each script that is left out."""
    yield "Left out, for want of:" if lacking else "Nothing is lacking."
    yield from (f"  {script}: {reason}" for script, reason in lacking.items())


def told(lacking: dict[str, str], failed: list[str]) -> Iterator[str]:
    """One sentence of what was left out, and one of what failed."""
    if lacking:
        yield f"Left out, until it is here: {', '.join(f'{script} ({reason})' for script, reason in lacking.items())}."
    if failed:
        yield f"Failed, or beyond a bound: {', '.join(failed)}."
