"""Consequences when ZooKeeper loses a broker: znode deleted, leaders moved, ISRs shrunk, truncation, client errors."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.events import TRUNCATIONS
from casebook.findings.words import plural
from casebook.kafka.past import Key
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.gaps import OFTEN, gap_at, other_gaps
from casebook.questions.timeline.analysis.links import Chainer, once_each, places
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

BEFORE = 120_000
"""Milliseconds before a loss in which causes are searched, besides session timeouts of minutes."""
AFTER = 120_000
"""Milliseconds after a loss, or after the broker's return, in which effects are searched."""
SLOW = 1000
"""Minimum milliseconds of a pause or a disk write worth mentioning."""

STOPPING = ("broker_stopping", "controlled_shutdown_begun", "controlled_shutdown_done", "broker_stopped")
CLIENTS = (
    "not_coordinator",
    "not_leader",
    "request_timed_out",
    "metadata_error",
    "coordinator_lost",
    "coordinator_unavailable",
    "client_disconnected",
    "commit_failed",
)
_FINDS_NOBODY = ("no_leader_possible", "election_failed")
_ELECTIONS = ("partition_changed", "leader_elected")


class Loss(NamedTuple):
    """Deletion of a broker's znode.

    Args:
        gone: Row of the deletion.
        session: Its session, ``0x..``; ``""`` when unknown.
        timeout: Session timeout, milliseconds; ``None`` when unknown.
        back: When the broker registered again; ``None``: not before the evidence ends.
        until: End of the search for effects.
    """

    broker: int
    gone: EventRow
    session: str
    timeout: int | None
    back: int | None
    until: int

    @property
    def since(self) -> int:
        """Start of the search for causes."""
        return self.gone.at - max(BEFORE, 2 * (self.timeout or 0))

    @property
    def silence(self) -> int | None:
        """Time of the session's last heartbeat, by its timeout."""
        return None if self.timeout is None else self.gone.at - self.timeout

    @property
    def due(self) -> int | None:
        """Latest time of the next heartbeat: an idle client sends one each third of the timeout.

        Rule: half of the time after which it gives up a server, which is two thirds (``ClientCnxn.java@3.4.6``).
        """
        return None if self.timeout is None else self.silence + self.timeout // 3

    def within_silence(self, row: EventRow) -> bool:
        """Return whether a period, or a moment, is within the time without a heartbeat.

        One that ended before let a heartbeat through.
        """
        since = self.since if self.silence is None else self.silence
        ended = row.begun + (row.milliseconds or 0)
        return ended >= since and row.begun <= self.gone.at + SLACK


def losses(scene: TimelineInputs) -> Iterator[Loss]:
    """Yield every loss, in order: from ZooKeeper or a controller, and without a history from the broker itself."""
    seen = list(_seen(scene))
    yield from sorted((*seen, *_unseen_stops(scene, seen)), key=lambda loss: loss.gone.at)


def _unseen_stops(scene: TimelineInputs, seen: Sequence[Loss]) -> Iterator[Loss]:
    """Yield shutdowns by a broker's own lines, e.g. of the last one, or without ZooKeeper: no controller logs these."""
    for broker, lives in scene.lives.items() if not scene.past.there else ():
        for life in lives:
            own = scene.of_broker(broker).between(life.opened, life.closed)
            stops = [row for row in own if row.kind in STOPPING]
            if life.name not in STOPPING or not stops or any(row.kind == "startup_failed" for row in own):
                continue
            begun, gone = stops[0].at, stops[-1]
            if not any(loss.broker == broker and begun - SLACK <= loss.gone.at <= gone.at + AFTER for loss in seen):
                yield _loss(scene, broker, gone)


def _seen(scene: TimelineInputs) -> Iterator[Loss]:
    kind = "znode_broker_gone" if scene.past.there else "broker_change"
    for row in scene.kind(kind).rows:
        for broker in (row.broker,) if scene.past.there else row.numbers("deleted"):
            yield _loss(scene, broker, row)


def _loss(scene: TimelineInputs, broker: int, gone: EventRow) -> Loss:
    spans = scene.registered.get(broker, ())
    session = next((span.name for span in spans if span.closed == gone.at), "")
    back = min((span.opened for span in spans if span.opened is not None and span.opened >= gone.at), default=None)
    again = min((span.closed for span in spans if span.closed is not None and span.closed > gone.at), default=None)
    until = (gone.at if back is None else max(back, gone.at)) + AFTER
    return Loss(broker, gone, session, _timeout(scene, broker, session, gone.at), back, min(until, again or until))


def _timeout(scene: TimelineInputs, broker: int, session: str, at: int) -> int | None:
    known = scene.past.sessions.get(session)
    if known is not None and known.timeout is not None:
        return known.timeout
    expiring = [row for row in scene.kind("zks_session_expiring").between(at - BEFORE, at + SLACK) if same_session(row, session)]
    told = [row for row in scene.kind("zk_session_established").rows if row.broker == broker]
    nearest = sorted(told, key=lambda row: (row.at > at, abs(row.at - at)))  # a later one has the same settings
    return next((row.number("timeout_ms") for row in (*expiring, *nearest) if row.number("timeout_ms")), None)


def same_session(row: EventRow, session: str) -> bool:
    """Return whether a row belongs to a session."""
    return bool(session) and row.fields.get("session", "").lower().removeprefix("0x") == session.removeprefix("0x")


def chain(scene: TimelineInputs, loss: Loss) -> Chain | None:
    """Return the chain of a loss."""
    links = Chainer(scene, loss.until)
    stopping = _causes(links, scene, loss)
    moved, refused = _effects(links, scene, loss, stopping)
    left = places(refused) - places(moved)
    kind = "broker_stopped" if stopping else "broker_lost"
    verb = "stopped" if stopping else "lost its registration"
    came = [f"{plural(len(moved), 'partition')} got another leader"] if moved else []
    came += [f"{plural(len(left), 'partition')} got no leader"] if left else []
    title = f"Broker {loss.broker} {verb}" + (f", and {' and '.join(came)}" if came else "")
    return links.chain(kind, title, loss.broker, len(moved) + len(left))


def gap_of(scene: TimelineInputs, loss: Loss) -> tuple[EventRow, EventRow] | None:
    """Return the broker's two own lines around the loss, from one process and at least a timeout apart."""
    return gap_at(scene, loss.broker, loss.gone.at, loss.timeout or SLOW)


def stop_of(scene: TimelineInputs, loss: Loss) -> EventRow | None:
    """Return the broker's shutdown line since its last start; ``None`` when none fits the loss."""
    until, earliest = loss.gone.at + SLACK, loss.since - AFTER
    begun = [row.at for row in scene.kind("broker_starting").between(earliest, loss.gone.at) if row.broker == loss.broker]
    failed = [row.at for row in scene.kind("startup_failed").between(earliest, until) if row.broker == loss.broker]
    while begun and any(begun[-1] <= at <= until for at in failed):
        until = begun.pop()  # a process that failed to start did not stop: the one before was lost
    since = begun[-1] if begun else earliest
    rows = [row for row in scene.kinds(STOPPING, since, until) if row.broker == loss.broker]
    rows += [
        row
        for row in scene.kind("shutting_down_broker").between(since, until)
        if row.number("target") == loss.broker or row.fields.get("broker") == str(loss.broker)
    ]
    return min(rows, key=lambda row: row.at, default=None) or _last_word(scene, loss)


def _last_word(scene: TimelineInputs, loss: Loss) -> EventRow | None:
    """Return the shutdown of the lost process, however long before its session ended: it may have waited for that."""
    life = scene.life(loss.broker, loss.gone.at)
    if life is None or life.name not in STOPPING or life.closed > loss.gone.at + SLACK + (scene.uncertainty(loss.broker) or 0):
        return None
    spans = scene.registered.get(loss.broker, ())
    if not any(span.closed == loss.gone.at and (span.opened is None or span.opened <= life.closed) for span in spans):
        return None
    own = scene.of_broker(loss.broker).between(life.opened, life.closed)
    if any(row.kind == "startup_failed" for row in own):
        return None  # it failed to start
    return next((row for row in own if row.kind in STOPPING), None)


def _causes(links: Chainer, scene: TimelineInputs, loss: Loss) -> EventRow | None:
    """Link the causes: a requested shutdown, or silence, and the session's end."""
    broker, gone = loss.broker, loss.gone
    stopping = stop_of(scene, loss)
    if stopping is not None:
        if stopping is not gone:
            links.link(stopping, [gone], "a broker that stops closes its session, and its znode goes with it")
        return stopping
    closed = next(
        (row for row in scene.kind("znode_session_closed").between(gone.at, gone.at) if same_session(row, loss.session)), None
    )
    expiring = _last(scene, "zks_session_expiring", loss, lambda row: same_session(row, loss.session))
    learnt = None if scene.past.there else _last(scene, "zk_session_expired", loss, lambda row: row.broker == broker)
    if learnt is not None:
        links.link(learnt, [gone], "the znode is removed with its session; the controller sees it somewhat later")
    end = expiring or closed or learnt or gone
    silent = _last(scene, "zk_silent", loss, lambda row: row.broker == broker and loss.within_silence(row))
    silent = silent or _last(scene, "zk_connection_lost", loss, lambda row: row.broker == broker and loss.within_silence(row))
    pause = longest(scene, "gc_pause", loss, lambda row: row.broker == broker and row.milliseconds >= SLOW)
    slow = longest(scene, "zks_fsync_slow", loss, lambda row: row.milliseconds >= SLOW)
    if pause is not None:
        links.link(pause._replace(at=pause.begun), [silent or end], "a process that pauses sends no heartbeat")
    if slow is not None:
        links.link(slow._replace(at=slow.begun), [silent or end], "while ZooKeeper waits for its disk, it answers no client")
    gap = gap_of(scene, loss)
    if gap is not None and silent is None and pause is None and other_gaps(scene, loss.broker, gap) < OFTEN:
        length = str(gap[1].at - gap[0].at)
        links.link(gap[0]._replace(kind="log_gap", fields={"ms": length}), [end], "a silent process may send no heartbeat")
    if silent is not None:
        links.link(silent, [end], "ZooKeeper expires a session after its timeout without a heartbeat")
    if expiring is not None:
        links.link(expiring, [closed or learnt or gone], "the expiry is a transaction that closes the session")
    if closed is not None:
        links.link(closed, [gone], "an ephemeral znode is removed with its session, in the same transaction")
    return None


def longest(scene: TimelineInputs, kind: str, loss: Loss, which: Callable[[EventRow], bool] = lambda _: True) -> EventRow | None:
    """Return the longest row of a kind during the time without a heartbeat; it may have been printed after the loss."""
    rows = scene.kind(kind).between(loss.since, loss.until)
    return max(
        (row for row in rows if row.milliseconds and loss.within_silence(row) and which(row)),
        key=lambda row: row.milliseconds,
        default=None,
    )


def _last(scene: TimelineInputs, kind: str, loss: Loss, which) -> EventRow | None:
    found = [row for row in scene.kind(kind).between(loss.since, loss.gone.at + SLACK) if which(row)]
    return found[-1] if found else None


def _effects(
    links: Chainer, scene: TimelineInputs, loss: Loss, stopping: EventRow | None
) -> tuple[list[EventRow], list[EventRow]]:
    """Link the effects; return the elections that replaced the broker, and those that failed."""
    broker, gone = loss.broker, loss.gone
    change = gone
    if gone.kind != "broker_change":
        change = (
            links.effects(
                gone,
                ["broker_change"],
                "the controller watches the brokers' znodes",
                which=lambda row: broker in row.numbers("deleted"),
            )
            or gone
        )
    failure = (
        links.effects(
            change,
            ["broker_failure"],
            "the controller treats a deleted broker as dead",
            which=lambda row: broker in row.numbers("brokers"),
        )
        or change
    )
    moved = _elections(scene, loss, (stopping or gone).at - SLACK)
    early = [row for row in moved if stopping is not None and row.at < gone.at]
    if early:
        links.link(stopping, early, "a controlled shutdown moves leaders before the broker goes")
    late = [row for row in moved if row not in early] if early else moved
    elected = links.link(failure, late, "the controller elects a leader for each partition that it led")
    refused = _refused(links, loss, failure)
    links.effects(
        failure,
        ["znode_isr_changed"],
        "a dead broker is removed from the ISR",
        which=lambda row: broker in row.numbers("old") and broker not in row.numbers("isr"),
    )
    expired = links.effects(
        gone,
        ["zk_session_expired"],
        "the old leader learns of its expiry when it is connected again",
        which=lambda row: row.broker == broker,
    )
    links.effects(
        expired or gone,
        ["znode_broker_registered" if scene.past.there else "broker_registered"],
        "with a new session it registers again",
        which=lambda row: row.broker == broker,
    )
    elected = elected or next(iter(early), None)
    _old_leader(links, loss, elected, moved)
    links.effects(elected or gone, CLIENTS, "clients use the old leader or coordinator until they look up the new one")
    return moved, refused


def _elections(scene: TimelineInputs, loss: Loss, since: int) -> list[EventRow]:
    """Return each partition's first election that replaced the broker."""
    until = loss.until
    if scene.past.there:
        led = _led(scene, loss.broker, since)
        rows = [row for row in scene.kind("znode_leader_changed").between(since, until) if (row.topic, row.partition) in led]
        return once_each(row for row in rows if row.number("from") == loss.broker and row.number("leader") != -1)
    led = {
        key
        for key, states in scene.states.items()
        if any(
            a.leader == loss.broker and b.leader not in (None, loss.broker) and since <= b.time <= until
            for a, b in pairwise(states)
        )
    }
    told = scene.kinds(_ELECTIONS, since, until)
    return once_each(row for row in told if (row.topic, row.partition) in led and row.number("leader") != loss.broker)


def _led(scene: TimelineInputs, broker: int, at: int) -> set[Key]:
    """Return the partitions that a broker led at a moment, by the history: only those lose their leader with it."""
    last = {key: next((row for row in reversed(rows) if row.time <= at), None) for key, rows in scene.states.items()}
    return {key for key, row in last.items() if row is not None and row.leader == broker}


def _refused(links: Chainer, loss: Loss, failure: EventRow) -> list[EventRow]:
    """Return each partition's first failed election, if the broker led it, or, by logs alone, may have."""
    scene, led = links.scene, _led(links.scene, loss.broker, loss.gone.at - 1)

    def without(row: EventRow) -> bool:
        place = row.topic, row.partition
        if not scene.past.there:
            soon = row.at <= failure.at + AFTER and not is_of_others(scene, place, loss.broker, failure.at - SLACK, loss.until)
            return place in led or soon
        if place not in led:
            return False
        return row.kind != "znode_leader_changed" or (row.number("from") == loss.broker and row.number("leader") == -1)

    rows = scene.kinds((*_FINDS_NOBODY, "znode_leader_changed"), failure.at - SLACK, loss.until)
    found = once_each(row for row in rows if row.partition is not None and without(row))
    links.link(failure, found, "no other in-sync replica is alive, so the partition stays without leader")
    return found


def is_of_others(scene: TimelineInputs, place: Key, broker: int, since: int, until: int | None) -> bool:
    """Return whether a controller's failed election lists replicas, or an ISR, without this broker.

    Rule: a leader is a replica, and the last in-sync one stays in the ISR (``KafkaController.scala@0.9.0.1..3.9.0``).
    """
    rows = (row for row in scene.of_partition(place).between(since, until) if row.kind in _FINDS_NOBODY)
    return any((named := row.numbers("isr") or row.numbers("assigned")) and broker not in named for row in rows)


def _old_leader(links: Chainer, loss: Loss, elected: EventRow | None, moved: list[EventRow]) -> None:
    hit = places(moved)

    def own(row: EventRow) -> bool:
        return row.broker == loss.broker and (row.topic, row.partition) in hit and row.number("leader") != loss.broker

    follows = links.effects(elected, ["become_follower"], "the old leader receives the new leader", which=own)
    cut = [kind for kind in TRUNCATIONS if kind != "truncated_nothing"]
    links.effects(follows or elected, cut, "a follower truncates its log where the new leader's ends", which=own)
    links.effects(elected, ["isr_update_refused"], "the old leader may no longer write the ISR", which=own)
