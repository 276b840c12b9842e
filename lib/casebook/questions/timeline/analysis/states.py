"""What each partition was, and when: by a history, and without one by logs, observations and znodes together."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from casebook.facts.cluster import Cluster
from casebook.findings.proof import ZNODES
from casebook.kafka.past import Key, Past
from casebook.kafka.past_rows import EventRow, Span, StateRow
from casebook.questions.timeline.analysis.clusters import Renewal

_REPLICAS = 3
"""In an ISR that is not known: as many as most topics have."""
ENDED = ("broker_stopped", "broker_starting")
"""Lines behind which nothing of the process that spoke before goes on."""
FAILURE = 60_000
"""A broker's failure explains the elections of so many milliseconds after it."""

_STATES = {
    "partition_changed", "leader_elected", "leader_selected", "isr_removed", "isr_updated", "isr_shrunk", "isr_expanded",
    "become_leader", "leader_request_received", "election_failed",
}  # fmt: skip
_ISR = ("isr_updated", "isr_shrunk", "isr_expanded")
_TOLD = ("leader_request_received", "become_leader")
_BY_LEADER = (*_ISR, "become_leader")
_BY_CONTROLLER = ("partition_changed", "leader_elected", "leader_selected", "isr_removed", "election_failed")
_BORN = ("partition_changed", "leader_elected", *_TOLD)
"""What a topic that is created anew under the same name is told by first."""


def states(
    cluster: Cluster,
    past: Past,
    rows: Sequence[EventRow],
    registered: Mapping[int, Sequence[Span]],
    renewals: Sequence[Renewal],
    *,
    lost: bool = False,
) -> Mapping[Key, Sequence[StateRow]]:
    """States of every partition, in order: of the history, else of logs, of observations and of the znodes' last write.

    Args:
        registered: Of :func:`registrations`.
        renewals: Where a cluster was replaced by another, in order.
        lost: Whether lines that tell of states may be lost between those that are here.
    """
    if past.there:
        marked = {key: found for key, found in past.states.items() if _is_marked(cluster, key[0])}
        return {**past.states, **{key: _buried(found, cluster, registered, past) for key, found in marked.items()}}
    told: dict[Key, list[StateRow]] = defaultdict(list)
    by: dict[Key, int | None] = {}  # whose log told of it last
    failed: list[EventRow] = []
    reign: int | None = None  # the epoch of the controller that spoke last
    reigns = {_reign(row) for row in rows if row.kind in _BY_CONTROLLER}
    renewed, former, unelected = list(renewals), set[Key](), _left_offline(rows)
    for row in rows:
        if row.at is None:
            continue
        while renewed and renewed[0].since <= row.at:
            begun = renewed.pop(0)
            former = set(told)
            for known in told.values():
                _end(known, begun.since, begun.proof if known and known[-1].time <= begun.earliest else "")
        if row.kind == "broker_failure":
            failed.append(row)
        elif row.kind == "controller_elected":
            reign, before = row.number("epoch"), reign
            _doubt(told.values(), row.at if reign is not None and before == reign - 1 else None)
        elif row.kind in ENDED and row.broker is not None:
            _doubt((known for key, known in told.items() if by.get(key) == row.broker), row.at)
        elif row.partition is not None and row.fields.get("from") == "NonExistentPartition":
            _end_of_all(told[row.topic, row.partition], row.at, row.proof)
        elif row.partition is not None and row.kind == "log_deleted":
            _bury(told[row.topic, row.partition])
        elif row.kind == "leader_request_ignored":
            _forget(told.get((row.topic, row.partition), []), row)
        elif row.kind in _STATES and row.partition is not None:
            if _is_unread(reign, (ruled := _reign(row)), reigns):
                _doubt(told.values(), None)
            reign = max((one for one in (ruled, reign) if one is not None), default=None)
            key = row.topic, row.partition
            if row.proof in unelected and told[key] and not told[key][-1].deleted:
                told[key].append(told[key][-1]._replace(time=row.at, zxid=None, leader=None, until=None, proof=row.proof))
                by[key] = row.broker
            elif _tell(told[key], row, failed, anew=key in former):
                former.discard(key)
                by[key] = row.broker
    for known in told.values() if lost else ():
        known[:] = [_at_its_time(row) for row in known]
    for key, observed in past.states.items():
        for state in observed:
            _add_observed(told[key], state)
    for partition in cluster.partitions:
        if (state := partition.state) is not None and state.stamp is not None and state.stamp.changed_at:
            proof = f"{ZNODES} {partition.state_path}"
            stamp = state.stamp
            last = StateRow(*partition[:2], stamp.changed_at, stamp.changed_in, state.leader, state.leader_epoch, state.isr,
                            state.controller_epoch, proof, False, stamp.version)  # fmt: skip
            known = told[partition.topic, partition.partition]
            if known and known[-1].time < last.time and _is_unread(known[-1].controller_epoch, last.controller_epoch, reigns):
                known[-1] = _at_its_time(known[-1])
            _add_walked(known, last, max(last.time, cluster.read_to or 0))
    return {
        key: _buried(found, cluster, registered, past) if cluster.lacks(key[0]) or _is_marked(cluster, key[0]) else found
        for key, found in told.items()
        if found
    }


def _left_offline(rows: Sequence[EventRow]) -> set[str]:
    """Proofs of the lines in which a controller takes a partition offline, and after which it says no more of it.

    It elects another leader next, or says why it cannot: one that does neither has ended, as where its own disk fails.
    """
    left, spoken = set(), dict[Key, int]()
    for row in reversed(rows):
        if row.at is None or row.partition is None or row.kind not in (*_STATES, "log_deleted"):
            continue
        key = row.topic, row.partition
        goes = row.kind == "partition_changed" and row.fields.get("to") == "OfflinePartition"
        if goes and spoken.get(key, row.at + FAILURE + 1) - row.at > FAILURE:
            left.add(row.proof)
        spoken[key] = row.at
    return left


def _reign(row: EventRow) -> int | None:
    """The epoch of the controller that a line names as the one that acts: up to 0.11 as its subject, later in its ident."""
    return row.number("epoch" if "controller" in row.fields else "controller_epoch")


def _is_unread(since: int | None, until: int | None, reigns: Collection[int | None]) -> bool:
    """Whether there was a controller from one epoch to another of which no word is here."""
    return None not in (since, until) and any(epoch not in reigns for epoch in range(since + 1, until + 1))


def _is_marked(cluster: Cluster, topic: str) -> bool:
    """Whether a topic is being deleted: as in every verdict, its partitions are not offline then, but apart."""
    return topic in cluster.topics and cluster.topics[topic].deleting


def _buried(
    known: Sequence[StateRow], cluster: Cluster, registered: Mapping[int, Sequence[Span]], past: Past
) -> Sequence[StateRow]:
    """States of a partition whose topic is gone, or being deleted: nobody misses its leader from then on, but until then."""
    mark = _mark(known, cluster, registered, past)
    if mark is None:
        return known
    before = [row for row in known if row.time < mark.time]
    after = [_deleted(row) for row in known if row.time >= mark.time]
    return [*before, *after] if after and after[0].time == mark.time else [*before, mark, *after]


def _mark(known: Sequence[StateRow], cluster: Cluster, registered: Mapping[int, Sequence[Span]], past: Past) -> StateRow | None:
    """When the deletion began, or the latest that it can have; ``None`` where neither is told.

    Rule: a deletion takes every replica offline first, so it leaves -1 behind though the leader was well. What only logs tell of,
    and no snapshot, was gone by the next one.
    """
    last = known[-1]
    topic = cluster.topics.get(last.topic)
    if topic is not None and topic.deleting_since is not None:
        proof = f"{ZNODES} /admin/delete_topics/{topic.name}"
        return StateRow(*last[:2], topic.deleting_since, None, None, None, None, None, proof, deleted=True)
    if last.deleted:
        return None
    if last.leader is None:
        first = next(row for place, row in enumerate(known) if all(later.leader is None for later in known[place:]))
        led = next((row.leader for row in reversed(known) if row.leader is not None), None)
        if any(span.covers(first.time - 1) for span in registered.get(led, ())):
            return _deleted(first)
    observed = (past.first, *(gap.until for gap in past.breaks)) if past.observed and last.zxid is None else ()
    gone = next((moment for moment in (*observed, cluster.read_to) if moment is not None and moment > last.time), None)
    return None if gone is None else _deleted(last._replace(time=gone))


def _deleted(row: StateRow) -> StateRow:
    return row._replace(leader=None, isr=None, leader_epoch=None, deleted=True)


def _end_of_all(known: list[StateRow], at: int, proof: str) -> None:
    """Whatever was of this name is gone, as it is created anew."""
    _bury(known)
    _end(known, at, proof)


def _end(known: list[StateRow], at: int, proof: str) -> None:
    """A partition is gone by a moment, or nothing more is known of it; when it went nobody knows.

    Args:
        proof: Of its end; ``""`` where it may be of another cluster from then on, or have been all the time.
    """
    if known and not known[-1].deleted:
        known[-1] = known[-1]._replace(until=known[-1].time)
        known.append(_deleted(known[-1]._replace(time=at, until=None, proof=proof)))


def _bury(known: list[StateRow]) -> None:
    """Take a leader -1 for part of the deletion that is told next; of a replica that was only moved away the leader lives on.

    Rule: a deletion takes every replica offline first, and waits for those on dead brokers, which lead again before they go
    (``TopicDeletionManager.scala@2.8.2``).
    """
    if known and known[-1].leader is None and not known[-1].deleted:
        known[-1] = _deleted(known[-1])


def _tell(known: list[StateRow], row: EventRow, failed: Sequence[EventRow], *, anew: bool) -> bool:
    """Add what a line says, unless it says what is known already, or what only its broker believes; whether it was added.

    Args:
        anew: All that is known is of a cluster that is gone: any line tells of another partition.
    """
    before = known[-1] if known else None
    if before is not None and before.deleted:
        if row.kind not in _BORN and not anew:
            return False
        before = None  # epochs begin anew
    leader, isr, epoch = _leader(row, before), _isr(row, before), row.number("leader_epoch")
    if leader is None and row.fields.get("leader") not in ("-1", "none") and not _is_offline(row):
        return False
    if before is not None and (_is_old(row, epoch, before) or _is_known(epoch, leader, isr, before)):
        return False
    if before is None and (earlier := _led_before(row, leader, failed)) is not None:
        known.append(earlier)
    found_so = leader is None and before is not None and before.leader is not None and not _has_failed(row, failed)
    if before is not None and (found_so or _is_far(epoch, leader, known) or _was_led(leader, isr, before)):
        known[-1] = before._replace(until=before.time)
    epoch = epoch if epoch is not None else (before.leader_epoch if before and before.leader == leader else None)
    known.append(StateRow(row.topic, row.partition, row.at, None, leader, epoch, isr, _reign(row), row.proof))
    return True


def _doubt(told: Iterable[list[StateRow]], at: int | None) -> None:
    """That partitions without leader may have one again: who told of them is no longer there, or no longer the controller, and
    another tells of those alone that it changes.

    Args:
        at: Since when; ``None`` where there was another controller in between, of which nothing is told.
    """
    for known in told:
        if known and known[-1].leader is None and not known[-1].deleted and known[-1].until is None:
            known[-1] = known[-1]._replace(until=max(at or 0, known[-1].time))


def _at_its_time(row: StateRow) -> StateRow:
    """A state of which no more is known than that it was there: what ended it may be lost."""
    return row._replace(until=row.time) if row.until is None and not row.deleted else row


def _forget(known: list[StateRow], row: EventRow) -> None:
    """That a partition without leader had one meanwhile: whoever ignores a request names the epoch, which an election raised."""
    before, epoch = known[-1] if known else None, row.number("leader_epoch")
    if before is None or before.deleted or before.leader is not None or None in (epoch, before.leader_epoch):
        return
    if epoch > before.leader_epoch:
        known[-1] = before._replace(until=before.time)


def _is_old(row: EventRow, epoch: int | None, before: StateRow) -> bool:
    """Rule: who was told hears of it late, and an ISR is written by the leader, or for it by the controller.

    A leader that was lost, and of which the controller wrote nothing before it ended, is told to lead again under its old epoch.
    """
    if row.kind in _ISR and not _is_written_for(row):
        return row.broker != before.leader
    if row.kind in _TOLD:
        again = before.leader is None and epoch == before.leader_epoch
        return epoch is None or before.leader_epoch is None or (epoch <= before.leader_epoch and not again)
    return epoch is not None and epoch < (before.leader_epoch or 0)


def _is_known(epoch: int | None, leader: int | None, isr: tuple[int, ...] | None, before: StateRow) -> bool:
    return (before.leader, before.isr) == (leader, isr) and epoch in (None, before.leader_epoch)


def _has_failed(row: EventRow, failed: Sequence[EventRow]) -> bool:
    """Whether its controller saw a broker fail just before: one that finds a partition without leader when it begins does not."""
    return bool(failed) and row.at - failed[-1].at <= FAILURE


def _is_far(epoch: int | None, leader: int | None, known: Sequence[StateRow]) -> bool:
    """Whether elections may lie between that nothing tells of.

    Rule: every election, every loss of a leader, and every replica that the controller takes from the ISR raises the leader epoch
    by one (``KafkaController.scala@0.9.0.1``, ``PartitionStateMachine.scala@2.8.2``): a partition without leader needs two for
    one that came and went unseen.
    """
    before, since = known[-1], known[-1].leader_epoch
    if since is None and before.leader is None and len(known) > 1 and known[-2].leader_epoch is not None:
        since = known[-2].leader_epoch + 1  # an election that fails names none: the loss before it took one
    if epoch is None or since is None:
        return False
    if before.leader is None:
        return epoch - since > (1 if leader is None else 2)
    return epoch - since > 1 + (_REPLICAS if before.isr is None else len(before.isr))


def _was_led(leader: int | None, isr: tuple[int, ...] | None, before: StateRow) -> bool:
    """Whether a partition without leader had one meanwhile: only a leader lets anybody into the ISR, or an unclean election."""
    if before.leader is not None or not before.isr or not isr or isr == (leader,):
        return False
    return not set(isr) <= set(before.isr)


def _is_offline(row: EventRow) -> bool:
    """Whether nobody could be elected for a partition of which the controller knew already that it had no leader.

    What fails on a controlled shutdown, or for a preferred leader, leaves the old one: ``PartitionStateMachine.scala@2.8.2``.
    """
    moved = row.fields.get("from"), row.fields.get("to")
    return row.kind == "election_failed" and moved == ("OfflinePartition", "OnlinePartition")


def _leader(row: EventRow, before: StateRow | None) -> int | None:
    if row.kind == "election_failed":
        return None if _is_offline(row) or before is None else before.leader
    if row.kind in _BY_LEADER and not _is_written_for(row):
        return row.broker
    leader = row.number("leader")
    if leader is None and before is not None:
        return before.leader
    return None if leader is None or leader < 0 else leader


def _is_written_for(row: EventRow) -> bool:
    """Whether a controller wrote an ISR that the leader asked for, as from 2.7 on: it is not the leader that speaks."""
    return row.kind in _ISR and "controller" in row.fields


def _isr(row: EventRow, before: StateRow | None) -> tuple[int, ...] | None:
    told = row.numbers("new" if row.kind in ("isr_shrunk", "isr_expanded") else "isr")
    return told or (before.isr if before is not None and row.kind != "become_leader" else None)


def _led_before(row: EventRow, leader: int | None, failed: Sequence[EventRow]) -> StateRow | None:
    """Rule: the one that the controller names; else, when one broker has just failed, the one that is replaced is that broker."""
    old = row.number("old") if row.kind == "leader_selected" else None
    if old is not None and old >= 0:
        return StateRow(row.topic, row.partition, row.at, None, old, None, None, None, row.proof)
    if row.kind not in ("partition_changed", "leader_elected") or not failed or row.at - failed[-1].at > FAILURE:
        return None
    if row.kind == "partition_changed" and row.fields.get("from") not in ("OfflinePartition", None):
        return None
    dead = failed[-1].numbers("brokers")
    if len(dead) != 1 or leader in (None, *dead):
        return None
    return StateRow(row.topic, row.partition, failed[-1].at, None, dead[0], None, None, None, failed[-1].proof)


def _add_observed(known: list[StateRow], state: StateRow) -> None:
    """A state that logs tell as well is the same one: they tell when it began, not when its znode was last written."""
    same = [
        place
        for place, row in enumerate(known)
        if row.zxid is None
        and (row.leader, row.leader_epoch) == (state.leader, state.leader_epoch)
        and row.isr in (None, state.isr)
        and not row.deleted
    ]
    if same and not state.deleted:
        nearest = min(same, key=lambda place: abs(known[place].time - state.time))
        known[nearest] = known[nearest]._replace(isr=state.isr, controller_epoch=state.controller_epoch)
        return
    known.append(state)
    known.sort(key=lambda row: row.time)


def _add_walked(known: list[StateRow], last: StateRow, read: int) -> None:
    """What a walk found was written at its time: what logs tell up to the walk was there before, though their clocks may differ.

    An ISR that only the walk names held from then on, and of the time before nobody knows.
    """
    later = [row for row in known if row.time > read or (row.leader_epoch or 0) > (last.leader_epoch or 0)]
    before = [row._replace(time=min(row.time, last.time)) for row in known if row not in later]
    if before and _is_same(before[-1], last):
        before[-1] = before[-1]._replace(leader_epoch=last.leader_epoch)
    else:
        if before and before[-1].version is not None and last.version != before[-1].version + 1:
            before[-1] = before[-1]._replace(until=before[-1].time)
        before.append(last)
    known[:] = [*before, *later]


def _is_same(row: StateRow, last: StateRow) -> bool:
    return (row.leader, row.isr) == (last.leader, last.isr) and row.leader_epoch in (None, last.leader_epoch)
