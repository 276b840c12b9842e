"""When each broker was registered in ZooKeeper, where its own files do not tell, or no longer."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from casebook.facts.cluster import Broker, Cluster, Partition
from casebook.findings.proof import ZNODES
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, EventRow, Span
from casebook.questions.timeline.analysis.clocks.pairs import FARTHEST

SAME = 5000
"""A controller sees a broker register within so many milliseconds, clocks included."""
_ELECTED = ("partition_changed", "leader_elected")
_THERE = ("controller_elected", "become_leader")
"""What a broker prints only once it is registered: as a controller, and as a leader, which a controller told it to be."""


def with_later(past: Past, rows: Iterable[EventRow], clocks: Iterable[Clock]) -> Past:
    """The past, with who came back behind its last transaction: brokers log the transaction that registered them (2.2 and later).

    Only the first time: of the states since then nothing is known. A line that seems to be from before that transaction is of
    another zone, and one from long before it of a ZooKeeper whose data is gone. Before 2.2 a line tells by its time, where it is
    known how far that broker's clock is off ZooKeeper's.
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
    """When each broker's znode was there: by the history, else as brokers told it, else as it was observed."""
    if past.there or (past.observed and not any(row.kind == "broker_change" for row in rows)):
        return past.registered
    told: dict[int, list[Span]] = defaultdict(list)
    seen: dict[int, int] = {}
    for row in rows:
        if row.at is not None:
            _tell(told, seen, row)
    for broker in cluster.brokers.values():
        _add_found(told[broker.id], broker)
    for partition in _led(cluster):
        _was_there(told.get(partition.state.leader, []), partition)
    if cluster.brokers_known and cluster.read_to is not None:
        leaders = {partition.state.leader for partition in cluster.partitions if partition.state is not None} - {None}
        for broker in (told.keys() | leaders) - cluster.brokers.keys():
            _miss(told[broker], broker, cluster.read_to)
    return told


def _tell(told: dict[int, list[Span]], seen: dict[int, int], row: EventRow) -> None:
    """What a line tells: the controller of who came and went, a broker that it is back, an election that its leader was there.

    Of its own registration, and of who came before it was controller, a controller says nothing.

    Args:
        seen: When those were seen first of whom nobody knows since when they were registered.
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
    """A registration, told by the broker or by a controller: a former one that nobody saw go had ended by then."""
    last = spans[-1] if spans else None
    since = seen if last is None or last.opened is None else last.opened
    if last is not None and last.closed is None and since is not None and row.at > since + SAME:
        spans[-1] = last._replace(closed=row.at, closed_proof=row.proof, closed_earliest=since)
    if last is None or spans[-1].closed is not None:
        spans.append(Span("registered", "", broker, row.at, None, row.proof, ""))


def _be_back(spans: list[Span], row: EventRow) -> None:
    """One that is there, however it came."""
    last = spans[-1]
    if last.closed is not None and last.closed < row.at:
        back = Span("registered", "", last.broker, row.at, None, row.proof, "", opened_earliest=last.lasted)
        spans.append(back)


def _add_found(spans: list[Span], broker: Broker) -> None:
    """A registration that a walk found, where logs do not tell of it: what they tell of another ended before, nobody saw when."""
    opened = broker.stamp.created_at if broker.stamp else None
    proof = f"{ZNODES} /brokers/ids/{broker.id}"
    if spans and spans[-1].closed is None:
        if opened is None or spans[-1].opened is None or opened <= spans[-1].opened + SAME:
            return
        spans[-1] = spans[-1]._replace(closed=opened, closed_proof=proof, closed_earliest=spans[-1].opened)
    if not spans or opened is None or spans[-1].closed <= opened + SAME:
        spans.append(Span("registered", "", broker.id, opened, None, proof, ""))


def _led(cluster: Cluster) -> Sequence[Partition]:
    """Partitions whose znodes name a leader and the time of their last write, in order."""
    led = [one for one in cluster.partitions if one.state is not None and one.state.leader is not None and one.state.stamp]
    return sorted((one for one in led if one.state.stamp.changed_at), key=lambda one: one.state.stamp.changed_at)


def _was_there(spans: list[Span], led: Partition) -> None:
    """A leader was there when its partition was written last, though logs tell that it had gone, and not that it came back.

    Rule: whoever is dead is not elected, and a leader writes its ISR itself.
    """
    broker, at, proof = led.state.leader, led.state.stamp.changed_at, f"{ZNODES} {led.state_path}"
    place = bisect_right([span.opened or 0 for span in spans], at)
    if not place or spans[place - 1].closed is None or at <= spans[place - 1].closed + SAME:
        return
    later = spans[place] if place < len(spans) else None
    there = Span("registered", "", broker, at, None, proof, "", opened_earliest=spans[place - 1].lasted)
    if later is not None:
        there = there._replace(closed=later.opened, closed_proof=later.opened_proof, closed_earliest=at)
    spans.insert(place, there)


def _miss(spans: list[Span], broker: int, read: int) -> None:
    """One that no log saw go, and a walk did not find, though logs or states name it: it was gone by then."""
    last = spans.pop() if spans else Span("registered", "", broker, None, None, "", "")
    if last.closed is None and (last.opened or 0) <= read:
        last = last._replace(closed=read, closed_proof=f"{ZNODES} /brokers/ids", closed_earliest=last.opened or 0)
    spans.append(last)


def _end(spans: list[Span], broker: int, row: EventRow) -> None:
    if not spans:
        spans.append(Span("registered", "", broker, None, row.at, "", row.proof))
    elif spans[-1].closed is None:
        spans[-1] = spans[-1]._replace(closed=row.at, closed_proof=row.proof)
