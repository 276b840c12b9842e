"""Create the archives of :mod:`.class_archive`: ``python -m casebook.rehearsal.servers.archiving 2.8.2``.

Worth half a minute per release for dozens of servers, as in tests.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from casebook.machine import locks, private, workshop
from casebook.rehearsal.servers import class_archive, jars, records
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import Installation
from casebook.rehearsal.servers.kraft import KraftCluster

_TOPIC = "archived"


class _Archiving:
    """Two brokers; the one that leads and follows writes the archive on exit."""

    writer = 2

    def into(self, archive: Path) -> Self:
        self._archive = archive
        return self

    def _command(self, place: Installation, options: Sequence[str] = ()) -> list[str]:
        own = (f"-XX:ArchiveClassesAtExit={self._archive}",) if place.name == f"broker-{self.writer}" else ()
        return super()._command(place, [*options, *own])


class _Archived(_Archiving, PlayedCluster):
    pass


class _ArchivedKraft(_Archiving, KraftCluster):
    pass


def make(kafka: str) -> Path:
    """Create the archive of a release unless it exists.

    Raises:
        RehearsalError: No Java, no network, or the servers do not run.
    """
    archive = class_archive.path(jars.jars(kafka))
    turn = archive.parent / kafka
    private.folder(turn)
    with locks.one_at_a_time(turn):
        if not archive.is_file():
            with workshop.folder(beside=archive.parent) as scratch:
                _written(kafka, scratch / archive.name).rename(archive)
    return archive


def _written(kafka: str, archive: Path) -> Path:
    played = _Archived if kafka in jars.versions() else _ArchivedKraft
    with played(kafka=kafka, brokers=2).into(archive) as cluster:
        cluster.create_topic(_TOPIC, {0: [1, 2], 1: [2, 1]})
        records.produce({(_TOPIC, 0): 10, (_TOPIC, 1): 10}, bootstrap=cluster.bootstrap, kafka=kafka)
        cluster.stop(cluster.writer)
    return archive


if __name__ == "__main__":
    for release in sys.argv[1:] or dict.fromkeys(jars.versions() + jars.kraft_versions()):
        make(release)
