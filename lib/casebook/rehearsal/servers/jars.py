"""Kafka's own server jars.

``jars.json`` locks every jar of a version by its Maven coordinate and sha256. They are the runtime dependencies of
``org.apache.kafka:kafka_<scala>`` and the log4j binding that this version's distribution carries beside them
(``gradle/dependencies.gradle@2.8.2, 3.9.0-rc3``; 0.9 has it among its dependencies).
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.machine import jars as library
from casebook.machine.jars import Progress
from casebook.machine.places import cache_dir


@cache
def _locked() -> Mapping[str, Mapping[str, str]]:
    return json.loads(files("casebook.rehearsal").joinpath("jars.json").read_text())


def versions() -> tuple[str, ...]:
    """The Kafka versions whose servers can be run, oldest first; which incidents play on them, those say."""
    return tuple(_locked())


def jars(kafka: str, *, progress: Progress = lambda _: None) -> tuple[Path, ...]:
    """Return the jars of a Kafka version, fetching and verifying them when the cache lacks them.

    Args:
        kafka: One of :func:`versions`.
        progress: Told in one sentence what takes time.

    Raises:
        RehearsalError: Unknown version, no Java, no network, or a jar that is not the one locked.
    """
    if kafka not in _locked():
        raise RehearsalError(f"The servers of Kafka {kafka} are not known here.", try_=f"Choose one of {', '.join(versions())}.")
    folder = cache_dir() / "servers" / kafka
    return library.fetched(
        _locked()[kafka], folder, what=f"The servers of Kafka {kafka}", error=RehearsalError, progress=progress
    )


def java() -> str:
    """Return the path of the ``java`` command: the one of ``$JAVA_HOME``, else the first on the ``PATH``.

    Raises:
        RehearsalError: There is none.
    """
    return library.java(RehearsalError)


def jar_names(kafka: str) -> tuple[str, ...]:
    """File names of the jars of a Kafka version."""
    return tuple(map(library.jar_name, _locked()[kafka]))
