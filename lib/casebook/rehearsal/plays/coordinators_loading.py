"""Incident B, second act: the brokers that hold the offsets topic are restarted together, and most groups wait.

Every partition has one replica, as 0.9 makes the topic when few brokers live at that moment. Brokers 1 and 2 hold five
each and load them one after the other; broker 3 holds two and serves them all the while. Loading is slow because each read
is small and the index sparse: the broker looks for where to go on from the beginning of a segment.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, lost, well
from casebook.rehearsal.watching import Watch

BROKERS = (1, 2, 3)
HOLDERS = (1, 2)
CONTROLLER = 3
OFFSETS = tuple((OFFSETS_TOPIC, number) for number in range(12))
TOPIC, PARTITIONS = "clicks", 20
FEW = 2
"""Partitions in a request to a later release: what stands in one request is one batch there, and read at once."""
BROKER_SETTINGS = {
    "offsets.topic.num.partitions": str(len(OFFSETS)),
    "offsets.topic.replication.factor": "1",
    "offsets.load.buffer.size": "512",
    "log.cleaner.enable": "false",
}
SETTINGS = {
    OFFSETS_TOPIC: {"cleanup.policy": "compact", "segment.bytes": "250000", "index.interval.bytes": "1000000"},
}
ROUNDS = {
    "fraud": 320,
    "metrics": 360,
    "mailer": 280,
    "payments": 300,
    "loyalty": 340,
    "refunds": 320,
    "search": 360,
    "recommender": 340,
    "pricing": 300,
    "sessions": 280,
    "shipping": 100,
    "reviews": 150,
}
"""How often a group commits all partitions of the topic; one group for each partition of the offsets topic."""
METADATA = "m" * 100
TURN = 0.05
"""Seconds for which one of the restarted brokers is suspended, and then the other."""
HOLD = 0.5
"""The same of one that is ahead: its session outlives that many times."""
LOADED = 3
"""Loads of each restarted broker that have ended when the case is captured."""


def play(stage: Stage) -> None:
    """Play it on a stage."""
    rows = _rows()
    batched = KafkaVersion.parse(stage.truth.kafka) >= KafkaVersion.parse("0.11.0.0")
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        placed = _commit(stage, cluster, at_once=FEW if batched else PARTITIONS)
        committed = {group: ((TOPIC, 0), count - 1) for group, count in ROUNDS.items()}
        before = {broker: _loaded(cluster, broker) for broker in HOLDERS}
        stage.kill(cluster, *HOLDERS)
        stage.gone(cluster, *HOLDERS)
        with Watch(cluster.bootstrap, committed) as watch, _in_turn(stage, cluster, before):
            stage.reach(cluster, Phase(live=(3,), dead=HOLDERS, controller=CONTROLLER, partitions=_without_holders(rows)))
            stage.start(cluster, *HOLDERS)
            cluster.wait_until(lambda: _underway(cluster, before, watch, placed), what="three loads of each broker to end")
            now = Phase(live=BROKERS, controller=CONTROLLER, partitions=rows)
            stage.expect("during", cluster, now, disks=BROKERS)
            _underway(cluster, before, watch, placed)
            if stage.visited(cluster):
                return
            stage.progress("Wait until every group is served.")
            cluster.wait_until(lambda: watch.served(ROUNDS) == set(ROUNDS), what="all groups to be served", seconds=180)
        stage.truth.facts["offsets_topic"] = {"cleaner": {"enabled": False}}
        stage.truth.facts["coordinators"] = {
            "groups": {group: {"partition": placed[group]} | watch.seen[group].as_json() for group in ROUNDS},
            "loads": {str(broker): disks.load_lines(cluster, broker) for broker in HOLDERS},
        }
        stage.expect("after", cluster, now)


def _rows() -> tuple[Expected, ...]:
    alone = "Its only replica is where 0.9 happened to put it."
    offsets = [well(f"{OFFSETS_TOPIC}-{number}", (holder(number),), why=alone) for _, number in OFFSETS]
    return (*offsets, *(well(f"{TOPIC}-{number}", (3,)) for number in range(PARTITIONS)))


def holder(number: int) -> int:
    """The broker that holds a partition of the offsets topic."""
    return 3 if number >= 10 else HOLDERS[number % 2]


def _without_holders(rows: Sequence[Expected]) -> tuple[Expected, ...]:
    gone = "Its only replica is on a broker that was killed."
    return tuple(
        lost(f"{row.topic}-{row.partition}", row.replicas, isr=row.replicas, why=gone) if row.replicas[0] in HOLDERS else row
        for row in rows
    )


def _commit(stage: Stage, cluster: PlayedCluster, *, at_once: int) -> dict[str, int]:
    """Let every group commit, one after the other.

    Args:
        at_once: Partitions in a request.

    Returns:
        By group the partition of the offsets topic that grew meanwhile.
    """
    placed: dict[str, int] = {}
    with Groups(cluster.bootstrap) as groups:
        for group, count in ROUNDS.items():
            before = _sizes(cluster)
            commits = partial(groups.commit, rounds(group, count, at_once))
            stage.act(f"Group {group} commits {count * PARTITIONS} times.", commits)
            (placed[group],) = (number for number, size in _sizes(cluster).items() if size > before[number])
    return placed


def rounds(group: str, count: int, at_once: int) -> Iterator[CommitRequest]:
    """So many times all partitions of the topic, a few in each request."""
    for turn in range(count):
        for first in range(0, PARTITIONS, at_once):
            offsets = dict.fromkeys(range(first, first + at_once), turn)
            yield CommitRequest(group=group, offsets={TOPIC: offsets}, metadata=METADATA)


def _sizes(cluster: PlayedCluster) -> dict[int, int]:
    return {number: disks.size(cluster.log_dir(holder(number)), [(OFFSETS_TOPIC, number)]) for _, number in OFFSETS}


@contextmanager
def _in_turn(stage: Stage, cluster: PlayedCluster, before: Mapping[int, int]) -> Iterator[None]:
    """Let one of the restarted brokers run at a time: on a small machine the other's load, which ends some day, is half the work.

    What a broker has loaded then tells what it will load, as it does where each has processors of its own. Who has loaded
    three and is ahead of the other, as on a busy machine, is suspended for longer until the other has, too.

    Args:
        before: How many loads each had ended before.
    """
    over = Event()

    def suspend_in_turn() -> None:
        while not cluster.registered() >= set(HOLDERS) and not over.wait(TURN):
            pass
        while not over.is_set():
            ahead = [broker for broker in HOLDERS if _loaded(cluster, broker) - before[broker] >= LOADED]
            for broker in HOLDERS:
                cluster.freeze(broker)
                over.wait(HOLD if ahead == [broker] else TURN)
                cluster.thaw(broker)

    stage.act(f"From now on suspend broker 1 and broker 2 in turn, for {TURN * 1000:.0f} ms each.")
    thread = Thread(target=suspend_in_turn, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _loaded(cluster: PlayedCluster, broker: int) -> int:
    """How many loads a broker has ended, as its log has it."""
    return sum("Finished loading" in line for line in disks.load_lines(cluster, broker))


def _underway(cluster: PlayedCluster, before: Mapping[int, int], watch: Watch, placed: Mapping[str, int]) -> bool:
    """Whether each restarted broker serves three groups already, and has at least two partitions yet to load.

    Raises:
        RehearsalError: It had both no longer, so it never will.
    """
    underway = True
    for broker in HOLDERS:
        theirs = {group for group, number in placed.items() if holder(number) == broker}
        if _loaded(cluster, broker) > before[broker] + len(theirs) - 2:  # clients may hear of it late
            raise RehearsalError(
                "The loads ended before the case was complete.", cause="The machine was busy.", try_="Play it again."
            )
        underway &= len(watch.served(theirs)) >= LOADED
    return underway
