"""Incident B, second act: the brokers of the offsets topic restart together, and most groups wait.

Every partition has one replica, as 0.9 creates the topic with few live brokers. Brokers 1 and 2 have five each and load them one
after the other; broker 3 has two and serves them all the while. Loading is slow because each read is small and the index sparse:
the broker searches for each next position from the start of a segment.
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
"""Partitions per request to a later release: a request is one batch there, which is read at once."""
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
"""Number of times that a group commits all partitions of the topic; one group per partition of the offsets topic."""
METADATA = "m" * 100
TURN = 0.05
"""Seconds of suspension of one of the restarted brokers, then of the other."""
HOLD = 0.5
"""The same for one that is ahead: its session survives that many times."""
LOADED = 3
"""Number of finished loads per restarted broker at the capture."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
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
    """Return the broker of an offsets partition."""
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
        at_once: Partitions per request.

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
    """Yield commits of all partitions of the topic so many times, a few per request."""
    for turn in range(count):
        for first in range(0, PARTITIONS, at_once):
            offsets = dict.fromkeys(range(first, first + at_once), turn)
            yield CommitRequest(group=group, offsets={TOPIC: offsets}, metadata=METADATA)


def _sizes(cluster: PlayedCluster) -> dict[int, int]:
    return {number: disks.size(cluster.log_dir(holder(number)), [(OFFSETS_TOPIC, number)]) for _, number in OFFSETS}


@contextmanager
def _in_turn(stage: Stage, cluster: PlayedCluster, before: Mapping[int, int]) -> Iterator[None]:
    """Let one of the restarted brokers run at a time: on a small machine the other's load is half the work.

    A broker's finished loads then predict its others, as with separate processors. One that is ahead after three loads, as on a
    busy machine, is suspended for longer until the other has three, too.

    Args:
        before: Number of earlier finished loads of each.
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
    """Return a broker's number of finished loads, by its log."""
    return sum("Finished loading" in line for line in disks.load_lines(cluster, broker))


def _underway(cluster: PlayedCluster, before: Mapping[int, int], watch: Watch, placed: Mapping[str, int]) -> bool:
    """Return whether each restarted broker already serves three groups, and has at least two partitions left to load.

    Raises:
        RehearsalError: It never will.
    """
    underway = True
    for broker in HOLDERS:
        theirs = {group for group, number in placed.items() if holder(number) == broker}
        if _loaded(cluster, broker) > before[broker] + len(theirs) - 2:  # clients may learn it late
            raise RehearsalError(
                "The loads ended before the case was complete.", cause="The machine was busy.", try_="Play it again."
            )
        underway &= len(watch.served(theirs)) >= LOADED
    return underway
