"""A client that watches every znode of Kafka's evidence, as a monitoring tool would: what it was told, and when."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from queue import SimpleQueue
from typing import Self

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import WatchedEvent

from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import kafka_tree

SLACK = 1000
"""Milliseconds: a transaction has its time before it is on the disk, and only then a client can see it."""

_PATIENCE = 90.0
_ROOTS = (*kafka_tree.READ_WHOLE, *kafka_tree.COUNTED)


@dataclass(slots=True)
class Life:
    """A znode from its creation on.

    Args:
        seen: As it was read, each data once.
        still_at: Epoch ms of the last question that it answered.
        gone_at: Epoch ms by which it was gone; ``None`` while it is there.
    """

    seen: list[Znode] = field(default_factory=list)
    still_at: int = 0
    gone_at: int | None = None

    def sure(self) -> Iterator[tuple[int, int, Znode]]:
        """From when until when it was as it was read; not where a change in between was not seen, nor just before its end."""
        for one, after in pairwise(self.seen):
            if after.stat.version == one.stat.version + 1:
                yield one.stat.mtime, after.stat.mtime, one
        yield self.seen[-1].stat.mtime, self.still_at - SLACK, self.seen[-1]


class LiveWatcher:
    """Watches as long as its block lasts: a watch a znode for its data, and one for its children, set anew each time.

    ZooKeeper 3.4 has no others. Of changes that follow each other in no time only the last is seen.

    Args:
        address: ``host:port`` of the server, with the chroot.

    Attributes:
        lives: By path those of its znodes, one after the other; by the zxid that created them.
        seen: Whatever was read.
    """

    def __init__(self, address: str) -> None:
        self.lives: dict[str, dict[int, Life]] = {}
        self.seen: list[Znode] = []
        self._client = KazooClient(hosts=address, timeout=_PATIENCE)
        self._told: SimpleQueue[str | None] = SimpleQueue()
        self._watched: set[str] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="live-watcher")

    def __enter__(self) -> Self:
        self._client.start(timeout=_PATIENCE)
        self._watching = self._thread.submit(self._watch)
        for root in _ROOTS:
            self._told.put(root)
        return self

    def __exit__(self, *_: object) -> None:
        """Read all znodes for a last time."""
        for path in sorted(self._watched):
            self._told.put(path)
        self._told.put(None)
        self._watching.result()
        self._thread.shutdown()
        self._client.stop()
        self._client.close()

    def known(self, at: int) -> dict[str, Znode]:
        """The znodes of which it is sure how they were at a moment (epoch ms), those that were gone by then included."""
        return {
            znode.path: znode
            for path, lives in self.lives.items()
            for begin, end, znode in _sure(path, list(lives.values()))
            if begin <= at < end
        }

    def _watch(self) -> None:
        while path := self._told.get():
            self._look(path)

    def _changed(self, event: WatchedEvent) -> None:
        if event.path:
            self._told.put(event.path)

    def _look(self, path: str) -> None:
        """Read a znode, and those of its children that are new; all with watches."""
        asked_at = _now()
        try:
            data, stat = self._client.get(path, watch=self._changed)
            children = () if path in kafka_tree.COUNTED else self._client.get_children(path, watch=self._changed)
        except NoNodeError:
            self._end(path)
            return
        self._watched.add(path)
        self._note(path, data, Stat(**{name: getattr(stat, name) for name in Stat._fields}), asked_at)
        for child in sorted({f"{path}/{name}" for name in children} - self._watched):
            self._look(child)

    def _note(self, path: str, data: bytes | None, stat: Stat, asked_at: int) -> None:
        if not kafka_tree.is_evidence(path):
            return
        znode = Znode(path=path, data=None if path in kafka_tree.COUNTED else data, stat=stat)
        self.seen.append(znode)
        lives = self.lives.setdefault(path, {})
        if stat.czxid not in lives:
            self._gone(path, stat.ctime)
        life = lives.setdefault(stat.czxid, Life())
        life.still_at = asked_at
        if not life.seen or life.seen[-1].stat.version != stat.version:
            life.seen.append(znode)

    def _end(self, path: str) -> None:
        """Note that a znode is not there. What told of it may be of an earlier life, so that only the answer's moment is sure."""
        self._watched.discard(path)
        self._gone(path, _now())
        if path in _ROOTS and self._client.exists(path, watch=self._changed):
            self._told.put(path)

    def _gone(self, path: str, at: int) -> None:
        for life in self.lives.get(path, {}).values():
            life.gone_at = life.gone_at or at


def _sure(path: str, lives: list[Life]) -> Iterator[tuple[int, int, Znode]]:
    for life in lives:
        yield from life.sure()
    for life, after in pairwise(lives):
        yield life.gone_at, after.seen[0].stat.ctime, Znode(path=path, outcome=ReadOutcome.MISSING)
    if lives[-1].gone_at is not None:
        yield lives[-1].gone_at, _now(), Znode(path=path, outcome=ReadOutcome.MISSING)


def _now() -> int:
    return time.time_ns() // 1_000_000
