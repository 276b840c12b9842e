"""Cause of a lost record: a leader change, or another explanation; without one, an alarm."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import instant
from casebook.facts.losses import Cause, CauseRow, LeaderChange, LostCount
from casebook.findings.words import agree, brokers, count, plural

SLACK = 1000
"""Milliseconds by which an acknowledgement may arrive late, or the application's clock be wrong."""
ALL = frozenset(("all", "-1"))
"""Spellings of ``acks=all`` (``clients/src/main/java/org/apache/kafka/clients/producer/ProducerConfig.java@0.9.0.1``)."""
NONE = "0"
_MOST_NAMED = 3
"""Maximum number of possible changes to name."""


class Missing(NamedTuple):
    """All inputs of a lost record's cause. Spark builds one per record, and counts equal ones.

    Args:
        changes: Numbers of the possible leader changes, in order, each with whether the old leader was the only in-sync replica
            at the acknowledgement; ``None`` when unknown.
        acks: The producer's setting; ``None`` when unknown.
        placed: Whether its producer received an offset.
        told: Whether producers of its ledger received offsets.
    """

    changes: tuple[tuple[int, bool | None], ...]
    acks: str | None
    placed: bool
    told: bool


class Explained(NamedTuple):
    """Explanation of a lost record.

    Args:
        cause: ``None``: no explanation.
        window: Changes in words; ``""`` without.
        evidence: Proof in words.
        changes: Possible changes; several when the evidence does not decide.
    """

    cause: Cause | None
    window: str
    evidence: str
    changes: tuple[int, ...] = ()


def takes(change: LeaderChange, offset: int | None, moment: int | None) -> bool:
    """Return whether a leader change may have lost a record of its partition.

    Known offsets decide: everything after the cut was not on the next leader, however old. Otherwise time decides. Records
    acknowledged after the old leader gave up were accepted by the next one.

    Args:
        change: Leader change.
        offset: As acknowledged; ``None`` when unknown.
        moment: Acknowledgement time; ``None`` when unknown.
    """
    if moment is not None and change.closed is not None and moment > change.closed + SLACK:
        return False
    if offset is not None and change.cut is not None:
        return offset >= change.cut
    return moment is not None and moment >= change.since - SLACK


def in_solitude(change: LeaderChange, moment: int | None) -> bool | None:
    """Return whether the old leader was the only in-sync replica at the acknowledgement; ``None`` when unknown."""
    return None if change.alone is None or moment is None else moment >= change.alone - SLACK


def takers(changes: Iterable[LeaderChange], offset: int | None, moment: int | None) -> tuple[LeaderChange, ...]:
    """Return every change of a partition that may have lost a record: if any did, one of them.

    Args:
        changes: Changes of its partition.
        offset: As acknowledged; ``None`` when unknown.
        moment: Acknowledgement time; ``None`` when unknown.
    """
    return tuple(change for change in changes if takes(change, offset, moment))


def cause(of: Missing, change: LeaderChange | None, *, alone: bool | None = None) -> Cause | None:
    """Return the cause, if a change lost the record; ``None`` is an alarm: acks=all survives a clean election.

    Args:
        of: Inputs.
        change: Leader change; ``None`` without.
        alone: Whether the old leader was the only in-sync replica at the acknowledgement; ``None`` when unknown.
    """
    if of.acks == NONE:
        return Cause.ACKS_0
    if change is None:
        return Cause.NEVER_RECEIVED if of.told and not of.placed else None
    if change.disk:
        return Cause.DISK_LOST
    if change.unclean:
        return Cause.ISR_OF_ONE if of.acks in ALL and alone else Cause.UNCLEAN_ELECTION
    if change.cut_at_start:
        return Cause.CUT_AT_START
    return None if of.acks in ALL else Cause.DEPOSED_LEADER


def explained(of: Missing, changes: Mapping[int, LeaderChange]) -> Explained:
    """Return the cause with its proof; of several changes, those that explain it, each of which is possible."""
    if not of.changes:
        why = cause(of, None)
        return Explained(why, "", _WITHOUT_CHANGE[why])
    able = [(changes[number], cause(of, changes[number], alone=alone)) for number, alone in of.changes]
    able = [one for one in able if one[1] is not None] or able[:1]
    causes = {why for _, why in able}
    why = causes.pop() if len(causes) == 1 else Cause.EITHER_WINDOW
    told = list(dict.fromkeys(f"{_evidence(each, change)} ({_proof(change)})" for change, each in able))
    windows = list(dict.fromkeys(window(change) for change, _ in able))
    return Explained(why, _either(windows), _either(told), tuple(change.number for change, _ in able))


def _either(words: Sequence[str]) -> str:
    """List alternatives that the evidence does not decide between."""
    if len(words) == 1:
        return words[0]
    more = f", or one of {count(len(words) - _MOST_NAMED)} more" if len(words) > _MOST_NAMED else ""
    return f"either {' or '.join(words[:_MOST_NAMED])}{more}"


_WITHOUT_CHANGE = {
    None: "no change of leader explains it",
    Cause.ACKS_0: "with acks=0, no broker acknowledged it",
    Cause.NEVER_RECEIVED: "its producer received no offset, unlike others of the same ledger",
}


def _evidence(why: Cause | None, change: LeaderChange) -> str:
    old, new = change.old_leader, change.new_leader
    cut = "" if change.cut is None else f" from offset {change.cut} on"
    match why:
        case Cause.ACKS_0:
            return "with acks=0, no broker acknowledged it"
        case Cause.DISK_LOST:
            return f"broker {old} lost a log dir, and broker {new} leads{cut}"
        case Cause.ISR_OF_ONE:
            return (
                f"broker {old} was alone in sync, so acks=all waited for no other replica; broker {new}, out of sync, leads{cut}"
            )
        case Cause.UNCLEAN_ELECTION:
            return f"broker {new} was elected out of sync, and leads{cut}"
        case Cause.CUT_AT_START:
            return f"broker {new} had truncated its own log to offset {change.cut} before it was elected as in sync"
        case Cause.DEPOSED_LEADER:
            return f"broker {old} took the write, and broker {new} leads{cut}"
    return f"broker {new}, in sync, was elected in place of {old}: that loses no record that all in-sync replicas had"


def begin(change: LeaderChange) -> int:
    """Return the start of a change's window: the election, or for an unclean one, when the old leader was left alone."""
    if change.unclean and change.alone is not None:
        return change.alone
    return change.since if change.unclean or change.cut_at_start else change.opened


def window(change: LeaderChange) -> str:
    """``11:03:42.861 to 11:03:44.131``, or ``… at the latest``."""
    opened = instant(begin(change))[11:23]
    if change.closed is None:
        return f"from {opened}"
    return f"{opened} to {instant(change.closed)[11:23]}{' at the latest' if change.by_then else ''}"


def _proof(change: LeaderChange) -> str:
    return change.cut_proof or change.closed_proof or change.opened_proof


def causes(
    counts: Sequence[LostCount],
    changes: Sequence[LeaderChange],
    *,
    acks: Collection[str | None],
    history: bool,
    disks: Collection[int],
) -> tuple[CauseRow, ...]:
    """Return the alarm, then every cause, also those without losses.

    Args:
        counts: Lost records.
        changes: Changes of the ledger's partitions.
        acks: Producers' settings in the ledger, with ``None`` for missing ones.
        history: Whether all leader changes are known, from ZooKeeper's history.
        disks: Brokers with logs that would show a disk failure.
    """
    scene = _CauseSearch(changes, frozenset(acks), history, frozenset(disks))
    return tuple(_row(why, [row for row in counts if row.cause == why], scene) for why in (None, *Cause))


class _CauseSearch(NamedTuple):
    changes: Sequence[LeaderChange]
    acks: frozenset[str | None]
    history: bool
    disks: frozenset[int]


def _row(why: Cause | None, own: Sequence[LostCount], scene: _CauseSearch) -> CauseRow:
    if not own:
        return _none(why, scene)
    numbers = {number for row in own for number in (row.either or (row.change,))}
    changes = [change for change in scene.changes if change.number in numbers]
    proves, proof = _WITHOUT_CHANGE.get(why, ""), "tables/lost"
    if why is Cause.EITHER_WINDOW:
        proves = f"{plural(len(changes), 'change')} of leader may have lost them, for different causes"
    elif changes:
        proves, proof = _evidence(why, changes[0]), _proof(changes[0])
    if len(changes) > 1 and why is not Cause.EITHER_WINDOW:
        proves += f". The same holds for {plural(len(changes) - 1, 'other change')} of leader"
    return CauseRow(why, sum(row.records for row in own), _partitions(own), _span(changes), proves, proof)


def _none(why: Cause | None, scene: _CauseSearch) -> CauseRow:
    """Return the row of a cause without losses, or with unknown ones."""
    if why is None:
        return CauseRow(None, 0, "", "", "every lost record has a cause", "")
    if why in (Cause.ACKS_0, Cause.NEVER_RECEIVED):
        return _without_change(why, scene)
    if why is Cause.EITHER_WINDOW:
        return CauseRow(why, 0, "", "", "no lost record is in two windows with different causes", "", applies=False)
    if why is Cause.ISR_OF_ONE and scene.acks and None not in scene.acks and not scene.acks & ALL:
        return CauseRow(why, 0, "", "", f"the producers used acks={', '.join(sorted(scene.acks))}", "", applies=False)
    if why is Cause.DISK_LOST:
        looked = brokers(sorted(scene.disks)) if scene.disks else ""
        told = "no broker reports a disk failure" if looked else "no broker's log is in this case"
        return CauseRow(why, 0 if looked else None, looked, "", told, "tables/events" if looked else "")
    if not (scene.history or scene.changes):
        return CauseRow(why, None, "", "", "neither history nor log shows a change of leader", "")
    return _by_elections(why, scene)


def _by_elections(why: Cause, scene: _CauseSearch) -> CauseRow:
    looked = f"{plural(len(scene.changes), 'change')} of leader"
    unclean = [change for change in scene.changes if change.unclean]
    unknown = [change for change in scene.changes if change.unclean is None]
    if why not in (Cause.UNCLEAN_ELECTION, Cause.ISR_OF_ONE):
        return CauseRow(why, 0, looked, "", "none of them lost a record this way", "tables/partition_history")
    if unknown:
        told = f"the ISR before {plural(len(unknown), 'election')} is unknown"
        return CauseRow(why, None, looked, "", told, "")
    told = f"{plural(len(unclean), 'unclean election')} lost none this way" if unclean else "each new leader had been in sync"
    return CauseRow(why, 0, looked, "", told, "tables/partition_history")


def _without_change(why: Cause, scene: _CauseSearch) -> CauseRow:
    if why is Cause.NEVER_RECEIVED:
        return CauseRow(why, 0, "", "", "each lost record has an offset, or a window", "tables/lost")
    if None in scene.acks:
        return CauseRow(why, None, "", "", "the ledger does not say with which acks records were sent", "")
    return CauseRow(why, 0, "", "", "no producer used acks=0", "", applies=NONE in scene.acks)


def _partitions(own: Iterable[LostCount]) -> str:
    places = sorted({row.topic if row.partition is None else f"{row.topic}-{row.partition}" for row in own})
    if len(places) > 2:
        return f"{count(len(places))} partitions"
    return agree(len(places), places[0], " and ".join(places))


def _span(changes: Sequence[LeaderChange]) -> str:
    if not changes:
        return "none"
    ends = [change.closed for change in changes]
    opened = instant(min(map(begin, changes)))[11:23]
    return f"from {opened}" if None in ends else f"{opened} to {instant(max(ends))[11:23]}"
