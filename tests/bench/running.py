"""All benchmarks one after the other, each in a process of its own.

One that lacks a command of others, which it names in ``NEEDS`` with the package that has it, is left out; one that fails keeps no
other from running.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_MAIN = "__" + "main__"
"""What a script has, and this module must not."""


def run(folder: Path) -> int:
    """Run those of a folder: scripts that say what they do when they are run. Return how many could not run, or failed."""
    lacking: list[str] = []
    failed: list[str] = []
    for script in sorted(path for path in folder.glob("[!_]*.py") if _MAIN in path.read_text()):
        print(f"\n## {script.stem}\n", flush=True)
        if missing := [package for command, package in needs(script).items() if not shutil.which(command)]:
            lacking.append(f"{script.stem} ({', '.join(missing)})")
            print(f"Left out, as {' and '.join(missing)} is not installed here.", flush=True)
        elif subprocess.run([sys.executable, str(script)], check=False).returncode:
            failed.append(script.stem)
    print("\n".join(told(lacking, failed)))
    return len(lacking) + len(failed)


def needs(script: Path) -> Mapping[str, str]:
    """The package of each command of others that a script names in ``NEEDS``; it is not imported, as a script may run at once."""
    for statement in ast.parse(script.read_text()).body:
        if isinstance(statement, ast.Assign) and [ast.unparse(target) for target in statement.targets] == ["NEEDS"]:
            return ast.literal_eval(statement.value)
    return {}


def told(lacking: list[str], failed: list[str]) -> Iterator[str]:
    """One sentence of what was left out, and one of what failed."""
    if lacking:
        yield f"Left out for want of what they are measured against, until it is installed: {', '.join(lacking)}."
    if failed:
        yield f"Failed, or beyond a bound: {', '.join(failed)}."
