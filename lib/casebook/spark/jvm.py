"""Jars of a scan: Kafka's own record reader, and the data sources of ``lib/jvm``, compiled on first use.

Compiled on first use, because only the installed pyspark has the jars to compile against.
"""

import hashlib
import json
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from casebook.errors import ScanError
from casebook.machine import jars, locks, private, workshop
from casebook.machine.jars import Progress
from casebook.machine.places import cache_dir, checkout

_SPARK_JARS = (
    "commons-compress",
    "hadoop-client-api",
    "jackson-core-2",
    "jackson-databind",
    "scala-library",
    "snappy-java",
    "spark-",
    "zstd-jni",
)
"""Name prefixes of the jars that the sources use; javac takes a second longer with all of them."""

_PATTERNS: tuple[str, Traversable] = ("casebook/log_patterns.tsv", files("casebook.formats.broker").joinpath("log_patterns.tsv"))
"""Table of log lines: ``kafka_logs`` and the documentation use it."""

_JAR = "casebook.jar"
_SUM = f"{_JAR}.sha256"

_SOURCES = ("segments", "logs", "wire")
"""Folders of the data sources; all other folders are common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Missing parts of the cache.

    Args:
        compiled: The data sources are not compiled.
        fetched: Coordinates of the missing jars of Kafka's reader.
    """

    compiled: bool
    fetched: tuple[str, ...]


def lacking() -> Lacking:
    """Return what a first scan would fetch and compile, without doing so.

    Raises:
        ScanError: The sources are missing next to the library.
    """
    jar = cache_dir() / "jvm" / fingerprint() / _JAR
    changed = jars.changed(_locked(), _kafka_folder())
    fetched = (coordinate for coordinate in _locked() if jars.jar_name(coordinate) in changed)
    return Lacking(compiled=not _is_whole(jar), fetched=tuple(fetched))


def source_jars(*, progress: Progress = lambda _: None) -> tuple[Path, ...]:
    """Return the jars of ``kafka_segments`` and ``kafka_logs`` for ``spark.jars``, ours first.

    Fetches and compiles what the cache lacks.

    Args:
        progress: Receives one sentence for each slow step.

    Raises:
        ScanError: No JDK, no network, or no pyspark.
    """
    kafka = kafka_jars(progress=progress)
    folder = cache_dir() / "jvm" / fingerprint()
    jar = folder / _JAR
    if not _is_whole(jar):
        private.folder(folder.parent)
        with locks.one_at_a_time(folder.parent):
            if not _is_whole(jar):
                progress("Compiling the data sources kafka_segments and kafka_logs, once.")
                _build(jar, kafka)
    return (jar, *kafka)


def classpath(*spark: str, progress: Progress = lambda _: None) -> str:
    """Return a class path for a Java process of ours without Spark.

    Args:
        spark: Name prefixes of needed jars among those of Spark, beside those for JSON.
        progress: Receives one sentence for each slow step.
    """
    theirs = [jar for jar in sorted(jars.spark_jars(ScanError).glob("*.jar")) if jar.name.startswith(("jackson-", *spark))]
    return ":".join(map(str, (*source_jars(progress=progress), *theirs)))


def kafka_jars(*, progress: Progress = lambda _: None) -> tuple[Path, ...]:
    """Return the jars of Kafka's reader, fetching missing ones."""
    return jars.fetched(_locked(), _kafka_folder(), what="Kafka's own record reader", error=ScanError, progress=progress)


def _kafka_folder() -> Path:
    return cache_dir() / "scans" / hashlib.sha256(json.dumps(_locked()).encode()).hexdigest()[:16]


@cache
def _locked() -> Mapping[str, str]:
    return json.loads(files("casebook.spark").joinpath("jars.json").read_text())


def _sources() -> Path:
    folder = checkout() / "lib" / "jvm"
    if not folder.is_dir():
        raise ScanError(
            "The sources of the data sources are not next to the library.",
            cause="casebook was installed without its checkout.",
            try_="Clone the repository and install it with `make install`.",
        )
    return folder


def fingerprint(source: Literal["segments", "logs"] | None = None) -> str:
    """Hash all inputs of the compiled jar, or of one of its data sources."""
    others = tuple(f"src/casebook/{name}/" for name in _SOURCES if source not in (None, name))
    known = hashlib.sha256(json.dumps([version("pyspark"), _locked()]).encode())
    for name, path in (*_below(_sources()), *((_PATTERNS,) if source != "segments" else ())):
        if not name.startswith(others):
            known.update(f"{name}\0".encode() + path.read_bytes())
    return known.hexdigest()[:32]


def _build(jar: Path, kafka: tuple[Path, ...]) -> None:
    """Compile and pack under a temporary name next to ``jar``, then rename."""
    with workshop.folder(beside=jar.parent.parent) as scratch:
        classes = scratch / "classes"
        _compile(classes, kafka)
        packed = scratch / jar.name
        _pack(packed, (*_below(classes), *_below(_sources() / "resources"), _PATTERNS))
        private.folder(jar.parent)
        (jar.parent / _SUM).write_text(jars.sha256_of(packed))
        packed.rename(jar)


def _is_whole(jar: Path) -> bool:
    """Whether it is unchanged since compilation, by the hash next to it."""
    told = jar.parent / _SUM
    return told.is_file() and told.read_text() == jars.sha256_of(jar)


def _compile(classes: Path, kafka: tuple[Path, ...]) -> None:
    spark = jars.spark_jars(ScanError)
    needed = [jar for jar in spark.glob("*.jar") if jar.name.startswith(_SPARK_JARS)]
    command = [
        jars.java(ScanError, "javac"),
        *("--release", "17", "-nowarn", "-proc:none"),
        *("-cp", ":".join(map(str, (*kafka, *needed)))),
        *("-d", str(classes)),
        *map(str, sorted(_sources().rglob("src/**/*.java"))),
    ]
    javac = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if javac.returncode:
        raise ScanError(
            "The data sources kafka_segments and kafka_logs could not be compiled.",
            cause=f"javac said: {javac.stdout + javac.stderr}",
            try_="Use the pyspark that casebook is pinned to, and a JDK 17 or newer.",
        )


def _pack(jar: Path, members: Iterable[tuple[str, Traversable]]) -> None:
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members:
            archive.writestr(name, path.read_bytes())


def _below(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Return the files below a folder, with relative names."""
    return tuple((str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file())
