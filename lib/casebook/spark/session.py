"""The Spark session: local and closed to other machines, unless the user configures otherwise."""

import logging
import os
import re
import shlex
import signal
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from time import sleep
from typing import TYPE_CHECKING, TypeVar

from casebook.errors import ScanError
from casebook.machine import jars, workshop
from casebook.spark import class_archive, java_process
from casebook.spark.jvm import source_jars
from casebook.spark.segments import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Result = TypeVar("Result")
Progress = Callable[[int, int | None], None]

_ALONE = {
    "spark.ui.enabled": "false",  # it listens on all interfaces, without a password
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}
_LOCAL = {
    "spark.master": "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
    "spark.sql.adaptive.enabled": "false",  # replanning between two stages takes longer than it saves here
    "spark.sql.codegen.cache.maxEntries": "2000",  # one notebook has 250 pieces; the default of 100 would evict all before reuse
}
_HERE = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
"""Otherwise Spark looks up this machine's name, perhaps by a DNS query."""

_UNITS = {"k": 1 << 10, "": 1 << 20, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
"""Units of Spark's memory sizes, MiB by default."""

_POLL = 0.3
_ATTEMPTS = 3


def session(*, progress: Callable[[str], None] = lambda _: None) -> "SparkSession":
    """Return the Spark session with the data source ``kafka_segments``, and ``kafka_topic`` on demand.

    An existing session is used as it is. A new one follows ``spark-submit``, ``SPARK_CONF_DIR``, ``SPARK_REMOTE`` and
    ``PYSPARK_SUBMIT_ARGS``; all other settings suit a laptop: all cores, nothing reachable from other machines. Its Python
    workers use this Python unless ``PYSPARK_PYTHON`` or ``spark.pyspark.python`` name another.

    Args:
        progress: Receives one sentence for each slow step.

    Raises:
        ScanError: Spark does not start, or an existing session does not accept our jars.
    """
    from pyspark.sql import SparkSession

    ours = source_jars(progress=progress)
    if os.environ.get("SPARK_REMOTE"):
        return SparkSession.builder.getOrCreate()  # a server reads with its own jars
    java_process.forget_ended()
    if SparkSession.getActiveSession():
        return _knowing(SparkSession.builder.getOrCreate(), ours)
    configured = _configured()
    if _is_local(configured):
        os.environ.update(_HERE | {name: os.environ[name] for name in _HERE if name in os.environ})
    os.environ.setdefault("PYSPARK_PYTHON", configured.get("spark.pyspark.python", sys.executable))
    spark = _started(SparkSession.builder.appName("casebook").config(map=_settings(configured, ours)))
    return _knowing(spark, ours) if "spark.jars" in configured else spark  # --jars overrides our setting


def heap() -> int | None:
    """Return the heap size of a new session's driver in bytes; ``None`` when the work runs elsewhere."""
    if os.environ.get("SPARK_REMOTE"):
        return None
    settings = _LOCAL | _defaults_file() | _submit_arguments(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    if not settings["spark.master"].startswith("local"):
        return None
    size = re.fullmatch(r"(\d+)([kmgt]?)b?", settings["spark.driver.memory"].strip().lower())
    return int(size[1]) * _UNITS[size[2]] if size else None


def watched(spark: "SparkSession", action: Callable[[], Result], *, what: str, progress: Progress | None = None) -> Result:
    """Run a Spark action that reports progress, and cancel it when its caller is interrupted.

    Args:
        spark: The session that the action uses.
        action: Runs jobs, e.g. ``frame.toArrow``.
        what: Name for people, in Spark's own lists.
        progress: Receives the number of finished and of known tasks from time to time.

    Raises:
        ScanError: It reads segments, and there is none.
    """
    context = getattr(spark, "sparkContext", None)
    if context is None:
        with explained():
            return action()
    group = f"casebook-{uuid.uuid4()}"
    context.setJobGroup(group, what, interruptOnCancel=True)
    try:
        with explained(), _reporting(context.statusTracker(), group, progress):
            return action()
    except BaseException as error:
        _surely(lambda: context.cancelJobGroup(group))  # otherwise the job continues in the JVM
        if interrupt := _interrupt(error):
            raise interrupt from None
        raise
    finally:
        _surely(lambda: context.setLocalProperty("spark.jobGroup.id", None))


def _surely(call: Callable[[], None]) -> None:
    """Call the JVM in spite of an interrupt: py4j then closes that thread's connection, and sometimes the next one too."""
    from py4j.protocol import Py4JNetworkError

    for _ in range(_ATTEMPTS - 1):
        try:
            return call()
        except Py4JNetworkError:
            sleep(_POLL)
    return call()


def _interrupt(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interrupt itself, or the one that caused another error during Spark's cleanup."""
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error


@contextmanager
def _reporting(tracker: object, group: str, progress: Progress | None) -> Iterator[None]:
    if progress is None:
        yield
        return
    ended = Event()

    def poll() -> None:
        with suppress(Exception):  # it is news alone
            while not ended.wait(_POLL):
                progress(*_tasks(tracker, group))

    thread = Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
        ended.set()
        thread.join()
        with suppress(Exception):
            _, total = _tasks(tracker, group)
            progress(total, total)
    finally:
        ended.set()


def _tasks(tracker: object, group: str) -> tuple[int, int]:
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = list(filter(None, (tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds)))
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)


def _settings(configured: Mapping[str, str], jars: tuple[Path, ...]) -> dict[str, str]:
    """Return our settings in addition to the user's."""
    usual = _ALONE | _LOCAL | {"spark.driver.extraJavaOptions": _java_options()} if _is_local(configured) else _ALONE
    missing = {key: value for key, value in usual.items() if key not in configured}
    named = configured.get("spark.jars", "").split(",")
    return missing | {"spark.jars": ",".join(filter(None, dict.fromkeys((*named, *map(str, jars)))))}


def _is_local(configured: Mapping[str, str]) -> bool:
    return configured.get("spark.master", "local").startswith("local")


def _java_options() -> str:
    """Its temporary files are in this process's folder: a killed Java removes none."""
    return f"{class_archive.always(workshop.of_process())} {class_archive.options()}"


def _configured() -> dict[str, str]:
    """Return the user's configuration: by spark-submit, whose JVM already runs, else by files and the environment."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return dict(SparkConf().getAll())
    return _defaults_file() | _submit_arguments(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))


def _defaults_file() -> dict[str, str]:
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (str(Path(home, "conf")) if home else None)
    path = Path(folder, "spark-defaults.conf") if folder else None
    if path is None or not path.is_file():
        return {}
    import javaproperties

    return javaproperties.loads(path.read_text())


def _submit_arguments(arguments: list[str]) -> dict[str, str]:
    named = {"--master": "spark.master", "--jars": "spark.jars", "--driver-memory": "spark.driver.memory"}
    given: dict[str, str] = {}
    for option, value in pairwise(arguments):
        if option in named:
            given[named[option]] = value
        elif option in ("--conf", "-c"):
            given |= dict([value.split("=", 1)])
    return given


def _started(builder: "SparkSession.Builder") -> "SparkSession":
    """Start Spark with its JVM's noise in a file: the JVM keeps its initial standard error."""
    jars.java(ScanError)  # none, or too old: Spark would only report its exit
    log = (workshop.of_process() / f"{uuid.uuid4()}.log").open("wb")
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        with _own_interrupts():
            spark = builder.getOrCreate()
    except Exception as error:
        said = Path(log.name).read_text(errors="replace").splitlines()
        cause = next((line for line in said if "Exception: " in line), str(error))
        raise ScanError(
            "Spark does not start.", cause=cause, try_="Run `casebook doctor`, and look at SPARK_CONF_DIR."
        ) from error
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        log.close()
    java_process.watch()
    return spark


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep Ctrl-C as it is: Spark's own handler calls the JVM from within another call, and py4j prints a traceback of each.

    :func:`watched` cancels the work.
    """
    handler = signal.getsignal(signal.SIGINT)
    logging.getLogger().addFilter(_is_news)
    try:
        yield
    finally:
        if current_thread() is main_thread():  # a process in the background of a shell begins with one that ignores it
            signal.signal(signal.SIGINT, handler if callable(handler) else signal.default_int_handler)


def _is_news(record: logging.LogRecord) -> bool:
    return record.msg != "KeyboardInterrupt while sending command."


def _knowing(spark: "SparkSession", jars: tuple[Path, ...]) -> "SparkSession":
    """Add our jars to a session that others started."""
    try:
        for jar in jars:
            spark.sql(f"ADD JAR '{jar}'")
    except Exception as error:
        raise ScanError(
            "The running Spark session does not accept the jars of kafka_segments.",
            cause=str(error).splitlines()[0],
            try_=f"Stop it, or start it with spark.jars={','.join(map(str, jars))}.",
        ) from error
    return spark
