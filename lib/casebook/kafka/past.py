"""ZooKeeper's history: every leader and ISR, every registration, session and controllership, with its transaction."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from casebook.facts.history import Happened, What
from casebook.kafka.past_rows import HISTORY, EventRow, Span, StateRow, transaction

Key = tuple[str, int]

SESSIONS = 1 << 64
"""ZooKeeper's sessions are signed, and printed as unsigned."""

KINDS = {
    "znode_broker_registered": "A broker's znode was created.",
    "znode_broker_gone": "A broker's znode was removed, with its session or by deletion.",
    "znode_controller_elected": "The controller's znode was created.",
    "znode_controller_gone": "The controller's znode was removed.",
    "znode_session_opened": "A session began.",
    "znode_session_closed": "A session was closed by its client, or expired: the transaction is the same.",
    "znode_leader_changed": "A partition's state names another leader.",
    "znode_isr_changed": "A partition's state names another ISR, and the same leader.",
    "znode_topic_created": "A topic's znode was created.",
    "znode_topic_deleted": "A topic's znode was removed.",
}
"""Kinds of rows in a history."""

_KIND_OF = {What.TOPIC_CREATED: "znode_topic_created", What.TOPIC_DELETED: "znode_topic_deleted"}


class Overrides(NamedTuple):
    """Overrides of a topic, as written.

    Args:
        time: Effective from this time, by ZooKeeper's clock.
        config: By name; ``None`` when undecodable.
    """

    time: int
    zxid: int
    config: Mapping[str, str] | None


class ZnodeStamp(NamedTuple):
    """A time that a broker wrote into a znode.

    Args:
        stamp: Time by the broker's clock.
        time: Time of the write by ZooKeeper's clock.
        what: ``registration`` or ``controllership``.
    """

    broker: int
    stamp: int
    time: int
    what: str
    proof: str


class Break(NamedTuple):
    """A period without information, as transactions are missing.

    A removal leaves no time behind. After a snapshot without later transactions, its content existed at its last write, but
    absent content is only known to be gone at the next write outside it.

    Args:
        since: Last moment with a known state, before it.
        until: By this moment everything without a trace afterwards was gone. The next break may start earlier.
        registered: No broker was registered or removed in it.
    """

    since: int
    until: int
    registered: bool = False


@dataclass(slots=True)
class Past:
    """The past according to znodes.

    Args:
        rows: Changes, in the order of transactions.
        states: States of each partition, in order.
        registered: Registrations of each broker, in order.
        sessions: Sessions by name.
        controllers: Controllerships, in order.
        overrides: Overrides of each topic with written settings, in order.
        stamps: Times that brokers wrote into znodes.
        breaks: Missing transactions, in order.
        transactions: Number of transactions: with none, it consists of observations alone.
        first: Its start; ``None`` when empty.
        settled: By this time, everything without a known start was gone.
        last: Time and number of the last transaction, or of the last observation.
        unsettled: Proofs of entities that the last snapshots lack without a later write: they disappeared then, or later.
    """

    rows: list[EventRow] = field(default_factory=list)
    states: dict[Key, list[StateRow]] = field(default_factory=lambda: defaultdict(list))
    registered: dict[int, list[Span]] = field(default_factory=lambda: defaultdict(list))
    sessions: dict[str, Span] = field(default_factory=dict)
    controllers: list[Span] = field(default_factory=list)
    overrides: dict[str, list[Overrides]] = field(default_factory=lambda: defaultdict(list))
    stamps: list[ZnodeStamp] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    transactions: int = 0
    first: int | None = None
    settled: int | None = None
    last: tuple[int, int] | None = None
    unsettled: frozenset[str] = frozenset()

    @property
    def there(self) -> bool:
        """Whether there is a history at all: snapshots without transactions are only observations."""
        return self.transactions > 0

    @property
    def observed(self) -> bool:
        """Whether there are observations without a history."""
        return self.first is not None and not self.there


def session_name(session: int | None) -> str:
    """Format a session id like ZooKeeper: ``0x16dbe1a0c5e0003``."""
    return "" if session is None else f"0x{session % SESSIONS:x}"


def past(happened: Iterable[Happened]) -> Past:
    """Replay a history."""
    replay = _Replay()
    for one in happened:
        replay.take(one)
    return replay.done()


class _Replay:
    def __init__(self) -> None:
        self.past = Past()
        self._owner: dict[str, int] = {}
        self._created: dict[Key, int | None] = {}
        self._late: dict[str, int] = {}
        self._take = {
            What.SESSION_OPENED: self._session_opened,
            What.SESSION_CLOSED: self._session_closed,
            What.BROKER_REGISTERED: self._registered,
            What.BROKER_GONE: self._gone,
            What.CONTROLLER_ELECTED: self._controller,
            What.CONTROLLER_GONE: self._controller_gone,
            What.CONTROLLER_EPOCH: self._epoch,
            What.STATE: self._state,
            What.STATE_GONE: self._state_gone,
            What.TOPIC_CONFIG: self._config,
        }

    def take(self, one: Happened) -> None:
        """Apply the next event."""
        if one.what is What.BEGIN:
            self._begin(one)
            return
        if not one.before:
            self.past.last = one.time, one.zxid
            self.past.transactions += 1
            self._late.clear()
        take = self._take.get(one.what)
        if take is not None:
            take(one)
        else:
            self._row(one, _KIND_OF[one.what], topic=one.topic)

    def done(self) -> Past:
        """Return the result."""
        self.past.unsettled = frozenset(self._late)
        return self.past

    def _row(self, one: Happened, kind: str, *, broker: int | None = None, topic: str | None = None, **fields: object) -> None:
        told = {"session": session_name(one.session)} if one.session else {}
        told |= {name: str(value) for name, value in fields.items() if value is not None}
        row = EventRow(
            one.time, one.time, "history", broker, HISTORY, None, kind, topic, one.partition, None, told, zxid=one.zxid
        )
        self.past.rows.append(row)

    def _begin(self, one: Happened) -> None:
        past, last = self.past, self.past.last
        if last is not None and one.time > last[0]:
            self._settle(one.time)
        past.last = one.time, one.zxid
        if last is None:
            past.first = past.settled = one.time
            self._late[transaction(one.zxid)] = 0
            return
        since, zxid = last
        registered = one.registrations is not None and one.registrations <= zxid
        past.breaks.append(Break(since, one.time, registered))
        self._late[transaction(one.zxid)] = len(past.breaks)
        for spans in (*(() if registered else past.registered.values()), past.controllers):
            if spans and spans[-1].closed is None:  # a span that is still open starts again
                self._close(spans, one)
                spans[-1] = spans[-1]._replace(closed_earliest=since)
        for rows in past.states.values():
            if not rows[-1].deleted and rows[-1].until is None:
                rows[-1] = rows[-1]._replace(until=max(since, rows[-1].time))

    def _settle(self, at: int) -> None:
        """Close what the snapshots without later transactions lack, at the time of a later write."""
        late, past = self._late, self.past
        for spans in (*past.registered.values(), past.controllers):
            if spans and spans[-1].closed_proof in late:
                spans[-1] = spans[-1]._replace(closed=at)
        for rows in past.states.values():
            if rows[-1].deleted and rows[-1].proof in late:
                rows[-1] = rows[-1]._replace(time=at)
        for place in late.values():
            if place:
                past.breaks[place - 1] = past.breaks[place - 1]._replace(until=at)
            else:
                past.settled = at
        late.clear()

    def _session_opened(self, one: Happened) -> None:
        name = session_name(one.session)
        self.past.sessions[name] = Span("session", name, None, one.time, None, transaction(one.zxid), "", timeout=one.timeout)
        self._row(one, "znode_session_opened", timeout_ms=one.timeout)

    def _session_closed(self, one: Happened) -> None:
        name = session_name(one.session)
        span = self.past.sessions.get(name) or Span("session", name, self._owner.get(name), None, None, "", "")
        self.past.sessions[name] = span._replace(closed=one.time, closed_proof=transaction(one.zxid))
        self._row(one, "znode_session_closed", broker=span.broker)

    def _registered(self, one: Happened) -> None:
        name, proof = session_name(one.session), transaction(one.zxid)
        self._owner[name] = one.broker
        known = self.past.sessions.get(name) or Span("session", name, None, None, None, "", "")
        self.past.sessions[name] = known._replace(broker=one.broker)
        spans = self.past.registered[one.broker]
        if self._reopened(spans, proof):
            return
        self._close(spans, one)
        self._replaced(spans, one)
        spans.append(Span("registered", name, one.broker, one.time, None, proof, ""))
        self._stamp(one, "registration")
        if not one.before:
            self._row(one, "znode_broker_registered", broker=one.broker, timestamp=one.stamp)

    @staticmethod
    def _reopened(spans: list[Span], proof: str) -> bool:
        """Whether it is the same registration or controllership after a gap in the history: then it never ended."""
        if not spans or spans[-1].opened_proof != proof:
            return False
        spans[-1] = spans[-1]._replace(closed=None, closed_proof="", closed_earliest=None)
        return True

    @staticmethod
    def _replaced(spans: list[Span], one: Happened) -> None:
        """Close a span with an unseen end when the next one starts, at the latest."""
        if spans and spans[-1].closed_earliest is not None and spans[-1].closed_earliest <= one.time < spans[-1].closed:
            spans[-1] = spans[-1]._replace(closed=one.time, closed_proof=transaction(one.zxid))

    def _gone(self, one: Happened) -> None:
        self._close(self.past.registered[one.broker], one)
        self._row(one, "znode_broker_gone", broker=one.broker)

    def _controller(self, one: Happened) -> None:
        if self._reopened(self.past.controllers, transaction(one.zxid)):
            return
        self._close(self.past.controllers, one)
        self._replaced(self.past.controllers, one)
        self.past.controllers.append(Span("controller", "", one.broker, one.time, None, transaction(one.zxid), ""))
        self._stamp(one, "controllership")
        if not one.before:
            self._row(one, "znode_controller_elected", broker=one.broker, timestamp=one.stamp)

    def _controller_gone(self, one: Happened) -> None:
        spans = self.past.controllers
        broker = spans[-1].broker if spans else None
        self._close(spans, one)
        self._row(one, "znode_controller_gone", broker=broker)

    def _epoch(self, one: Happened) -> None:
        """Up to 2.1 the epoch is incremented after the election, in the same transaction (``KafkaZkClient.scala@2.2.0``)."""
        spans = self.past.controllers
        if spans and spans[-1].closed is None:
            spans[-1] = spans[-1]._replace(name=str(one.epoch))

    def _stamp(self, one: Happened, what: str) -> None:
        if one.stamp is not None:
            self.past.stamps.append(ZnodeStamp(one.broker, one.stamp, one.time, what, transaction(one.zxid)))

    @staticmethod
    def _close(spans: list[Span], one: Happened) -> None:
        if spans and spans[-1].closed is None:
            spans[-1] = spans[-1]._replace(closed=one.time, closed_proof=transaction(one.zxid))

    def _state(self, one: Happened) -> None:
        key, state = (one.topic, one.partition), one.state
        rows = self.past.states[key]
        row = StateRow(
            one.topic, one.partition, one.time, one.zxid, state.leader, state.leader_epoch, state.isr, state.controller_epoch,
            transaction(one.zxid), False, state.stamp.version if state.stamp else None,
        )  # fmt: skip
        before = rows[-1] if rows else None
        created, self._created[key] = self._created.get(key), state.stamp.created_in if state.stamp else None
        if before is not None and before.zxid == one.zxid:
            rows[-1] = before._replace(until=None)
            return
        same = created is not None and created == self._created[key]
        if before is not None and before.until is not None and same and _is_next(before, row):
            rows[-1] = before._replace(until=None)
        if before is not None and before.deleted and before.time > row.time:
            rows[-1] = before._replace(time=row.time)
        rows.append(row)
        if before is None or before.deleted or one.before:
            return
        if before.leader != row.leader:
            self._changed(one, "znode_leader_changed", before, row)
        elif before.isr != row.isr:
            self._changed(one, "znode_isr_changed", before, row)

    def _changed(self, one: Happened, kind: str, before: StateRow, row: StateRow) -> None:
        fields = {
            "session": session_name(one.session),
            "from": _leader(before),
            "leader": _leader(row),
            "leader_epoch": str(row.leader_epoch),
            "old": ",".join(map(str, before.isr or ())),
            "isr": ",".join(map(str, row.isr)),
            "controller_epoch": str(row.controller_epoch),
        }
        writer = self._owner.get(fields["session"])
        self.past.rows.append(
            EventRow(
                one.time, one.time, "history", writer, HISTORY, None, kind, one.topic, one.partition, None, fields, zxid=one.zxid
            )
        )

    def _config(self, one: Happened) -> None:
        """A topic without a settings znode has no overrides until the first write."""
        known = self.past.overrides[one.topic]
        if not known and not one.before and self.past.first is not None:
            known.append(Overrides(self.past.first, 0, {}))
        if not known or known[-1].zxid != one.zxid:
            known.append(Overrides(one.time, one.zxid, one.config))

    def _state_gone(self, one: Happened) -> None:
        gone = StateRow(one.topic, one.partition, one.time, one.zxid, None, None, None, None, transaction(one.zxid), deleted=True)
        self.past.states[one.topic, one.partition].append(gone)


def _is_next(before: StateRow, row: StateRow) -> bool:
    """Rule: each write increments a znode's version by one, so consecutive versions have no missing write."""
    return before.version is not None and row.version == before.version + 1


def _leader(row: StateRow) -> str:
    return "-1" if row.leader is None else str(row.leader)
