"""Why a broker gave up a log dir, or could not use a file of it: disk failures, and what looks like one.

Kafka treats any ``IOException`` as a failed log dir (``LogDirFailureChannel.scala@1.0.2..3.9.0``): also after files were deleted,
and on Windows, where an open file cannot be renamed or deleted (KAFKA-1194).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.facts.events import DISK_FAILURES
from casebook.facts.quotes import cut
from casebook.kafka.past_rows import EventRow, Span
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.links import Chainer, once_each, places
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs
from casebook.questions.timeline.analysis.words import named

AFTER = 120_000
"""Milliseconds after a failure in which effects are searched."""
TOGETHER = 5000
"""Lines within so many milliseconds report the same failure: one thread prints the exception, another gives up the log dir."""
WEIGHT = 100
LAST_WORDS = 95
"""Maximum milliseconds between a failure and the end of its process; a later end may be a kill."""
_STOPS = ("broker_stopping", "broker_stopped", "controlled_shutdown_begun")


class _Why(NamedTuple):
    kind: str
    says: re.Pattern[str]
    name: str
    """Name of the root, with the broker's."""


_WHYS = (
    _Why(
        "file_held",
        re.compile(r"being used by another process|AccessDeniedException: [A-Za-z]:\\|FileSystemException: [A-Za-z]:\\"),
        "Windows does not rename or delete a file that {broker} has open (KAFKA-1194): not its disk",
    ),
    _Why(
        "disk_full",
        re.compile(r"No space left on device|not enough space on the disk|Disk quota exceeded"),
        "Disk of {broker} is full",
    ),
    _Why(
        "open_files",
        re.compile(r"Too many open files"),
        "{broker} had no free file handle (limit of open files): not its disk",
    ),
    _Why(
        "maps",
        re.compile(r"Map failed|Cannot allocate memory"),
        "{broker} could map no more files (vm.max_map_count, or the addresses of a 32-bit JVM): not its disk",
    ),
    _Why(
        "permissions",
        re.compile(r"Permission denied|AccessDeniedException"),
        "{broker} has no access to its files (permissions): not its disk",
    ),
    _Why(
        "files_gone",
        re.compile(r"NoSuchFileException|No such file or directory"),
        "Files of {broker} were deleted or moved while it ran: not its disk",
    ),
    _Why(
        "disk",
        re.compile(r"Input/output error|I/O error|Read-only file system|Structure needs cleaning|Stale file handle"),
        "Disk of {broker}",
    ),
)
"""Meanings of exception texts; the first match counts."""
ROOTS = frozenset({why.kind for why in _WHYS} | {"disk"})
"""Kinds of roots in this module."""


def chains(scene: TimelineInputs) -> Iterator[Chain]:
    """Yield the chain of each broker's first failure, and of its first in a replacement cluster."""
    until = scene.former_until
    first: dict[tuple[int | None, bool], EventRow] = {}
    for row in failures(scene):
        first.setdefault((row.broker, until is not None and row.at > until), row)
    for (broker, _), failed in first.items():
        yield _chain(scene, broker, failed)


def failures(scene: TimelineInputs, since: int | None = None, until: int | None = None) -> Iterator[EventRow]:
    """Yield lines of failed log dirs, except of a broker that was already stopping."""
    for row in scene.kinds(DISK_FAILURES, since, until):
        if row.at is not None and not _is_stopping(scene, row):
            yield row


def _is_stopping(scene: TimelineInputs, row: EventRow) -> bool:
    if row.broker is None:
        return False
    life = scene.life(row.broker, row.at)
    since = row.at - AFTER if life is None else life.opened
    return any(stop.broker == row.broker and stop.at < row.at for stop in scene.kinds(_STOPS, since, row.at))


def _chain(scene: TimelineInputs, broker: int | None, failed: EventRow) -> Chain:
    until = failed.at + AFTER
    links = Chainer(scene, until)

    def own(row: EventRow) -> bool:
        return row.broker == broker or (broker is not None and row.number("broker") == broker)

    gave = links.effects(failed, ["log_dir_failed"], "a log dir that fails once is not used again", which=own)
    given_up = gave or failed
    listed = [row for row in scene.kind("replicas_offline").between(failed.at - SLACK, until) if own(row)]
    offline = links.link(given_up, listed, "replicas of a failed log dir are offline") or given_up
    hit = {place for row in listed for place in row.listed()}
    moved = [row for row in _moved(scene, broker, failed.at - SLACK, until) if not hit or places([row]) <= hit]
    links.link(offline, moved, "a replica that is offline neither leads nor is in sync")
    links.effects(failed, ["broker_stopping", "broker_stopped"], "a broker without a log dir that works stops", which=own)
    lost = gave is not None or failed.kind == "log_dir_failed"
    title = f"A log dir of {named(broker)} failed" if lost else f"A file of {named(broker)} could not be read or written"
    kind, partitions = "disk_failed", len(hit | places(moved))
    return links.chain(kind, title, broker, partitions) or Chain(kind, title, broker, (), failed.at, failed.at, partitions)


def _moved(scene: TimelineInputs, broker: int | None, since: int, until: int) -> list[EventRow]:
    """Return each partition's first change after which a broker no longer leads it, or is out of sync."""

    def without(row: EventRow) -> bool:
        if broker is None:
            return False
        return row.number("from") == broker or (broker in row.numbers("old") and broker not in row.numbers("isr"))

    return once_each(row for row in scene.kinds(("znode_leader_changed", "znode_isr_changed"), since, until) if without(row))


def candidates(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield the causes in its lines; otherwise a disk, with what could not be checked."""
    first = chain.links[0].cause if chain.links else next(failures(scene, chain.opened, chain.opened), None)
    if first is not None:
        yield _root(scene, first, chain.broker, place, WEIGHT)


def ended_of_it(scene: TimelineInputs, broker: int, life: Span, place: int) -> Iterator[Root]:
    """Yield the same for a process whose last lines report a failure.

    Rule: up to 0.11 a broker halts at any (``ReplicaManager.scala@0.9.0.1..0.11.0.2``), later when no log dir is left
    (``ReplicaManager.scala@1.0.2..3.9.0``).
    """
    first = gave_up(scene, broker, life.closed - TOGETHER, life.closed)
    if first is not None:
        yield _root(scene, first, broker, place, LAST_WORDS)


def _root(scene: TimelineInputs, first: EventRow, broker: int | None, place: int, weight: int) -> Root:
    told = [first, *(row for row in failures(scene, first.at, first.at + TOGETHER) if row.broker == broker and row is not first)]
    kind, name, row = _why(told)
    unchecked = () if kind else (
        "why: the line names no exception; check the system log for disk errors and changes to the folder",
    )  # fmt: skip
    said = cut(" ".join((row or first).text.split()), 200) or f"A log dir of {named(broker)} failed"
    points = (Indication(said, (row or first).proof),)
    name = (name or "Disk of {broker}, or another cause that kept it from its files").format(broker=named(broker))
    return Root(kind or "disk", name[0].upper() + name[1:], broker, place, points, (), unchecked, weight)


def _why(told: Sequence[EventRow]) -> tuple[str, str, EventRow | None]:
    for row in told:
        for why in _WHYS:
            if why.says.search(row.text):
                return why.kind, why.name, row
    return "", "", None


def gave_up(scene: TimelineInputs, broker: int, since: int, until: int) -> EventRow | None:
    """Return the line in a period in which a broker reported a failed log dir."""
    return next((row for row in failures(scene, since, until) if row.broker == broker), None)
