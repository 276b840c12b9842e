"""Rows of what was produced and what is stored, and what became of each record. ``None`` is unknown, never zero.

Times are epoch milliseconds: of a ledger by the application's clock, of stored records by whoever wrote them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

LEDGER = """
    id string, topic string, partition int, offset bigint, at timestamp, outcome string, acks string, key string, producer string,
    sent timestamp, consumer string
"""
"""Columns of a ledger, as Spark has them: what an application says of each record that it sent. Null is unknown, but in ``id``,
``topic`` and ``outcome``, which is ``acked``, ``failed`` or ``unknown``; ``at`` is when it was told so, or else when it sent;
``sent`` is when it gave the record to its producer, and nothing else; ``consumer`` the group that processed it."""

STORED = """
    id string, topic string, partition int, offset bigint, at timestamp, key bigint, tombstone boolean, state string,
    leader_epoch int
"""
"""Columns of what is stored. ``id`` is null where none could be found in the record, ``key`` a hash of it, null without key;
``tombstone`` is null where values were not read; ``state`` is ``data``, ``aborted`` (of a transaction that was), ``open`` (of one
that has not ended) or ``control``."""


class SendOutcome(StrEnum):
    """What a producer was told of a record."""

    ACKED = "acked"
    FAILED = "failed"
    UNKNOWN = "unknown"


class RecordVerdict(StrEnum):
    """What became of a record; each has exactly one."""

    STORED = "stored"
    DUPLICATED = "duplicated"
    LOST = "lost"
    FAILED = "failed"
    STORED_THOUGH_FAILED = "stored_though_failed"
    UNKNOWN_STORED = "unknown_stored"
    UNKNOWN_NOT_STORED = "unknown_not_stored"
    EXPIRED = "expired"
    COMPACTED = "compacted"
    ABORTED = "aborted"
    UNDECIDED = "undecided"
    NOT_YET = "not_yet"
    ELSEWHERE = "elsewhere"
    UNREADABLE = "unreadable"
    NOT_SCANNED = "not_scanned"
    CANNOT_TELL = "cannot_tell"
    SURPLUS = "surplus"


class Limits(NamedTuple):
    """What of a partition was looked at, and what could not be.

    Args:
        topic: Its topic.
        partition: Its number.
        copy: Whose copy was read: ``broker 2``, ``live``, or the file of an extract.
        log_start: First offset that is kept.
        end: Offset after the last that was looked at.
        first_time: Of its first record.
        scanned_at: When it was read: what was acknowledged later may have come later. ``None`` where nobody knows.
        compacted: Whether its topic is.
        clean_end: First offset that was never compacted, by ``cleaner-offset-checkpoint``; ``None`` when unknown.
        unreadable: Ranges of offsets, the end not included, in which something could not be read; ``None`` as end: to the end.
        foreign: The copy is not its leader's: that may hold what is missing here, and lack what is here.
    """

    topic: str
    partition: int
    copy: str
    log_start: int | None
    end: int | None
    first_time: int | None = None
    scanned_at: int | None = None
    compacted: bool | None = None
    clean_end: int | None = None
    unreadable: tuple[tuple[int, int | None], ...] = ()
    foreign: bool = False


class Signature(NamedTuple):
    """All that the verdict on a record depends on. Spark makes one of all rows with the same id in a topic, and counts those.

    Args:
        acked: A row of the ledger says that it was acknowledged.
        failed: A row says that it failed.
        unknown: A row does not say.
        stored: Visible records with its id, 2 for more.
        aborted: A transaction that was aborted has a record with its id.
        open: A transaction that has not ended has one.
        place: Whether a stored one lies where the ledger says; ``None`` when either does not say.
        scanned: Whether the partition it was acknowledged in was read, or all of its topic where the ledger does not say.
        below_start: Whether it lies below where the log begins; ``None`` when that cannot be told.
        after_scan: Whether it was acknowledged after its partition was read; ``None`` when that cannot be told.
        readable: Whether all was read where it must lie.
        superseded: Whether its key has a newer record, in a topic that is compacted; ``None`` when that cannot be told.
    """

    acked: bool = False
    failed: bool = False
    unknown: bool = False
    stored: int = 0
    aborted: bool = False
    open: bool = False
    place: bool | None = None
    scanned: bool = True
    below_start: bool | None = False
    after_scan: bool | None = False
    readable: bool = True
    superseded: bool | None = False


class Counted(NamedTuple):
    """So many records of a partition have this signature; the partition is ``None`` where nothing tells it."""

    topic: str
    partition: int | None
    signature: Signature
    records: int


class Order(NamedTuple):
    """How many records of a partition lie in another order than they were sent in.

    Acknowledgements tell no order: they come after the records were stored, and at any time. So only records count of which the
    ledger tells one time of sending, which have a key, and which are stored once. They are compared with those of the same key
    and producer alone, as clocks of two producers differ; rows that name no producer are taken for one producer's. Records that
    were sent at the same time are in order.

    Args:
        topic: Its topic.
        partition: Its number.
        told: So many records count.
        reordered: So many of them lie behind one that was sent later.
    """

    topic: str
    partition: int
    told: int
    reordered: int


class Word(NamedTuple):
    """A word by which a ledger tells outcomes.

    Args:
        text: In lower case; empty where there was none.
        outcome: What it was taken for.
        rows: So many have it.
    """

    text: str
    outcome: SendOutcome
    rows: int


class Unusable(NamedTuple):
    """What could not be used.

    Args:
        reason: Why.
        rows: So many.
        example: One of them, after the name of its file.
    """

    reason: str
    rows: int
    example: str


class LedgerShape(NamedTuple):
    """What a ledger is like.

    Args:
        rows: Those that can be used.
        outcomes: How many of them, by outcome.
        words: The most frequent words that tell it; exact unless there are thousands.
        unusable: Rows left out, by reason.
        odd_times: Rows whose time is none; they count without it.
        assumed: Rows whose time tells no zone.
        zone: The zone that was assumed for them.
        first: The earliest moment, epoch ms.
        last: The latest.
        timed: Whether any column was taken for a time.
        unused: Columns that nothing was read from.
    """

    rows: int
    outcomes: Mapping[SendOutcome, int]
    words: tuple[Word, ...]
    unusable: tuple[Unusable, ...]
    odd_times: Unusable | None
    assumed: int
    zone: str
    first: int | None
    last: int | None
    timed: bool = True
    unused: tuple[str, ...] = ()


class UnsuitedLedger(NamedTuple):
    """A file of a ledger that could not be used.

    Args:
        name: Its path.
        why: What is wrong, with its columns.
        try_: Which parameter would map them, or what else to do.
    """

    name: str
    why: str
    try_: str

    @property
    def told(self) -> str:
        """Which file cannot be used, and why, with its columns."""
        return f"{self.name}: {self.why}"
