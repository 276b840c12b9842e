"""Facts of znodes, as frozen rows: as one was read, and what a transaction changed of them. ``None`` is unknown, never zero.

The rows keep ZooKeeper's own names.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """ZooKeeper's stat of a znode; times in epoch milliseconds by ZooKeeper's clock. Any field may be unknown."""

    czxid: int | None = None
    mzxid: int | None = None
    pzxid: int | None = None
    ctime: int | None = None
    mtime: int | None = None
    version: int | None = None
    cversion: int | None = None
    aversion: int | None = None
    ephemeralOwner: int | None = None  # noqa: N815  ZooKeeper's own spelling
    dataLength: int | None = None  # noqa: N815
    numChildren: int | None = None  # noqa: N815


class ReadOutcome(StrEnum):
    """What came of reading one znode."""

    READ = "read"
    CHANGED = "changed"  # changed during the walk and was read again
    MISSING = "missing"  # asked for and not there
    VANISHED = "vanished"  # listed, then gone
    DENIED = "denied"  # its ACL forbids reading
    TOO_LARGE = "too_large"  # beyond the reader's bound; only the stat was kept
    FAILED = "failed"  # the connection or server refused
    STATED = "stated"  # not read: something else, e.g. kafka-topics, told that it is there, and maybe a part of its data


@dataclass(frozen=True, slots=True, kw_only=True)
class Znode:
    """One znode as it was read.

    Args:
        path: Below the chroot, beginning with ``/``.
        data: Its bytes; ``None`` when null or not read.
        stat: As far as it was read.
        outcome: What came of the reading.
        read_at: Epoch milliseconds of the reading machine.
        redacted: Secrets were removed from ``data``.
    """

    path: str
    data: bytes | None = None
    stat: Stat | None = None
    outcome: ReadOutcome = ReadOutcome.READ
    read_at: int | None = None
    redacted: bool = False


class ZnodeChange(NamedTuple):
    """What one transaction of ZooKeeper changed of Kafka's znodes, or all of them, where a history begins.

    Args:
        zxid: The transaction's number.
        time: Epoch milliseconds by the clock of ZooKeeper's leader.
        session: Whose request it was; ``None`` where a history begins.
        operation: ZooKeeper's name for it, e.g. ``setData``, ``multi``, ``closeSession``; ``begin`` where a history begins,
            also anew behind transactions that are missing.
        timeout: Of a session that begins, in milliseconds.
        znodes: As they were after it, by path, parents whose children changed included; those it removed are missing.
    """

    zxid: int
    time: int
    session: int | None
    operation: str
    timeout: int | None
    znodes: tuple[Znode, ...]
