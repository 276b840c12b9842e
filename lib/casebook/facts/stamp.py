"""Time of a write in the cluster's metadata, in ZooKeeper or in KRaft's quorum."""

from typing import NamedTuple


class Stamp(NamedTuple):
    """When something was written, by the clock and the log of its keeper. Any field may be unknown.

    Args:
        created_in: Number of the change that created it: a zxid, or an offset of the metadata log.
        created_at: When that was, epoch ms by the keeper's clock.
        changed_in: Number of the last change.
        changed_at: When that was, epoch ms by the keeper's clock.
        version: How often it was changed: of a partition its partition epoch, of ZooKeeper the znode's data version.
        session: Owner: a ZooKeeper session, or a KRaft broker epoch; 0 for none.
    """

    created_in: int | None = None
    created_at: int | None = None
    changed_in: int | None = None
    changed_at: int | None = None
    version: int | None = None
    session: int | None = None
