"""A stage on which every kill and every start is predicted before it happens, and compared with what it came to."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from casebook.errors import RehearsalError
from casebook.kafka.controller import ElectionOutcome, after_sessions_end, after_start
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.topics import Partition
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase
from tests.rehearsal import kafka_tools

Outcomes = Mapping[Partition, frozenset[ElectionOutcome | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What was predicted for an event, and which partitions ZooKeeper showed otherwise."""

    event: str
    partitions: int
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What ``kafka-topics --describe`` printed, and what ZooKeeper held then; what other tools printed, and bytes of segments by broker and folder."""

    printed: str
    states: Outcomes
    others: tuple[str, ...] = ()
    sizes: Mapping[tuple[int, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictingStage(Stage):
    """Topics and their settings are remembered when created, as an analysis reads them from the topics' znodes.

    A slotted dataclass is made anew by its decorator, so ``super()`` without arguments does not find it.
    """

    predictions: list[Prediction] = field(default_factory=list)
    described: dict[str, Described] = field(default_factory=dict)
    _replicas: dict[Partition, tuple[int, ...]] = field(default_factory=dict)
    _unclean: set[str] = field(default_factory=set)
    _killed: dict[int, tuple[int | None, dict[Partition, ElectionOutcome]]] = field(default_factory=dict)

    def create_topics(
        self, cluster: PlayedCluster, partitions: Iterable[Expected], settings: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        rows = tuple(partitions)
        Stage.create_topics(self, cluster, rows, settings)
        self._replicas.update({(row.topic, row.partition): row.replicas for row in rows})
        self._unclean.update(
            t for t, config in (settings or {}).items() if config.get("unclean.leader.election.enable") == "true"
        )

    def kill(self, cluster: PlayedCluster, *brokers: int) -> None:
        self._killed.update(dict.fromkeys(brokers, (cluster.controller(), _states(cluster))))
        Stage.kill(self, cluster, *brokers)

    def gone(self, cluster: PlayedCluster, *brokers: int) -> None:
        controller, states = self._killed[brokers[-1]]
        live = frozenset(cluster.ids) - {b for b in cluster.ids if not cluster.running(b)}
        predicted = {
            partition: after_sessions_end(
                state=state,
                replicas=self._replicas[partition],
                live=live,
                dead=frozenset(brokers),
                unclean=partition[0] in self._unclean,
                version=KafkaVersion.parse(cluster.kafka),
                controller=controller,
            )
            for partition, state in states.items()
        }
        Stage.gone(self, cluster, *brokers)
        self._compare(cluster, f"death of {brokers}", predicted, leaving=frozenset(brokers), before=states)

    def start(self, cluster: PlayedCluster, *brokers: int) -> None:
        deleting = cluster.deleting()
        live = cluster.registered() | set(brokers)
        predicted = {
            partition: frozenset(
                {
                    after_start(
                        state=state,
                        replicas=self._replicas[partition],
                        live=live,
                        started=frozenset(brokers),
                        unclean=partition[0] in self._unclean,
                        version=KafkaVersion.parse(cluster.kafka),
                    )
                }
            )
            for partition, state in _states(cluster).items()
            if partition[0] not in deleting
        }
        Stage.start(self, cluster, *brokers)
        self._compare(cluster, f"start of {brokers}", predicted, joining=frozenset(cluster.ids))

    def expect(self, name: str, cluster: PlayedCluster, phase: Phase, **more: object) -> None:
        Stage.expect(self, name, cluster, phase, **more)
        if phase.dead:
            printed, states = kafka_tools.describe_topics(cluster), _states(cluster)
            others = _others(cluster) if self.verify else ()
            self.described[name] = Described(printed=printed, states=states, others=others, sizes=_sizes(cluster))

    def _compare(
        self,
        cluster: PlayedCluster,
        event: str,
        predicted: Outcomes,
        *,
        joining: frozenset[int] = frozenset(),
        leaving: frozenset[int] = frozenset(),
        before: Mapping[Partition, ElectionOutcome] | None = None,
    ) -> None:
        def wrong() -> dict[Partition, str]:
            found = _states(cluster)
            return {
                partition: f"{partition}: {found.get(partition)} is none of {outcomes}"
                for partition, outcomes in predicted.items()
                if not any(_alike(found.get(partition), outcome, joining, leaving) for outcome in outcomes)
                and not (leaving and _dropped_by_leader(cluster, partition, found.get(partition), before))
            }

        with suppress(RehearsalError):
            cluster.wait_until(lambda: not wrong(), what="the prediction")
        self.predictions.append(Prediction(event=event, partitions=len(predicted), wrong=tuple(wrong().values())))


def _others(cluster: PlayedCluster) -> tuple[str, ...]:
    """Each with its command, as people paste it."""
    return (
        f"$ echo dump | nc zk1 2181\n{kafka_tools.four_letter_word(cluster, 'dump')}\n",
        f"$ kafka-configs.sh --describe --entity-type topics\n{kafka_tools.describe_configs(cluster)}\n",
        f"$ kafka-log-dirs.sh --describe\n{kafka_tools.describe_log_dirs(cluster)}\n",
    )


def _sizes(cluster: PlayedCluster) -> dict[tuple[int, str], int]:
    folders = ((broker, folder) for broker in cluster.ids for folder in cluster.log_dir(broker).iterdir() if folder.is_dir())
    return {(broker, folder.name): sum(log.stat().st_size for log in folder.glob("*.log")) for broker, folder in folders}


def _states(cluster: PlayedCluster) -> dict[Partition, ElectionOutcome]:
    return {
        partition: ElectionOutcome(
            leader=None if state["leader"] == -1 else state["leader"],
            isr=tuple(state["isr"]),
            leader_epoch=state["leader_epoch"],
            recovering=state.get("leader_recovery_state") == 1,
        )
        for partition, state in cluster.states().items()
    }


def _dropped_by_leader(
    cluster: PlayedCluster, partition: Partition, found: ElectionOutcome | None, before: Mapping[Partition, ElectionOutcome]
) -> bool:
    """Whether the leader took the dead out of the ISR before the controller heard of them, as its log must then say.

    The controller finds nothing left to do and raises no epoch. A follower lags after as many seconds as a session expires in,
    so either may be first.
    """
    state = before[partition]
    if found is None or found.leader is None or found != replace(state, isr=found.isr) or not set(found.isr) < set(state.isr):
        return False
    name, number = partition
    said = f"to {','.join(map(str, found.isr))}"
    return any(
        "Shrinking ISR" in line and said in line and (f"[{name},{number}]" in line or f"{name}-{number} " in line)
        for path in cluster.log_files(found.leader)
        for line in path.read_text(errors="replace").splitlines()
    )


def _alike(
    found: ElectionOutcome | None, predicted: ElectionOutcome | None, joining: frozenset[int], leaving: frozenset[int]
) -> bool:
    """Equal as far as the controller decides.

    A living leader takes those who come back into its ISR by itself, and drops the dead whom the controller has left in
    it; neither raises the leader epoch.
    """
    if found is None or predicted is None:
        return found is predicted
    if predicted.leader is not None and found == replace(predicted, isr=tuple(b for b in predicted.isr if b not in leaving)):
        return True
    decided = tuple(broker for broker in found.isr if broker in predicted.isr or broker not in joining)
    return replace(found, isr=decided) == predicted
