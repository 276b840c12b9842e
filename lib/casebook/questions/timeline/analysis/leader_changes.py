"""Leader changes after which records of the old leader may be missing: since when, from which offset, and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from casebook.facts.disks import Partition, Replica
from casebook.facts.events import DISK_FAILURES
from casebook.facts.losses import LeaderChange
from casebook.kafka.past import Key
from casebook.kafka.past_rows import EventRow, Span, StateRow, Window
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.lives import sessions
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs
from casebook.questions.timeline.analysis.windows.two_leaders import OldLeaderDoubt, is_planned

LAG, TIMEOUT = "replica.lag.time.max.ms", "zookeeper.session.timeout.ms"
HANDOVER = 1000
"""Milliseconds before a planned move in which a follower may not have fetched: twice the default wait of a fetch.

Rule: ``replica.fetch.wait.max.ms`` is 500 (``core/src/main/scala/kafka/server/KafkaConfig.scala@0.9.0.1, 3.9.0``).
"""
CHECKPOINT = 5000
"""Milliseconds between writes of the high watermarks (``replica.high.watermark.checkpoint.interval.ms``, same place)."""
SOON = 60_000
"""Maximum milliseconds between a session's end, or a disk failure, and the election that it causes."""
_LOADED = "log_loaded"
_CUTS = ("truncated", "truncated_below_hw", "truncated_nothing", "fetch_reset", "log_emptied")


def changes(scene: TimelineInputs, windows: Iterable[Window], doubts: Iterable[OldLeaderDoubt]) -> tuple[LeaderChange, ...]:
    """Return every election of another leader, in order.

    Args:
        scene: Inputs of the timeline.
        windows: Windows with two possible leaders.
        doubts: Elections with an undecided window.
    """
    made = _Changes(scene, windows, doubts)
    found = [change for key, rows in scene.states.items() for change in made.of(key, rows)]
    ordered = sorted(found, key=lambda change: (change.opened, change.topic, change.partition))
    return tuple(change._replace(number=number) for number, change in enumerate(ordered))


def with_epochs(found: Iterable[LeaderChange], copies: Mapping[Partition, Replica]) -> tuple[LeaderChange, ...]:
    """Return the changes with the exact cut: the start of the next epoch in the copy that is read.

    A leader without writes leaves no batch, but the next existing epoch starts where its own would have.

    Args:
        found: Leader changes.
        copies: Leaders' copies, with ``leader-epoch-checkpoint``.
    """
    return tuple(_with_epoch(change, copies.get((change.topic, change.partition))) for change in found)


def _with_epoch(change: LeaderChange, copy: Replica | None) -> LeaderChange:
    if copy is None or change.epoch is None or change.cut_at_start:
        return change
    cut = min((line.start_offset for line in copy.epochs if line.epoch >= change.epoch), default=None)
    return change if cut in (None, change.cut) else change._replace(cut=cut, cut_proof=copy.item)


class _Changes:
    """Leader changes partition by partition."""

    def __init__(self, scene: TimelineInputs, windows: Iterable[Window], doubts: Iterable[OldLeaderDoubt]) -> None:
        self._scene = scene
        self._partly = not scene.past.there and bool(untold(scene))  # the ISR may have changed unseen
        self._windows = {(w.topic, w.partition, w.opened, w.old_leader): w for w in windows}
        self._doubtful = {(doubt.topic, doubt.partition, doubt.at, doubt.broker) for doubt in doubts}
        by_broker = sorted(sessions(scene.past, scene.rows), key=lambda span: (span.broker, span.closed or 0))
        self._sessions = {broker: list(spans) for broker, spans in groupby(by_broker, key=lambda span: span.broker)}

    def of(self, key: Key, rows: Sequence[StateRow]) -> Iterator[LeaderChange]:
        """Yield the changes of a partition; an open end is over when the old leader is in sync again, or leads.

        By then it has truncated.

        Another election does not end it: a broker that missed the first may miss the second.
        """
        moves = [(place, led, row) for place, led, row in _moves(rows)]
        for n, (place, led, row) in enumerate(moves):
            following = moves[n + 1][2].time if n + 1 < len(moves) else None
            change = self._change(key, rows[:place], led, row, following)
            yield self._bounded(change, rows[place:]) if change.closed is None else change

    def _bounded(self, change: LeaderChange, after: Sequence[StateRow]) -> LeaderChange:
        """Add a bound to an open end, if later states have one."""
        back = _back(after, change.old_leader)
        if back is not None:
            return change._replace(closed=back.time, closed_proof=back.proof, by_then=True)
        stayed = self._stayed(change, after)
        return change if stayed is None else change._replace(closed=stayed, closed_proof=change.opened_proof, by_then=True)

    def _stayed(self, change: LeaderChange, after: Sequence[StateRow]) -> int | None:
        """Return until when the old leader stayed in sync, so was a follower; ``None`` otherwise, or for too short a time.

        Rule: a replica without a fetch for ``replica.lag.time.max.ms`` leaves the ISR at one of the checks, twice in that time
        (``ReplicaManager.scala@0.9.0.1``).
        """
        lag = self._scene.settings.of_broker(LAG, change.new_leader).number
        last = self._scene.past.last
        if lag is None or last is None or last[0] < change.opened + 2 * lag:
            return None
        until = change.opened + 2 * lag
        within = [state for state in after if state.time <= until]
        whole = all(state.isr and change.old_leader in state.isr and state.leader == change.new_leader for state in within)
        return until if within and whole else None

    def _change(self, key: Key, before: Sequence[StateRow], led: StateRow, row: StateRow, following: int | None) -> LeaderChange:
        scene, old, new = self._scene, led.leader, row.leader
        isr = next((state.isr for state in reversed(before) if state.isr), None)
        unclean = None if isr is None or (new not in isr and self._partly) else new not in isr
        window = self._windows.get((*key, row.time, old))
        closed, closed_proof = self._closed(key, old, row, window)
        cut, cut_proof = self._begins(key, row, following)
        if cut is None and unclean is False:
            cut, cut_proof = self._follows(key, old, row)
        if cut is None and unclean:
            cut, cut_proof = self._loaded(key, row)
        at_start = None if unclean is not False else self._cut_at_start(key, before, row)
        if at_start is not None:
            cut, cut_proof = at_start.number("offset"), at_start.proof
        lag = scene.settings.of_broker(LAG, old).number or 0
        if unclean:
            since = _left(before, new) - 2 * lag
        elif at_start is not None:
            since = at_start.at - lag - CHECKPOINT
        else:
            since = self._silent_since(old, row.time)
        return LeaderChange(
            number=0,
            topic=key[0],
            partition=key[1],
            opened=row.time,
            closed=closed,
            since=min(since, row.time),
            old_leader=old,
            new_leader=new,
            epoch=row.leader_epoch,
            cut=cut,
            isr=isr,
            alone=_alone(before, old),
            unclean=unclean,
            cut_at_start=at_start is not None,
            disk=self._disk_failed(key, old, led.time, row.time),
            planned=window.planned if window else is_planned(scene, old, row.time),
            opened_proof=row.proof,
            closed_proof=closed_proof,
            cut_proof=cut_proof,
            by_then=window is not None and window.closed is not None and window.closed_earliest is not None,
        )

    def _closed(self, key: Key, old: int, row: StateRow, window: Window | None) -> tuple[int | None, str]:
        """Return when the old leader could accept no more writes: at the end of its process, if that was before the election."""
        if window is not None:
            return window.closed, window.closed_proof
        return (None, "") if (*key, row.time, old) in self._doubtful else (row.time, row.proof)

    def _silent_since(self, old: int, at: int) -> int:
        """Return since when followers may not have fetched: since the old leader's last sign of life, or shortly before a move.

        Rule: a session ends after its timeout without a sign of life.
        """
        lost = [span for span in self._sessions.get(old, ()) if _ends(span, at)]
        if lost:
            last = lost[-1]
            return last.silent if last.silent is not None else last.closed - (last.timeout or self._timeout(old))
        gone = [span for span in self._scene.registered.get(old, ()) if _ends(span, at)]
        return gone[-1].closed - self._timeout(old) if gone else at - HANDOVER

    def _timeout(self, broker: int) -> int:
        return self._scene.settings.of_broker(TIMEOUT, broker).number or 0

    def _begins(self, key: Key, row: StateRow, following: int | None) -> tuple[int | None, str]:
        """Return where the new leader started to write, as it logs from 2.4 on."""
        own = self._scene.of_partition(key).between(row.time - SLACK, None if following is None else following - 1)
        begun = next((line for line in own if _begins(line, row)), None)
        return (None, "") if begun is None else (begun.number("offset"), begun.proof)

    def _loaded(self, key: Key, row: StateRow) -> tuple[int | None, str]:
        """Return the log end that the new leader loaded at its start, if it has followed no leader since.

        A follower logs its truncation offset, even without an effect, and a leader does not (``makeFollowers``,
        ``core/src/main/scala/kafka/server/ReplicaManager.scala@0.9.0.1``).
        """
        lines = self._scene.of_partition(key).between(None, row.time + SLACK)
        own = [line for line in lines if line.broker == row.leader and line.kind in (_LOADED, *_CUTS)]
        if not own or own[-1].kind != _LOADED or own[-1].number("offset") is None:
            return None, ""
        return own[-1].number("offset"), own[-1].proof

    def _follows(self, key: Key, old: int, row: StateRow) -> tuple[int | None, str]:
        """Return the old leader's truncation offset when it followed.

        Up to 0.10.2 that is its own high watermark: at most what all in-sync replicas have, so it is sound if one of them was
        elected; a lone leader has it at its very end (``ReplicaManager.scala@0.9.0.1``).
        """
        for line in self._scene.of_partition(key).between(row.time - SLACK, None):
            if line.broker == old and line.source == "broker" and line.kind in _CUTS:
                return _offset(line), line.proof
        return None, ""

    def _cut_at_start(self, key: Key, before: Sequence[StateRow], row: StateRow) -> EventRow | None:
        """Return the line in which the next leader truncated its own log, shortly before its election as an in-sync replica.

        The line on a partition's creation truncates nothing.

        Rule: up to 0.10.2 a follower truncates its log to the last checkpointed high watermark, and refetches from its leader;
        one that is elected before that leads without (``makeFollowers``,
        ``core/src/main/scala/kafka/server/ReplicaManager.scala@0.9.0.1``).
        """
        lag = self._scene.settings.of_broker(LAG, row.leader).number or 0
        since = row.time - lag
        if any(state.isr and row.leader not in state.isr for state in before if state.time >= since):
            return None
        begins = [state.time for state in before[1:] if state.leader_epoch != before[0].leader_epoch]
        starts = self._scene.kind("broker_starting").between(before[0].time, row.time)
        begins += [line.at for line in starts if line.broker == row.leader]
        lines = self._scene.of_partition(key).between(max(since, min(begins, default=row.time)), row.time)
        own = [line for line in lines if line.broker == row.leader and line.kind in ("truncated", "truncated_below_hw")]
        return own[-1] if own and own[-1].number("offset") is not None else None

    def _disk_failed(self, key: Key, old: int, since: int, at: int) -> bool:
        """Return whether the old leader reported an unreadable partition, or a failed log dir, and then lost it."""
        told = self._scene.kind("replicas_offline").between(since, at + SLACK)
        if any(key in line.listed() for line in told if line.broker == old or line.number("broker") == old):
            return True
        halted = self._scene.kinds(DISK_FAILURES, at - SOON, at + SLACK)
        return any(line.broker == old and self._scene.is_registered(old, at) is not True for line in halted)


def _moves(rows: Sequence[StateRow]) -> Iterator[tuple[int, StateRow, StateRow]]:
    """Yield each election of another leader: its index, start of the old leader, and its state."""
    led: StateRow | None = None
    for place, row in enumerate(rows):
        if row.deleted:
            led = None
        elif row.leader is not None:
            if led is not None and row.leader != led.leader:
                yield place, led, row
            if led is None or row.leader != led.leader:
                led = row


def _back(after: Iterable[StateRow], old: int) -> StateRow | None:
    """Return the first state with the old leader in sync again after leaving, or leading again; or with all deleted.

    Rule: an election for a dead leader removes it from the ISR; an added replica has fetched from the new leader, so has followed
    (``Partition.scala@0.9.0.1``). A healthy broker that loses leadership stays in the ISR.
    """
    out = False
    for state in after:
        if state.deleted or state.leader == old or (out and state.isr and old in state.isr):
            return state
        out = out or (state.isr is not None and old not in state.isr)
    return None


def _begins(line: EventRow, row: StateRow) -> bool:
    if line.kind != "become_leader" or line.broker != row.leader or line.number("offset") is None:
        return False
    return row.leader_epoch is None or line.number("leader_epoch") == row.leader_epoch


def _offset(line: EventRow) -> int | None:
    """Return the truncation offset of a log; an emptied one starts again."""
    return next((line.number(name) for name in ("offset", "to", "start") if line.number(name) is not None), None)


def _left(before: Sequence[StateRow], broker: int) -> int:
    """Return when a broker left the ISR."""
    left = before[-1].time
    for state in reversed(before):
        if state.isr and broker in state.isr:
            break
        left = state.time
    return left


def _alone(before: Sequence[StateRow], old: int) -> int | None:
    """Return since when the old leader was the only in-sync replica, up to its end."""
    since = None
    for state in reversed(before):
        if state.leader is None and not state.isr:
            continue  # 0.9 writes an empty set when it gives up
        if state.isr != (old,):
            break
        since = state.time
    return since


def _ends(span: Span, at: int) -> bool:
    return span.closed is not None and at - SOON <= span.closed <= at + SLACK
