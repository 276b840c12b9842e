"""Windows of problems of a partition: no leader, or too few in-sync replicas; those of loads are in a sibling module."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Partition
from casebook.kafka.past import Key
from casebook.kafka.past_rows import StateRow, Window, WindowKind, transaction
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.states import FAILURE
from casebook.questions.timeline.analysis.windows import loads
from casebook.questions.timeline.analysis.windows.absences import Absence, Absences, absences

MIN_ISR = "min.insync.replicas"
_GONE = "The partition was deleted, its topic was marked for deletion, or its cluster was replaced by another."
FOUND_SO = "Its controller found it without leader; the start is unknown."
"""Cause of a window with an unknown start: it was open by then."""
_TAKEN_UP = ("become_leader",)
_LED = ("partition_changed", "leader_elected", *_TAKEN_UP)


def windows(scene: TimelineInputs) -> Iterator[Window]:
    """Yield windows without a leader, under min ISR, and of loads; those with two leaders are in a sibling module."""
    end, whole = end_of_states(scene, None)[0], scene.by_history
    gone = {broker: absences(scene.past, spans, whole=whole, end=end) for broker, spans in scene.registered.items()}
    if whole:
        gone = defaultdict(lambda: absences(scene.past, (), whole=True, end=end), gone)  # never registered
    walked = {partition[:2]: partition for partition in scene.cluster.partitions if _is_led_behind(scene, partition)}
    for key, rows in scene.states.items():
        led = walked.get(key)
        yield from (one if led is None else _until_its_znode(scene, one, led) for one in _leaderless(scene, rows, gone))
        yield from _joined(_under_min_isr(scene, key, rows))
    yield from loads.loading(scene)


def end_of_states(scene: TimelineInputs, since: int | None) -> tuple[str, str]:
    """Return the end of the evidence for something open since a moment: proof and words."""
    if scene.past.last is not None and (since is None or since <= scene.past.last[0]):
        return transaction(scene.past.last[1]), "The history ends."
    return "", "No later change is in the evidence."


def _leaderless(scene: TimelineInputs, rows: Sequence[StateRow], gone: Mapping[int, Absences]) -> Iterator[Window]:
    """Rule: from the loss of the leader's znode, or leader -1, until a leader is elected or registered again.

    A leader with a loss of possibly zero length may not have been away; a state without a leader certainly existed.
    """
    pieces = _joined(piece for before, row, until in _spells(rows) for piece in _pieces(scene, before, row, until, gone))
    joined = (_until_a_log_tells(scene, one) for one in pieces)
    return (one for one in joined if _is_sure(one))


def _is_sure(window: Window) -> bool:
    """Return whether it certainly existed."""
    return window.old_leader is None or window.closed is None or not window.at_most or bool(window.least)


def _until_a_log_tells(scene: TimelineInputs, window: Window) -> Window:
    """End a window at a leader in logs after the last transaction: the exact time is unknown.

    After snapshots, logs have elections, but not a resumed leadership without a change.
    """
    if window.closed is not None or scene.past.last is None:
        return window
    end, kinds = max(scene.past.last[0], window.opened), _LED if scene.past.there else _TAKEN_UP
    for row in scene.of_partition((window.topic, window.partition)).between(end, None):
        leader = row.broker if row.kind in _TAKEN_UP else row.number("leader")
        if row.kind in kinds and row.source == "broker" and row.at > end and leader is not None and leader >= 0:
            words = f"Broker {leader} {'logs that it leads' if row.kind in _TAKEN_UP else 'was elected'}."
            return window._replace(
                closed=row.at, new_leader=leader, closed_proof=row.proof, closed_by=words, closed_earliest=end,
            )  # fmt: skip
    return window


def _is_led_behind(scene: TimelineInputs, partition: Partition) -> bool:
    """Return whether its znode names a leader, and was written after the last transaction."""
    state, last = partition.state, scene.past.last
    known = last is not None and state is not None and state.stamp is not None and state.leader is not None
    return known and state.stamp.changed_at is not None and (state.stamp.changed_in or 0) > last[1]


def _until_its_znode(scene: TimelineInputs, window: Window, led: Partition) -> Window:
    """End a window at the leader in its znode, by the time of the last write."""
    if window.closed is not None:
        return window
    written, end = led.state.stamp.changed_at, max(scene.past.last[0], window.opened)
    if written < end:
        return window
    return window._replace(
        closed=written, new_leader=led.state.leader, closed_proof=scene.cluster.proofs.state(led.topic, led.partition).text,
        closed_by=f"Broker {led.state.leader} leads it by its znode.", closed_earliest=end,
    )  # fmt: skip


def _joined(pieces: Iterable[Window]) -> Iterator[Window]:
    """Join adjacent, or possibly adjacent, pieces to windows: bounds of one that certainly existed.

    The last one when open at the end, or when the first is uncertain, else the first one.
    """
    held: Window | None = None
    for piece in pieces:
        if held is None:
            held = piece
            continue
        begin = piece.opened if piece.opened_earliest is None else piece.opened_earliest
        end = {
            "closed": piece.closed,
            "closed_proof": piece.closed_proof,
            "closed_by": piece.closed_by,
            "new_leader": piece.new_leader,
        }
        if held.closed_earliest is None:
            if piece.opened_earliest is None and held.closed is not None and piece.opened <= held.closed:
                held = held._replace(**end, closed_earliest=piece.closed_earliest)
                continue
        elif begin < held.closed or piece.opened <= held.closed:
            since = held.opened if held.opened_earliest is None else held.opened_earliest
            later = piece.closed is None or not _is_sure(held)
            held = piece._replace(opened_earliest=since) if later else held._replace(**end)
            continue
        yield held
        held = piece
    if held is not None:
        yield held


def _spells(rows: Sequence[StateRow]) -> Iterator[tuple[StateRow | None, StateRow, StateRow | None]]:
    """Yield each state with its predecessor and its successor."""
    for place, row in enumerate(rows):
        if not row.deleted:
            before = rows[place - 1] if place and not rows[place - 1].deleted else None
            yield before, row, rows[place + 1] if place + 1 < len(rows) else None


def _pieces(
    scene: TimelineInputs, before: StateRow | None, row: StateRow, until: StateRow | None, gone: Mapping[int, Absences]
) -> Iterator[Window]:
    limit = None if until is None else until.time
    until = None if until is not None and until.is_unknown else until
    closed = None if until is None else until.time
    end_proof, end = (until.proof, _ended_by(row, until)) if until is not None else end_of_states(scene, row.time)
    new = None if until is None else until.leader
    if row.leader is None:
        yield Window(
            WindowKind.LEADERLESS, *row[:2], row.time, closed, None, new, row.proof, end_proof,
            _unled(row) if before is not None or not _is_found_so(scene, row) else FOUND_SO, end,
            opened_earliest=_led_until(scene, before, row, gone), closed_earliest=row.until if closed is not None else None,
        )  # fmt: skip
        return
    if row.leader not in gone and not isinstance(gone, defaultdict):
        return
    known = closed if row.until is None else row.until
    for one in _while_it_leads(scene, row, gone[row.leader].within(row.time, limit)):
        if scene.past.last is not None and (one.since or 0) <= scene.past.last[0] < row.time:
            continue  # a later leader was present: its absence at the end is outdated
        opened, earliest = _begin(scene, before, row, one)
        if (one.back is not None and one.back <= row.time) or (known is not None and opened > known):
            continue
        if one.back_earliest is not None and one.back_earliest < row.time:
            continue  # it was gone before the state was written; afterwards it is unknown
        window = Window(
            WindowKind.LEADERLESS, *row[:2], opened, closed, row.leader, new, row.proof if opened == row.time else one.proof,
            end_proof, _lost(row, one), end, opened_earliest=earliest,
        )  # fmt: skip
        back = one.back is not None and (known is None or one.back < known or (row.until is not None and one.back == known))
        if back and not _is_logged_leaderless(until):
            came = f"Leader {row.leader} registered again."
            yield window._replace(
                closed=one.back, new_leader=row.leader, closed_proof=one.back_proof, closed_by=came,
                closed_earliest=one.back_earliest,
            )  # fmt: skip
        elif row.until is not None and closed is not None:
            last = row.until if one.back_earliest is None else min(row.until, one.back_earliest)
            yield window._replace(closed_earliest=last)
        elif closed is None or opened < closed:
            short = closed is not None and one.back_earliest is not None and one.back_earliest < closed
            yield window._replace(closed_earliest=one.back_earliest if short else None)


def _while_it_leads(scene: TimelineInputs, row: StateRow, away: Iterable[Absence]) -> Iterator[Absence]:
    """Yield the first absence by logs, and a lasting one: whether a returned leader led again in between is unknown."""
    was_back = False
    for one in away:
        if not was_back or one.back is None:
            yield one
        back = one.back if one.back_earliest is None else one.back_earliest
        was_back |= not scene.by_history and row.zxid is None and back is not None and back > row.time


def _is_logged_leaderless(until: StateRow | None) -> bool:
    """Return whether a log next shows no leader: it was so already when the old leader registered again."""
    return until is not None and until.zxid is None and until.leader is None and not until.deleted


def _begin(scene: TimelineInputs, before: StateRow | None, row: StateRow, one: Absence) -> tuple[int, int | None]:
    """Return when a named leader was certainly gone, and its earliest loss; ``None``: exactly then.

    A state written before the evidence begins had a present leader.
    """
    since, earliest = _lost_between(scene, row, one)
    if since is None or since <= row.time:
        return row.time, None if before is None else before.until
    return since, None if earliest is None or earliest >= since else max(earliest, row.time)


def _lost_between(scene: TimelineInputs, row: StateRow, one: Absence) -> tuple[int | None, int | None]:
    """Return the latest and the earliest loss of a state's leader."""
    if one.since is None and scene.past.settled is not None:
        return min(scene.past.settled, scene.past.settled if one.back is None else one.back), row.time
    return one.since, one.since_earliest


def _led_until(scene: TimelineInputs, before: StateRow | None, row: StateRow, gone: Mapping[int, Absences]) -> int | None:
    """Return the earliest loss of a leader that the next state reports as gone; ``None`` without gaps."""
    if before is None:
        return None
    limit = row.time if before.until is None else before.until
    if before.leader is not None and (before.leader in gone or isinstance(gone, defaultdict)):
        for one in gone[before.leader].within(before.time, row.time):
            since, earliest = _lost_between(scene, before, one)
            if since is not None and earliest is not None and earliest < limit <= since:
                return max(earliest, before.time)
    return before.until


def _lost(row: StateRow, one: Absence) -> str:
    if one.since is None or one.since <= row.time:
        return f"Leader {row.leader} was not registered."
    return f"The znode of leader {row.leader} was removed."


def _is_found_so(scene: TimelineInputs, row: StateRow) -> bool:
    """Return whether a log shows a leaderless partition, without a broker failure just before."""
    return row.zxid is None and not scene.kind("broker_failure").between(row.time - FAILURE, row.time)


def _unled(row: StateRow) -> str:
    return "The controller has no leader for it." if row.zxid is None else "The state names no leader."


def _ended_by(row: StateRow, until: StateRow) -> str:
    if until.deleted:
        return _GONE
    if until.leader is None:
        return _unled(until)
    if row.until is not None:
        return f"Broker {until.leader} leads in the next known state."
    return f"Broker {until.leader} was elected."


class _Moment(NamedTuple):
    """Start of a state, or of another setting.

    Args:
        needed: Effective ``min.insync.replicas``; ``None`` when unknown.
        written: Whether the setting was written here.
        until: Last moment at which it is known to hold, before missing transactions; else ``None``.
    """

    time: int
    row: StateRow
    needed: int | None
    proof: str
    written: bool = False
    until: int | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the in-sync replicas are unknown."""
        return not self.row.deleted and self.row.isr is None

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
            return _GONE
        if self.written:
            return f"{MIN_ISR} became {'unreadable' if self.needed is None else self.needed}."
        return f"{len(self.row.isr or ())} were in sync."


def _under_min_isr(scene: TimelineInputs, key: Key, rows: Sequence[StateRow]) -> Iterator[Window]:
    """Rule: fewer in sync than the effective ``min.insync.replicas`` of that moment: acks=all is refused."""
    opened: _Moment | None = None
    earliest = last = None
    for moment in _moments(scene, key[0], rows):
        if moment.is_unknown:
            last = moment.time if last is None else last
            continue
        if opened is not None and moment.row.is_unknown:
            yield _refusing(key, opened, None, None, *end_of_states(scene, opened.time))._replace(opened_earliest=earliest)
            opened = None
        if opened is not None and (last is not None or not moment.under):
            yield _refusing(key, opened, moment.time, moment.row.leader, moment.proof, moment.closes)._replace(
                opened_earliest=earliest, closed_earliest=last
            )
            opened = None
        if opened is None and moment.under:
            opened, earliest = moment, last
        last = moment.until
    if opened is not None:
        yield _refusing(key, opened, None, None, *end_of_states(scene, opened.time))._replace(opened_earliest=earliest)


def _moments(scene: TimelineInputs, topic: str, rows: Sequence[StateRow]) -> Iterator[_Moment]:
    """Yield each state, and each change of the topic's settings during it."""
    changes = scene.past.overrides.get(topic, ())
    for place, row in enumerate(rows):
        until = rows[place + 1].time if place + 1 < len(rows) else None
        until = until if row.until is None else row.until
        found = [_Moment(row.time, row, _min_isr(scene, row, row.time), row.proof)]
        for change in changes:
            if row.time < change.time and (until is None or change.time < until):
                proof = transaction(change.zxid)
                found.append(_Moment(change.time, row, _min_isr(scene, row, change.time), proof, written=True))
        yield from (*found[:-1], found[-1]._replace(until=row.until))


def _min_isr(scene: TimelineInputs, row: StateRow, at: int) -> int | None:
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


def ordered(found: Iterable[Window]) -> tuple[Window, ...]:
    """Sort the worst kind first, then by time; no end precedes its start, though clocks of ZooKeeper's leaders may differ."""
    rank = {kind: place for place, kind in enumerate(WindowKind)}
    forward = (w._replace(closed=w.opened) if w.length is not None and w.length < 0 else w for w in found)
    return tuple(sorted(forward, key=lambda w: (rank[w.kind], w.opened or 0, w.topic, w.partition)))
