"""The programs of ``tests/scans/jvm`` with our reader and what Kafka's needs, compiled and run outside of Spark."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.spark import jvm

NEEDED = ("hadoop-client-api", "lz4-java", "slf4j-api", "snappy-java", "zstd-jni")
"""What our reader and Kafka's need of Spark's jars; Jazzer looks through all that it is given."""


def compiled(classes: Path) -> tuple[Path, ...]:
    """Compile all programs into a folder; the class path to run them with."""
    spark = jars.spark_jars(ScanError)
    path = (classes, *jvm.source_jars(), *(jar for name in NEEDED for jar in sorted(spark.glob(f"{name}*.jar"))))
    sources = sorted(Path(__file__).parents[1].joinpath("scans", "jvm").glob("*.java"))
    run(["javac"], (*path, *sorted(spark.glob("log4j-*.jar"))), ["-nowarn", "-d", classes, *sources])
    return path


def line(command: Sequence[str], path: Sequence[Path], arguments: Sequence[object]) -> list[str]:
    """A command of Java with a class path."""
    return [jars.java(ScanError, command[0]), *command[1:], "-cp", ":".join(map(str, path)), *map(str, arguments)]


def run(command: Sequence[str], path: Sequence[Path], arguments: Sequence[object], **options: object) -> str:
    """Run a command of Java with a class path; what it says, or its end is ours."""
    ran = subprocess.run(line(command, path, arguments), capture_output=True, text=True, errors="replace", check=False, **options)
    if ran.returncode:
        sys.exit(ran.stdout + ran.stderr)
    return ran.stdout + ran.stderr
