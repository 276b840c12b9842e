"""Archive of the classes that Spark loads, to start its JVM in half the time (class data sharing, JEP 350).

It is stored with the installation of its jars: Java accepts it with exactly those, and starts without it otherwise.
"""

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.errors import CasebookError, ScanError
from casebook.machine import jars, locks, private, workshop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = "-Xlog:cds*=off"
"""Suppresses Java's terminal message about a rejected archive."""

_PATIENCE = 300.0
"""Seconds that are enough on a usable machine."""


def always(temporary: Path) -> str:
    """Return the Java options with or without an archive: G1 would use more memory the longer a scan runs.

    Args:
        temporary: Folder of Java's temporary files; it ignores ``TMPDIR``.
    """
    return shlex.join(["-XX:+UseSerialGC", f"-Djava.io.tmpdir={temporary}"])


def options() -> str:
    """Return the Java options that use the archive; nothing without one."""
    path = _path()
    return f"{shlex.quote(f'-XX:SharedArchiveFile={path}')} {_QUIET}" if path and path.is_file() else ""


def exists() -> bool:
    """Whether there is an archive for this Java and these jars."""
    return bool(options())


def make(exercise: Sequence[str]) -> Path:
    """Create it from the classes that a program loads, and replace any other of this installation.

    Args:
        exercise: Python command: it starts a session, uses it, and ends with ``end``.

    Raises:
        ScanError: No Java, no Spark, no writable folder, or the program failed.
    """
    path = _path()
    if path is None:
        raise ScanError("There is no Java, or no pyspark, to start Spark with.", try_="Run `casebook doctor`.")
    try:
        with private.for_others():  # it is stored with the installation, which others may share
            path.parent.mkdir(parents=True, exist_ok=True)
            with locks.one_at_a_time(path.parent), workshop.folder(beside=path.parent) as scratch:
                made = scratch / path.name
                _run(exercise, made)
                made.rename(path)
                for other in {*path.parent.glob("*.jsa")} - {path}:
                    other.unlink(missing_ok=True)
    except OSError as error:
        raise ScanError("The archive of Spark's classes cannot be written.", cause=str(error)) from error
    return path


def end(spark: "SparkSession") -> None:
    """End a session with its JVM, and wait: the JVM writes the archive at exit.

    Raises:
        ScanError: The JVM failed to end.
    """
    from pyspark import SparkContext

    jvm = SparkContext._gateway.proc
    spark.stop()
    jvm.stdin.close()
    if code := jvm.wait():
        raise ScanError(f"Java ended with code {code}.", cause="The usual cause is a full disk.")


def _run(exercise: Sequence[str], made: Path) -> None:
    archive = shlex.quote(f"-XX:ArchiveClassesAtExit={made}")
    conf = f"spark.driver.extraJavaOptions={always(made.parent)} {archive} {_QUIET}"
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--conf {shlex.quote(conf)} pyspark-shell"}
    command = [sys.executable, *exercise]
    try:
        ran = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ScanError(f"The archive of Spark's classes was not made within {_PATIENCE:.0f} s.") from error
    if ran.returncode or not made.is_file():
        said = [line for line in (ran.stderr or ran.stdout).splitlines() if line.strip() and not line[0].isspace()]
        raise ScanError("The archive of Spark's classes was not made.", cause=said[-1] if said else None)


def _path() -> Path | None:
    """Path of the archive, named after Java and Spark's jars."""
    try:
        java, spark = Path(jars.java(ScanError)).resolve(), jars.spark_jars(ScanError)
    except CasebookError:
        return None
    release = java.parents[1] / "release"
    told = release.read_bytes() if release.is_file() else b""
    known = hashlib.sha256(b"\0".join([bytes(java), told, bytes(spark)]))
    for jar in sorted(spark.iterdir()):
        known.update(f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}\0".encode())
    return Path(sys.prefix, "share", "kafka-casebook", f"spark-{known.hexdigest()[:16]}.jsa")
