"""When something that a cluster keeps was written, whoever keeps it: ZooKeeper, or the quorum of KRaft."""

from typing import NamedTuple


class Stamp(NamedTuple):
    """When something was written, by the clock and the log of its keeper. Any field may be unknown.

    Args:
        created_in: Number of the change that created it: a zxid, or an offset of the metadata log.
        created_at: When that was, epoch ms by the keeper's clock.
        changed_in: Number of the last change.
        changed_at: When that was, epoch ms by the keeper's clock.
        version: How often it was changed: of a partition its partition epoch, of ZooKeeper the znode's data version.
        session: Whose life it ends with: a session of ZooKeeper, or the broker epoch of KRaft; 0 for nobody's.
    """

    created_in: int | None = None
    created_at: int | None = None
    changed_in: int | None = None
    changed_at: int | None = None
    version: int | None = None
    session: int | None = None
