"""Actual exposure in ZooKeeper's history: how long acks=all was acks=1, because the ISR was the leader alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.kafka.past import Key, Overrides, Past
from casebook.kafka.past_rows import StateRow
from casebook.kafka.settings import TOPIC, Setting, Settings
from casebook.questions.durability.analysis.rows import IsrAlone

_KEY = "min.insync.replicas"


class _Stretch(NamedTuple):
    """A period with one in-sync replica, which was enough; or with unknown min ISR, ``min_isr`` ``None``.

    ``until`` is its last known moment; ``open`` means that no later one shows its end.
    """

    since: int
    until: int
    open: bool
    min_isr: str | None
    proof: str


def isr_alone(past: Past, cluster: Cluster, settings: Settings) -> tuple[IsrAlone, ...]:
    """Return every replicated partition with such periods, longest first; then those with unknown ones.

    A partition with both has a row for each.

    Args:
        past: Replayed history; without a last transaction it has no result.
        cluster: Current assignments.
        settings: Settings used when the history does not have a topic's overrides.
    """
    if past.last is None:
        return ()
    copies = {(p.topic, p.partition): len(cluster.leads_to(p)) for p in cluster.partitions}
    found = []
    for key, states in past.states.items():
        if max(copies.get(key, 0), *(len(row.isr or ()) for row in states), 0) > 1:
            stretches = list(_stretches(states, past.overrides.get(key[0], ()), settings, past.last[0]))
            of_both = ([one for one in stretches if (one.min_isr is None) is unknown] for unknown in (False, True))
            unseen = sum(_unseen(states, past.last[0]))
            found += [_row(key, alike, unseen) for alike in of_both if alike]
    return tuple(sorted(found, key=lambda row: (row.min_isr is None, -row.milliseconds, row.topic, row.partition)))


def _stretches(states: Sequence[StateRow], overrides: Sequence[Overrides], settings: Settings, end: int) -> Iterator[_Stretch]:
    """Merge consecutive states with a lone leader into one period, also across a change of settings.

    Known and unknown states are separate periods; so are those before and after a gap in the history.
    """
    pending: _Stretch | None = None
    for at, row in enumerate(states):
        last = at + 1 == len(states)
        until = max(end if last else states[at + 1].time, row.time) if row.until is None else row.until
        alone = _alone(row)
        least = _min_isr(row, overrides, settings) if alone else None
        counts = alone and (least is None or least <= 1)
        seen = at == 0 or states[at - 1].until is None
        if pending is not None and counts and seen and (pending.min_isr is None) == (least is None):
            pending = pending._replace(until=until, open=last)
            continue
        if pending is not None:
            yield pending
        pending = _Stretch(row.time, until, last, None if least is None else str(least), row.proof) if counts else None
    if pending is not None:
        yield pending


def _unseen(states: Sequence[StateRow], end: int) -> Iterator[int]:
    """Yield milliseconds with an unknown number of in-sync replicas."""
    for at, row in enumerate(states):
        if row.until is not None:
            yield max(0, (states[at + 1].time if at + 1 < len(states) else end) - row.until)


def _alone(row: StateRow) -> bool:
    """Return whether the leader was the only in-sync replica."""
    return not row.deleted and row.leader is not None and row.isr is not None and len(row.isr) == 1


def _min_isr(row: StateRow, overrides: Sequence[Overrides], settings: Settings) -> int | None:
    """Return the leader's effective min.insync.replicas; ``None`` when unknown."""
    own = _then(overrides, row.time)
    if own is not None and _KEY in own:
        return Setting(own[_KEY], TOPIC).number
    if own is not None:
        return settings.of_broker(_KEY, row.leader).number
    return settings.of_topic(_KEY, topic=row.topic, broker=row.leader).number


def _then(overrides: Iterable[Overrides], time: int) -> Mapping[str, str] | None:
    """Return a topic's overrides at that time; ``None`` when not in the history."""
    known = [one for one in overrides if one.time <= time]
    return known[-1].config if known else None


def _row(key: Key, stretches: Sequence[_Stretch], unseen: int) -> IsrAlone:
    first, last = stretches[0], stretches[-1]
    known = sum(stretch.until - stretch.since for stretch in stretches)
    return IsrAlone(
        topic=key[0],
        partition=key[1],
        milliseconds=known,
        at_most=known + unseen,
        times=len(stretches),
        first=first.since,
        last=last.until,
        open=last.open,
        min_isr=", ".join(dict.fromkeys(stretch.min_isr for stretch in stretches if stretch.min_isr)) or None,
        proof=first.proof,
    )
