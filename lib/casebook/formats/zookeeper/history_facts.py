"""Decode the history of Kafka's znodes: from changed bytes to events.

Undecodable changes are skipped, as ``zookeeper.cluster`` reports them for the last state; but undecodable settings invalidate
earlier ones.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

from casebook.facts.history import Happened, What
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.formats.zookeeper import kafka_tree, znodes
from casebook.formats.zookeeper.history_lines import BEGIN
from casebook.formats.zookeeper.znodes import Undecodable

_OPENED, _CLOSED = "createSession", "closeSession"
_CONFIGS = "/config/topics/"


def read(changes: Iterable[ZnodeChange]) -> Iterator[Happened]:
    """Yield events in the order of transactions; within one, deletions before creations.

    At a new start of a history, earlier states that no longer exist are gone at that moment at the latest.
    """
    known: set[str] = set()
    for change in changes:
        begins = change.operation == BEGIN
        if begins:
            yield Happened(What.BEGIN, change.zxid, change.time, registrations=_registrations(change))
            there = {znode.path for znode in change.znodes if _is_state(znode.path) and not _gone(znode)}
            for topic, partition in map(_place, sorted(known - there)):
                if partition is not None:
                    yield Happened(What.STATE_GONE, change.zxid, change.time, before=True, topic=topic, partition=partition)
            known = there
        elif change.operation == _OPENED:
            yield Happened(What.SESSION_OPENED, change.zxid, change.time, change.session, timeout=change.timeout)
        elif change.operation == _CLOSED:
            yield Happened(What.SESSION_CLOSED, change.zxid, change.time, change.session)
        for znode in sorted(change.znodes, key=_gone, reverse=True) if len(change.znodes) > 1 else change.znodes:
            if (happened := _of_znode(znode, change, begins)) is not None:
                if happened.what is What.STATE:
                    known.add(znode.path)
                elif happened.what is What.STATE_GONE:
                    known.discard(znode.path)
                yield happened


def _registrations(change: ZnodeChange) -> int | None:
    """Rule: a parent's ``pzxid`` is that of the last creation or deletion among its children (``DataTree.java@3.4.6``)."""
    return next((znode.stat.pzxid for znode in change.znodes if znode.path == kafka_tree.IDS and znode.stat is not None), None)


def _is_state(path: str) -> bool:
    return path.endswith("/state") and path.startswith(kafka_tree.TOPICS)


def _gone(znode: Znode) -> bool:
    return znode.outcome is ReadOutcome.MISSING


def _of_znode(znode: Znode, change: ZnodeChange, begins: bool) -> Happened | None:
    path = znode.path
    try:
        if _is_state(path):
            return _state(znode, change, begins)
        if path.startswith(kafka_tree.IDS + "/"):
            return _broker(znode, change, begins)
        if path == "/controller":
            return _controller(znode, change, begins)
        if path == "/controller_epoch" and not _gone(znode):
            epoch = znodes.decode_controller_epoch(znode.data)
            return _made(What.CONTROLLER_EPOCH, znode, change, begins, written=True)._replace(epoch=epoch)
        if kafka_tree.is_topic(path) and not begins:
            return _topic(znode, change)
        if path.startswith(_CONFIGS):
            return _config(znode, change, begins)
    except Undecodable:
        return None
    return None


def _made(what: What, znode: Znode, change: ZnodeChange, begins: bool, *, written: bool = False) -> Happened:
    """Use the time of the transaction, or the znode's own at the start of a history."""
    stat = znode.stat
    if not begins or stat is None:
        return Happened(what, change.zxid, change.time, change.session, begins)
    zxid, time = (stat.mzxid, stat.mtime) if written else (stat.czxid, stat.ctime)
    return Happened(what, zxid or change.zxid, time or change.time, stat.ephemeralOwner, before=True)


def _state(znode: Znode, change: ZnodeChange, begins: bool) -> Happened | None:
    topic, partition = _place(znode.path)
    if partition is None:
        return None
    if _gone(znode):
        return Happened(What.STATE_GONE, change.zxid, change.time, change.session, topic=topic, partition=partition)
    state = znodes.decode_state(znode.data, znode.stat)
    happened = _made(What.STATE, znode, change, begins, written=True)
    return happened._replace(topic=topic, partition=partition, state=state)


@lru_cache(1 << 17)
def _place(path: str) -> tuple[str, int | None]:
    parts = path.split("/")
    return parts[3], znodes.number(parts[5])


def _broker(znode: Znode, change: ZnodeChange, begins: bool) -> Happened | None:
    broker = znodes.number(znode.path.rpartition("/")[2])
    if broker is None:
        return None
    if _gone(znode):
        return Happened(What.BROKER_GONE, change.zxid, change.time, change.session, broker=broker)
    if not begins and not _is_new(znode, change):
        return None  # its listeners changed
    stamp = znodes.decode_broker(broker, znode.data).timestamp
    return _made(What.BROKER_REGISTERED, znode, change, begins)._replace(broker=broker, stamp=stamp)


def _controller(znode: Znode, change: ZnodeChange, begins: bool) -> Happened | None:
    if _gone(znode):
        return Happened(What.CONTROLLER_GONE, change.zxid, change.time, change.session)
    if not begins and not _is_new(znode, change):
        return None
    broker, _ = znodes.decode_controller(znode.data)
    made = _made(What.CONTROLLER_ELECTED, znode, change, begins)
    return made._replace(broker=broker, stamp=_stamp(znode.data))


def _topic(znode: Znode, change: ZnodeChange) -> Happened | None:
    if not _gone(znode) and not _is_new(znode, change):
        return None
    what = What.TOPIC_DELETED if _gone(znode) else What.TOPIC_CREATED
    return Happened(what, change.zxid, change.time, change.session, topic=znode.path.rpartition("/")[2])


def _config(znode: Znode, change: ZnodeChange, begins: bool) -> Happened:
    topic = znode.path.removeprefix(_CONFIGS)
    if _gone(znode):
        return Happened(What.TOPIC_CONFIG, change.zxid, change.time, change.session, topic=topic, config={})
    try:
        config = znodes.decode_config(znode.data)
    except Undecodable:
        config = None
    return _made(What.TOPIC_CONFIG, znode, change, begins, written=True)._replace(topic=topic, config=config)


def _is_new(znode: Znode, change: ZnodeChange) -> bool:
    return znode.stat is None or znode.stat.czxid in (None, change.zxid)


def _stamp(data: bytes) -> int | None:
    """Return the timestamp of ``/controller``.

    ``{"version":1,"brokerid":1,"timestamp":"1570878222293"}`` (``ZkData.scala@3.9.0``).
    """
    text = str(json.loads(data).get("timestamp"))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
