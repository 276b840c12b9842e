"""What ZooKeeper's history shows really happened: how long acks=all was acks=1, because the ISR was the leader alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.analysis.durability_rows import IsrAlone
from casebook.analysis.settings import Settings
from casebook.analysis.timeline_history import Key, Overrides, Past
from casebook.analysis.timeline_rows import StateRow
from casebook.facts import Cluster

_KEY = "min.insync.replicas"


class _Stretch(NamedTuple):
    """Time in which one replica was in sync, and that was enough."""

    since: int
    until: int
    open: bool
    min_isr: str
    proof: str


def isr_alone(past: Past, cluster: Cluster, settings: Settings) -> tuple[IsrAlone, ...]:
    """Every partition with more than one copy that had such times, longest first.

    Args:
        past: The history, replayed; one without a last transaction tells nothing.
        cluster: The assignments of now.
        settings: What counts where the history does not tell a topic's own settings.
    """
    if past.last is None:
        return ()
    copies = {(p.topic, p.partition): len(cluster.leads_to(p)) for p in cluster.partitions}
    found = []
    for key, states in past.states.items():
        if max(copies.get(key, 0), *(len(row.isr or ()) for row in states), 0) > 1:
            stretches = list(_stretches(states, past.overrides.get(key[0], ()), settings, past.last[0]))
            if stretches:
                found.append(_row(key, stretches))
    return tuple(sorted(found, key=lambda row: (-row.milliseconds, row.topic, row.partition)))


def _stretches(states: Sequence[StateRow], overrides: Sequence[Overrides], settings: Settings, end: int) -> Iterator[_Stretch]:
    """Consecutive states with a leader alone are one stretch, as is one that a change of settings goes through."""
    pending: _Stretch | None = None
    for at, row in enumerate(states):
        last = at + 1 == len(states)
        until = max(end, row.time) if last else max(states[at + 1].time, row.time)
        counted = _counted(row, overrides, settings)
        if counted is None:
            if pending is not None:
                yield pending
            pending = None
        elif pending is None:
            pending = _Stretch(row.time, until, last, counted, row.proof)
        else:
            pending = pending._replace(until=until, open=last)
    if pending is not None:
        yield pending


def _counted(row: StateRow, overrides: Sequence[Overrides], settings: Settings) -> str | None:
    """The min.insync.replicas that let a leader alone acknowledge; ``None`` where it was not alone, or not let."""
    if row.deleted or row.leader is None or row.isr is None or len(row.isr) != 1:
        return None
    own = _then(overrides, row.time)
    if own is not None and _KEY in own:
        text = own[_KEY].strip()
        return text if text.isdigit() and int(text) <= 1 else None
    if own is not None:
        setting = settings.of_broker(_KEY, row.leader)
    else:
        setting = settings.of_topic(_KEY, topic=row.topic, broker=row.leader)
    return str(setting.number) if setting.number is not None and setting.number <= 1 else None


def _then(overrides: Iterable[Overrides], time: int) -> Mapping[str, str] | None:
    """A topic's own settings at that time; ``None`` where the history does not tell them."""
    known = [one for one in overrides if one.time <= time]
    return known[-1].config if known else None


def _row(key: Key, stretches: Sequence[_Stretch]) -> IsrAlone:
    first, last = stretches[0], stretches[-1]
    return IsrAlone(
        topic=key[0],
        partition=key[1],
        milliseconds=sum(stretch.until - stretch.since for stretch in stretches),
        times=len(stretches),
        first=first.since,
        last=last.until,
        open=last.open,
        min_isr=", ".join(dict.fromkeys(stretch.min_isr for stretch in stretches)),
        proof=first.proof,
    )
