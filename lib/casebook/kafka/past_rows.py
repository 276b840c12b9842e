"""Rows of a timeline: what happened, by whose clock, and for how long.

Times are epoch milliseconds. ``time`` is as printed, by the clock of who wrote it; ``at`` is the same moment by the reference
clock, ZooKeeper's where that is known. Only the order of things rests on ``at``.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.events import whole
from casebook.facts.times import EpochMs

_PLACE = re.compile(r"\[(?P<topic>[^\s,\[\]]+), ?(?P<partition>\d+)\]|(?P<dashed>[\w.-]+)-(?P<number>\d+)", re.ASCII)
_NUMBER, _ID = re.compile(r"\d+"), re.compile(r"(?<=brokerId=)\d+")

HISTORY = "zookeeper/history.jsonl.zst"


def transaction(zxid: int) -> str:
    """The proof of a transaction: the history, and which of its lines."""
    return f"{HISTORY} txn 0x{zxid:x}"


class EventRow(NamedTuple):
    """One thing that happened: a row of ``tables/events``.

    Columns:
        time: By the writer's clock, ISO-8601 UTC; null if the line has no date.
        at: The same moment by the reference clock (ZooKeeper's if known): the order of the rows.
        source: Owner of the log: broker, zookeeper or client; history: ZooKeeper's transactions.
        broker: Owner of the log, or subject of the transaction.
        file: Path inside the case.
        line: Line in it; null for a transaction.
        zxid: Of a transaction.
        level: As printed.
        kind: What it means: a kind of lib/casebook/formats/broker/log_patterns.tsv.
        topic: The partition it is about.
        partition: The partition it is about.
        group: The consumer group it is about.
        fields: All other values, by name, as printed.
        text: The entry: its message and the lines after it.
    """

    time: EpochMs | None
    at: EpochMs | None
    source: str
    broker: int | None
    file: str
    line: int | None
    kind: str
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    fields: Mapping[str, str] = {}
    text: str = ""
    level: str | None = None
    zxid: int | None = None

    @property
    def proof(self) -> str:
        """``path:line``, or the history and its transaction."""
        return f"{self.file}:{self.line}" if self.zxid is None else transaction(self.zxid)

    def number(self, name: str) -> int | None:
        """A field as a whole number; ``None`` where it is missing or none."""
        return whole(self.fields, name)

    @property
    def milliseconds(self) -> int | None:
        """What it says it took: ``ms``, or ``secs`` of a JDK 8 pause, maybe with a decimal comma."""
        for name, unit in (("ms", 1), ("secs", 1000)):
            try:
                return round(float(self.fields[name].replace(",", ".")) * unit)
            except (KeyError, ValueError, OverflowError):
                continue
        return None

    @property
    def begun(self) -> int | None:
        """When what it says it took began: it is printed at the end, but a collection of JDK 8 bears the time of its begin."""
        of_jdk_8 = "secs" in self.fields and "time for which" not in self.fields.get("cause", "")
        return self.at if self.at is None or of_jdk_8 else self.at - (self.milliseconds or 0)

    def numbers(self, name: str) -> tuple[int, ...]:
        """A field as broker ids: ``1,2``, ``List(1, 2)``, ``BrokerState(brokerId=1, ..)``; empty where it is missing."""
        text = self.fields.get(name, "")
        return tuple(map(int, (_ID if "brokerId=" in text else _NUMBER).findall(text)))

    def listed(self) -> Iterator[tuple[str, int]]:
        """The partitions of its list as brokers print it: ``orders-1,orders-2``, ``Set([orders,1])``; none without a list."""
        for found in _PLACE.finditer(self.fields.get("partitions", "")):
            yield found["topic"] or found["dashed"], int(found["partition"] or found["number"])


class StateRow(NamedTuple):
    """A state of a partition: a row of ``tables/partition_history``.

    Columns:
        topic: Topic name.
        partition: Partition number.
        time: When the state was written, ISO-8601 UTC by the reference clock.
        zxid: Transaction; null if only a log has it.
        leader: Null for -1, and from a deletion on.
        leader_epoch: Null where unknown.
        isr: In-sync replicas as stored; null where unknown.
        controller_epoch: Of the controller that wrote it.
        until: The last moment for which it is known, if transactions are missing; null: it held until the next row.

    Args:
        proof: ``path:line``, the history and its transaction, or the znodes and its path.
        deleted: The partition is gone from here on, or being deleted.
        version: Of the znode.
    """

    topic: str
    partition: int
    time: EpochMs
    zxid: int | None
    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...] | None
    controller_epoch: int | None
    proof: str
    deleted: bool = False
    version: int | None = None
    until: EpochMs | None = None

    @property
    def is_untold(self) -> bool:
        """Whether nothing is known of the partition from here on: what follows may be of another cluster."""
        return self.deleted and not self.proof


class ClockStep(NamedTuple):
    """A clock was set while its log was written.

    Args:
        before: Where the last line by the clock as it was stands.
        after: Where the first one by the clock as it was set stands.
        left: What it showed last.
        shown: What it showed then.
        skew: Milliseconds by which it is ahead of the reference from here on; ``None`` when unknown.
        uncertainty: The skew is right to so many milliseconds.
        lines: Number of the first line after it, by file.
        joined: All lines after it lie before those above it: the file may be one of several that were put together out of order.
    """

    before: str
    after: str
    left: int
    shown: int
    skew: int | None
    uncertainty: int | None
    lines: Mapping[str, int]
    joined: bool = False


class Late(NamedTuple):
    """The last line whose moment is known otherwise bears a later time: its clock was set forward, or it was printed late.

    Args:
        at: That time, epoch ms as printed.
        by: Milliseconds by which it is late.
        proof: The line.
    """

    at: int
    by: int
    proof: str


class Clock(NamedTuple):
    """How far a clock is off.

    Args:
        owner: ``broker 57``, or the folder of a log of no broker, e.g. ``zookeeper/logs/1``, ``clients/app``.
        broker: Whose it is; ``None`` for the others.
        skew: Milliseconds by which it is ahead of the reference; ``None`` when unknown. Of a clock that was set: at first.
        uncertainty: The skew is right to so many milliseconds.
        pairs: Lines that were held against what happened with them.
        reference: ``ZooKeeper``, ``broker 56``, or ``""`` when there is nothing to hold it against.
        zone: It is so far off by whole quarters of an hour that a time zone is likelier than a wrong clock.
        why: How it is known, or why not.
        steps: Where it was set, in order.
        mixed: Milliseconds between the times of two processes that write one file; ``None`` where one writes it.
        mixed_proof: Where the second of them shows; ``""`` without one.
        late: What tells that it may have been set forward in the end; ``None`` where nothing does.
    """

    owner: str
    broker: int | None
    skew: int | None
    uncertainty: int | None
    pairs: int
    reference: str
    zone: bool
    why: str
    steps: tuple[ClockStep, ...] = ()
    mixed: int | None = None
    mixed_proof: str = ""
    late: Late | None = None

    @property
    def skews(self) -> tuple[int | None, ...]:
        """Of each stretch between its steps."""
        return (self.skew, *(step.skew for step in self.steps))

    def ahead(self, file: str, line: int) -> int | None:
        """Milliseconds by which it was ahead when a line was printed."""
        return self.skews[self.stretch(file, line)]

    def is_behind_a_step(self, file: str, line: int) -> bool:
        """Whether it had been set when a line was printed."""
        return self.stretch(file, line) > 0

    def stretch(self, file: str, line: int) -> int:
        """How often it had been set when a line was printed."""
        return sum(file in step.lines and line >= step.lines[file] for step in self.steps)


class WindowKind(StrEnum):
    """What was wrong in a window."""

    TWO_LEADERS = "two_leaders"
    LEADERLESS = "leaderless"
    UNDER_MIN_ISR = "under_min_isr"
    LOADING = "loading"


class Window(NamedTuple):
    """A span of time in which something was wrong with a partition: a row of ``tables/windows``.

    Columns:
        kind: two_leaders, leaderless, under_min_isr or loading.
        topic: Topic name.
        partition: Partition number.
        opened: By the reference clock, ISO-8601 UTC, at the latest; null: before the evidence begins.
        closed: At the latest; null: not before the evidence ends.
        old_leader: Previous leader, also one that only believed to lead; null for none.
        new_leader: Next leader; for loading the coordinator.
        opened_proof: Line or transaction of its start; for an open start where the evidence begins.
        closed_proof: Line or transaction of its end; for an open end where the evidence ends.
        silent: Until then the old leader logged nothing and may have been paused; null if unknown.
        at_most: It may have been shorter: evidence of its start or end is missing, or was not read.
        opened_earliest: It may have opened as early as this; null if opened is exact.
        closed_earliest: It may have closed as early as this; null if closed is exact.
        possible: It is unknown whether it was open at all: the old leader's log was not read.

    Args:
        opened_by: What opened it, in words; ``closed_by`` what closed it, or why its end is open.
        planned: Somebody moved the leader from a broker that was well.
    """

    kind: WindowKind
    topic: str
    partition: int
    opened: EpochMs | None
    closed: EpochMs | None
    old_leader: int | None
    new_leader: int | None
    opened_proof: str
    closed_proof: str
    opened_by: str = ""
    closed_by: str = ""
    planned: bool = False
    silent: EpochMs | None = None
    opened_earliest: EpochMs | None = None
    closed_earliest: EpochMs | None = None
    possible: bool = False

    @property
    def length(self) -> int | None:
        """Milliseconds at most; ``None`` with an open end."""
        since = self.opened if self.opened_earliest is None else self.opened_earliest
        return None if None in (since, self.closed) else self.closed - since

    @property
    def least(self) -> int | None:
        """Milliseconds at least; ``None`` with an open end."""
        until = self.closed if self.closed_earliest is None else self.closed_earliest
        return None if None in (self.opened, self.closed) else max(0, until - self.opened)

    @property
    def at_most(self) -> bool:
        """Whether it may have been shorter."""
        return self.possible or (self.opened_earliest, self.closed_earliest) != (None, None)


class Span(NamedTuple):
    """Something that lasted: a session, a registration, a controllership, a broker's process.

    Args:
        kind: ``session``, ``registered``, ``controller``, ``process``.
        name: Session as ``0x..``, controller epoch, or ``""``.
        broker: Whose; ``None`` when unknown.
        opened: By the reference clock; ``None``: before the evidence begins.
        closed: At the latest; ``None``: not before the evidence ends.
        silent: Of a session: the last time that ZooKeeper was heard; ``None`` when nothing says.
        timeout: Of a session, milliseconds.
        closed_earliest: The last moment at which it is known to have lasted, where transactions are missing; else ``None``.
        opened_earliest: It may have begun since then; ``None`` where ``opened`` is when it did.
    """

    kind: str
    name: str
    broker: int | None
    opened: int | None
    closed: int | None
    opened_proof: str
    closed_proof: str
    silent: int | None = None
    timeout: int | None = None
    closed_earliest: int | None = None
    opened_earliest: int | None = None

    @property
    def lasted(self) -> int | None:
        """Up to when it is known to have lasted; ``None``: to the end of the evidence."""
        return self.closed if self.closed_earliest is None else self.closed_earliest

    def covers(self, at: int) -> bool:
        """Whether it lasted at a moment."""
        return (self.opened is None or self.opened <= at) and (self.closed is None or at < self.closed)


class Silence(NamedTuple):
    """Something that these logs cannot tell.

    Args:
        kind: ``no_history``, ``no_log``, ``no_file``, ``begins_late``, ``ends_early``, ``ends_close``, ``level_off``,
            ``undated``, ``damaged``, ``unknown_broker``, ``clock``.
        broker: Whose; ``None`` when it is of no broker.
        what: What is missing, one sentence.
        unknown: What therefore nobody knows.
        settle: What would tell.
        proof: Where it shows; ``""`` when it is a lack.
    """

    kind: str
    broker: int | None
    what: str
    unknown: str
    settle: str
    proof: str = ""


class Sentence(NamedTuple):
    """A sentence of the story.

    Args:
        at: By the reference clock.
        time: As printed.
        text: One or two sentences, without the time.
        proof: Where it is told.
        kind: Of the event.
        broker: Whom it is about.
        chain: Number of the chain in the timeline.
        key: It decides what the incident is.
        count: How many events it stands for.
    """

    at: int | None
    time: int | None
    text: str
    proof: str
    kind: str
    broker: int | None
    chain: int
    key: bool = False
    count: int = 1
