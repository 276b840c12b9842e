"""The Spark session: on this machine and closed to others, unless the user's own configuration says otherwise."""

import os
import re
import shlex
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
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
    "spark.sql.adaptive.enabled": "false",  # planning anew between two stages takes longer than what it saves here
    "spark.sql.codegen.cache.maxEntries": "2000",  # one notebook has 250 pieces; of Spark's 100 none is left to be used again
}
_HERE = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
"""Else Spark asks for the address of this machine's name, which may go out as a DNS query."""

_UNITS = {"k": 1 << 10, "": 1 << 20, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
"""Of Spark's sizes of memory, which are MiB where nothing else is said."""

_POLL = 0.3
_ATTEMPTS = 3


def session(*, progress: Callable[[str], None] = lambda _: None) -> "SparkSession":
    """Return the Spark session, which knows the data source ``kafka_segments``, and finds ``kafka_topic`` when asked for it.

    A session that exists is taken as it is. A new one follows ``spark-submit``, ``SPARK_CONF_DIR``, ``SPARK_REMOTE`` and
    ``PYSPARK_SUBMIT_ARGS``; what none of them sets suits a laptop: all cores, nothing reachable from other machines. Its
    Python workers run this Python unless ``PYSPARK_PYTHON`` or ``spark.pyspark.python`` name another.

    Args:
        progress: Told in one sentence what takes time.

    Raises:
        ScanError: Spark does not start, or a session of another does not take our jars.
    """
    from pyspark.sql import SparkSession

    ours = source_jars(progress=progress)
    if os.environ.get("SPARK_REMOTE"):
        return SparkSession.builder.getOrCreate()  # what a server can read, its own jars decide
    java_process.forget_ended()
    if SparkSession.getActiveSession():
        return _knowing(SparkSession.builder.getOrCreate(), ours)
    configured = _configured()
    if _is_local(configured):
        os.environ.update(_HERE | {name: os.environ[name] for name in _HERE if name in os.environ})
    os.environ.setdefault("PYSPARK_PYTHON", configured.get("spark.pyspark.python", sys.executable))
    spark = _started(SparkSession.builder.appName("casebook").config(map=_settings(configured, ours)))
    return _knowing(spark, ours) if "spark.jars" in configured else spark  # --jars is stronger than what we set


def heap() -> int | None:
    """Return the bytes of heap that the driver of a new session would have; ``None`` where its work is done elsewhere."""
    if os.environ.get("SPARK_REMOTE"):
        return None
    settings = _LOCAL | _defaults_file() | _submit_arguments(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    if not settings["spark.master"].startswith("local"):
        return None
    size = re.fullmatch(r"(\d+)([kmgt]?)b?", settings["spark.driver.memory"].strip().lower())
    return int(size[1]) * _UNITS[size[2]] if size else None


def watched(spark: "SparkSession", action: Callable[[], Result], *, what: str, progress: Progress | None = None) -> Result:
    """Run an action of Spark so that it tells how far it is, and ends when its caller is interrupted.

    Args:
        spark: The session that the action uses.
        action: Runs jobs, e.g. ``frame.toArrow``.
        what: For people, in Spark's own lists.
        progress: Told now and then how many tasks are done, and of how many that are known so far.

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
        with explained(), _told(context.statusTracker(), group, progress):
            return action()
    except BaseException as error:
        _surely(lambda: context.cancelJobGroup(group))  # without it the job goes on in the JVM
        if interrupt := _interrupt(error):
            raise interrupt from None
        raise
    finally:
        _surely(lambda: context.setLocalProperty("spark.jobGroup.id", None))


def _surely(call: Callable[[], None]) -> None:
    """Call the JVM in spite of an interrupt: py4j closes that thread's connection then, and at times the next one as well."""
    from py4j.protocol import Py4JNetworkError

    for _ in range(_ATTEMPTS - 1):
        try:
            return call()
        except Py4JNetworkError:
            sleep(_POLL)
    return call()


def _interrupt(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt itself, or the one that another error came of while Spark tidied up after it."""
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error


@contextmanager
def _told(tracker: object, group: str, progress: Progress | None) -> Iterator[None]:
    if progress is None:
        yield
        return
    ended = Event()

    def poll() -> None:
        while not ended.wait(_POLL):
            progress(*_tasks(tracker, group))

    thread = Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
        ended.set()
        thread.join()
        _, total = _tasks(tracker, group)
        progress(total, total)
    finally:
        ended.set()


def _tasks(tracker: object, group: str) -> tuple[int, int]:
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = list(filter(None, (tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds)))
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)


def _settings(configured: Mapping[str, str], jars: tuple[Path, ...]) -> dict[str, str]:
    """What to set beside what the user has configured."""
    usual = _ALONE | _LOCAL | {"spark.driver.extraJavaOptions": _java_options()} if _is_local(configured) else _ALONE
    missing = {key: value for key, value in usual.items() if key not in configured}
    named = configured.get("spark.jars", "").split(",")
    return missing | {"spark.jars": ",".join(filter(None, dict.fromkeys((*named, *map(str, jars)))))}


def _is_local(configured: Mapping[str, str]) -> bool:
    return configured.get("spark.master", "local").startswith("local")


def _java_options() -> str:
    """Its temporary files lie where those of this process do: a Java that is killed removes none."""
    return f"{class_archive.always(workshop.of_process())} {class_archive.options()}"


def _configured() -> dict[str, str]:
    """What the user has configured: by spark-submit, whose JVM runs already, else by files and the environment."""
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
    """Start Spark with the noise of its JVM in a file: it keeps the standard error it is born with."""
    jars.java(ScanError)  # none, or too old a one: Spark would only say that it has ended
    log = (workshop.of_process() / f"{uuid.uuid4()}.log").open("wb")
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
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


def _knowing(spark: "SparkSession", jars: tuple[Path, ...]) -> "SparkSession":
    """Bring our jars into a session that somebody else has started."""
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
