"""Registrations of each broker in ZooKeeper, when its own files lack them."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from casebook.facts.cluster import Broker, Cluster, Partition
from casebook.facts.proofs import Proofs
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, EventRow, Span
from casebook.questions.timeline.analysis.clocks.pairs import FARTHEST

SAME = 5000
"""Maximum milliseconds until a controller notices a registration, including clock errors."""
_ELECTED = ("partition_changed", "leader_elected")
_THERE = ("controller_elected", "become_leader")
"""Lines that only a registered broker prints: as a controller, or as a leader by a controller's request."""


def with_later(past: Past, rows: Iterable[EventRow], clocks: Iterable[Clock]) -> Past:
    """Add brokers that returned after the last transaction: brokers log the transaction of their registration (2.2 and later).

    Only the first time: later states are unknown. A line with a time before that transaction is in another zone, and one from
    long before it is of a deleted ZooKeeper. Before 2.2 the line's time decides, if the broker's skew from ZooKeeper is known.
    """
    time, zxid = past.last or (0, 0)
    within = {clock.broker: clock.uncertainty or 0 for clock in clocks if clock.skew is not None and not clock.steps}
    registered = {broker: list(spans) for broker, spans in past.registered.items()}
    for row in rows if past.last is not None else ():
        dated = row.kind == "broker_registered" and row.at is not None and row.at > time - FARTHEST
        own = row.number("czxid") if dated else None
        behind = dated and own is None and row.broker in within and row.at > time + within[row.broker]
        spans = registered.get(row.broker, []) if behind or (own or 0) > zxid else []
        if spans and spans[-1].closed is not None:
            spans.append(Span("registered", "", row.broker, row.at if row.at > time else row.at + FARTHEST, None, row.proof, ""))
    return replace(past, registered=defaultdict(list, registered))


def registrations(cluster: Cluster, past: Past, rows: Sequence[EventRow]) -> Mapping[int, Sequence[Span]]:
    """Return the registrations of each broker: from the history, else from logs, else as observed."""
    if past.there or (past.observed and not any(row.kind == "broker_change" for row in rows)):
        return past.registered
    told: dict[int, list[Span]] = defaultdict(list)
    seen: dict[int, int] = {}
    for row in rows:
        if row.at is not None:
            _add_line(told, seen, row)
    for broker in cluster.brokers.values():
        _add_found(told[broker.id], broker, cluster.proofs)
    for partition in _led(cluster):
        _was_there(told.get(partition.state.leader, []), partition, cluster.proofs)
    if cluster.brokers_known and cluster.read_to is not None:
        leaders = {partition.state.leader for partition in cluster.partitions if partition.state is not None} - {None}
        for broker in (told.keys() | leaders) - cluster.brokers.keys():
            _miss(told[broker], broker, cluster.read_to, cluster.proofs)
    return told


def _add_line(told: dict[int, list[Span]], seen: dict[int, int], row: EventRow) -> None:
    """Apply a line: a controller on other brokers, a broker on its return, an election on its leader's presence.

    A controller logs neither its own registration, nor those before its election.

    Args:
        seen: First sign of brokers with an unknown registration time.
    """
    if row.kind == "broker_change":
        for broker in (*row.numbers("deleted"), *row.numbers("bounced")):
            _end(told[broker], broker, row)
        for broker in (*row.numbers("added"), *row.numbers("bounced")):
            _begin(told[broker], broker, seen.get(broker), row)
        for broker in row.numbers("live"):
            if told[broker]:
                _be_back(told[broker], row)
            else:
                told[broker].append(Span("registered", "", broker, None, None, "", ""))
                seen[broker] = row.at
    elif row.kind == "broker_registered" and told.get(row.broker):
        _begin(told[row.broker], row.broker, seen.get(row.broker), row)
    elif row.kind in _THERE and told.get(row.broker):
        _be_back(told[row.broker], row)
    elif row.kind in _ELECTED and row.fields.get("to") in ("OnlinePartition", None) and told.get(row.number("leader")):
        _be_back(told[row.number("leader")], row)


def _begin(spans: list[Span], broker: int, seen: int | None, row: EventRow) -> None:
    """Add a registration from the broker or a controller: an earlier one without a seen end was over by then."""
    last = spans[-1] if spans else None
    since = seen if last is None or last.opened is None else last.opened
    if last is not None and last.closed is None and since is not None and row.at > since + SAME:
        spans[-1] = last._replace(closed=row.at, closed_proof=row.proof, closed_earliest=since)
    if last is None or spans[-1].closed is not None:
        spans.append(Span("registered", "", broker, row.at, None, row.proof, ""))


def _be_back(spans: list[Span], row: EventRow) -> None:
    """Mark a broker as present, without a seen registration."""
    last = spans[-1]
    if last.closed is not None and last.closed < row.at:
        back = Span("registered", "", last.broker, row.at, None, row.proof, "", opened_earliest=last.lasted)
        spans.append(back)


def _add_found(spans: list[Span], broker: Broker, proofs: Proofs) -> None:
    """Add a walked registration that logs lack: a different logged one ended before, at an unknown time."""
    opened = broker.stamp.created_at if broker.stamp else None
    proof = proofs.broker(broker.id).text
    if spans and spans[-1].closed is None:
        if opened is None or spans[-1].opened is None or opened <= spans[-1].opened + SAME:
            return
        spans[-1] = spans[-1]._replace(closed=opened, closed_proof=proof, closed_earliest=spans[-1].opened)
    if not spans or opened is None or spans[-1].closed <= opened + SAME:
        spans.append(Span("registered", "", broker.id, opened, None, proof, ""))


def _led(cluster: Cluster) -> Sequence[Partition]:
    """Return partitions with a leader and the time of the last write in their znodes, in order."""
    led = [one for one in cluster.partitions if one.state is not None and one.state.leader is not None and one.state.stamp]
    return sorted((one for one in led if one.state.stamp.changed_at), key=lambda one: one.state.stamp.changed_at)


def _was_there(spans: list[Span], led: Partition, proofs: Proofs) -> None:
    """Mark a leader as present at its partition's last write, even if logs show its loss without a return.

    Rule: a dead broker is not elected, and a leader writes its ISR itself.
    """
    broker, at, proof = led.state.leader, led.state.stamp.changed_at, proofs.state(led.topic, led.partition).text
    place = bisect_right([span.opened or 0 for span in spans], at)
    if not place or spans[place - 1].closed is None or at <= spans[place - 1].closed + SAME:
        return
    later = spans[place] if place < len(spans) else None
    there = Span("registered", "", broker, at, None, proof, "", opened_earliest=spans[place - 1].lasted)
    if later is not None:
        there = there._replace(closed=later.opened, closed_proof=later.opened_proof, closed_earliest=at)
    spans.insert(place, there)


def _miss(spans: list[Span], broker: int, read: int, proofs: Proofs) -> None:
    """End a registration without a seen loss that a walk did not find: it was over by then."""
    last = spans.pop() if spans else Span("registered", "", broker, None, None, "", "")
    if last.closed is None and (last.opened or 0) <= read:
        last = last._replace(closed=read, closed_proof=proofs.brokers.text, closed_earliest=last.opened or 0)
    spans.append(last)


def _end(spans: list[Span], broker: int, row: EventRow) -> None:
    if not spans:
        spans.append(Span("registered", "", broker, None, row.at, "", row.proof))
    elif spans[-1].closed is None:
        spans[-1] = spans[-1]._replace(closed=row.at, closed_proof=row.proof)
