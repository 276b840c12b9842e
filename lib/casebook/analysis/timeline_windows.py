"""Windows in which something was wrong with a partition: nobody led it, too few were in sync, its coordinator loaded."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.analysis.timeline_history import Key
from casebook.analysis.timeline_rows import Row, Span, StateRow, Window, WindowKind, transaction
from casebook.analysis.timeline_scene import Scene
from casebook.storage import OFFSETS_TOPIC

MIN_ISR = "min.insync.replicas"
_LOAD = ("load_scheduled", "loading")
_LOADED = {"loaded": "It was loaded.", "load_failed": "Its load failed.", "unloaded": "It was given away."}
_ENDED = ("broker_stopped", "broker_starting")


def windows(scene: Scene) -> Iterator[Window]:
    """Windows without leader, under min ISR, and of loads; those with two leaders are next door."""
    gone = {broker: _gone(scene, spans) for broker, spans in scene.registered.items()}
    if scene.past.there:
        gone = defaultdict(lambda: _Gone([(None, None, "", end_of_states(scene)[0])]), gone)  # never registered
    for key, rows in scene.states.items():
        yield from _leaderless(scene, rows, gone)
        yield from _under_min_isr(scene, key, rows)
    yield from _loading(scene)


def end_of_states(scene: Scene) -> tuple[str, str]:
    """Where an open end's evidence ends: proof and words."""
    if scene.past.last is not None:
        return transaction(scene.past.last[1]), "The history ends."
    return "", "Nothing later is known."


class _Gone:
    """Times at which a broker's znode was missing, as (from, to, proof, proof)."""

    def __init__(self, spans: Sequence[tuple[int | None, int | None, str, str]]) -> None:
        self.spans = spans
        self._ends = [span[1] for span in spans if span[1] is not None]

    def within(self, since: int, until: int | None) -> Iterator[tuple[int | None, int | None, str, str]]:
        for span in self.spans[bisect_right(self._ends, since) :]:
            if until is not None and span[0] is not None and span[0] >= until:
                break
            yield span


def _gone(scene: Scene, spans: Sequence[Span]) -> _Gone:
    last, _ = end_of_states(scene)
    found, since, proof = [], None, ""
    for span in spans:
        if span.opened is not None and (since is not None or scene.past.there) and since != span.opened:
            found.append((since, span.opened, proof, span.opened_proof))
        since, proof = span.closed, span.closed_proof
    if since is not None:
        found.append((since, None, proof, last))
    return _Gone([span for span in found if not any(span[0] is not None and span[1] == at for at in scene.past.breaks)])


def _leaderless(scene: Scene, rows: Sequence[StateRow], gone: Mapping[int, _Gone]) -> Iterator[Window]:
    """Rule: from the loss of the leader's znode, or leader -1, until a leader is elected or is registered again.

    Who is not registered when the history begins was so then; when it began to be so is not told by when the state was written.
    """
    held: Window | None = None
    for row, until in _spells(rows):
        for piece in _pieces(scene, row, until, gone):
            if held is not None and held.closed is not None and piece.opened is not None and piece.opened <= held.closed:
                held = held._replace(
                    closed=piece.closed, closed_proof=piece.closed_proof, closed_by=piece.closed_by, new_leader=piece.new_leader
                )
                continue
            if held is not None:
                yield held
            held = piece
    if held is not None:
        yield held


def _spells(rows: Sequence[StateRow]) -> Iterator[tuple[StateRow, StateRow | None]]:
    """Each state and what follows it."""
    for place, row in enumerate(rows):
        if not row.deleted:
            yield row, rows[place + 1] if place + 1 < len(rows) else None


def _pieces(scene: Scene, row: StateRow, until: StateRow | None, gone: Mapping[int, _Gone]) -> Iterator[Window]:
    closed = None if until is None else until.time
    end_proof, end = (until.proof, _ended_by(until)) if until is not None else end_of_states(scene)
    new = None if until is None else until.leader
    if row.leader is None:
        yield Window(
            WindowKind.LEADERLESS, *row[:2], row.time, closed, None, new, row.proof, end_proof, "The state names no leader.", end
        )
        return
    try:
        lost = gone[row.leader]
    except KeyError:
        return
    for since, back, proof, back_proof in lost.within(row.time, closed):
        opened = max(row.time, (scene.past.first or row.time) if since is None else since)
        opened_proof = row.proof if opened == row.time else proof
        words = f"The znode of leader {row.leader} went." if since is not None else f"Leader {row.leader} was not registered."
        if back is not None and (closed is None or back < closed):
            came = f"Leader {row.leader} registered again."
            yield Window(
                WindowKind.LEADERLESS, *row[:2], opened, back, row.leader, row.leader, opened_proof, back_proof, words, came
            )
        elif closed is None or opened < closed:
            yield Window(WindowKind.LEADERLESS, *row[:2], opened, closed, row.leader, new, opened_proof, end_proof, words, end)


def _ended_by(row: StateRow) -> str:
    if row.deleted:
        return "The partition was deleted, or its topic marked for deletion."
    return f"Broker {row.leader} was elected." if row.leader is not None else "The state names no leader."


class _Moment(NamedTuple):
    """From here on a state holds, or another setting.

    Args:
        needed: The effective ``min.insync.replicas``; ``None`` when unknown.
        written: Whether it is the setting that was written here.
    """

    time: int
    row: StateRow
    needed: int | None
    proof: str
    written: bool = False

    @property
    def under(self) -> bool:
        """Whether acks=all is refused."""
        row = self.row
        return not row.deleted and row.isr is not None and self.needed is not None and len(row.isr) < self.needed

    @property
    def opens(self) -> str:
        """Why too few are in sync, in words."""
        became = f"{MIN_ISR} became {self.needed}: " if self.written else ""
        return f"{became}{len(self.row.isr)} in sync, {self.needed} are needed."

    @property
    def closes(self) -> str:
        """Why there are enough, in words."""
        if self.row.deleted:
            return "The partition was deleted, or its topic marked for deletion."
        if self.written:
            return f"{MIN_ISR} became {'unreadable' if self.needed is None else self.needed}."
        return f"{len(self.row.isr or ())} were in sync."


def _under_min_isr(scene: Scene, key: Key, rows: Sequence[StateRow]) -> Iterator[Window]:
    """Rule: fewer in sync than the effective ``min.insync.replicas`` of that moment: acks=all is refused."""
    opened: _Moment | None = None
    for moment in _moments(scene, key[0], rows):
        if opened is None:
            opened = moment if moment.under else None
        elif not moment.under:
            yield _refusing(key, opened, moment.time, moment.row.leader, moment.proof, moment.closes)
            opened = None
    if opened is not None:
        yield _refusing(key, opened, None, None, *end_of_states(scene))


def _moments(scene: Scene, topic: str, rows: Sequence[StateRow]) -> Iterator[_Moment]:
    """Each state, and each change of the topic's settings while it held."""
    changes = scene.past.overrides.get(topic, ())
    for place, row in enumerate(rows):
        yield _Moment(row.time, row, _min_isr(scene, row, row.time), row.proof)
        until = rows[place + 1].time if place + 1 < len(rows) else None
        for change in changes:
            if row.time < change.time and (until is None or change.time < until):
                yield _Moment(change.time, row, _min_isr(scene, row, change.time), transaction(change.zxid), written=True)


def _min_isr(scene: Scene, row: StateRow, at: int) -> int | None:
    return scene.setting(MIN_ISR, topic=row.topic, broker=row.leader, at=at).number


def _refusing(key: Key, opened: _Moment, closed: int | None, leader: int | None, proof: str, words: str) -> Window:
    return Window(
        WindowKind.UNDER_MIN_ISR,
        *key,
        opened.time,
        closed,
        opened.row.leader,
        leader,
        opened.proof,
        proof,
        opened.opens,
        words,
    )


def _loading(scene: Scene) -> Iterator[Window]:
    """Rule: from the line that takes a load up, or queues it, to the one that ends it."""
    open_: dict[tuple[int | None, int], Row] = {}
    for row in scene.kinds((*_LOAD, *_LOADED, *_ENDED)):
        if row.kind in _ENDED:
            for place in [place for place in open_ if place[0] == row.broker]:
                yield _load(
                    open_.pop(place), row, "The broker stopped." if row.kind == "broker_stopped" else "The broker began anew."
                )
        elif row.topic == OFFSETS_TOPIC and row.partition is not None:
            place = row.broker, row.partition
            if row.kind in _LOAD:
                open_.setdefault(place, row)
            elif (begun := open_.pop(place, None)) is not None:
                yield _load(begun, row, _LOADED[row.kind])
            elif row.kind == "loaded":
                yield _begun_before(row)
    for begun in open_.values():
        yield _load(begun, None, "Its log does not say that it ended.")


def _load(begun: Row, ended: Row | None, why: str) -> Window:
    words = "It was queued to be loaded." if begun.kind == "load_scheduled" else "Its load began."
    return Window(
        WindowKind.LOADING,
        begun.topic,
        begun.partition,
        begun.at,
        ended and ended.at,
        None,
        begun.broker,
        begun.proof,
        begun.proof if ended is None else ended.proof,
        words,
        why,
    )


def _begun_before(row: Row) -> Window:
    took = row.milliseconds
    opened = None if took is None else row.at - took
    return Window(
        WindowKind.LOADING,
        row.topic,
        row.partition,
        opened,
        row.at,
        None,
        row.broker,
        row.proof,
        row.proof,
        "Its end tells how long it took." if took is not None else "Its begin is not told.",
        _LOADED["loaded"],
    )


def ordered(found: Iterable[Window]) -> tuple[Window, ...]:
    """The worst kind first, then by time; none ends before it begins, though the clocks of ZooKeeper's leaders may differ."""
    rank = {kind: place for place, kind in enumerate(WindowKind)}
    forward = (w._replace(closed=w.opened) if w.length is not None and w.length < 0 else w for w in found)
    return tuple(sorted(forward, key=lambda w: (rank[w.kind], w.opened or 0, w.topic, w.partition)))
