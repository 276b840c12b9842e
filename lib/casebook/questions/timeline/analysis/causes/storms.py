"""Unknown requests to a broker, and their victims: 0.9 discards all other requests of the same poll.

Source: ``core/src/main/scala/kafka/network/SocketServer.scala@0.9.0.1``: the exception leaves the loop over what was received.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.findings.words import capitalised, plural
from casebook.kafka.past_rows import EventRow
from casebook.kafka.protocols import protocol
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.links import Chainer
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs
from casebook.questions.timeline.analysis.words import named

WAIT = 60_000
"""Milliseconds after which an unanswered client gives up: ``request.timeout.ms``, ``socket.timeout.ms`` are 30 s."""
SHORTLY = 1000
"""Milliseconds between a connection and its version request."""
MOST = 1000
"""Maximum number of exceptions with a search for their connections."""
STOP = 10_000
"""Milliseconds for which a stopping broker is unreachable."""
HEADS = 3
"""Maximum number of lines between a message and its exception, including nested causes."""
OTHER = "no known protocol, or a request over socket.request.max.bytes"
PERIOD = 1_200_000
"""librdkafka's retry interval ``api.version.fallback.ms``, 20 min (``CONFIGURATION.md@v0.11.6``)."""

_GROUPS = 8
"""Number of groups of an IPv6 address, with one colon fewer without a port."""
_WHO = ("address", "client_address", "remote", "client", "client_id", "connection", "host")
_OTHERS = ("fetch_failed", "controller_request_failed")
_CLIENTS = ("request_timed_out", "metadata_error", "client_disconnected", "coordinator_lost")
_CAUSES = ("unknown_api_key", "bad_request")
_ENTRIES = ("socket_error", "processor_failed", "request_failed")
_CONNECTION = re.compile(r"connectionId: ([^,\s]+)")
_CAUSED = re.compile(r"Caused by: (.*)")
_UNKNOWN = re.compile(r"(?i)unknown|unsupported|unexpected|invalid version|not enabled|IllegalArgument|ArrayIndexOutOfBounds")
"""Exception text for a key or version that a broker does not know (``RequestContext.java@1.0.2..3.9.0``)."""


class Sender(NamedTuple):
    """A sender, its number of requests, and the first proof."""

    address: str
    proof: str
    requests: int


class Storm(NamedTuple):
    """Unknown requests to one broker.

    Args:
        thrown: Lines of exceptions, in order.
        keys: API keys in them.
        senders: Senders, if in the logs.
        told: Number of requests from those.
        covered: Number of exceptions with logged connections, which identify the senders; ``None`` when the request lines name
            them.
        bystanders: Other clients that connected just before: their requests may have been in the same poll.
        period: Milliseconds between bursts; ``None`` with fewer than three.
        protocols: Protocols other than Kafka's; empty for Kafka's.
    """

    broker: int | None
    thrown: tuple[EventRow, ...]
    keys: tuple[int, ...]
    senders: tuple[Sender, ...]
    told: int
    covered: int | None
    bystanders: tuple[str, ...]
    period: int | None
    protocols: tuple[str, ...] = ()


def storms(scene: TimelineInputs) -> list[Storm]:
    """Return one per broker with unknown requests, and one per broker with another protocol."""
    sent: dict[tuple[int | None, bool], list[EventRow]] = defaultdict(list)
    last: dict[str, int] = {}
    for row in scene.kinds(_CAUSES):
        connection = found[1] if (found := _CONNECTION.search(row.text)) else ""
        if (connection and row.at - last.get(connection, -SHORTLY) < SHORTLY) or _is_malformed(scene, row):
            continue  # a broker logs one request twice: with its exception, and when it closes the connection
        last[connection] = row.at
        sent[row.broker, row.number("size") is not None].append(row)
    ordered = sorted(sent, key=lambda key: (-1 if key[0] is None else key[0], key[1]))
    return [(_foreign if foreign else _storm)(scene, broker, sent[broker, foreign]) for broker, foreign in ordered]


def _is_malformed(scene: TimelineInputs, row: EventRow) -> bool:
    """Return whether a broker knows the request, by its name, but could not parse it: its entry has another cause."""
    if not row.fields.get("api_key", "").isupper():
        return False
    causes = [cause for one in _above(scene, row, _ENTRIES) for cause in _CAUSED.findall(one.text)]
    return bool(causes) and not any(_UNKNOWN.search(cause) for cause in causes)


def _foreign(scene: TimelineInputs, broker: int | None, rows: Sequence[EventRow]) -> Storm:
    protocols = tuple(dict.fromkeys(protocol(row.number("size")) or OTHER for row in rows))
    senders = _by_lines([_with_sender(scene, row) for row in rows])
    return Storm(broker, tuple(rows), (), senders, sum(one.requests for one in senders), None, (), None, protocols)


def _with_sender(scene: TimelineInputs, row: EventRow) -> EventRow:
    """Return the line with the connection from the line above: the exception itself has none."""
    above = _above(scene, row, ("socket_error",))
    return row._replace(fields={**above[-1].fields, **row.fields}) if above else row


def _above(scene: TimelineInputs, row: EventRow, kinds: Iterable[str]) -> list[EventRow]:
    """Return the head lines of the entry with an exception."""
    near = scene.kinds(kinds, row.at, row.at)
    return [one for one in near if one.file == row.file and 0 <= (row.line or 0) - (one.line or 0) <= HEADS]


def _storm(scene: TimelineInputs, broker: int | None, rows: Sequence[EventRow]) -> Storm:
    keys = tuple(sorted({key for row in rows if (key := row.number("api_key")) is not None}))
    opened, period = _opened(scene, broker, rows), _period([row.at for row in rows])
    senders, covered = _by_lines(rows), None
    told = sum(sender.requests for sender in senders)
    if not senders:
        senders, told, covered = _as_many(rows[:MOST], opened)
    others = sorted({_host(_who(row)) for row in opened} - {sender.address for sender in senders})
    return Storm(broker, tuple(rows), keys, senders, told, covered, tuple(others), period)


def _by_lines(rows: Iterable[EventRow]) -> tuple[Sender, ...]:
    """Return the senders in the request lines themselves."""
    lines: dict[str, list[EventRow]] = defaultdict(list)
    for row in rows:
        if who := _who(row):
            lines[_host(who)].append(row)
    return tuple(Sender(host, own[0].proof, len(own)) for host, own in lines.items())


def _as_many(rows: Sequence[EventRow], opened: Sequence[EventRow]) -> tuple[tuple[Sender, ...], int, int]:
    """Rule: a sender of all of them connected before each of them, and as often, as each exception kills its connection.

    Only exceptions after the first logged connection count; a few of them may lack one. An address that alone connected before
    them is the sender. Also returns the number of explained exceptions, and of those with logged connections.
    """
    covered = [row for row in rows if opened and row.at >= opened[0].at - SLACK]
    connections: dict[str, list[EventRow]] = defaultdict(list)
    for row in opened:
        connections[_host(_who(row))].append(row)
    before = {host: sum(_just_before(own, row.at) for row in covered) for host, own in connections.items()}
    always = {host: own for host, own in connections.items() if 10 * before[host] >= 9 * len(covered)}
    as_often = {host: own for host, own in always.items() if len(own) >= len(covered)}
    found = always if len(always) == 1 else as_often
    told = sum(any(_just_before(own, row.at) for own in found.values()) for row in covered)
    return tuple(Sender(host, own[0].proof, before[host]) for host, own in found.items()), told, len(covered)


def _just_before(connections: Sequence[EventRow], at: int) -> bool:
    place = bisect_right(connections, at + SLACK, key=lambda row: row.at)
    return place > 0 and connections[place - 1].at >= at - SHORTLY


def _opened(scene: TimelineInputs, broker: int | None, rows: Sequence[EventRow]) -> list[EventRow]:
    """Return connections opened shortly before an exception, from network threads, else from the acceptor."""
    found = {
        row.proof: row
        for thrown in rows[:MOST]
        for row in scene.kind("connection_opened").between(thrown.at - SHORTLY, thrown.at + SLACK)
        if row.broker == broker and _who(row)
    }
    told = [row for row in found.values() if "processor" in row.fields]
    return sorted(told or found.values(), key=lambda row: row.at)


def _host(address: str) -> str:
    """Strip the port, if any: from ``10.0.0.7:5123``, ``[::1]:5123``, and Java's ``0:0:0:0:0:0:0:1:5123``."""
    host = address.lstrip("/")
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") in (1, _GROUPS) else host


def _who(row: EventRow) -> str:
    return next((row.fields[name] for name in _WHO if row.fields.get(name)), "")


def _period(times: Sequence[int]) -> int | None:
    starts = [times[0], *(b for a, b in pairwise(times) if b - a > WAIT)] if times else []
    gaps = sorted(b - a for a, b in pairwise(starts))
    return gaps[len(gaps) // 2] if len(gaps) > 1 else None


def chains(scene: TimelineInputs) -> Iterator[Chain]:
    """Yield the chain of each storm."""
    for storm in storms(scene):
        if storm.protocols:
            yield _spoken(storm)
            continue
        first, last = storm.thrown[0], storm.thrown[-1]
        links = Chainer(scene, last.at + WAIT)
        failed = [row for row in scene.kind("processor_failed").between(first.at - SLACK, last.at) if row.broker == storm.broker]
        if failed:
            links.link(
                first, failed, "the exception leaves the network thread's loop: what else was in that poll is not answered"
            )
            _bystanders(links, min(failed[0], first, key=lambda row: row.at), storm.broker)
        title = capitalised(f"{named(storm.broker)} received {plural(len(storm.thrown), 'request')} that it does not support")
        yield links.chain("unknown_request", title, storm.broker) or Chain(
            "unknown_request", title, storm.broker, (), first.at, last.at
        )


def _spoken(storm: Storm) -> Chain:
    """Return the chain of another protocol: the broker closes that connection, without other victims."""
    title = f"{named(storm.broker)} was spoken to in {' and '.join(storm.protocols)}, {plural(len(storm.thrown), 'time')}"
    return Chain("foreign_protocol", capitalised(title), storm.broker, (), storm.thrown[0].at, storm.thrown[-1].at)


def _bystanders(links: Chainer, cause: EventRow, broker: int | None) -> None:
    """Link clients with requests in the same poll, which exist only if the exception left the loop."""
    links.effects(
        cause,
        _OTHERS,
        "requests of other brokers were in the same poll, and timed out",
        which=lambda row: _speaks_of(row, broker) and not _is_stopping(links.scene, broker, row.at),
    )
    links.effects(
        cause,
        ["isr_shrunk", "znode_isr_changed"],
        "followers whose fetches are not answered lag",
        which=lambda row: row.broker == broker,
    )
    links.effects(cause, _CLIENTS, "requests of clients were in the same poll, and timed out")


def _speaks_of(row: EventRow, broker: int | None) -> bool:
    """Return whether another broker waited for this one in vain; a closed or refused connection is no such wait."""
    said = row.text.lower()
    if "disconnect" in said or "refused" in said:
        return False
    return any(row.number(name) == broker for name in ("leader", "target", "node")) or (
        row.kind == "controller_request_failed" and row.number("broker") == broker
    )


def _is_stopping(scene: TimelineInputs, broker: int | None, at: int) -> bool:
    return any(row.broker == broker for row in scene.kinds(("broker_stopping", "broker_stopped"), at - STOP, at))
