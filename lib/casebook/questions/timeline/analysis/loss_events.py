"""Event that a leader change belongs to, in a few words, and lost records by event."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.losses import LeaderChange, LostCount
from casebook.findings.words import capitalised, count, plural
from casebook.questions.timeline.analysis.causal_chain import Chain, Root
from casebook.questions.timeline.analysis.causes.roots import likeliest

MOST_EVENTS = 6
"""Maximum number of named events."""
SLACK = 2000
"""Milliseconds by which an election may be outside its chain: clocks of brokers differ."""
_LOST = ("broker_lost", "broker_stopped", "disk_failed")
_ROOTS = {
    "frozen": "broker {broker} was paused",
    "gc": "long GC pause of broker {broker}",
    "network": "broker {broker} was cut off",
    "zookeeper": "ZooKeeper was slow or unavailable for broker {broker}",
    "killed": "broker {broker} was killed",
    "stopped": "broker {broker} was stopped",
    "disk": "broker {broker} lost a disk",
}
"""Wording by kind of a chain's root."""


class EventCount(NamedTuple):
    """Losses of an event.

    Args:
        event: In a few words; several, with *or* between them, when undecided.
        records: Number of records.
        certain: Whether the event is certain.
    """

    event: str
    records: int
    certain: bool


def named(
    changes: Iterable[LeaderChange], cluster: Cluster, chains: Sequence[Chain], roots: Sequence[Root], told: Collection[int]
) -> tuple[LeaderChange, ...]:
    """Return the changes with the words for their event.

    Args:
        changes: Leader changes.
        cluster: Cluster with preferred leaders.
        chains: Chains of the timeline.
        roots: Root candidates of each chain, likeliest first.
        told: Brokers with own logs.
    """
    preferred = {(p.topic, p.partition): p.replicas[0] for p in cluster.partitions if p.replicas}
    words = {
        place: _of_chain(chain, [root for root in roots if root.chain == place], is_told=chain.broker in told)
        for place, chain in enumerate(chains)
    }
    return tuple(change._replace(event=_event(change, preferred, chains, words)) for change in changes)


def _event(change: LeaderChange, preferred: Mapping, chains: Sequence[Chain], words: Mapping[int, str]) -> str:
    old = change.old_leader
    for place, chain in enumerate(chains):
        if chain.kind in _LOST and chain.broker == old and _within(chain, change.opened):
            return words[place]
    if change.disk:
        return f"broker {old} lost a disk"
    if change.unclean:
        return f"unclean election of broker {change.new_leader}"
    if change.planned:
        back = preferred.get((change.topic, change.partition)) == change.new_leader
        return "preferred election" if back else f"planned move from broker {old}"
    return f"broker {old} was replaced"


def _within(chain: Chain, at: int) -> bool:
    return chain.opened is not None and chain.opened - SLACK <= at <= (chain.closed or chain.opened) + SLACK


def _of_chain(chain: Chain, candidates: Sequence[Root], *, is_told: bool) -> str:
    """Return the likeliest root; only the certain part, if undecided or without the broker's own log."""
    root = likeliest(candidates) if is_told else None
    if root is not None and root.kind in _ROOTS:
        return _ROOTS[root.kind].format(broker=chain.broker)
    stopped = chain.kind == "broker_stopped"
    return f"broker {chain.broker} was stopped" if stopped else f"broker {chain.broker} lost its session"


def counted(counts: Iterable[LostCount], changes: Iterable[LeaderChange]) -> tuple[EventCount, ...]:
    """Return lost records by event, most first; ambiguous ones separate.

    Args:
        counts: Lost records.
        changes: Changes by number.
    """
    events = {change.number: change.event for change in changes}
    found: Counter[tuple[str, ...]] = Counter()
    for row in counts:
        if row.cause is not None and row.change is not None:
            took = row.either or (row.change,)
            found[tuple(dict.fromkeys(filter(None, map(events.get, took))))] += row.records
    rows = (EventCount(" or ".join(which), records, len(which) == 1) for which, records in found.items() if which)
    return tuple(sorted(rows, key=lambda row: (-row.records, row.event)))


def line(rows: Sequence[EventCount]) -> str:
    """``broker 57 was paused: 1,168 records; preferred election: 2 records``; ``""`` without any."""
    told = [f"{'' if row.certain else 'either '}{row.event}: {plural(row.records, 'record')}" for row in rows[:MOST_EVENTS]]
    rest = rows[MOST_EVENTS:]
    return "; ".join((*told, f"{count(len(rest))} other events: {count(sum(row.records for row in rest))}") if rest else told)


def sentence(events: Sequence[EventCount], counts: Sequence[LostCount]) -> str:
    """List losses by event, one per line; and how many may belong to another window."""
    if not events:
        return ""
    either = sum(row.records for row in counts if row.either)
    could = f" {count(either)} of these could belong to more than one window." if either else ""
    return f"{capitalised(line(events))}.{could}"
