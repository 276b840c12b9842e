"""What benchmarks fetch from others when they first run: jars, by the name of their folder in the cache, and packages."""

import subprocess
import sys
import tempfile
from pathlib import Path

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.machine.places import cache_dir

CONNECTOR, JAZZER = "connector", "jazzer"
JARS = {
    CONNECTOR: {
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0": "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0": "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        "org.apache.commons:commons-pool2:2.12.1": "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    },
    JAZZER: {
        "com.code-intelligence:jazzer:0.24.0": "5b04a75bfd3dedd1ef38366561d0182e6cfb9bf4aed2dd3dc811fa6922ddc8bb",
        "com.code-intelligence:jazzer-api:0.24.0": "71f8492434a612bb4d6be26b1fcd408d284204637df8dd5570805fca48968da4",
    },
}
"""The connector is that of Spark 4.2.0, the latest that Maven Central has whole; it works with the Spark that is installed."""
SECONDS = 60
"""Timeout of an attempt to fetch one jar."""


def folder(name: str) -> Path:
    """Jars of a name, fetched."""
    return cache_dir() / name


def fetch(name: str, what: str) -> tuple[Path, ...]:
    """Jars of a name, fetched once."""
    return jars.fetched(JARS[name], folder(name), what=what, error=ScanError)


def why_not(name: str) -> str | None:
    """Why jars of a name, or a Python package as it is required, cannot be had, in a few words.

    ``None`` where it is in the cache, or can be fetched.
    """
    if folder(name).is_dir():
        return None
    try:
        return (
            _why_no_package(name)
            if "==" in name
            else jars.can_be_fetched(next(iter(JARS[name])), seconds=SECONDS, error=ScanError)
        )
    except (ScanError, TimeoutError) as error:
        return str(error)


def _why_no_package(requirement: str) -> str | None:
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, requirement]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stderr.strip().rpartition("\n")[2] or "pip fails" if ran.returncode else None
