"""Cases of clusters that never were: brokers that come and go, what becomes of their partitions, and the logs of it, all drawn."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from casebook.facts.proofs import ZNODES
from casebook.facts.znodes import Stat, Znode
from casebook.formats.zookeeper import znode_lines
from tests.case_copies import CaseCopy, packed
from tests.evidence import override, rows, state, state_path, znode
from tests.unreadable.matrix import SAMPLES

COLLECTED = 1_795_267_691_808
"""2026-11-21 13:28:11.808 UTC; milliseconds."""
HOUR = 3_600_000
_BEGINS = COLLECTED - HOUR + 60_000
"""When the topics are there."""
OFFSETS = "__consumer_offsets"
TOPICS = ("orders", OFFSETS)
_SERVER, _STATES = "(kafka.server.KafkaServer)", "(state.change.logger)"
_LOADER, _LISTENER = "(kafka.coordinator.GroupMetadataManager)", "(kafka.controller.ReplicaStateMachine$BrokerChangeListener)"


class _Partition:
    """As its znode has it: who leads, who is in sync, how often and when it was written."""

    def __init__(self, replicas: list[int]) -> None:
        self.replicas, self.leader, self.isr, self.epoch, self.written = replicas, replicas[0], list(replicas), 0, _BEGINS
        self.version, self.controller_epoch = 0, 1

    def write(self, leader: int | None, isr: list[int], at: int, by: int) -> None:
        self.epoch += leader != self.leader
        self.controller_epoch = by
        self.leader, self.isr, self.written, self.version = leader, isr, at, self.version + 1


class DrawnCase:
    """A cluster of 0.9.0.1: one controller, brokers that start, stop and are killed, elections, loads, a cleaner that dies.

    Args:
        seed: Draws all of it, and which of the logs are there.
    """

    def __init__(self, seed: int) -> None:
        self._random = random = Random(seed)
        self._brokers = range(1, random.randint(3, 6))
        self._up = {broker: COLLECTED - HOUR + 700 * broker for broker in self._brokers}
        self._lines: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
        self._partitions = {
            (topic, number): _Partition(random.sample(self._brokers, random.randint(1, min(3, len(self._brokers)))))
            for topic in TOPICS
            for number in range(random.randint(1, 5))
        }
        self._unclean = random.random() < 0.3
        self._controller, self._epoch = 1, 1
        self._play()

    def _play(self) -> None:
        random = self._random
        for broker, at in self._up.items():
            self._starts(broker, at)
        at = _BEGINS
        while (at := at + random.randint(2000, HOUR // 4)) < COLLECTED - 60_000:
            broker = random.choice(self._brokers)
            if broker in self._up:
                self._ends(broker, at)
                if random.random() < 0.5:
                    self._print(broker, "server", at - 900, f"INFO [Kafka Server {broker}], shutting down {_SERVER}")
                    self._print(broker, "server", at - 5, f"INFO [Kafka Server {broker}], shut down completed {_SERVER}")
            else:
                self._up[broker] = at
                self._starts(broker, at)
            self._elect(broker, at + 300)
            if random.random() < 0.1:
                self._print(broker, "log-cleaner", at, "ERROR [kafka-log-cleaner-thread-0], Error due to  (kafka.log.LogCleaner)")

    def _starts(self, broker: int, at: int) -> None:
        self._print(broker, "server", at - 2000, f"INFO starting {_SERVER}")
        self._print(broker, "log-cleaner", at - 900, "INFO [kafka-log-cleaner-thread-0], Starting  (kafka.log.LogCleaner)")
        self._print(broker, "server", at + 90, f"INFO [Kafka Server {broker}], started {_SERVER}")

    def _ends(self, broker: int, at: int) -> None:
        del self._up[broker]
        for (of, _), lines in self._lines.items():
            if of == broker:
                lines[:] = [line for line in lines if line[0] < at]

    def _elect(self, broker: int, at: int) -> None:
        """What the controller makes of a broker that came or went.

        Rule: the first replica that is in sync and lives, else any that lives, where that is allowed; where none is, it writes that
        there is no leader, unless it has only just become controller (``KafkaController.scala@0.9.0.1``).
        """
        if not self._up:
            return
        anew = self._controller not in self._up
        if anew:
            self._controller, self._epoch = self._random.choice(sorted(self._up)), self._epoch + 1
        else:
            self._see(broker, at - 60)
        for (topic, number), partition in self._partitions.items():
            changed = f"TRACE Controller {self._controller} epoch {self._epoch} changed partition [{topic},{number}] from"
            lost = partition.leader is not None and partition.leader not in self._up
            if lost and not anew:
                self._print(self._controller, "state-change", at - 50, f"{changed} OnlinePartition to OfflinePartition {_STATES}")
            alive = [broker for broker in partition.replicas if broker in self._up]
            isr = [broker for broker in alive if broker in partition.isr] or alive[: int(self._unclean)]
            if isr and (lost or partition.leader is None):
                partition.write(isr[0], isr, at, self._epoch)
                text = f"{changed} OfflinePartition to OnlinePartition with leader {isr[0]} {_STATES}"
                self._print(self._controller, "state-change", at, text)
                self._tell(topic, number, partition, at + 9)
            elif lost and not anew:
                partition.write(None, [] if self._unclean else partition.isr, at, self._epoch)
            elif isr and len(isr) < len(partition.isr):
                partition.write(partition.leader, isr, at, self._epoch)
            if isr and len(alive) > len(isr):
                partition.write(partition.leader, alive, at + 500, self._epoch)

    def _see(self, broker: int, at: int) -> None:
        added, deleted = (broker, "") if broker in self._up else ("", broker)
        listener, live = f"[BrokerChangeListener on Controller {self._controller}]:", ",".join(map(str, sorted(self._up)))
        text = f"Newly added brokers: {added}, deleted brokers: {deleted}, all live brokers: {live} {_LISTENER}"
        self._print(self._controller, "controller", at, f"INFO {listener} {text}")

    def _tell(self, topic: str, number: int, partition: _Partition, at: int) -> None:
        for broker in partition.isr:
            role = "leader" if broker == partition.leader else "follower"
            text = f"from controller {self._controller} epoch {self._epoch} starting the become-{role} transition for partition"
            text = f"handling LeaderAndIsr request correlationId 7 {text} [{topic},{number}]"
            self._print(broker, "state-change", at, f"TRACE Broker {broker} {text} {_STATES}")
        if topic == OFFSETS:
            self._load(partition.leader, number, at + 9)

    def _load(self, broker: int, number: int, at: int) -> None:
        by, place = f"[Group Metadata Manager on Broker {broker}]:", f"[{OFFSETS},{number}]"
        self._print(broker, "server", at, f"INFO {by} Loading offsets and group metadata from {place} {_LOADER}")
        took, way = self._random.choice((3, 900, 400_000)), self._random.random()
        if way < 0.7:
            self._print(
                broker, "server", at + took, f"INFO {by} Finished loading offsets from {place} in {took} milliseconds. {_LOADER}"
            )
        elif way < 0.8:
            self._print(broker, "server", at + took, f"ERROR {by} Error in loading offsets from {place} {_LOADER}")

    def _print(self, broker: int, log: str, at: int, text: str) -> None:
        if at < COLLECTED:
            self._lines[broker, log].append((at, text))

    @property
    def offline(self) -> int:
        """Partitions without a leader that lives, when all was collected."""
        return sum(partition.leader not in self._up for partition in self._partitions.values())

    def write(self, folder: Path) -> Path:
        """The case, in a new folder: of a shipped one it has the manifest, and nothing else."""
        copy = CaseCopy(SAMPLES / "leader_minus_one", folder)
        for path in copy.paths:
            copy.remove(path)
        copy.manifest |= {"redacted": [], "collected_at": datetime.fromtimestamp(COLLECTED / 1000, UTC).isoformat()}
        copy.store(ZNODES, packed("".join(f"{znode_lines.encode(one)}\n" for one in self._znodes()).encode()))
        for (broker, log), lines in self._lines.items():
            if self._random.random() < 0.8:
                copy.store(f"brokers/{broker}/logs/{log}.log", "".join(_written(lines)).encode())
        return copy.done()

    def _znodes(self) -> Iterable[Znode]:
        allowed = str(self._unclean).lower()
        topics = defaultdict(dict)
        extra = [znode("/controller_epoch", str(self._epoch))]
        for broker, at in self._up.items():
            told = {"version": 2, "host": "h", "port": 9092, "endpoints": [], "timestamp": str(at)}
            extra.append(znode(f"/brokers/ids/{broker}", told, stat=Stat(ctime=at + 4)))
        extra += [override(topic, unclean_leader_election_enable=allowed) for topic in TOPICS]
        for (topic, number), at in self._partitions.items():
            content = state(
                -1 if at.leader is None else at.leader, at.isr, leader_epoch=at.epoch, controller_epoch=at.controller_epoch
            )
            topics[topic][number] = at.replicas, content
            extra.append(znode(state_path(topic, number), content, stat=Stat(mtime=at.written, version=at.version)))
        walked = rows(live=self._up, topics=topics, controller=self._controller if self._up else None, extra=extra)
        return [one._replace(read_at=COLLECTED) for one in walked]


def _written(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """A log; in the order of time, as one process writes it."""
    for at, text in sorted(lines):
        yield f"[{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S},{at % 1000:03d}] {text}\n"
