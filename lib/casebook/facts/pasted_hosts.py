"""Rows of pasted host output: listings, sizes, threads, and the state of a host."""

from collections.abc import Mapping
from typing import NamedTuple

TABLE = "table"
"""Name of a host's table that is shown unchanged and that no check uses."""


class LineSpan(NamedTuple):
    """First and last line, 1-based."""

    first: int
    last: int


class ListedFile(NamedTuple):
    """A line of ``ls -l`` in a log dir.

    Args:
        folder: Folder of the listing, as named there; ``""`` without a pasted name.
        name: As printed.
        is_folder: Whether it is a folder.
        bytes: Size; ``None`` when rounded or not printed.
        about: Printed size, rounded up; ``None`` when not printed.
        modified: Epoch milliseconds; ``None`` without a zone.
        broker: Owner; ``None`` when no earlier line names it.
        listing: First line of the listing: two listings of one folder are of two moments.
        when: Time as printed.
    """

    folder: str
    name: str
    span: LineSpan
    is_folder: bool
    bytes: int | None
    about: int | None
    modified: int | None
    broker: int | None
    listing: int = 0
    when: str = ""


class Used(NamedTuple):
    """Size of a folder: a line of ``du``, or a replica in ``kafka-log-dirs``.

    Args:
        path: As printed.
        about: Bytes: of ``du``, on disk in whole blocks or rounded up; of ``kafka-log-dirs``, the exact size of the segments.
        broker: Owner; ``None`` when no earlier line names it.
        printed: Size as printed.
        tool: Tool that printed it.
    """

    path: str
    span: LineSpan
    about: int
    broker: int | None
    printed: str = ""
    tool: str = "du"


class ThreadDump(NamedTuple):
    """Thread dump of a Kafka broker, from jstack or ``jcmd Thread.print``.

    Args:
        broker: Broker in its threads or in a heading before it; ``None`` when unknown.
        taken: Time as printed, without a zone; ``""`` when that line was not pasted.
        whole: The dump is complete and uninterrupted: a thread that it lacks did not exist.
        counted: It states its number of threads, and as many were pasted.
        cleaners: Names of its log cleaner threads.
        loading: Names of its threads that load groups and offsets.
    """

    span: LineSpan
    broker: int | None
    taken: str
    whole: bool
    counted: bool
    cleaners: tuple[str, ...]
    loading: tuple[str, ...]


class HostSaid(NamedTuple):
    """Output of a host or an operations tool, as one sentence.

    Args:
        kind: Tool that printed it, e.g. ``df``.
        text: The sentence, without a full stop: numbers, ages and times as printed.
        broker: Broker on the host; ``None`` when unknown.
        bad: It reports a problem.
        settle: What to paste in its place when it does not answer a question of the case; ``""`` when it does.
        facts: Facts of the sentence by name.
    """

    kind: str
    span: LineSpan
    text: str
    broker: int | None = None
    bad: bool = False
    settle: str = ""
    facts: Mapping[str, object] = {}

    @property
    def tells(self) -> bool:
        """Whether it states a fact; otherwise only its name and what to paste in its place are shown."""
        return not self.settle or bool(self.facts)
