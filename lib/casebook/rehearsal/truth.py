"""Actual actions of a rehearsal on the cluster, and the resulting expected findings.

Written by the acting script, never by the analysis under test. ``start_first`` counts the script's own rows; really starting the
brokers verifies the counts.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A partition after the script. Names are those of ``tables/partitions``.

    Args:
        replicas: Assignment in order.
        state: ``online``, ``leaderless``, ``leader_dead`` or ``deleting``.
        leader: ``None`` for -1, and when the script does not determine it; with ``leader_dead`` the named dead one.
        isr: In ascending order; ZooKeeper's own order is that of joining; ``None`` when the script does not determine it.
        waits_for: Dead brokers that would each bring the partition back by starting alone.
        unclean_winner: Stale live replica that an unclean election would choose, if allowed.
        unclean_loses: Number of acknowledged records that this election would lose.
        min_isr: Effective ``min.insync.replicas``.
        why: What happened to it, one sentence.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    state: str = "online"
    leader: int | None
    isr: tuple[int, ...] | None
    waits_for: tuple[int, ...] = ()
    unclean_winner: int | None = None
    unclean_loses: int | None = None
    min_isr: int = 1
    why: str

    @property
    def offline(self) -> bool:
        """Return whether it cannot be read or written."""
        return self.state in ("leaderless", "leader_dead")

    def as_json(self) -> dict[str, object]:
        """Return the row, with the implications for an online partition."""
        online = self.state == "online"
        return asdict(self) | {
            "under_replicated": len(self.isr) < len(self.replicas) if online else None,
            "under_min_isr": len(self.isr) < self.min_isr if online else None,
            "at_min_isr": len(self.isr) == self.min_isr if online else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One capture: live brokers, and every partition.

    Args:
        live: Registered brokers.
        dead: Unregistered brokers of the cluster.
        controller: Broker in ``/controller``; ``None`` when the script does not determine it.
    """

    live: tuple[int, ...]
    dead: tuple[int, ...] = ()
    controller: int | None = None
    partitions: tuple[Expected, ...]

    def as_json(self) -> dict[str, object]:
        """Return the phase, with the start order."""
        return {
            "live": self.live,
            "dead": self.dead,
            "controller": self.controller,
            "offline": sum(partition.offline for partition in self.partitions),
            "partitions": [partition.as_json() for partition in self.partitions],
            "start_first": start_first(self.partitions, self.dead),
        }


Replicas = tuple[int, ...]


def well(name: str, replicas: Replicas, *, min_isr: int = 1, why: str = "All its replicas are alive and in sync.") -> Expected:
    """Return a healthy partition: its preferred leader leads, and all replicas are in sync."""
    return kept(name, replicas, leader=replicas[0], isr=tuple(sorted(replicas)), min_isr=min_isr, why=why)


def kept(name: str, replicas: Replicas, *, leader: int, isr: Replicas, why: str, min_isr: int = 1) -> Expected:
    """Return a partition, ``topic-number``, with a leader."""
    topic, partition = _split(name)
    return Expected(topic=topic, partition=partition, replicas=replicas, leader=leader, isr=isr, min_isr=min_isr, why=why)


def lost(
    name: str,
    replicas: Replicas,
    *,
    isr: Replicas,
    why: str,
    waits_for: Replicas | None = None,
    named: int | None = None,
    stale: int | None = None,
    loses: int | None = None,
) -> Expected:
    """Return a partition, ``topic-number``, without a live leader.

    Args:
        waits_for: By default ``isr``.
        named: Dead leader that ZooKeeper still names.
        stale: Live replica that has fallen behind.
        loses: Number of acknowledged records that it lacks.
    """
    topic, partition = _split(name)
    return Expected(
        topic=topic,
        partition=partition,
        replicas=replicas,
        state="leaderless" if named is None else "leader_dead",
        leader=named,
        isr=isr,
        waits_for=isr if waits_for is None else waits_for,
        unclean_winner=stale,
        unclean_loses=loses,
        why=why,
    )


def deleting(name: str, replicas: Replicas, *, why: str) -> Expected:
    """Return a partition, ``topic-number``, with a pending deletion."""
    topic, partition = _split(name)
    return Expected(topic=topic, partition=partition, replicas=replicas, state="deleting", leader=None, isr=None, why=why)


def before(partitions: Iterable[Expected]) -> tuple[Expected, ...]:
    """Return the same partitions in their initial state."""
    return tuple(well(f"{row.topic}-{row.partition}", row.replicas, min_isr=row.min_isr) for row in partitions)


def after(partitions: Iterable[Expected]) -> tuple[Expected, ...]:
    """Return the same partitions after all brokers are back and have caught up; leaders are not determined."""
    staying = [row for row in partitions if row.state != "deleting"]  # now a deletion can complete
    return tuple(replace(row, leader=None, why="All its replicas are back in sync.") for row in before(staying))


def _split(name: str) -> tuple[str, int]:
    topic, _, partition = name.rpartition("-")
    return topic, int(partition)


def start_first(partitions: Iterable[Expected], dead: Collection[int]) -> list[dict[str, object]]:
    """Return rows of ``tables/start_first``: at each step every dead broker, and the one that heals most (lowest id on a tie)."""
    waiting = {(p.topic, p.partition): set(p.waits_for) for p in partitions if p.offline}
    left, rows = sorted(dead), []
    for step in range(1, len(left) + 1):
        heals = {broker: sum(broker in brokers for brokers in waiting.values()) for broker in left}
        best = max(left, key=heals.__getitem__)
        for broker in left:
            row = {"step": step, "broker": broker, "heals": heals[broker], "chosen": broker == best}
            rows.append(row | {"still_offline_after": len(waiting) - heals[broker]})
        left.remove(best)
        waiting = {partition: brokers for partition, brokers in waiting.items() if best not in brokers}
    return rows


@dataclass(slots=True, kw_only=True)
class Truth:
    """Record of one play, kept during its actions.

    Args:
        facts: Other facts by subject: the script's own actions, or measurements independent of the workbook.
    """

    incident: str
    kafka: str
    story: str
    actions: list[dict[str, str]] = field(default_factory=list)
    phases: dict[str, Phase] = field(default_factory=dict)
    verified: list[dict[str, object]] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)

    def acted(self, what: str) -> None:
        """Record an action at this moment, UTC."""
        self.actions.append({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "did": what})

    def write(self, path: Path) -> None:
        """Write the record as JSON."""
        phases: Mapping[str, object] = {name: phase.as_json() for name, phase in self.phases.items()}
        record = {"schema": SCHEMA, "incident": self.incident, "kafka": self.kafka, "story": self.story}
        record |= {"actions": self.actions, "phases": phases, "start_first_verified_by_starting": self.verified}
        record |= {"facts": self.facts} if self.facts else {}
        path.write_text(json.dumps(record, indent=1) + "\n")
