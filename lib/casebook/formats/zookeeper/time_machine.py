"""Kafka's znodes at a moment of their history."""

from collections.abc import Iterable, Iterator

from casebook.facts.cluster import instant
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.formats.zookeeper import kafka_tree
from casebook.formats.zookeeper.history_lines import BEGIN


def znodes(changes: Iterable[ZnodeChange], at: int) -> Iterator[Znode]:
    """Yield the znodes after the last change up to a moment, including missing ones, by path.

    Their read time is that moment, or the last change of the history if earlier: later changes are unknown.

    Args:
        changes: In the order of transactions.
        at: Epoch milliseconds by the clock of ZooKeeper's leader.

    Raises:
        ValueError: The history does not cover that moment.
    """
    known: dict[str, Znode] | None = None
    read_at = last = at
    for change in changes:
        if change.time > at:
            _refuse_gap(change, known, at, last)
            break
        if change.operation == BEGIN:
            known = {}
        for znode in change.znodes:
            known[znode.path] = znode
            if znode.outcome is ReadOutcome.MISSING:
                del known[znode.path]
        last = change.time
    else:
        read_at = min(at, last)
    if known is None:
        raise ValueError(f"there is no history of {instant(at)}")
    return (znode._replace(read_at=read_at) for znode in kafka_tree.with_missing(known))


def _refuse_gap(after: ZnodeChange, known: dict[str, Znode] | None, at: int, last: int) -> None:
    if known is None:
        raise ValueError(f"the history begins at {instant(after.time)}, after {instant(at)}")
    if after.operation == BEGIN and at > last:
        raise ValueError(f"transactions before {instant(after.time)} are missing, so {instant(at)} is not known")
