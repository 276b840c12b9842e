"""Rows of what hosts print, as it is pasted: listings, sizes, threads, and what a host says of itself."""

from collections.abc import Mapping
from typing import NamedTuple

TABLE = "table"
"""The fact of a host's table that is told as it stands and answers no check: its name."""


class LineSpan(NamedTuple):
    """First and last line of something, from 1."""

    first: int
    last: int


class ListedFile(NamedTuple):
    """A line of ``ls -l`` on something in a log dir.

    Args:
        folder: Of the listing it stands in, as named there; ``""`` where no name was pasted.
        name: As printed.
        is_folder: Whether it is one.
        bytes: Its size; ``None`` when it was rounded, or not printed.
        about: Its size as printed, rounded up; ``None`` when it was not printed.
        modified: Epoch milliseconds; ``None`` where its time bears no zone.
        broker: Whose it is; ``None`` where nothing before tells.
        listing: The first line of the listing: two listings of one folder are of two moments.
        when: Its time in the words of the line.
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
    """The size of a folder: a line of ``du``, or a replica of ``kafka-log-dirs``.

    Args:
        path: As printed.
        about: Bytes: of ``du`` on disk, in whole blocks or rounded up; of ``kafka-log-dirs`` of the segments, exact.
        broker: Whose it is; ``None`` where nothing before tells.
        printed: Its size in the words of the line.
        tool: Which printed it.
    """

    path: str
    span: LineSpan
    about: int
    broker: int | None
    printed: str = ""
    tool: str = "du"


class ThreadDump(NamedTuple):
    """The threads of a Kafka broker at one moment, as jstack and ``jcmd Thread.print`` print them.

    Args:
        broker: That its threads name, or a heading before them; ``None`` where nothing tells.
        taken: When, as printed, without zone; ``""`` where that line was not pasted.
        whole: It begins and ends as a dump does, and nothing else stands within: what is not in it was not there.
        counted: It says how many threads there are, and so many were pasted.
        cleaners: Names of the log cleaner's threads in it.
        loading: Names of the threads in it that load groups and offsets.
    """

    span: LineSpan
    broker: int | None
    taken: str
    whole: bool
    counted: bool
    cleaners: tuple[str, ...]
    loading: tuple[str, ...]


class HostSaid(NamedTuple):
    """What a host, or a tool of those who run brokers, printed, told in one sentence.

    Args:
        kind: What printed it, e.g. ``df``.
        text: The sentence, without a full stop: numbers, ages and times as they were printed.
        broker: Whose host it is; ``None`` where nothing tells.
        bad: It tells of trouble.
        settle: What to paste in its place, where it does not answer what a case asks; ``""`` where it does.
        facts: What the sentence says, by name.
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
        """Whether it states something; else it is called by its name, with what to paste in its place."""
        return not self.settle or bool(self.facts)
