"""Replica map: partitions by brokers, a glyph for each replica's role.

Equal rows are merged, so the map works for 100,000 partitions; healthy partitions are counted, not drawn.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.findings import words
from casebook.kafka.partitions import ids
from casebook.kafka.verdict import OFFLINE, ONLINE, PartitionCondition, Verdict
from casebook.page.render import render
from casebook.questions.leadership.analysis.leadership import Leadership

MOST_ROWS = 40
_ALL_BROKERS, _SOME_BROKERS = 12, 7  # up to the first number all are drawn, beyond it only the second

_SHORT = 10
"""Position of partitions that only lack replicas, among a moment's headings."""

LEADER, IN_SYNC, OUT_OF_SYNC, DEAD_IN_SYNC, DEAD_LEADER, DEAD, NONE = (
    "leader",
    "in-sync",
    "out",
    "dead-in-sync",
    "dead-leader",
    "dead",
    "",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRow:
    """Partitions with equal rows.

    Args:
        group: Heading.
        name: The first of them.
        alike: Number of partitions.
        glyphs: A role by broker, in the order of the map's brokers.
        said: What blocks or affects them.
    """

    group: str
    name: str
    alike: int
    glyphs: tuple[str, ...]
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Differences of a map at a hypothetical moment.

    Args:
        stopped: Brokers that would be stopped intentionally, among the dead ones.
        headings: Heading of a partition by topic and number, in order; all others only lack replicas.
        takeaway: Bold text above it.
    """

    stopped: frozenset[int]
    headings: Mapping[tuple[str, int], tuple[int, str]]
    takeaway: str


def replica_map(lead: Leadership, *, moment: Moment | None = None) -> Markup:
    """Return the map as HTML.

    Args:
        moment: Hypothetical moment; ``None`` for the evidence.
    """
    ailing = [v for v in lead.verdicts if _ails(v)]
    brokers = _brokers(lead, ailing)
    rows = _rows(lead, ailing, brokers, moment)
    offline, deleting = sum(v.state in OFFLINE for v in ailing), sum(v.state is PartitionCondition.DELETING for v in ailing)
    return render(
        "replica_map",
        brokers=[(b, b in lead.dead, "stopped" if moment and b in moment.stopped else "dead") for b in brokers],
        takeaway=moment.takeaway if moment else None,
        hidden=len({*lead.cluster.live, *lead.dead}) - len(brokers),
        groups=_grouped(rows[:MOST_ROWS]),
        shown=min(len(rows), MOST_ROWS),
        total=len(rows),
        offline=offline,
        short=sum(v.state in ONLINE for v in ailing),
        deleting=deleting,
        others=sum(v.state in (PartitionCondition.UNINITIALISED, PartitionCondition.UNKNOWN) for v in ailing),
        healthy=len(lead.verdicts) - len(ailing),
        partitions=len(lead.verdicts),
    )


def _ails(verdict: Verdict) -> bool:
    return verdict.state is not PartitionCondition.ONLINE or bool(verdict.under_replicated) or bool(verdict.under_min_isr)


def _brokers(lead: Leadership, ailing: Iterable[Verdict]) -> list[int]:
    """Return all brokers in order; on a large cluster the dead ones, then those with most affected partitions."""
    known = sorted({*lead.cluster.live, *lead.dead})
    if len(known) <= _ALL_BROKERS:
        return known
    held = defaultdict(int)
    for verdict in ailing:
        for broker in verdict.replicas:
            held[broker] += 1
    ranked = sorted(known, key=lambda b: (b not in lead.dead, -held[b], b))
    return sorted(ranked[:_SOME_BROKERS], key=lambda b: (b not in lead.dead, b))


def _rows(lead: Leadership, ailing: Iterable[Verdict], brokers: Sequence[int], moment: Moment | None) -> list[MapRow]:
    alike: dict[tuple, list[Verdict]] = defaultdict(list)
    for verdict in ailing:
        order, group = _group(verdict, lead) if moment is None else _group_then(verdict, moment)
        key = (order, group, tuple(_glyph(verdict, b, lead) for b in brokers), _problem(verdict))
        alike[key].append(verdict)
    found = [
        (order, MapRow(group=group, name=f"{vs[0].topic}-{vs[0].partition}", alike=len(vs), glyphs=glyphs, said=said))
        for (order, group, glyphs, said), vs in alike.items()
    ]
    return [row for _, row in sorted(found, key=lambda item: (item[0], item[1].group, -item[1].alike, item[1].name))]


def _group(verdict: Verdict, lead: Leadership) -> tuple[tuple[int, int], str]:
    """Return a partition's heading: the broker that heals it, in start order."""
    if verdict.state in OFFLINE:
        for position, choice in enumerate(c for c in lead.start_first if c.chosen):
            if choice.broker in verdict.waits_for:
                return (0, position), f"Starting broker {choice.broker} heals {('these' if not position else 'these next')}"
        return (1, 0), "Starting a known broker heals none of these" if verdict.rule not in ("R2", "R8") else "Election is due"
    if verdict.state in (PartitionCondition.ONLINE, PartitionCondition.REASSIGNING):
        return (5, 0), "Online, replicas missing" if verdict.state is PartitionCondition.ONLINE else "Being reassigned"
    return (3, 0), {PartitionCondition.DELETING: "Being deleted", PartitionCondition.UNINITIALISED: "Never initialised"}.get(
        verdict.state, "Not known"
    )


def _group_then(verdict: Verdict, moment: Moment) -> tuple[tuple[int, int], str]:
    """Return a partition's heading at a hypothetical moment."""
    order, heading = moment.headings.get((verdict.topic, verdict.partition), (_SHORT, "Online, replicas missing"))
    return (order, 0), heading


def _glyph(verdict: Verdict, broker: int, lead: Leadership) -> str:
    in_sync = broker in (verdict.isr or ())
    dead = broker in lead.dead
    if broker == verdict.leader:
        return DEAD_LEADER if dead else LEADER
    if in_sync:
        return DEAD_IN_SYNC if dead else IN_SYNC
    if broker in verdict.replicas:
        return DEAD if dead else OUT_OF_SYNC
    return NONE


def _problem(verdict: Verdict) -> str:
    if verdict.state in OFFLINE:
        if len(verdict.waits_for) > 1:
            return f"{' or '.join(map(str, verdict.waits_for))} must start"
        return f"{ids(verdict.waits_for)} must start" if verdict.waits_for else f"{verdict.rule}"
    if verdict.state is PartitionCondition.UNINITIALISED:
        return f"{' or '.join(map(str, verdict.waits_for))} must start" if verdict.waits_for else "no state"
    if verdict.state is PartitionCondition.DELETING:
        return "waits for its brokers"
    if verdict.state is PartitionCondition.UNKNOWN:
        return "? unknown"
    if verdict.under_min_isr:
        return f"under min ISR {verdict.min_isr}"
    missing = len(verdict.replicas) - len(verdict.isr or ())
    return f"{words.plural(missing, 'replica')} missing" if missing > 0 else "moving"


def _grouped(rows: Iterable[MapRow]) -> list[tuple[str, list[MapRow]]]:
    groups: dict[str, list[MapRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return list(groups.items())
