"""Incident D, the consumers: offsets committed before the work is done, and records that are never processed.

Five groups process the same topic, each in its own way, with a ledger of processed records. Two commit records on receipt, and
some of their work fails; the worker of one is killed while its client commits by a timer; one is set forward in one partition and
back in the other while it has no member. The last commits after processing: it is killed, too, and loses none.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.ledger import LedgerEntry, LedgerProducer, write_ledgers
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.processes import Guarded, Server
from casebook.rehearsal.servers.topics import Partition, label
from casebook.rehearsal.servers.worker import CommitWay, Job
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Phase, well

BROKERS = (1, 2)
CONTROLLER = 2
BROKER_SETTINGS = {"offsets.topic.num.partitions": "2", "group.initial.rebalance.delay.ms": "0"}
SETTINGS = {OFFSETS_TOPIC: {"cleanup.policy": "compact"}}
TOPIC = "orders"
PARTITIONS = ((TOPIC, 0), (TOPIC, 1))
RECORDS = 200
"""Records per partition."""
PRODUCER = "shop"
MAILING, BILLING, SHIPPING, BOOKKEEPING, REPORTING = "mailing", "billing", "shipping", "bookkeeping", "reporting"
WAYS = {
    MAILING: CommitWay.FIRST,
    BILLING: CommitWay.THREADS,
    SHIPPING: CommitWay.AUTOMATIC,
    BOOKKEEPING: CommitWay.AFTER,
    REPORTING: CommitWay.AFTER,
}
WORDS = {
    CommitWay.FIRST: "what it has taken, before it processes it",
    CommitWay.THREADS: "what it has taken, while threads process it",
    CommitWay.AUTOMATIC: "by its client's timer",
    CommitWay.AFTER: "what it has processed",
}
HOW = {
    MAILING: "committed_before_processing",
    BILLING: "another_thread",
    SHIPPING: "crash",
    REPORTING: "skipped_by_reset",
}
"""Outcome of the records that a group never processes."""
FAIL_EVERY = {MAILING: 17, BILLING: 23}
"""Every such record fails; never the last of a partition, whose outcome would stay unknown."""
SLOW = 0.01
"""Seconds per record when the worker will be killed with work in progress."""
IN_HAND = 10
"""A worker is killed when so many records are committed and not processed, or processed and not committed."""
FORWARD, BACK = 40, 30
"""Number of records by which a group is set forward in one partition, and back in the other."""
LEAST = 50
"""Minimum number of processed records per partition by then."""
_PATIENCE = 60.0
"""Maximum seconds of a worker."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = tuple(
        well(f"{topic}-{number}", (BROKERS, BROKERS[::-1])[number]) for topic in (TOPIC, OFFSETS_TOPIC) for number in (0, 1)
    )
    phase = Phase(live=BROKERS, controller=CONTROLLER, partitions=rows)
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.reach(cluster, phase)
        produced = _produce(stage, cluster)
        with _workshop(stage, cluster, produced) as shop:
            _work(shop)
            stage.truth.facts["commit_before_processing"] = {"groups": {group: _truth(shop, group) for group in WAYS}}
        stage.expect(
            "after",
            cluster,
            phase,
            disks=BROKERS,
            copy_segments=(TOPIC, OFFSETS_TOPIC),
            history=True,
            ledgers=write_ledgers(produced, stage.out / "produced") | {group: [shop.ledger(group)] for group in WAYS},
        )
        stage.visited(cluster)


def _produce(stage: Stage, cluster: PlayedCluster) -> list[LedgerEntry]:
    """Produce records with ids, all acknowledged."""
    stage.act(f"Produce {RECORDS} records to each partition of {TOPIC}.")
    producer = LedgerProducer(
        PARTITIONS, bootstrap=cluster.bootstrap, kafka=cluster.kafka, client=PRODUCER, acks="all", pause=0.002
    )
    with producer:
        cluster.wait_until(lambda: len(producer.ledger) >= RECORDS * len(PARTITIONS), what="the records to be sent")
    if any(entry.acked is None for entry in producer.ledger):
        raise RehearsalError("A record was not acknowledged.", try_="Play it again.")
    return producer.ledger


class _Workshop:
    """The workers, with their ledgers.

    Args:
        stage: Stage of the play.
        cluster: Cluster.
        produced: Records to process.
        folder: Folder for their output.
        guard: Guard of their processes.
        groups: Client for committed offsets.
    """

    def __init__(
        self, stage: Stage, cluster: PlayedCluster, produced: Sequence[LedgerEntry], folder: Path, guard: Guarded, groups: Groups
    ) -> None:
        self.stage, self.cluster, self.produced, self.groups = stage, cluster, produced, groups
        self._folder, self._guard = folder, guard
        self._workers: dict[str, int] = {}

    def ledger(self, group: str) -> Path:
        """Return a group's ledger."""
        return self.stage.out / group / "processed.jsonl"

    def processed(self, group: str) -> list[Mapping]:
        """Return the lines of its ledger, in processing order."""
        ledger = self.ledger(group)
        return [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []

    def committed(self, group: str) -> dict[Partition, int]:
        """Return a group's committed offsets by partition; 0 without a commit."""
        return {partition: offset or 0 for partition, offset in self.groups.fetch(group, PARTITIONS).items()}

    def left(self, group: str) -> int:
        """Return the number of records left for a new worker of the group."""
        return len(self.produced) - sum(self.committed(group).values())

    def start(self, group: str, *, records: int, seconds: float = 0.002) -> Server:
        """Start another worker of a group."""
        number = self._workers[group] = self._workers.get(group, 0) + 1
        job = Job(
            bootstrap=self.cluster.bootstrap,
            kafka=self.cluster.kafka,
            topic=TOPIC,
            group=group,
            client=f"{group}-{number}",
            way=WAYS[group],
            ledger=str(self.ledger(group)),
            records=records,
            seconds=seconds,
            fails=failing(group, self.produced),
        )
        self.stage.act(f"Worker {job.client} begins: it commits {WORDS[job.way]}.")
        return self._guard.start(job.command, folder=self._folder, output=self._folder / f"{group}.out")

    def wait(self, *workers: Server) -> None:
        """Wait until workers have received all their records, and left."""
        ended = lambda: not any(worker.running for worker in workers)  # noqa: E731
        self.cluster.wait_until(ended, what="the end of workers", seconds=_PATIENCE)

    def kill(self, group: str, worker: Server, *, ahead: Callable[[int], bool]) -> None:
        """Kill a group's worker as soon as its commits are so far ahead of its processing.

        By then it has processed some records of each partition: otherwise its start would be unknowable later.
        """

        def now() -> bool:
            worker.freeze()  # its work in progress then stays
            done = self.processed(group)
            begun = {line["partition"] for line in done} == {number for _, number in PARTITIONS}
            if begun and ahead(sum(self.committed(group).values()) - len(done)):
                return True
            worker.thaw()
            return False

        self.cluster.wait_until(now, what=f"the moment to kill the worker of {group}")
        self.stage.act(f"Kill worker {group}-1 (SIGKILL).", worker.kill)


def failing(group: str, produced: Sequence[LedgerEntry]) -> tuple[str, ...]:
    """Return the ids of the records that a group fails to process."""
    every = FAIL_EVERY.get(group)
    return tuple(entry.id for entry in produced if every and entry.offset % every == 1 and entry.offset < RECORDS - 1)


@contextmanager
def _workshop(stage: Stage, cluster: PlayedCluster, produced: Sequence[LedgerEntry]) -> Iterator[_Workshop]:
    guard, folder = Guarded(), stage.memory / "workers"
    folder.mkdir(parents=True)
    for group in WAYS:
        (stage.out / group).mkdir(parents=True)
    try:
        with Groups(cluster.bootstrap) as groups:
            yield _Workshop(stage, cluster, produced, folder, guard, groups)
    finally:
        guard.close()


def _work(shop: _Workshop) -> None:
    """Run all groups until each has received every record that it ever will."""
    everything = len(shop.produced)
    through = [shop.start(group, records=everything) for group in (MAILING, BILLING)]
    half = shop.start(REPORTING, records=everything // 2 + LEAST)  # more than one partition has
    for group, ahead in ((SHIPPING, lambda records: records >= IN_HAND), (BOOKKEEPING, lambda records: records <= -IN_HAND)):
        shop.kill(group, shop.start(group, records=everything, seconds=SLOW), ahead=ahead)
        through.append(shop.start(group, records=shop.left(group)))
    shop.wait(half)
    _reset(shop)
    through.append(shop.start(REPORTING, records=shop.left(REPORTING)))
    shop.wait(*through)


def _reset(shop: _Workshop) -> None:
    """Set the group's offsets like an operator: forward where it is behind, back where it is ahead."""
    committed = shop.committed(REPORTING)
    behind, ahead = sorted(PARTITIONS, key=committed.__getitem__)
    offsets = {behind[1]: committed[behind] + FORWARD, ahead[1]: committed[ahead] - BACK}
    commit = CommitRequest(group=REPORTING, offsets={TOPIC: offsets})
    shop.stage.act(f"Set group {REPORTING} to {offsets}, while it has no member.", lambda: shop.groups.commit([commit]))


def _truth(shop: _Workshop, group: str) -> dict[str, object]:
    """Return a group's unprocessed records: all produced ones outside its ledger, as it received all.

    Raises:
        RehearsalError: They differ from the script's intention.
    """
    processed = [line["id"] for line in shop.processed(group)]
    names = [entry.id for entry in shop.produced if entry.id not in set(processed)]
    wanted = failing(group, shop.produced)
    if (wanted and tuple(names) != wanted) or bool(names) != (group in HOW):
        raise RehearsalError(f"Group {group} did not process {names}.", try_="Play it again.")
    return {
        "how": HOW.get(group),
        "unprocessed": names,
        "twice": len(processed) - len(set(processed)),
        "committed": {label(partition): offset for partition, offset in shop.committed(group).items()},
    }
