"""What a broker was sent and does not know, and whom else it hit: in 0.9 whatever came in the same poll is thrown away with it.

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
"""Who was not answered gives up within so many milliseconds: ``request.timeout.ms``, ``socket.timeout.ms`` are 30 s."""
SHORTLY = 1000
"""Who connects to ask for versions does so at once: milliseconds."""
MOST = 1000
"""Exceptions that are looked at for their connections."""
STOP = 10_000
"""A broker that stops is not reached for so many milliseconds."""
HEADS = 3
"""So many lines below its message an exception stands, causes of causes included."""
OTHER = "no known protocol, or a request over socket.request.max.bytes"
PERIOD = 1_200_000
"""librdkafka asks again after ``api.version.fallback.ms``, 20 min (``CONFIGURATION.md@v0.11.6``)."""

_GROUPS = 8
"""Of an address of IPv6, whose colons are one fewer without a port."""
_WHO = ("address", "client_address", "remote", "client", "client_id", "connection", "host")
_OTHERS = ("fetch_failed", "controller_request_failed")
_CLIENTS = ("request_timed_out", "client_disconnected", "coordinator_lost")
_CAUSES = ("unknown_api_key", "bad_request")
_ENTRIES = ("socket_error", "processor_failed", "request_failed")
_CONNECTION = re.compile(r"connectionId: ([^,\s]+)")
_CAUSED = re.compile(r"Caused by: (.*)")
_UNKNOWN = re.compile(r"(?i)unknown|unsupported|unexpected|invalid version|not enabled|IllegalArgument|ArrayIndexOutOfBounds")
"""What an exception says of a key or version that a broker does not know (``RequestContext.java@1.0.2..3.9.0``)."""


class Sender(NamedTuple):
    """Who sent so many of the requests, and the first line that tells it."""

    address: str
    proof: str
    requests: int


class Storm(NamedTuple):
    """What one broker was sent and did not know.

    Args:
        thrown: Lines of exceptions, in order.
        keys: API keys that they name.
        senders: Who sent them, as far as the logs tell.
        told: How many requests those sent.
        covered: For how many of the exceptions connections were logged, by which the senders are known; ``None`` when the
            lines of the requests name them.
        bystanders: Who else connected just before: their requests may have been in the same poll.
        period: Milliseconds between bursts; ``None`` with fewer than three.
        protocols: What was spoken instead of Kafka's protocol; empty where it was Kafka's.
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
    """One for each broker that was sent something unknown, and one for each that was spoken to in another protocol."""
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
    """Whether a broker knows the request, by its name, and could not read what it holds: its entry names another cause."""
    if not row.fields.get("api_key", "").isupper():
        return False
    causes = [cause for one in _above(scene, row, _ENTRIES) for cause in _CAUSED.findall(one.text)]
    return bool(causes) and not any(_UNKNOWN.search(cause) for cause in causes)


def _foreign(scene: TimelineInputs, broker: int | None, rows: Sequence[EventRow]) -> Storm:
    protocols = tuple(dict.fromkeys(protocol(row.number("size")) or OTHER for row in rows))
    senders = _by_lines([_with_sender(scene, row) for row in rows])
    return Storm(broker, tuple(rows), (), senders, sum(one.requests for one in senders), None, (), None, protocols)


def _with_sender(scene: TimelineInputs, row: EventRow) -> EventRow:
    """The line with what the one above it says of the connection: the exception itself names none."""
    above = _above(scene, row, ("socket_error",))
    return row._replace(fields={**above[-1].fields, **row.fields}) if above else row


def _above(scene: TimelineInputs, row: EventRow, kinds: Iterable[str]) -> list[EventRow]:
    """The heads of the entry in which the line of an exception stands."""
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
    """Those whom the lines of the requests name themselves."""
    lines: dict[str, list[EventRow]] = defaultdict(list)
    for row in rows:
        if who := _who(row):
            lines[_host(who)].append(row)
    return tuple(Sender(host, own[0].proof, len(own)) for host, own in lines.items())


def _as_many(rows: Sequence[EventRow], opened: Sequence[EventRow]) -> tuple[tuple[Sender, ...], int, int]:
    """Rule: who sent them all connected before each of them, and as often, as each exception leaves its connection dead.

    Only exceptions from the first connection on that a log tells of count; a few of them may have no line of it. An address that
    alone connected before them is it. With the senders: how many exceptions they explain, and for how many connections were
    logged.
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
    """Connections that were opened shortly before an exception, as network threads tell it, else as the acceptor does."""
    found = {
        row.proof: row
        for thrown in rows[:MOST]
        for row in scene.kind("connection_opened").between(thrown.at - SHORTLY, thrown.at + SLACK)
        if row.broker == broker and _who(row)
    }
    told = [row for row in found.values() if "processor" in row.fields]
    return sorted(told or found.values(), key=lambda row: row.at)


def _host(address: str) -> str:
    """Without its port, where it has one: of ``10.0.0.7:5123``, ``[::1]:5123``, and Java's ``0:0:0:0:0:0:0:1:5123``."""
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
    """The chain of each storm."""
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
    """The chain of another protocol: the broker closes that connection, and nobody else suffers."""
    title = f"{named(storm.broker)} was spoken to in {' and '.join(storm.protocols)}, {plural(len(storm.thrown), 'time')}"
    return Chain("foreign_protocol", capitalised(title), storm.broker, (), storm.thrown[0].at, storm.thrown[-1].at)


def _bystanders(links: Chainer, cause: EventRow, broker: int | None) -> None:
    """Whose requests were in the same poll: only where the exception left the loop is there anybody."""
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
    """Whether another broker waited for this one in vain; a connection that was closed or refused was no such wait."""
    said = row.text.lower()
    if "disconnect" in said or "refused" in said:
        return False
    return any(row.number(name) == broker for name in ("leader", "target", "node")) or (
        row.kind == "controller_request_failed" and row.number("broker") == broker
    )


def _is_stopping(scene: TimelineInputs, broker: int | None, at: int) -> bool:
    return any(row.broker == broker for row in scene.kinds(("broker_stopping", "broker_stopped"), at - STOP, at))
