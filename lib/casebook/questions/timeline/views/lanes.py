"""Content of a timeline figure: sessions, controller, brokers, partition leaders, groups, clients; windows across all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from casebook.facts.quotes import cut
from casebook.findings import words
from casebook.kafka.past_rows import EventRow as Event
from casebook.kafka.past_rows import Sentence, Span, Window, WindowKind
from casebook.page.lanes import DIAMOND, HATCHED, LINE, Label, Lane, LaneRow, Mark, Picture, Shade, Strip, Tick, shortened
from casebook.questions.timeline.analysis.selection import Events, Selection, focus
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.analysis.words import exact
from casebook.questions.timeline.views import host_lanes, hosts
from casebook.questions.timeline.views import strips as timeline_strips
from casebook.questions.timeline.views.hosts import second

MOST_EVENTS = 5000
_MOST_BROKERS, _MOST_SHADES, _MOST_LOADS, _MOST_KINDS = 6, 12, 8, 4
_BINS = 240
_SERIES = ("series-a", "series-b", "series-c", "series-d", "live")
_CONTROLLER = frozenset(
    {
        *("broker_change", "broker_failure", "broker_startup", "shutting_down_broker", "partition_changed", "leader_elected"),
        *("election_failed", "unclean_election", "no_leader_possible", "last_isr_kept", "isr_removed", "replica_changed"),
        *("preferred_election", "preferred_election_failed", "znode_leader_changed", "znode_isr_changed"),
        *("znode_topic_created", "znode_topic_deleted"),
    }
)
_DULL = frozenset({"version_line", "settings_printed", "quiet", "connection_opened", "connection_closed"})
_GROUPS = ("load", "unload", "group_", "coordinator_elected", "coordinator_resigned", "offsets_expired")

Numbered = Sequence[tuple[int, Sentence]]
"""Numbered sentences of the story."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A figure under construction.

    Args:
        found: The timeline.
        chosen: Selection.
        events: Events.
        story: Sentences with a mark.
    """

    found: Timeline
    chosen: Selection
    events: Events
    story: Numbered

    def picture(self, alternative: str) -> Picture:
        """Return the figure; its alternative text is the sentence above it."""
        lanes = [lane for lane in self._lanes() if lane.rows]
        ticks, bins = self._ticks({lane.key for lane in lanes})
        return Picture(
            lanes=lanes,
            shades=list(self._shades()),
            ticks=ticks,
            bins=bins,
            span=self.span,
            extent=self.extent,
            alternative=alternative,
        )

    @cached_property
    def extent(self) -> tuple[int, int]:
        """First and last moment, with a margin."""
        first, last = self.events.extent or self.span
        more = max(500, (last - first) // 50)
        return min(first - more, self.span[0]), max(last + more, self.span[1])

    @cached_property
    def span(self) -> tuple[int, int]:
        """Initial view: the selected period, else the incident."""
        around = focus(self.found) or self.events.extent or (0, 1)
        since = around[0] if self.chosen.since is None else self.chosen.since
        until = around[1] if self.chosen.until is None else self.chosen.until
        return (since, until) if until - since >= 2 else (since - 250, until + 250)

    @cached_property
    def windows(self) -> Sequence[Window]:
        """Selected windows, at any time."""
        return [window for window in self.found.windows if self.chosen.about.window(window)]

    @cached_property
    def partitions(self) -> Sequence[timeline_strips.PartitionStrips]:
        """Partitions with something to draw, most important first."""
        history = [row for row in self.found.partition_history if self.chosen.names(row.topic, row.partition)]
        return timeline_strips.partitions(history, self.windows)

    @cached_property
    def brokers(self) -> Sequence[int]:
        """Affected brokers, most important first."""
        chains = [chain.broker for chain in self.found.chains]
        deposed = Counter(w.old_leader for w in self.windows if w.kind is WindowKind.TWO_LEADERS)
        befallen = dict.fromkeys(b for b in [*chains, *(b for b, _ in deposed.most_common())] if b is not None)
        told = Counter(s.broker for _, s in self.story if s.broker is not None)
        concerned = befallen or [b for b, _ in told.most_common()] or self._known
        return [b for b in concerned if self.chosen.broker in (None, b)][:_MOST_BROKERS]

    @cached_property
    def _known(self) -> Sequence[int]:
        spans = {span.broker for span in self.found.spans} | {file.broker for file in self.found.files}
        return sorted(broker for broker in spans if broker is not None)

    def colour(self, broker: int) -> str:
        """Return a broker's colour token: red for the affected one, a fixed colour for each other."""
        if self.brokers and broker == self.brokers[0]:
            return "dead"
        others = [b for b in self._known if b not in self.brokers[:1]]
        return _SERIES[(others.index(broker) if broker in others else broker) % len(_SERIES)]

    def lane_of(self, source: str, broker: int | None, kind: str) -> str:
        """Return the lane key of an event."""
        if source == "client":
            return "clients"
        if source == "zookeeper" or kind.startswith(("zk_", "zks_", "znode_session", "znode_broker")):
            return "zookeeper"
        if kind in _CONTROLLER or kind.startswith(("controller_", "znode_controller")):
            return "controller"
        if kind.startswith(_GROUPS) and self._loads:
            return "groups"
        return f"broker-{broker}" if broker in self.brokers else "brokers"

    def _lanes(self) -> Iterator[Lane]:
        yield Lane(key="zookeeper", name="ZooKeeper", detail=self._of_whom(), rows=self._sessions())
        yield Lane(key="controller", name="Controller", detail=self._controllers(), rows=[self._controller()])
        for broker in self.brokers:
            yield Lane(key=f"broker-{broker}", name=f"Broker {broker}", detail=self._role(broker), rows=[self._broker(broker)])
            yield host_lanes.lane(self.found.hosts, broker, self.extent)
        others = [broker for broker in self._known if broker not in self.brokers]
        if others and self.chosen.broker is None:
            ids = words.some([str(b) for b in others], 4, ", ", ", and")
            yield Lane(key="brokers", name="Brokers", detail=ids, rows=[self._others(others)])
        for broker in host_lanes.others(self.found.hosts, self.brokers)[:_MOST_BROKERS]:
            if self.chosen.broker in (None, broker):
                yield host_lanes.lane(self.found.hosts, broker, self.extent)
        drawn = timeline_strips.shown(self.partitions)
        rows = [timeline_strips.row(partition, self.colour) for partition in drawn]
        head = [LaneRow(quiet=True, labels=list(self._overlaps()))] if rows else []
        yield Lane(key="leaders", name="Leaders", detail=timeline_strips.summary(self.partitions, drawn), rows=[*head, *rows])
        yield Lane(key="groups", name="Groups", detail=words.plural(len(self._loads), "load"), rows=list(self._loading()))
        yield Lane(key="clients", name="Clients", detail=self._clients(), rows=list(self._client_rows()))

    def _of_whom(self) -> str:
        return f"session of {self.brokers[0]}" if len(self.brokers) == 1 else "sessions"

    def _marks(self, lane: str) -> list[Mark]:
        return [
            Mark(at=s.at, words=f"{second(s.at)} {s.text}", number=number, proof=s.proof)
            for number, s in self.story
            if s.at is not None and self._sentence_lane(s) == lane
        ]

    def _sentence_lane(self, sentence: Sentence) -> str:
        source = "client" if sentence.proof.startswith("clients/") else "broker"
        lane = self.lane_of(source, sentence.broker, sentence.kind)
        return lane if lane not in ("brokers", "groups") or self._has(lane) else "controller"

    def _has(self, lane: str) -> bool:
        if lane == "groups":
            return bool(self._loads)
        return self.chosen.broker is None and any(broker not in self.brokers for broker in self._known)

    def _spans(self, kind: str, broker: int | None = None) -> list[Span]:
        return [span for span in self.found.spans if span.kind == kind and broker in (None, span.broker)]

    def _sessions(self) -> list[LaneRow]:
        spans = {broker: found for broker in self.brokers if (found := self._spans("session", broker))}
        rows = [
            LaneRow(
                strips=list(hosts.session(each)),
                labels=list(hosts.session_labels(each, broker, alone=len(self.brokers) == 1)),
            )
            for broker, each in spans.items()
        ]
        marks = self._marks("zookeeper")
        if not rows:
            return [LaneRow(base=True, marks=marks)] if marks or self.found.rows else []
        by_row: dict[int, list[Mark]] = {}
        sessions = list(spans)
        about = {number: sentence.broker for number, sentence in self.story}
        for mark in marks:
            broker = about[mark.number]
            by_row.setdefault(sessions.index(broker) if broker in sessions else 0, []).append(mark)
        return [LaneRow(strips=row.strips, labels=row.labels, marks=by_row.get(n, ())) for n, row in enumerate(rows)]

    def _controllers(self) -> str:
        first, last = self.span
        spans = [s for s in self._spans("controller") if (s.opened or first) <= last and (s.closed is None or s.closed >= first)]
        brokers = dict.fromkeys(span.broker for span in spans if span.broker is not None)
        return f"broker {words.some([str(b) for b in brokers], 3, ', ', ', and')}" if brokers else "? unknown"

    def _controller(self) -> LaneRow:
        spans = self._spans("controller")
        strips = [
            Strip(
                start=span.opened,
                end=span.closed,
                token="edge",
                where=LINE,
                words=f"broker {span.broker} is controller{f', epoch {span.name}' if span.name else ''}",
                proof=span.opened_proof,
            )
            for span in spans
        ]
        labels = [
            Label(text=f"{span.broker}, epoch {span.name}" if span.name else str(span.broker), start=span.opened, end=span.closed)
            for span in spans
            if span.broker is not None
        ]
        return LaneRow(strips=strips, labels=labels if len(spans) > 1 else (), marks=self._marks("controller"), base=not strips)

    def _role(self, broker: int) -> str:
        deposed = any(w.kind is WindowKind.TWO_LEADERS and w.old_leader == broker for w in self.windows)
        return "old leader" if deposed else ""

    def _broker(self, broker: int) -> LaneRow:
        strips, labels = hosts.host(broker, self._spans("registered", broker), self._spans("process", broker))
        return LaneRow(strips=strips, labels=labels, marks=self._marks(f"broker-{broker}"), base=not strips)

    def _others(self, others: Sequence[int]) -> LaneRow:
        """Return when other brokers took over the first one's partitions."""
        taken = [(stint.start, stint.leader) for p in self.partitions for stint in p.stints[1:] if stint.leader in others]
        marks = [
            Mark(at=at, words=f"broker {leader} leads {words.count(number)} more", token=self.colour(leader))
            for (at, leader), number in sorted(Counter(taken).items())
        ]
        labels = []
        if taken and self.found.chains:
            begin = next((at for at, _ in sorted(taken) if at >= (self.found.chains[0].opened or 0)), None)
            lead = sum(at >= begin for at, _ in taken) if begin is not None else 0
            labels = [Label(text=f"lead {words.count(lead)} more", start=begin)] if lead else []
        return LaneRow(marks=[*marks[:400], *self._marks("brokers")], labels=labels, base=True)

    def _overlaps(self) -> Iterator[Label]:
        for start, end, inside in _clusters([w for w in self.windows if w.kind is WindowKind.TWO_LEADERS]):
            token = "warning" if all(window.planned for window in inside) else "critical"
            yield Label(text="two strips: two leaders", start=start, end=end, side="center", bold=True, token=token, loose=True)

    @cached_property
    def _loads(self) -> Sequence[Window]:
        return [window for window in self.windows if window.kind is WindowKind.LOADING]

    def _loading(self) -> Iterator[LaneRow]:
        """Yield a row per offsets partition: those that load within the view first, then the longest."""
        rows: dict[tuple[str, int], list[Window]] = {}
        shown = Selection(since=self.span[0], until=self.span[1])
        for window in sorted(
            self._loads, key=lambda w: (not shown.overlaps(w.opened, w.closed), w.closed is not None, -(w.length or 0))
        ):
            rows.setdefault((window.topic, window.partition), []).append(window)
        for number, windows in enumerate(list(rows.values())[:_MOST_LOADS]):
            strips, labels = zip(*map(self._load, windows), strict=True)
            yield LaneRow(strips=strips, labels=labels, marks=self._marks("groups") if number == 0 else ())

    def _load(self, window: Window) -> tuple[Strip, Label]:
        name = f"{window.topic}-{window.partition}"
        token = "live" if window.new_leader is None else self.colour(window.new_leader)
        took = "no end" if window.closed is None else "" if window.length is None else exact(window.length)
        said = f"{name} loads on {window.new_leader}{took and f', {took}'}"
        bounds = {"start": window.opened, "end": window.closed}
        return Strip(token=token, how=HATCHED, words=said, proof=window.opened_proof, **bounds), Label(
            text=said, loose=True, **bounds
        )

    @cached_property
    def _client_events(self) -> Sequence[Event]:
        if self.events.total > MOST_EVENTS:
            around = Selection(since=self.span[0], until=self.span[1])
            return [row for row in self.events.rows(around, MOST_EVENTS)[0] if row.source == "client"]
        return [row for row in self.found.rows if row.source == "client" and row.at is not None and self.chosen.about.holds(row)]

    def _clients(self) -> str:
        names = dict.fromkeys(row.file.split("/")[1] for row in self._client_events if row.file.count("/"))
        return words.some(list(names), 2, ", ", ", and")

    def _client_rows(self) -> Iterator[LaneRow]:
        """Yield a row for each of the most frequent kinds, named by its first line."""
        kinds = [kind for kind, _ in Counter(r.kind for r in self._client_events if r.kind not in _DULL).most_common(_MOST_KINDS)]
        told = {number: sentence.kind for number, sentence in self.story}
        for place, kind in enumerate(kinds):
            rows = [row for row in self._client_events if row.kind == kind]
            said = rows[0].text.partition("\n")[0].strip()
            quoted = f"“{cut(said, 60)}” × {words.count(len(rows))}" if said else kind.replace("_", " ")
            marks = [
                Mark(at=row.at, words=_line(row), shape=DIAMOND, token="warning-fill", proof=row.proof) for row in rows[:1000]
            ]
            own = [m for m in self._marks("clients") if told[m.number] == kind or (place == 0 and told[m.number] not in kinds)]
            yield LaneRow(marks=[*marks, *own], labels=list(shortened(Label(text=quoted, token="quiet", pinned=True), 36, 20)))

    def _shades(self) -> Iterator[Shade]:
        windows = [w for w in self.windows if w.kind is WindowKind.TWO_LEADERS and w.opened is not None]
        for start, end, inside in _clusters(windows)[:_MOST_SHADES]:
            planned = all(window.planned for window in inside)
            what = "planned move" if planned else "loss window"
            if end is None:
                title, closed = f"{what} open end", "end not logged"
            else:
                many = f"{words.plural(len(inside), what)}, the longest" if len(inside) > 1 else what
                title = f"{many} {max(window.closed - window.opened for window in inside) / 1000:.3f}{words.THIN}s"
                closed = f"{second(end)} {'given up' if planned else 'truncated'}"
            token = "warning" if planned else "critical"
            yield Shade(start=start, end=end, title=title, detail=f"{second(start)} elected .. {closed}", token=token)

    def _ticks(self, lanes: set[str]) -> tuple[list[Tick], list[Tick]]:
        """Return single events, when few; else counts, and single events of the initial view if few."""
        everything = self.chosen.about
        if self.events.total <= MOST_EVENTS:
            return list(self._single(self.events.rows(everything, MOST_EVENTS)[0], lanes)), []
        since, until = self.span
        near, total = self.events.rows(replace(everything, since=since, until=until), MOST_EVENTS)
        bins = list(self._bins(lanes))
        if total > MOST_EVENTS:
            return [], bins
        return list(self._single(near, lanes)), [one for one in bins if one.at + one.width <= since or one.at >= until]

    def _bins(self, lanes: set[str]) -> Iterator[Tick]:
        first, last = self.extent
        counts: Counter[tuple[str, int]] = Counter()
        for some in self.events.counts(self.chosen.about, first, last, _BINS):
            counts[self.lane_of(some.source, some.broker, some.kind), some.start] += some.count
        width = max(1, -(-(last - first) // _BINS))
        for (lane, start), count in sorted(counts.items()):
            if lane in lanes:
                yield Tick(lane=lane, at=start, words=words.plural(count, "event"), count=count, width=width)

    def _single(self, rows: Sequence[Event], lanes: set[str]) -> Iterator[Tick]:
        for row in rows:
            lane = self.lane_of(row.source, row.broker, row.kind)
            if row.at is not None and lane in lanes:
                yield Tick(lane=lane, at=row.at, words=_line(row), proof=row.proof)


def _line(row: Event) -> str:
    """Return a message on one line."""
    return cut(row.text.partition("\n")[0], 160) or row.kind.replace("_", " ")


def _clusters(windows: Sequence[Window]) -> list[tuple[int, int | None, list[Window]]]:
    """Merge overlapping windows: start, end, members; by time."""
    found: list[tuple[int, int | None, list[Window]]] = []
    for window in sorted((w for w in windows if w.opened is not None), key=lambda w: w.opened):
        start, end, inside = found[-1] if found else (0, -1, [])
        if found and (end is None or window.opened <= end):
            until = None if end is None or window.closed is None else max(end, window.closed)
            found[-1] = (start, until, [*inside, window])
        else:
            found.append((window.opened, window.closed, [window]))
    return found
