"""Kafka's own server jars.

``jars.json`` locks every jar of a version by its Maven coordinate and sha256: the runtime dependencies of
``org.apache.kafka:kafka_<scala>`` and the log4j binding of this version's distribution (``gradle/dependencies.gradle@2.8.2,
3.9.0-rc3``; 0.9 has it among its dependencies). 4.0 and later log through log4j 2, whose bridge reads the files of log4j 1.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.kafka.releases import KafkaVersion
from casebook.machine import jars as library
from casebook.machine.jars import Progress
from casebook.machine.places import cache_dir

_ZOOKEEPER = "org.apache.zookeeper:zookeeper:"
_FIRST_KRAFT = KafkaVersion.parse("3.3.0")
"""Earlier releases have KRaft only as a preview (KIP-833)."""


@cache
def _locked() -> Mapping[str, Mapping[str, str]]:
    return json.loads(files("casebook.rehearsal").joinpath("jars.json").read_text())


def versions() -> tuple[str, ...]:
    """Return the Kafka versions with available servers for ZooKeeper mode, oldest first; incidents list their own."""
    return tuple(kafka for kafka, locked in _locked().items() if any(jar.startswith(_ZOOKEEPER) for jar in locked))


def kraft_versions() -> tuple[str, ...]:
    """Return the Kafka versions with available servers for KRaft mode, oldest first."""
    return tuple(kafka for kafka in _locked() if KafkaVersion.parse(kafka) >= _FIRST_KRAFT)


def jars(kafka: str, *, among: Sequence[str] | None = None, progress: Progress = lambda _: None) -> tuple[Path, ...]:
    """Return the jars of a Kafka version, fetching and verifying missing ones.

    Args:
        kafka: Version.
        among: Permitted versions: :func:`versions` or :func:`kraft_versions`; both when ``None``.
        progress: Receives one sentence for each slow step.

    Raises:
        RehearsalError: Unknown version, no Java, no network, or a jar with the wrong hash.
    """
    known = tuple(_locked()) if among is None else among
    if kafka not in known:
        raise RehearsalError(f"The servers of Kafka {kafka} are not known here.", try_=f"Choose one of {', '.join(known)}.")
    folder = cache_dir() / "servers" / kafka
    return library.fetched(
        _locked()[kafka], folder, what=f"The servers of Kafka {kafka}", error=RehearsalError, progress=progress
    )


def java() -> str:
    """Return the path of ``java``: from ``$JAVA_HOME``, else the first on the ``PATH``.

    Raises:
        RehearsalError: It does not exist.
    """
    return library.java(RehearsalError)


def jar_names(kafka: str) -> tuple[str, ...]:
    """Return file names of the jars of a Kafka version."""
    return tuple(map(library.jar_name, _locked()[kafka]))
