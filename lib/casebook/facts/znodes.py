"""Facts of znodes, as frozen rows: their content, and their changes by transactions. ``None`` is unknown, never zero.

The rows keep ZooKeeper's own names.
"""

from enum import StrEnum
from typing import NamedTuple


class Stat(NamedTuple):
    """ZooKeeper's stat of a znode; times in epoch milliseconds by ZooKeeper's clock. Any field may be unknown.

    A named tuple, as a large cluster has a million.
    """

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
    """Outcome of reading one znode."""

    READ = "read"
    CHANGED = "changed"  # changed during the walk and was reread
    MISSING = "missing"  # requested and does not exist
    VANISHED = "vanished"  # listed, then gone
    DENIED = "denied"  # its ACL denies reading
    TOO_LARGE = "too_large"  # larger than the reader's limit; only the stat was kept
    FAILED = "failed"  # the connection or server refused
    STATED = "stated"  # not read: another source, e.g. kafka-topics, shows that it exists, perhaps with a part of its data


class Znode(NamedTuple):
    """One znode as it was read. A named tuple, as a large cluster has a million.

    Args:
        path: Below the chroot, beginning with ``/``.
        data: Its bytes; ``None`` when null or not read.
        stat: Known fields of its stat.
        outcome: Outcome of the read.
        read_at: Time of the read, epoch milliseconds by the reader's clock.
        redacted: Secrets were removed from ``data``.
    """

    path: str
    data: bytes | None = None
    stat: Stat | None = None
    outcome: ReadOutcome = ReadOutcome.READ
    read_at: int | None = None
    redacted: bool = False


class ZnodeChange(NamedTuple):
    """Changes of Kafka's znodes by one ZooKeeper transaction; at the start of a history, all znodes.

    Args:
        zxid: Transaction id.
        time: Epoch milliseconds by the clock of ZooKeeper's leader.
        session: Requesting session; ``None`` at the start of a history.
        operation: ZooKeeper's name for it, e.g. ``setData``, ``multi``, ``closeSession``; ``begin`` at the start of a history,
            also after missing transactions.
        timeout: Timeout of a new session, in milliseconds.
        znodes: Znodes after it by path, including parents whose children changed; removed ones are missing.
    """

    zxid: int
    time: int
    session: int | None
    operation: str
    timeout: int | None
    znodes: tuple[Znode, ...]
