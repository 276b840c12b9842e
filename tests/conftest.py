"""What several test folders share: runs of the notebooks on the shipped cases, made once."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import settings

from casebook import spark as scans
from casebook.runs import notebooks, parameters, runner
from tests import again, notebook_cells, quick

QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""With so little data, loading and compiling takes longest, so little of that: Spark's 20,000 classes were verified by whoever
compiled them. What Java compiles this way has 48 MB by default; a test session makes more, and it would compile all of it again
and again."""

settings.register_profile("same", deadline=None, derandomize=True, database=None)  # each run on the same examples, in no time
settings.register_profile("anew", deadline=None, database=None, print_blob=True)  # of `make explore`
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is ``quick``, before pytest selects by marks."""
    for item in items:
        if quick.is_quick(item):
            item.add_marker("quick")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """The fixtures of a quick test start nothing."""
    with _watched(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A quick test starts nothing."""
    with _watched(item):
        return (yield)


def _watched(item: pytest.Item) -> AbstractContextManager[None]:
    return quick.nothing_starts(item.nodeid) if item.get_closest_marker("quick") else nullcontext()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says of each test that did not pass how to see it alone."""
    bad = dict.fromkeys(report.nodeid for outcome in ("failed", "error") for report in terminalreporter.stats.get(outcome, ()))
    if bad:
        terminalreporter.section("each alone")
        for test in bad:
            terminalreporter.write_line(again.command(test, again.AT_FIRST))


@pytest.fixture(scope="session")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all runs of this test session."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def quick_java() -> Iterator[None]:
    """Lets every Spark that a module starts, and that has little to do, do it with :data:`QUICK_JAVA`."""
    with _quick():
        yield


@contextmanager
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JDK_JAVA_OPTIONS", QUICK_JAVA)
        yield


@pytest.fixture(scope="session")
def run(runs_dir: Path):
    """Run a notebook on a source, once for each pair; gives the :class:`casebook.runs.runner.Ran`."""
    done: dict[tuple, runner.Ran] = {}

    def run_once(stem: str, source: str, **given: str) -> runner.Ran:
        notebook = notebooks.find(stem)
        key = (notebook.stem, source, *sorted(given.items()))
        if key not in done:
            with _quick():
                done[key] = runner.run(notebook, {"source": source} | given, runs_dir=runs_dir)
        return done[key]

    return run_once


@pytest.fixture(scope="session")
def cells(tmp_path_factory: pytest.TempPathFactory, run):
    """Run a notebook's cells on a sample in this process, once for each pair; gives the folder with what it wrote.

    On the sample that it comes with, that is the folder of its headless run, which others look at as well.
    """
    done: dict[tuple[str, str], Path] = {}

    def run_once(stem: str, source: str) -> Path:
        if source == parameters.of_notebook(notebooks.find(stem).path)[0].default:
            return run(stem, source).folder
        if (stem, source) not in done:
            done[stem, source] = notebook_cells.execute(stem, tmp_path_factory.mktemp("cells") / "out", source=source)
        return done[stem, source]

    return run_once


@pytest.fixture(scope="session")
def spark():
    """The session of :mod:`casebook.spark`; with so little data, compiling takes longest, so little of that."""
    with _quick():
        session = scans.session()
    for key, value in {"codegen.wholeStage": "false", "adaptive.enabled": "false", "shuffle.partitions": "2"}.items():
        session.conf.set(f"spark.sql.{key}", value)
    yield session
    session.stop()
