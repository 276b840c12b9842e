"""`make quick`: the tests out of whose reach is whatever starts a process or opens a socket, and that are no matter of quantity.

python -m tests.quick [pytest option ...]

A test reaches what its module and its fixtures' modules import, anywhere in them, and all that this imports in turn. What is quick by
that is watched while it runs: in whatever way it starts something after all, it fails.
"""

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from tests import ends

STARTING = {
    *(
        "asyncio",
        "confluent_kafka",
        "importlinter",
        "jupyter_client",
        "kazoo",
        "multiprocessing",
        "nbclient",
        "papermill",
        "playwright",
    ),
    *("pyspark", "socket", "subprocess"),
}
"""Modules of others that start a process or open a socket, or exist to do so."""
TESTS = Path(__file__).parent
ROOTS = {"tests": TESTS.parent, "casebook": TESTS.parent / "lib"}
_STARTS = (
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
    "socket.__new__",
)
"""Events that Python's own library tells its hooks of, before it does them (``Doc/library/audit_events.rst@v3.11.0``)."""
_SHARES = 2
"""Of the files, for each processor: one that has ended its own takes the next."""
_watched: list[str | None] = [None]
started: list[str] = []
"""What was started in the block that is watched."""


def main(options: Sequence[str]) -> int:
    """Run them all, on all processors, and list at the end what failed in any share; return the number of shares that failed."""
    files = sorted((file for file in TESTS.rglob("test_*.py") if not _starts(file)), key=lambda file: -file.stat().st_size)
    processors = os.cpu_count() or 1
    shares = [files[first :: processors * _SHARES] for first in range(processors * _SHARES)]
    with ThreadPoolExecutor(processors) as pool:
        ran = list(pool.map(lambda share: _run(share, options), shares))
    failed = [one.stdout for one in ran if one.returncode != 0]
    print("\nAll shares passed." if not failed else f"\n{len(failed)} of {len(ran)} shares failed:")
    print(
        "".join(line for text in failed for line in text.splitlines(keepends=True) if line.startswith(("FAILED", "ERROR"))),
        end="",
    )
    return len(failed)


def _run(files: Sequence[Path], options: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-q", "-m", "quick", "-p", "no:cacheprovider", *options, *map(str, files)]
    ran = subprocess.run(command, cwd=TESTS.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(ran.stdout, end="", flush=True)
    return ran


def is_quick(item: pytest.Item) -> bool:
    """Whether a test is; what draws many examples, or asks of a great deal whether it ends, takes its time."""
    if is_hypothesis_test(item.obj) or _asks_whether_it_ends(item):
        return False
    fixtures = chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
    files = {item.path} | {Path(inspect.getfile(fixture.func)) for fixture in fixtures}
    ours = {file for file in files if file == item.path or file.is_relative_to(TESTS)}
    return not any(map(_starts, ours))


def _asks_whether_it_ends(item: pytest.Item) -> bool:
    function = item.function
    return any(function.__globals__.get(name) in (ends.ends, ends.growth) for name in function.__code__.co_names)


@contextmanager
def nothing_starts(whose: str) -> Iterator[None]:
    """Fail at the first process or socket of this block, and at its end where that failure was caught."""
    _hook()
    started.clear()
    _watched[0] = whose
    try:
        yield
    finally:
        _watched[0] = None
    assert not started, f"{whose} is quick by what it imports, and starts something: {started}"


@cache
def _hook() -> None:
    """A hook stays as long as its process, so there is one."""
    import_module("urllib3.util.connection")  # of the secret scanner: it tries a socket whenever it is first imported
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple) -> None:
    if _watched[0] is not None and event in _STARTS:
        started.append(f"{event} {arguments[:1]}")
        raise AssertionError(f"{_watched[0]} is quick by what it imports, and starts something: {event}")


@cache
def _starts(file: Path) -> bool:
    """Whether one of :data:`STARTING` is in reach of a file, by way of all that is ours."""
    seen: set[Path] = set()
    todo = [file]
    while todo:
        if (at := todo.pop()) in seen:
            continue
        seen.add(at)
        for name in _imported(at):
            if name.partition(".")[0] in STARTING:
                return True
            todo += _files(name)
    return False


@cache
def _imported(file: Path) -> tuple[str, ...]:
    """Dotted names of what a file imports: a module, or a name in it, which may be a module as well."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(names)


@cache
def _files(name: str) -> tuple[Path, ...]:
    """Files of a module of ours, with those of its packages, which are imported before it; none of others' modules."""
    parts = name.split(".")
    if parts[0] not in ROOTS:
        return ()
    paths = [ROOTS[parts[0]].joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
    return tuple(file for path in paths for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) and 1)
