"""Pair log lines with a transaction, or with another broker's line, on the same event."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.events import Event
from casebook.kafka.past import Past, ZnodeStamp, session_name
from casebook.kafka.past_rows import StateRow, transaction

LATE = 60_000
"""A line more than so many milliseconds after a znode's stamp belongs to another registration."""
ZONE = 900_000
"""Time zones differ by quarters of an hour."""
FARTHEST = 26 * 3_600_000
"""Maximum difference of two zones: UTC-12 and UTC+14; milliseconds."""
AT_ONCE = 2000
"""Maximum milliseconds between the stamp of a registration and its line, by the same clock."""
ALIKE = 1000
"""Tolerance in milliseconds between the intervals of starts in a broker's log and in a controller's."""
MOST = 2000
"""Sufficient number of lines of each kind for a clock."""
PROMPT = 20
"""Maximum milliseconds between a registration and its line."""

_SESSIONS = {"zk_session_established", "zks_session_established", "zks_session_expiring"}
_NEW_SESSION = {"broker_starting", "zk_session_expired", "zk_new_session"}
_REPORTS = {"partition_changed", "isr_removed", "leader_request_received", "become_leader", "become_follower"}
_TELLING = {"broker_registered", "znode_made", "isr_updated", "isr_shrunk", "isr_expanded", *_REPORTS, *_SESSIONS}
_CHANGES = ("isr_shrunk", "isr_expanded")
_LEARNS = ("leader_request_received", "become_leader", "become_follower")
_CONTROLLER = {"broker_change", "partition_changed", "controller_request_sent"}


class Side(StrEnum):
    """Whether a line is printed before or after its event."""

    BEFORE = "before"
    AFTER = "after"


class Grade(StrEnum):
    """Delay of a line, and its clock: immediate, once the controller noticed, or after any time.

    A stamp in a znode is not a line: it counts from 1970, whatever the log's zone.
    """

    PROMPT = "prompt"
    SEEN = "seen"
    LATE = "late"
    STAMP = "stamp"


class Pair(NamedTuple):
    """A line and its event.

    Args:
        owner: Owner of the clock.
        ahead: Printed minus true time, milliseconds.
        side: See :class:`Side`.
        what: Kind of pair, in words.
        grade: See :class:`Grade`.
        event: Line; ``None`` for a stamp in a znode.
    """

    owner: str
    ahead: int
    side: Side
    what: str
    grade: Grade = Grade.PROMPT
    event: Event | None = None


Owner = Callable[[Event], str]
_Change = tuple[str, int, int | None, frozenset[int], frozenset[int]]
"""Topic, partition, leader, and the ISR before and after."""


def against_znodes(cluster: Cluster, past: Past, events: Sequence[Event], owner: Owner) -> list[Pair]:
    """Pair events of a known time by ZooKeeper's clock with their lines."""
    stamps = past.stamps if past.there else list(_of_walk(cluster))
    pairs = [Pair(f"broker {one.broker}", one.stamp - one.time, Side.BEFORE, one.what, Grade.STAMP) for one in stamps]
    registered, telling = _Registered(past, stamps, events), _sample(events, owner)
    states = _States(cluster, past, telling)
    begun, begins = set(), _Begins(events, owner)
    for event in telling:
        again = event.kind == "zk_session_established" and not begins.told(event)
        if event.kind == "broker_registered":
            found = registered.of(event)
        elif event.kind == "znode_made":
            found = (event.number("ctime"), Side.AFTER, "time of its znode, as it was answered")
        elif event.kind in _SESSIONS:
            found, session = _of_session(past, event), (owner(event), event.kind + event.fields.get("session", ""))
            again |= session in begun
            begun.add(session)
        elif event.topic is not None:
            found = states.of(event)
        else:
            continue
        if found is not None:
            time, side, what = found
            grade = Grade.LATE if again or event.kind in _LEARNS else Grade.PROMPT
            pairs.append(Pair(owner(event), event.time - time, side, what, grade, event))
    return _of_one_life(pairs)


def _of_one_life(pairs: Sequence[Pair]) -> list[Pair]:
    """Remove lines on an earlier topic, or ZooKeeper, of the same name.

    A line names a state by topic and epoch, and a registration by its transaction: both start again after a topic, or ZooKeeper's
    data, was deleted. No skew exceeds a zone difference when a line on a transaction or a session contradicts it.
    """
    named = [pair for pair in pairs if pair.event is not None and pair.event.topic is None]
    near = {pair.owner for pair in named if abs(pair.ahead) <= FARTHEST}
    return [pair for pair in pairs if pair.event is None or pair.owner not in near or abs(pair.ahead) <= FARTHEST]


class _Begins:
    """Starts of a client's new sessions: the same line is printed when it resumes an old one, at any later time."""

    def __init__(self, events: Iterable[Event], owner: Owner) -> None:
        self._owner = owner
        self._times: dict[str, list[int]] = defaultdict(list)
        for event in events:
            if event.kind in _NEW_SESSION and event.time is not None:
                self._times[owner(event)].append(event.time)
        for times in self._times.values():
            times.sort()

    def told(self, event: Event) -> bool:
        """Return whether its owner had logged a start, or a lost session, within a minute before."""
        times = self._times[self._owner(event)]
        place = bisect_right(times, event.time)
        return place > 0 and event.time - times[place - 1] <= LATE


def _sample(events: Sequence[Event], owner: Owner) -> list[Event]:
    """Return dated lines to compare with znodes: a number for each clock and kind, spread over its time."""
    found: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in _TELLING and event.time is not None:
            found[owner(event), event.kind].append(event)
    return [event for told in found.values() for event in told[:: 1 + len(told) // MOST]]


def _of_walk(cluster: Cluster) -> Iterator[ZnodeStamp]:
    for broker in cluster.brokers.values():
        if broker.timestamp and broker.stamp and broker.stamp.created_at:
            proof = "" if broker.stamp.created_in is None else transaction(broker.stamp.created_in)
            yield ZnodeStamp(broker.id, broker.timestamp, broker.stamp.created_at, "registration", proof)


def _of_session(past: Past, event: Event) -> tuple[int, Side, str] | None:
    try:
        name = session_name(int(event.fields["session"], 16))
    except (KeyError, ValueError):
        return None
    span = past.sessions.get(name)
    if span is None:
        return None
    if event.kind == "zks_session_expiring":
        return None if span.closed is None else (span.closed, Side.BEFORE, "session expired")
    return None if span.opened is None else (span.opened, Side.AFTER, "session opened")


class _Registered:
    """Registrations of brokers, by the value in their line, or by the preceding stamp."""

    def __init__(self, past: Past, stamps: Iterable[ZnodeStamp], events: Iterable[Event]) -> None:
        self._known: dict[int | None, list[ZnodeStamp]] = defaultdict(list)
        lines: dict[int | None, list[Event]] = defaultdict(list)
        for stamp in stamps:
            if stamp.what == "registration":
                self._known[stamp.broker].append(stamp)
        for event in events:
            if event.kind == "broker_registered" and event.time is not None:
                lines[_registering(event)].append(event)
        self._whole = {broker for broker, told in lines.items() if past.there and len(told) == len(self._known[broker])}
        self._order = {broker: sorted(told, key=_as_written(told)) for broker, told in lines.items()}

    def of(self, event: Event) -> tuple[int, Side, str] | None:
        """Rule: by zxid (2.2+); else by order, if the numbers are equal; else by the stamp of the same start.

        A line follows its stamp by the same clock: they differ only by a zone, and immediately, unless an earlier session's znode
        had to be deleted first. An ambiguous line is dropped. With equal numbers, lines and stamps may still be of other starts,
        when both are cut.
        """
        broker, zxid = _registering(event), event.number("czxid")
        known = self._known.get(broker, ())
        found = [stamp for stamp in known if zxid is not None and stamp.proof == transaction(zxid)]
        if not found and zxid is None and broker in self._whole:
            numbered = known[self._order[broker].index(event)]
            found = [numbered] if _follows(event, numbered, LATE) else []
        if not found and zxid is None:
            found = self._same_start(broker, event)
        return (found[0].time, Side.AFTER, "registered line") if found else None

    def _same_start(self, broker: int | None, event: Event) -> list[ZnodeStamp]:
        fits = [stamp for stamp in self._known.get(broker, ()) if _follows(event, stamp)]
        rivals = [line for stamp in fits for line in self._order.get(broker, ()) if line is not event and _follows(line, stamp)]
        return fits if len(fits) == 1 and not rivals else []


def _follows(line: Event, stamp: ZnodeStamp, within: int = AT_ONCE) -> bool:
    """Return whether a line is at most so many milliseconds after its stamp, apart from zones."""
    apart = line.time - stamp.stamp
    return abs(apart) <= FARTHEST and apart % ZONE <= within


def _as_written(events: Sequence[Event]) -> Callable[[Event], int]:
    """Return the order of lines: within a file as written, as a clock step may confuse times; else by time."""
    return (lambda event: event.line) if len({event.file for event in events}) == 1 else (lambda event: event.time)


def _registering(event: Event) -> int | None:
    return event.number("broker") if event.broker is None else event.broker


class _States:
    """States of partitions, by the values in their lines."""

    def __init__(self, cluster: Cluster, past: Past, telling: Collection[Event]) -> None:
        self._by_epoch: dict[tuple[str, int, int], int | None] = {}
        self._by_version: dict[tuple[str, int, int], StateRow | None] = {}
        self._by_change: dict[_Change, list[int]] = defaultdict(list)
        self._lines = Counter(_change(event) for event in telling if event.kind in _CHANGES)
        self._by_leader: dict[tuple[str, int, int | None, int | None], list[int]] = defaultdict(list)
        self._lives = 0
        self._epoch_of: dict[tuple[str, int, int | None], tuple] = {}
        for key in {(event.topic, event.partition) for event in telling}:
            leader, before = -1, None
            for row in past.states.get(key, ()):
                before_it = -1 if before is None or before.deleted or before.version is None else before.version
                whole = row.version == before_it + 1  # otherwise its leader may have been written earlier
                self._add(row, new_leader=whole and row.leader != leader, new_epoch=whole)
                if before is not None and not row.deleted and not before.deleted and row.leader == before.leader:
                    self._by_change[*key, row.leader, frozenset(before.isr), frozenset(row.isr)].append(row.time)
                leader, before = row.leader, row
        if not past.there:
            for partition in cluster.partitions:
                if partition.state is not None and partition.state.stamp and partition.state.stamp.changed_at:
                    self._add_walked(partition.topic, partition.partition, partition.state)

    def _add(self, row: StateRow, *, new_leader: bool, new_epoch: bool) -> None:
        if row.deleted:
            self._lives += 1
            return
        place = row.topic, row.partition
        life = (*place, row.leader_epoch, self._lives)
        self._by_epoch.setdefault((*place, row.leader_epoch), row.time if new_epoch else None)
        if self._epoch_of.setdefault((*place, row.leader_epoch), life) != life:
            self._by_epoch[*place, row.leader_epoch] = None  # of two topics of one name: ambiguous
        if row.version is not None:
            again = (*place, row.version) in self._by_version
            self._by_version[*place, row.version] = None if again else row
        if new_leader:
            self._by_leader[*place, row.leader, row.controller_epoch].append(row.time)

    def _add_walked(self, topic: str, partition: int, state: object) -> None:
        row = StateRow(topic, partition, state.stamp.changed_at, state.stamp.changed_in, state.leader, None, state.isr,
                       state.controller_epoch, "", False, state.stamp.version)  # fmt: skip
        if row.version is not None:
            self._by_version[topic, partition, row.version] = row

    def of(self, event: Event) -> tuple[int, Side, str] | None:
        """Return the time of a line's state, when certain."""
        place = event.topic, event.partition
        if event.kind == "isr_updated":
            row = self._by_version.get((*place, event.number("version")))
            return None if row is None else (row.time, Side.AFTER, "ISR written")
        if event.kind in _CHANGES:
            times = self._by_change.get(_change(event), ())
            return (times[0], Side.BEFORE, "ISR changes") if len(times) == self._lines[_change(event)] == 1 else None
        if event.kind not in _REPORTS:
            return None
        epoch = event.number("leader_epoch")
        if epoch is not None:
            time = self._by_epoch.get((*place, epoch))
            return None if time is None else (time, Side.AFTER, "leader written")
        leader = event.number("leader")
        if leader is None or event.kind != "partition_changed":
            return None
        times = self._by_leader.get((*place, leader, event.number("controller_epoch")), ())
        return (times[0], Side.AFTER, "leader written") if len(times) == 1 else None


def _change(event: Event) -> _Change:
    old, new = (_ids(event.fields.get(name, "")) for name in ("old", "new"))
    return event.topic, event.partition, event.broker, old, new


def _ids(text: str) -> frozenset[int]:
    return frozenset(int(part) for part in text.replace(" ", "").split(",") if part.isdecimal())


def against_controller(events: Sequence[Event], owner: Owner, ahead: Callable[[Event], int | None]) -> list[Pair]:
    """Pair other brokers' lines with a controller's lines on the same event.

    Args:
        ahead: Skew of a line's clock in milliseconds, if known.
    """
    told: dict[tuple[str, int, int], int] = {}
    elected: set[tuple[str, str, int]] = set()
    added: dict[int, list[int]] = defaultdict(list)
    for event in events:
        if event.kind not in _CONTROLLER or event.time is None or (skew := ahead(event)) is None:
            continue
        time = event.time - skew
        if event.kind == "broker_change":
            for broker in _ids(event.fields.get("added", "")):
                added[broker].append(time)
            continue
        if event.topic is None:
            continue
        ballot = (owner(event), event.topic, event.partition)
        if event.kind == "partition_changed" and event.number("leader") is not None:
            elected.add(ballot)
        epoch = event.number("leader_epoch")
        if epoch is not None and (event.kind == "partition_changed" or (ballot in elected and _is_its_own(event))):
            place = (event.topic, event.partition, epoch)
            told[place] = min(told.get(place, time), time)
    others = [event for event in events if event.time is not None and event.broker is not None and ahead(event) is None]
    anew = {event.topic for event in events if event.kind == "log_deleted"}  # its epochs start again, and are another topic's
    learnt = [event for event in others if event.kind in _LEARNS and event.topic is not None and event.topic not in anew]
    pairs = [pair for event in learnt for pair in _learnt(event, owner(event), told)]
    registering: dict[int, list[Event]] = defaultdict(list)
    for event in others:
        if event.kind == "broker_registered":
            registering[event.broker].append(event)
    return pairs + [pair for broker, lines in registering.items() for pair in _seen(lines, added[broker], owner)]


def _is_its_own(request: Event) -> bool:
    """Return whether a controller's request is about its own write: after its log has that election, no broker knew it before.

    Rule: a new controller repeats the writes of earlier ones to every broker (``onControllerFailover``), and each controller
    repeats known states to a starting broker (``onBrokerStartup``, ``KafkaController.scala@0.9.0.1..3.9.0``). Only a line with
    both epochs, its own and that of the state (up to 0.11), shows that it is its own.
    """
    sender = request.number("epoch")
    return sender is not None and sender == request.number("controller_epoch")


def _learnt(event: Event, whose: str, told: Mapping[tuple[str, int, int], int]) -> Iterator[Pair]:
    """Rule: a broker prints a received leader later than the controller."""
    time = told.get((event.topic, event.partition, event.number("leader_epoch")))
    if time is not None:
        yield Pair(whose, event.time - time, Side.AFTER, "leader learnt", Grade.LATE, event)


def _seen(lines: Sequence[Event], added: Sequence[int], owner: Owner) -> Iterator[Pair]:
    """Rule: a broker prints its registration before the controller notices it, and hardly after.

    Neither line names its start: two or more identify it by equal intervals; a single one does if only a zone lies between.
    """
    lines, added = sorted(lines, key=lambda event: event.time), sorted(added)
    best = max((_fitting(lines, added, line.time - time) for line in lines for time in added), key=len, default=[])
    if len(best) == 1 and not _by_zone(best[0][0].time - best[0][1]):
        return
    rivals = [_fitting(lines, added, line.time - time) for line in lines for time in added]
    if any(len(other) >= len(best) and _apart(other, best) > 2 * ALIKE for other in rivals):
        return
    for line, time in best:
        yield Pair(owner(line), line.time - time - PROMPT, Side.BEFORE, "seen to register", Grade.SEEN, line)


def _fitting(lines: Sequence[Event], added: Sequence[int], ahead: int) -> list[tuple[Event, int]]:
    """Return the lines that match noticed registrations for a given skew."""
    nearest = ((line, min(added, key=lambda time, line=line: abs(line.time - time - ahead))) for line in lines)
    return [(line, time) for line, time in nearest if abs(line.time - time - ahead) <= ALIKE]


def _apart(some: Sequence[tuple[Event, int]], others: Sequence[tuple[Event, int]]) -> int:
    return abs((some[0][0].time - some[0][1]) - (others[0][0].time - others[0][1]))


def _by_zone(ahead: int) -> bool:
    return abs(ahead) <= FARTHEST and (ahead + AT_ONCE) % ZONE <= 2 * AT_ONCE
