"""Rows of a timeline: events with their clock and duration.

Times are epoch milliseconds. ``time`` is as printed, by the writer's clock; ``at`` is the same moment by the reference clock,
ZooKeeper's when known. Only the order of events depends on ``at``.
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
    """Return the proof of a transaction: the history and its line."""
    return f"{HISTORY} txn 0x{zxid:x}"


class EventRow(NamedTuple):
    """An event: a row of ``tables/events``.

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
        """Return a field as an integer; ``None`` when missing or not an integer."""
        return whole(self.fields, name)

    @property
    def milliseconds(self) -> int | None:
        """Duration in the line: ``ms``, or ``secs`` of a JDK 8 pause, perhaps with a decimal comma."""
        for name, unit in (("ms", 1), ("secs", 1000)):
            try:
                return round(float(self.fields[name].replace(",", ".")) * unit)
            except (KeyError, ValueError, OverflowError):
                continue
        return None

    @property
    def begun(self) -> int | None:
        """Start of that duration: lines are printed at its end, but JDK 8 stamps a collection with its start."""
        of_jdk_8 = "secs" in self.fields and "time for which" not in self.fields.get("cause", "")
        return self.at if self.at is None or of_jdk_8 else self.at - (self.milliseconds or 0)

    def numbers(self, name: str) -> tuple[int, ...]:
        """A field as broker ids: ``1,2``, ``List(1, 2)``, ``BrokerState(brokerId=1, ..)``; empty when missing."""
        text = self.fields.get(name, "")
        return tuple(map(int, (_ID if "brokerId=" in text else _NUMBER).findall(text)))

    def listed(self) -> Iterator[tuple[str, int]]:
        """Partitions of its list, as brokers print it: ``orders-1,orders-2``, ``Set([orders,1])``; none without a list."""
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
        deleted: From here on the partition is deleted or under deletion.
        version: Version of the znode.
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
    def is_unknown(self) -> bool:
        """Whether the partition is unknown from here on: later rows may be of another cluster."""
        return self.deleted and not self.proof


class ClockStep(NamedTuple):
    """A clock was set while its log was written.

    Args:
        before: Proof of the last line before the step.
        after: Proof of the first line after the step.
        left: Time of that last line.
        shown: Time of that first line.
        skew: Milliseconds ahead of the reference from here on; ``None`` when unknown.
        uncertainty: Error bound of the skew, milliseconds.
        lines: Number of the first line after the step, by file.
        joined: All later lines belong before the earlier ones: the file may be concatenated out of order.
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
    """The last line with an otherwise known moment has a later time: a clock set forward, or a late line.

    Args:
        at: That time, epoch ms as printed.
        by: Delay in milliseconds.
        proof: The line.
    """

    at: int
    by: int
    proof: str


class Clock(NamedTuple):
    """Skew of a clock.

    Args:
        owner: ``broker 57``, or the folder of a log of no broker, e.g. ``zookeeper/logs/1``, ``clients/app``.
        broker: Owner; ``None`` for the others.
        skew: Milliseconds ahead of the reference; ``None`` when unknown. For a clock with steps: before the first.
        uncertainty: Error bound of the skew, milliseconds.
        pairs: Number of lines compared with a simultaneous event.
        reference: ``ZooKeeper``, ``broker 56``, or ``""`` without one.
        zone: The skew is a multiple of a quarter of an hour, so a time zone is likelier than a wrong clock.
        why: Source of the skew, or why it is unknown.
        steps: Steps of the clock, in order.
        mixed: Milliseconds between the times of two processes that write one file; ``None`` for a single writer.
        mixed_proof: First line of the second writer; ``""`` without one.
        late: Evidence of a late step forward; ``None`` without.
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
        """Skew of each stretch between its steps."""
        return (self.skew, *(step.skew for step in self.steps))

    def ahead(self, file: str, line: int) -> int | None:
        """Milliseconds ahead of the reference when a line was printed."""
        return self.skews[self.stretch(file, line)]

    def is_behind_a_step(self, file: str, line: int) -> bool:
        """Whether a line was printed after a step."""
        return self.stretch(file, line) > 0

    def stretch(self, file: str, line: int) -> int:
        """Number of steps before a line."""
        return sum(file in step.lines and line >= step.lines[file] for step in self.steps)


class WindowKind(StrEnum):
    """Kind of the problem in a window."""

    TWO_LEADERS = "two_leaders"
    LEADERLESS = "leaderless"
    UNDER_MIN_ISR = "under_min_isr"
    LOADING = "loading"


class Window(NamedTuple):
    """A period with a problem of a partition: a row of ``tables/windows``.

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
        planned: An operator moved the leader away from a healthy broker.
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
        """Maximum length in milliseconds; ``None`` with an open end."""
        since = self.opened if self.opened_earliest is None else self.opened_earliest
        return None if None in (since, self.closed) else self.closed - since

    @property
    def least(self) -> int | None:
        """Minimum length in milliseconds; ``None`` with an open end."""
        until = self.closed if self.closed_earliest is None else self.closed_earliest
        return None if None in (self.opened, self.closed) else max(0, until - self.opened)

    @property
    def at_most(self) -> bool:
        """Whether it may have been shorter."""
        return self.possible or (self.opened_earliest, self.closed_earliest) != (None, None)


class Span(NamedTuple):
    """A period of something: a session, a registration, a controllership, a broker process.

    Args:
        kind: ``session``, ``registered``, ``controller``, ``process``.
        name: Session as ``0x..``, controller epoch, or ``""``.
        broker: Broker; ``None`` when unknown.
        opened: By the reference clock; ``None``: before the evidence begins.
        closed: Latest end; ``None``: not before the evidence ends.
        silent: For a session: last contact with ZooKeeper; ``None`` when unknown.
        timeout: For a session: timeout in milliseconds.
        closed_earliest: Last moment at which it is known to exist, before missing transactions; else ``None``.
        opened_earliest: Earliest start; ``None`` when ``opened`` is exact.
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
        """Last moment at which it is known to exist; ``None``: to the end of the evidence."""
        return self.closed if self.closed_earliest is None else self.closed_earliest

    def covers(self, at: int) -> bool:
        """Whether it covers a moment."""
        return (self.opened is None or self.opened <= at) and (self.closed is None or at < self.closed)


class Silence(NamedTuple):
    """A limit of these logs.

    Args:
        kind: ``no_history``, ``no_log``, ``no_file``, ``begins_late``, ``ends_early``, ``ends_close``, ``level_off``,
            ``undated``, ``damaged``, ``unknown_broker``, ``clock``.
        broker: Broker; ``None`` for none.
        what: What is missing, one sentence.
        unknown: What is therefore unknown.
        settle: Evidence that would settle it.
        proof: Where it shows; ``""`` for missing evidence.
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
        proof: Proof.
        kind: Kind of the event.
        broker: Subject of the sentence.
        chain: Number of the chain in the timeline.
        key: It decides the kind of the incident.
        count: Number of events it stands for.
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
