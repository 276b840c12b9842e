"""Rows of produced and stored records, and of the outcome of each. ``None`` is unknown, never zero.

Times are epoch milliseconds: of a ledger by the application's clock, of stored records by the clock of their writer.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

LEDGER = """
    id string, topic string, partition int, offset bigint, at timestamp, outcome string, acks string, key string, producer string,
    sent timestamp, consumer string
"""
"""Columns of a ledger in Spark: an application's account of each record it sent.

Null is unknown, except in ``id``, ``topic`` and ``outcome``, which is ``acked``, ``failed`` or ``unknown``. ``at`` is the time of
the outcome, or else of the send; ``sent`` is the time of the call to the producer, and nothing else; ``consumer`` is the group
that processed it.
"""

STORED = """
    id string, topic string, partition int, offset bigint, at timestamp, key bigint, tombstone boolean, state string,
    leader_epoch int
"""
"""Columns of stored records.

``id`` is null when the record has none; ``key`` is a hash, null without a key; ``tombstone`` is null when values were not read;
``state`` is ``data``, ``aborted`` (aborted transaction), ``open`` (unfinished transaction) or ``control``.
"""


class SendOutcome(StrEnum):
    """Result of a send, as the producer received it."""

    ACKED = "acked"
    FAILED = "failed"
    UNKNOWN = "unknown"


class RecordVerdict(StrEnum):
    """Outcome of a record; each has exactly one."""

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
    """Examined and unreadable parts of a partition.

    Args:
        topic: Topic name.
        partition: Partition number.
        copy: Copy that was read: ``broker 2``, ``live``, or the file of an extract.
        log_start: Log start offset.
        end: Offset after the last examined one.
        first_time: Time of its first record.
        scanned_at: Time of the scan: later acknowledgements may be stored later. ``None`` when unknown.
        compacted: Whether its topic is compacted.
        clean_end: First never compacted offset, from ``cleaner-offset-checkpoint``; ``None`` when unknown.
        unreadable: Ranges of offsets with unreadable parts, end excluded; ``None`` as end: to the end.
        foreign: The copy is not the leader's, which may have more and may lack some of it.
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
    """All inputs of the verdict on a record. Spark builds one per id and topic, and counts equal ones.

    Args:
        acked: A ledger row reports it as acknowledged.
        failed: A ledger row reports it as failed.
        unknown: A ledger row has no outcome.
        stored: Number of visible records with its id, 2 for more.
        aborted: An aborted transaction has a record with its id.
        open: An unfinished transaction has a record with its id.
        place: Whether a stored one is where the ledger says; ``None`` when either is unknown.
        scanned: Whether its partition was read, or all of its topic when the ledger has no partition.
        below_start: Whether its offset is below the log start; ``None`` when unknown.
        after_scan: Whether it was acknowledged after the scan of its partition; ``None`` when unknown.
        readable: Whether everything was read where it must be.
        superseded: Whether its key has a newer record in a compacted topic; ``None`` when unknown.
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
    """Number of records of a partition with this signature; the partition is ``None`` when unknown."""

    topic: str
    partition: int | None
    signature: Signature
    records: int


class Order(NamedTuple):
    """Number of records of a partition stored in another order than sent.

    Acknowledgements say nothing about order: they follow the append by any delay. So only records count with a single send time
    in the ledger, a key, and one stored copy. They are compared within the same key and producer, as the clocks of two producers
    differ; rows without a producer count as one producer. Records sent at the same time are in order.

    Args:
        topic: Topic name.
        partition: Partition number.
        told: Number of records that count.
        reordered: Number of these stored after one that was sent later.
    """

    topic: str
    partition: int
    told: int
    reordered: int


class Word(NamedTuple):
    """A ledger's word for an outcome.

    Args:
        text: In lower case; empty for none.
        outcome: Its meaning.
        rows: Number of rows with it.
    """

    text: str
    outcome: SendOutcome
    rows: int


class Unusable(NamedTuple):
    """Unusable rows.

    Args:
        reason: Reason.
        rows: Number of rows.
        example: One of them, after its file name.
    """

    reason: str
    rows: int
    example: str


class LedgerShape(NamedTuple):
    """Shape of a ledger.

    Args:
        rows: Number of usable rows.
        outcomes: Number of these by outcome.
        words: Most frequent words for outcomes; exact unless there are thousands.
        unusable: Rows left out, by reason.
        odd_times: Rows with an invalid time; they count without it.
        assumed: Rows with a time without a zone.
        zone: Zone assumed for them.
        first: Earliest moment, epoch ms.
        last: Latest moment, epoch ms.
        timed: Whether any column is used as a time.
        unused: Unused columns.
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
    """An unusable ledger file.

    Args:
        name: Path.
        why: Reason, with its columns.
        try_: Parameter that would map them, or another remedy.
    """

    name: str
    why: str
    try_: str

    @property
    def told(self) -> str:
        """Which file cannot be used, and why, with its columns."""
        return f"{self.name}: {self.why}"
