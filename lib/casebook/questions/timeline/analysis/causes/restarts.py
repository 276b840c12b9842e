"""Simultaneous loss of all brokers, and failed starts: events beyond a single broker's loss."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import NamedTuple

from casebook.facts.quotes import cut
from casebook.findings.words import brokers, capitalised, duration, plural
from casebook.kafka.past_rows import EventRow, Span
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.causes import disks, losses
from casebook.questions.timeline.analysis.links import Chainer
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

TOGETHER = 10_000
"""Brokers lost within so many milliseconds are lost together: sessions of killed brokers end seconds apart."""
STOPPING = 60_000
"""Maximum milliseconds of a controlled shutdown without a peer (``controlled.shutdown.max.retries`` times 5 s, and requests)."""
OVERLAP = 2000
"""Maximum milliseconds by which a broker may be back before the last one is lost."""
AGAIN = 600_000
"""Maximum milliseconds between an end and its restart."""
_STOPS = ("broker_stopping", "broker_stopped")
_WAITS = (
    "coordinator_unavailable", "coordinator_loading", "coordinator_lost", "not_coordinator", "not_leader", "request_timed_out",
    "metadata_error", "client_disconnected", "commit_failed",
)  # fmt: skip
_REFUSED = ("startup_failed", "truncation_refused")
_WHYS = (
    ("Failed to acquire lock", "another process of Kafka holds its log dir"),
    ("failed to bind", "another process holds its port"),
    ("already registered on the path", "the session of the process before it had not expired yet"),
    ("doesn't match stored broker.id", "its log dirs are those of another broker"),
    ("doesn't match previous node id", "its log dirs are those of another broker"),
    ("doesn't match stored clusterId", "its log dirs are those of another cluster"),
    ("Invalid cluster.id in", "its log dirs are those of another cluster"),
    ("ZooKeeper", "it did not reach ZooKeeper"),
    ("waiting for connection", "it did not reach ZooKeeper"),
    ("zookeeper server", "it did not reach ZooKeeper"),
    ("truncation is not allowed", "it would have had to cut its log, which is not allowed"),
    ("during logs loading", "it could not load its logs"),
)
"""Messages of a failed start, and their meaning; the first match counts."""


class _Gone(NamedTuple):
    """Simultaneous loss of all present brokers.

    Args:
        ids: Broker ids.
        since: First loss.
        until: Last loss.
        back: First return; ``None``: not before the evidence ends.
        whole: Return of all.
    """

    ids: tuple[int, ...]
    since: int
    until: int
    back: int | None
    whole: int | None


def of_all(scene: TimelineInputs, held: Mapping[int, int]) -> Iterator[Chain]:
    """Yield the chain of each time when all brokers were lost together, and no process survived."""
    for gone in _all_gone(scene):
        links = Chainer(scene, (gone.whole or gone.back or gone.until) + losses.AFTER)
        stops = [row for row in scene.kinds(_STOPS, gone.since - AGAIN, gone.until) if row.broker in gone.ids]
        ends = [row for row in scene.kind("znode_broker_gone").between(gone.since, gone.until) if row.broker in gone.ids]
        starts = [row for row in scene.kind("broker_starting").between(gone.since, gone.whole) if row.broker in gone.ids]
        first = min([*stops, *ends, *starts], key=lambda row: row.at, default=None)
        if first is None:
            continue
        links.link(first, [row for row in ends if row is not first], "all registered brokers left")
        links.link(first, [row for row in starts if row is not first], "all were started again")
        links.effects(first, ["loaded"], "each coordinator loads its partitions of the offsets topic again")
        links.effects(first, _WAITS, "clients wait for leaders and coordinators until these are back")
        led = {key for key, rows in scene.states.items() if _led(rows, gone)}
        title = f"All {plural(len(gone.ids), 'broker')} left within {duration(gone.until - gone.since)}"
        title += f", and were back after {duration(gone.whole - gone.since)}" if gone.whole is not None else ""
        holds = 0 if gone.back is not None else max((held.get(broker, 0) for broker in gone.ids), default=0)
        chain = links.chain("all_lost", title, None, len(led)) or Chain(
            "all_lost", title, None, (), gone.since, gone.until, len(led)
        )
        told = scene.past.there or all(_stop(scene, broker, gone) is not None for broker in gone.ids)
        yield chain._replace(opened=gone.since, holds=holds, back=gone.whole, by=None if told else gone.back)


def _led(rows: Sequence, gone: _Gone) -> bool:
    before = [row for row in rows if row.time < gone.since]
    return bool(before) and before[-1].leader in gone.ids


def _all_gone(scene: TimelineInputs) -> Iterator[_Gone]:
    """Rule: by registrations if the history has them, and no surviving process; else by lines of the processes."""
    if scene.past.there:
        for gone in _together(scene, scene.registered):
            if not any(_lived_on(scene, broker, gone) for broker in gone.ids):
                yield gone
    elif scene.brokers and scene.brokers <= scene.lives.keys():
        yield from (gone for gone in _together(scene, scene.lives) if all(_ended(scene, broker, gone) for broker in gone.ids))


def _ended(scene: TimelineInputs, broker: int, gone: _Gone) -> bool:
    """Return whether a process logs its shutdown, or another starts after it: a log may end just because it was collected."""
    return _stop(scene, broker, gone) is not None or _begun_again(scene, broker, gone) is not None


def _lived_on(scene: TimelineInputs, broker: int, gone: _Gone) -> bool:
    life = scene.life(broker, gone.since)
    if life is None or life.name in _STOPS:
        return False
    return life.closed > gone.until + SLACK or scene.came_back(life, gone.until)


def _together(scene: TimelineInputs, spans: Mapping[int, Sequence[Span]], only: int | None = None) -> Iterator[_Gone]:
    """Rule: a stopping broker hands over its leaders first; the last one has no peer for them, and retries for seconds.

    Args:
        only: Time of the first loss; ``None`` for any.
    """
    there = {broker: _Presence(own) for broker, own in spans.items()}
    ends = sorted((at, broker, closed) for (closed, broker), at in _begun(scene, spans).items())
    moments = [at for at, _, _ in ends]
    taken = -1
    for since in moments if only is None else [only]:
        ids = {broker for broker, presence in there.items() if presence.was_there(since)}
        closed: dict[int, int] = {}
        for _, broker, end in ends[bisect_left(moments, since) : bisect_right(moments, since + TOGETHER)]:
            closed.setdefault(broker, end)
        if since <= taken or len(ids) < 2 or not ids <= closed.keys():
            continue
        until = max(closed[broker] for broker in ids)
        back = {broker: there[broker].back(closed[broker]) for broker in ids}
        known = [at for at in back.values() if at is not None and at <= until + AGAIN]
        if all(at >= until - OVERLAP for at in known):
            taken = until
            whole = max(known) if len(known) == len(ids) else None
            yield _Gone(tuple(sorted(ids)), since, until, min(known, default=None), whole)


def _begun(scene: TimelineInputs, spans: Mapping[int, Sequence[Span]]) -> dict[tuple[int, int], int]:
    """Return when each end, by time and broker, began: with the preceding shutdown line."""
    stops: dict[int, list[int]] = {broker: [] for broker in spans}
    for row in scene.kind("broker_stopping").rows:
        if row.broker in stops:
            stops[row.broker].append(row.at)
    begun = {}
    for broker, own in spans.items():
        for closed in (span.closed for span in own if span.closed is not None):
            place = bisect_right(stops[broker], closed)
            at = stops[broker][place - 1] if place else closed
            begun[closed, broker] = at if closed - at <= STOPPING else closed
    return begun


class _Presence:
    """Presence of a broker, precomputed: queried for every end of every broker, also with months of failing starts."""

    def __init__(self, spans: Iterable[Span]) -> None:
        own = sorted(spans, key=lambda span: -inf if span.opened is None else span.opened)
        self._opened = [-inf if span.opened is None else span.opened for span in own]
        self._until = list(accumulate((inf if span.closed is None else span.closed for span in own), max))

    def was_there(self, at: int) -> bool:
        """Return whether it was present shortly before.

        A broker lost minutes earlier, and still away, was not lost with the others.
        """
        place = bisect_left(self._opened, at)
        return place > 0 and self._until[place - 1] >= at - AGAIN

    def back(self, closed: int) -> int | None:
        """Return when it was present again."""
        place = bisect_left(self._opened, closed)
        return int(self._opened[place]) if place < len(self._opened) else None


def candidates(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield candidates: all processes stopped, or ended, at once; or, without their logs, ZooKeeper was unavailable.

    A broker that ended after it reported failed log dirs was not killed.
    """
    gone = next(_together(scene, scene.registered if scene.past.there else scene.lives, chain.opened), None)
    if gone is None:
        return
    lives = ((broker, scene.life(broker, gone.until)) for broker in gone.ids)
    if by_disk := [root for broker, life in lives if life for root in disks.ended_of_it(scene, broker, life, place)]:
        yield from by_disk
        return
    stops = {broker: _stop(scene, broker, gone) for broker in gone.ids}
    starts = {broker: _begun_again(scene, broker, gone) for broker in gone.ids}
    silent = sorted(broker for broker in gone.ids if stops[broker] is None and starts[broker] is None)
    pro = [Indication(f"Broker {broker} logs that it stops", row.proof) for broker, row in stops.items() if row is not None]
    pro += [Indication(f"Broker {broker} starts again", row.proof) for broker, row in starts.items() if row is not None]
    unchecked = (f"the actions of {brokers(silent)}: they are not logged",) if silent else ("what requested or ended it",)
    clean = sum(row is not None for row in stops.values())
    how = "stopped or killed"
    if clean in (0, len(gone.ids)):
        how = "stopped" if clean else "killed, or lost with their machines,"
    name = f"All {plural(len(gone.ids), 'broker')} were {how} at once"
    again = [broker for broker, row in starts.items() if row is not None]
    if gone.whole is not None or len(again) == len(gone.ids):
        name += " and started again: a restart of all"
    elif gone.back is not None:
        name += f"; {brokers(again) if again else 'not all of them, as far as logged,'} started again"
    kind = "all_stopped" if clean == len(gone.ids) else "all_ended"
    yield Root(kind, name.removesuffix(","), None, place, tuple(pro), (), unchecked, 100 if pro else 40)
    if silent:
        lack = () if any(row.source == "zookeeper" for row in scene.rows) else ("no log of ZooKeeper",)
        yield Root("zookeeper", "ZooKeeper was slow or unavailable", None, place, (), (), lack, 40)


def _stop(scene: TimelineInputs, broker: int, gone: _Gone) -> EventRow | None:
    life = scene.life(broker, gone.until)
    if life is None or life.name not in _STOPS:
        return None
    return _first(scene, _STOPS, broker, life.opened, life.closed)


def _begun_again(scene: TimelineInputs, broker: int, gone: _Gone) -> EventRow | None:
    return _first(scene, ("broker_starting",), broker, gone.since, gone.until + AGAIN)


def _first(scene: TimelineInputs, kinds: tuple[str, ...], broker: int, since: int, until: int | None) -> EventRow | None:
    return next((row for row in scene.kinds(kinds, since, until) if row.broker == broker), None)


class _Failed(NamedTuple):
    """A failed start.

    Args:
        means: Meaning of the line with the reason.
        line: That line; without a reason, the last line on the failure.
    """

    means: str
    line: EventRow


_ERROR = re.compile(r"^\s*(?:Caused by: )?((?:[a-z]\w*\.)+\w+(?:Error|Exception)\b.{0,120})", re.MULTILINE)
"""A Java error with its message, at the start of a line; the last of an entry is the root cause."""

_DIGITS = re.compile(r"\d+")
"""Text that differs between starts: ports, offsets, milliseconds."""


def failed(scene: TimelineInputs) -> Iterator[Chain]:
    """Yield the chain of each broker's failed starts with the same reason: other starts had other causes."""
    for broker, by_reason in _by_reason(scene).items():
        for starts in by_reason.values():
            begun = _first(scene, ("broker_started",), broker, starts[-1].line.at, None)
            later = "; it started later" if begun is not None else ""
            title = f"{capitalised(brokers([broker]))} failed to start{_times(starts)}: {starts[-1].means}{later}"
            back = begun.at if begun is not None else None
            yield Chain("start_failed", title, broker, (), starts[0].line.at, starts[-1].line.at, back=back)


def _by_reason(scene: TimelineInputs) -> dict[int, dict[str, list[_Failed]]]:
    found: dict[int, dict[str, list[_Failed]]] = {}
    for broker, lives in scene.lives.items():
        for told in filter(None, (_failed(_refusals(scene, broker, life)) for life in lives)):
            found.setdefault(broker, {}).setdefault(_DIGITS.sub("", told.means), []).append(told)
    return found


def _times(starts: Sequence[_Failed]) -> str:
    return f", {plural(len(starts), 'time')}" if len(starts) > 1 else ""


def _refusals(scene: TimelineInputs, broker: int, life: Span) -> list[EventRow]:
    """Return a process's lines on a failed start; none if it had started before."""
    own = scene.of_broker(broker).between(life.opened, life.closed)
    told = [row for row in own if row.kind in _REFUSED]
    return told if told and not any(row.kind == "broker_started" for row in own) else []


def _failed(told: Sequence[EventRow]) -> _Failed | None:
    if not told:
        return None
    means = (_Failed(words, row) for row in reversed(told) for text, words in _WHYS if text in row.text)
    errors = (_Failed(f"it says {found[-1].strip()}", row) for row in reversed(told) if (found := _ERROR.findall(row.text)))
    return next(means, None) or next(errors, None) or _Failed("the reason is in the line", told[-1])


def why_failed(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield its own reason: for several starts, that of the last."""
    starts = next(one for one in _by_reason(scene)[chain.broker].values() if one[0].line.at == chain.opened)
    means, row = starts[-1]
    points = (Indication(cut(" ".join(row.text.split()), 200), row.proof),)
    later = "; it started later" if chain.back is not None else ""
    name = f"Broker {chain.broker} could not start{_times(starts)}: {means}{later}"
    yield Root("start_failed", name, chain.broker, place, points, (), (), 100)
