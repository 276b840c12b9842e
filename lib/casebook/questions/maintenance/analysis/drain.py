"""A drain with its plan, way back, quick variant, and the files and commands for each step."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, replica_bytes
from casebook.kafka.commands import Commands
from casebook.kafka.drain import DrainPlan, DrainStep, NewAssignment, Place, Wanted, plan, reassignment
from casebook.kafka.partitions import is_reassigning
from casebook.questions.maintenance.analysis.evacuation import Evacuation, evacuate

_UNTIL = "# repeat until nothing is in progress"
LEADERS, LEADERS_BACK, ELECTION = "leaders.json", "leaders-rollback.json", "election.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRow:
    """A row of ``tables/drain_plan``: a partition of a step.

    Columns:
        step: Counted from 1; each waits for the end of the previous one.
        topic: Topic name.
        partition: Partition number.
        from_replicas: Assignment before; for a running reassignment its target.
        to_replicas: Assignment after, the preferred leader first.
        bytes: To be copied; null when the size of a replica is unknown.
        leader_after: Leader after its end.
    """

    step: int
    topic: str
    partition: int
    from_replicas: tuple[int, ...]
    to_replicas: tuple[int, ...]
    bytes: int | None
    leader_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """A drain of brokers.

    Args:
        wanted: Parameters.
        plan: Steps, and blocked partitions.
        evacuation: Moves of leadership alone.
        commands: Commands of this release.
        throttle: Bytes per second and broker; ``None`` when not given or not supported by the release.
        running: Partitions already under reassignment.
        dead: Drained brokers that are not registered.
        doubt: Why they may have more or fewer partitions than in the evidence; empty without doubt.
    """

    wanted: Wanted
    plan: DrainPlan
    evacuation: Evacuation
    commands: Commands
    throttle: int | None
    running: int
    dead: tuple[int, ...]
    doubt: str

    @property
    def bytes(self) -> int:
        """Bytes to copy, as far as known."""
        return sum(step.size for step in self.plan.steps)

    @property
    def unsized(self) -> int:
        """Number of replicas to copy with an unknown size."""
        return sum(step.unknown for step in self.plan.steps)

    @property
    def copied(self) -> int:
        """Number of replicas to copy."""
        return sum(len(move.added) for move in self.plan.moves)

    def seconds(self, step: DrainStep) -> float | None:
        """Return the copy time of a step at the throttle; ``None`` without one, or when a replica's size is unknown."""
        return None if self.throttle is None or step.unknown else step.seconds(self.throttle)

    @property
    def rows(self) -> tuple[DrainRow, ...]:
        """All moves by step."""
        return tuple(_row(step.number, move) for step in self.plan.steps for move in step.moves)

    def file(self, step: DrainStep, *, back: bool = False) -> str:
        """Return the file name of a step."""
        digits = len(str(len(self.plan.steps)))
        return f"step-{step.number:0{digits}d}{'-rollback' if back else ''}.json"

    def one_way(self, step: DrainStep) -> bool:
        """Return whether a step is irreversible: it removes replicas from dead brokers, and the tool cannot add them back."""
        return any(not set(self.dead).isdisjoint(move.from_replicas) for move in step.moves)

    def files(self) -> Mapping[str, str]:
        """Return every file of the plan by name: steps, their way back if any, leadership alone, commands."""
        found = {}
        for step in self.plan.steps:
            found[self.file(step)] = _json(reassignment(step.moves))
            if not self.one_way(step):
                found[self.file(step, back=True)] = _json(reassignment(step.moves, back=True))
        turned = [one for one in self.evacuation.turned if one.from_replicas != one.to_replicas]
        if self.evacuation.turned:
            named = [{"topic": one.topic, "partition": one.partition} for one in self.evacuation.turned]
            found[ELECTION] = _json({"partitions": named})
        if turned:
            found[LEADERS] = _json(reassignment(turned))
            found[LEADERS_BACK] = _json(reassignment(turned, back=True))
        if found:
            found["commands.txt"] = "\n".join((*self._lines(turns=bool(turned)), ""))
        return found

    def step_commands(self, step: DrainStep, *, back: bool = False) -> tuple[str, str]:
        """Return the commands to start a step, and to check its completion."""
        file = self.file(step, back=back)
        additional = step.number == 1 and bool(self.running)
        return self.commands.execute(file, throttle=self.throttle, additional=additional), self.commands.verify(file)

    def leader_commands(self) -> tuple[str, ...]:
        """Return the commands for leadership alone: new orders where needed, and the election."""
        if not self.evacuation.turned:
            return ()
        turns = any(one.from_replicas != one.to_replicas for one in self.evacuation.turned)
        order = (self.commands.execute(LEADERS, additional=bool(self.running)), self.commands.verify(LEADERS)) if turns else ()
        return (*order, self.commands.elect(ELECTION))

    def _lines(self, *, turns: bool) -> Iterator[str]:
        yield f"# Kafka {self.commands.version}. Replace HOST with one of your brokers. Nothing was sent to the cluster."
        for step in self.plan.steps:
            back = "None: the broker is dead" if self.one_way(step) else self.file(step, back=True)
            yield f"\n# Step {step.number} of {len(self.plan.steps)}. Rollback: {back}"
            execute, verify = self.step_commands(step)
            yield execute
            yield f"{verify}   {_UNTIL}"
        if self.plan.steps:
            yield "\n# Before the next step and at the end: nothing may be listed here that was not listed before"
            yield self.commands.under_replicated()
        if self.evacuation.turned:
            yield "\n# In a hurry: move leadership alone instead, within seconds. The replicas stay where they are."
            if turns:
                order, verify, election = self.leader_commands()
                yield f"# Rollback: {LEADERS_BACK} and the election again."
                yield from (order, f"{verify}   {_UNTIL}; only then hold the election", election)
            else:
                yield from self.leader_commands()


def examine(
    cluster: Cluster, wanted: Wanted, commands: Commands, *, log_dirs: Iterable[LogDir] = (), throttle: int | None = None
) -> Drain:
    """Plan a drain.

    Args:
        log_dirs: Listed log dirs, for sizes.
        throttle: Bytes per second and broker.
    """
    return Drain(
        wanted=wanted,
        plan=plan(cluster, wanted, sizes(cluster, log_dirs)) if cluster.brokers_known else DrainPlan(),
        evacuation=evacuate(cluster, wanted.brokers & cluster.live) if cluster.brokers_known else Evacuation((), ()),
        commands=commands,
        throttle=throttle if commands.throttles else None,
        running=sum(is_reassigning(partition, cluster) for partition in cluster.partitions),
        dead=tuple(sorted(wanted.brokers - cluster.live)) if cluster.brokers_known else (),
        doubt=_doubt(cluster),
    )


def _doubt(cluster: Cluster) -> str:
    if not cluster.brokers_known:
        return "The registered brokers are unknown."
    if cluster.unlisted:
        return f"Some partitions may be missing. {cluster.unlisted[0].path}: {cluster.unlisted[0].reason}."
    under_way = (cluster.proofs.reassignment.label, cluster.proofs.deletions.label)
    if unread := [problem for problem in cluster.problems if problem.path in under_way]:
        return f"Running operations could not be read. {unread[0].path}: {unread[0].reason}."
    return ""


def sizes(cluster: Cluster, log_dirs: Iterable[LogDir]) -> dict[Place, int]:
    """Return the size of a replica: of the leader's copy, which is the source, else of the largest listed one."""
    leaders = {(p.topic, p.partition): p.state.leader for p in cluster.partitions if p.state is not None}
    found: dict[Place, tuple[bool, int]] = {}
    for (broker, *named), size in replica_bytes(cluster, log_dirs).items():
        place = tuple(named)
        found[place] = max(found.get(place, (False, 0)), (leaders.get(place) == broker, size))
    return {place: size for place, (_, size) in found.items()}


def _row(number: int, move: NewAssignment) -> DrainRow:
    return DrainRow(
        step=number,
        topic=move.topic,
        partition=move.partition,
        from_replicas=move.from_replicas,
        to_replicas=move.to_replicas,
        bytes=None if move.size is None else move.size * len(move.added),
        leader_after=move.leader_after,
    )


def _json(content: object) -> str:
    return json.dumps(content, indent=1) + "\n"
