"""State of each partition over time: from a history, or else from logs, observations and znodes together."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from casebook.facts.cluster import Cluster
from casebook.kafka.past import Key, Past
from casebook.kafka.past_rows import EventRow, Span, StateRow
from casebook.questions.timeline.analysis.clusters import Renewal

_REPLICAS = 3
"""Assumed size of an unknown ISR: the usual replication factor."""
ENDED = ("broker_stopped", "broker_starting")
"""Lines that end everything of the previous process."""
FAILURE = 60_000
"""Milliseconds after a broker's failure in which it explains elections."""

_STATES = {
    "partition_changed", "leader_elected", "leader_selected", "isr_removed", "isr_updated", "isr_shrunk", "isr_expanded",
    "become_leader", "leader_request_received", "election_failed",
}  # fmt: skip
_ISR = ("isr_updated", "isr_shrunk", "isr_expanded")
_TOLD = ("leader_request_received", "become_leader")
_BY_LEADER = (*_ISR, "become_leader")
_BY_CONTROLLER = ("partition_changed", "leader_elected", "leader_selected", "isr_removed", "election_failed")
_BORN = ("partition_changed", "leader_elected", *_TOLD)
"""First line on a topic that is recreated under the same name."""


def states(
    cluster: Cluster,
    past: Past,
    rows: Sequence[EventRow],
    registered: Mapping[int, Sequence[Span]],
    renewals: Sequence[Renewal],
    *,
    lost: bool = False,
) -> Mapping[Key, Sequence[StateRow]]:
    """Return states of every partition, in order: from the history, else from logs, observations and the znodes' last write.

    Args:
        registered: Result of :func:`registrations`.
        renewals: Cluster replacements, in order.
        lost: Whether lines with states may be lost between the available ones.
    """
    if past.there:
        marked = {key: found for key, found in past.states.items() if _is_marked(cluster, key[0])}
        return {**past.states, **{key: _buried(found, cluster, registered, past) for key, found in marked.items()}}
    told: dict[Key, list[StateRow]] = defaultdict(list)
    by: dict[Key, int | None] = {}  # owner of the last log with it
    failed: list[EventRow] = []
    reign: int | None = None  # epoch of the last logging controller
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
            elif _add_line(told[key], row, failed, anew=key in former):
                former.discard(key)
                by[key] = row.broker
    for known in told.values() if lost else ():
        known[:] = [_at_its_time(row) for row in known]
    for key, observed in past.states.items():
        for state in observed:
            _add_observed(told[key], state)
    for partition in cluster.partitions:
        if (state := partition.state) is not None and state.stamp is not None and state.stamp.changed_at:
            proof = cluster.proofs.state(partition.topic, partition.partition).text
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
    """Return proofs of lines in which a controller takes a partition offline, and its last on it.

    It elects another leader next, or logs why it cannot: without either it has ended, e.g. by its own disk failure.
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
    """Return the epoch of a line's acting controller: up to 0.11 its subject, later in its ident."""
    return row.number("epoch" if "controller" in row.fields else "controller_epoch")


def _is_unread(since: int | None, until: int | None, reigns: Collection[int | None]) -> bool:
    """Return whether a controller between two epochs has no lines here."""
    return None not in (since, until) and any(epoch not in reigns for epoch in range(since + 1, until + 1))


def _is_marked(cluster: Cluster, topic: str) -> bool:
    """Return whether a topic is under deletion: as in every verdict, its partitions then do not count as offline."""
    return topic in cluster.topics and cluster.topics[topic].deleting


def _buried(
    known: Sequence[StateRow], cluster: Cluster, registered: Mapping[int, Sequence[Span]], past: Past
) -> Sequence[StateRow]:
    """Return states of a partition whose deleted topic needs no leader from the deletion on."""
    mark = _mark(known, cluster, registered, past)
    if mark is None:
        return known
    before = [row for row in known if row.time < mark.time]
    after = [_deleted(row) for row in known if row.time >= mark.time]
    return [*before, *after] if after and after[0].time == mark.time else [*before, mark, *after]


def _mark(known: Sequence[StateRow], cluster: Cluster, registered: Mapping[int, Sequence[Span]], past: Past) -> StateRow | None:
    """Return when the deletion started, or its latest possible start; ``None`` when both are unknown.

    Rule: a deletion takes every replica offline first, so it leaves -1 behind with a healthy leader. A partition in logs but in
    no snapshot was gone by the next one.
    """
    last = known[-1]
    topic = cluster.topics.get(last.topic)
    if topic is not None and topic.deleting_since is not None:
        proof = cluster.proofs.deletion(topic.name).text
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
    """End everything of this name, as it is recreated."""
    _bury(known)
    _end(known, at, proof)


def _end(known: list[StateRow], at: int, proof: str) -> None:
    """End a partition by a moment, or its known states; the exact time is unknown.

    Args:
        proof: Proof of its end; ``""`` when it may belong to another cluster from then on, or always did.
    """
    if known and not known[-1].deleted:
        known[-1] = known[-1]._replace(until=known[-1].time)
        known.append(_deleted(known[-1]._replace(time=at, until=None, proof=proof)))


def _bury(known: list[StateRow]) -> None:
    """Treat a leader -1 as part of the following deletion; the leader of a moved replica survives.

    Rule: a deletion takes every replica offline first, and waits for those on dead brokers, which lead again before they are
    deleted (``TopicDeletionManager.scala@2.8.2``).
    """
    if known and known[-1].leader is None and not known[-1].deleted:
        known[-1] = _deleted(known[-1])


def _add_line(known: list[StateRow], row: EventRow, failed: Sequence[EventRow], *, anew: bool) -> bool:
    """Add the state of a line, unless it is known already, or only its broker's belief; return whether it was added.

    Args:
        anew: All known states are of a former cluster: any line is about another partition.
    """
    before = known[-1] if known else None
    if before is not None and before.deleted:
        if row.kind not in _BORN and not anew:
            return False
        before = None  # epochs start again
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
    """Mark leaderless partitions as unknown: their controller ended or was replaced, and the next one logs only changes.

    Args:
        at: Since when; ``None`` when another controller without lines was in between.
    """
    for known in told:
        if known and known[-1].leader is None and not known[-1].deleted and known[-1].until is None:
            known[-1] = known[-1]._replace(until=max(at or 0, known[-1].time))


def _at_its_time(row: StateRow) -> StateRow:
    """Limit a state to its moment: its end may be lost."""
    return row._replace(until=row.time) if row.until is None and not row.deleted else row


def _forget(known: list[StateRow], row: EventRow) -> None:
    """Mark a partition as led meanwhile: an ignored request has a higher epoch, so an election happened."""
    before, epoch = known[-1] if known else None, row.number("leader_epoch")
    if before is None or before.deleted or before.leader is not None or None in (epoch, before.leader_epoch):
        return
    if epoch > before.leader_epoch:
        known[-1] = before._replace(until=before.time)


def _is_old(row: EventRow, epoch: int | None, before: StateRow) -> bool:
    """Rule: requests arrive late, and an ISR is written by the leader, or for it by the controller.

    A lost leader whose controller ended without a write is asked to lead again in its old epoch.
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
    """Return whether its controller saw a broker failure just before, unlike one that finds no leader at its start."""
    return bool(failed) and row.at - failed[-1].at <= FAILURE


def _is_far(epoch: int | None, leader: int | None, known: Sequence[StateRow]) -> bool:
    """Return whether unseen elections may lie between.

    Rule: every election, every lost leader, and every replica removed by the controller increments the leader epoch
    (``KafkaController.scala@0.9.0.1``, ``PartitionStateMachine.scala@2.8.2``): a leaderless partition needs two for an unseen
    leader.
    """
    before, since = known[-1], known[-1].leader_epoch
    if since is None and before.leader is None and len(known) > 1 and known[-2].leader_epoch is not None:
        since = known[-2].leader_epoch + 1  # a failed election names no epoch: the loss before it used one
    if epoch is None or since is None:
        return False
    if before.leader is None:
        return epoch - since > (1 if leader is None else 2)
    return epoch - since > 1 + (_REPLICAS if before.isr is None else len(before.isr))


def _was_led(leader: int | None, isr: tuple[int, ...] | None, before: StateRow) -> bool:
    """Return whether a leaderless partition had a leader meanwhile: only a leader, or an unclean election, adds to the ISR."""
    if before.leader is not None or not before.isr or not isr or isr == (leader,):
        return False
    return not set(isr) <= set(before.isr)


def _is_offline(row: EventRow) -> bool:
    """Return whether an election failed for a partition that the controller knew to be leaderless.

    A failure on a controlled shutdown, or for a preferred leader, keeps the old one: ``PartitionStateMachine.scala@2.8.2``.
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
    """Return whether a controller wrote an ISR for the leader, as from 2.7 on: the line is not the leader's own."""
    return row.kind in _ISR and "controller" in row.fields


def _isr(row: EventRow, before: StateRow | None) -> tuple[int, ...] | None:
    told = row.numbers("new" if row.kind in ("isr_shrunk", "isr_expanded") else "isr")
    return told or (before.isr if before is not None and row.kind != "become_leader" else None)


def _led_before(row: EventRow, leader: int | None, failed: Sequence[EventRow]) -> StateRow | None:
    """Rule: the old leader is named by the controller; else, when a single broker has just failed, it is that one."""
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
    """Merge an observed state with the same logged one: logs have its start, not the znode's last write."""
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
    """Add a walked state at its write time: logged states up to the walk precede it, though clocks may differ.

    An ISR only in the walk is valid from then on, and unknown before.
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
