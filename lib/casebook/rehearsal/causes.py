"""One effect with several causes: brokers lose their sessions, or partitions their leaders, for a different reason each time.

Broker 1 loses its connection to ZooKeeper only. Broker 2 pauses in a garbage collection, and later without one. A log dir of
broker 3 fails. Finally ZooKeeper itself pauses during a disk write, and sessions of healthy brokers expire.

A disk write of ZooKeeper longer than the session timeout does not end sessions alone: the server's other threads continue to
receive heartbeats and resume sessions, as observed on 3.5.9 with the writing thread held for twice the timeout. So here the whole
server is suspended, like a machine with hanging storage.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import replace

from casebook.errors import RehearsalError
from casebook.rehearsal.ledger import iso
from casebook.rehearsal.servers.faults import FaultyCluster
from casebook.rehearsal.servers.topics import label
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, lost, well

BROKERS = (1, 2, 3)
CUT, COLLECTING, TWO_DIRS = BROKERS
CONTROLLER = TWO_DIRS
TIMEOUT = 4.0
"""Session timeout of a broker, seconds."""
BROKER_SETTINGS = {
    "zookeeper.session.timeout.ms": str(int(TIMEOUT * 1000)),
    "replica.high.watermark.checkpoint.interval.ms": "500",  # a broker notices a missing log dir within this time
    "replica.fetch.wait.max.ms": "100",  # a follower thread waiting for its leader delays its next request
    "offsets.topic.num.partitions": "1",
}
REPLICAS = {
    "payments-0": (1, 2),
    "payments-1": (2, 3),
    "payments-2": (3, 1),
    "payments-3": (3, 2),
    "orders-0": (2, 1),
    "orders-1": (3, 1),
    "orders-2": (1, 3),
    "clicks-0": (1,),
    "clicks-1": (2,),
    "clicks-2": (3,),
}
CALM = 1.5
"""Quiet seconds between two incidents."""
LONGER = 1.0
"""Seconds for which a cause continues after its effect."""
MOST_TRIES = 4


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = tuple(well(name, replicas) for name, replicas in REPLICAS.items())
    with _cluster(stage) as cluster:
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=rows))
        stage.truth.facts["causes"] = {"states": stage.watch_states(cluster)}
        _lose(stage, cluster, "cut", CUT, cluster.cut, cluster.mend)
        _lose(stage, cluster, "collection", COLLECTING, cluster.freeze_collecting, lambda: cluster.thaw(COLLECTING))
        _lose(stage, cluster, "freeze", COLLECTING, lambda: cluster.freeze(COLLECTING), lambda: cluster.thaw(COLLECTING))
        rows = _fail_disk(stage, cluster)
        _freeze_zookeeper(stage, cluster, rows)
        stage.expect("after", cluster, Phase(live=BROKERS, partitions=rows), history=True)
        stage.visited(cluster)


def _cluster(stage: Stage) -> FaultyCluster:
    return FaultyCluster(
        linked=CUT,
        collecting=COLLECTING,
        two_dirs=TWO_DIRS,
        kafka=stage.truth.kafka,
        brokers=BROKERS,
        settings=BROKER_SETTINGS,
        controller=CONTROLLER,
        home=stage.home,
        progress=stage.progress,
    )


def _lose(
    stage: Stage, cluster: FaultyCluster, cause: str, broker: int, begin: Callable[[], int | None], end: Callable[[], None]
) -> None:
    """Make ZooKeeper lose a broker, and wait until all is well again.

    Args:
        stage: Stage of the play.
        cluster: Cluster of the broker.
        cause: Cause in a word.
        broker: Lost broker.
        begin: Starts it, and returns the time, epoch ms; ``None`` for the time of return.
        end: Ends it.
    """
    time.sleep(CALM)
    fact = {"broker": broker, "session": cluster.session(broker), "led": _led(cluster, broker)}
    begun = begin()
    stage.act(f"The {cause} of broker {broker} begins.")
    fact["begun"] = stage.truth.actions[-1]["at"] if begun is None else iso(begun)
    stage.gone(cluster, broker)
    time.sleep(LONGER)
    stage.act(f"The {cause} of broker {broker} ends.", end)
    stage.truth.facts["causes"][cause] = fact | {"ended": stage.truth.actions[-1]["at"]}
    cluster.wait_registered(broker)
    cluster.wait_until(lambda: _all_in_sync(cluster), what="the full ISR of all partitions")


def _fail_disk(stage: Stage, cluster: FaultyCluster) -> tuple[Expected, ...]:
    """Make a log dir fail; return the expected partitions from then on."""
    time.sleep(CALM)
    hit = sorted(file.name for file in cluster.second_dir.iterdir() if file.name in REPLICAS)
    stage.act(f"Take a log dir of broker {TWO_DIRS} away.", cluster.fail_second_dir)
    stage.truth.facts["causes"]["disk"] = {
        "broker": TWO_DIRS,
        "begun": stage.truth.actions[-1]["at"],
        "dir": cluster.second_dir.name,
        "partitions": hit,
    }
    rows = tuple(_without(name, hit) for name in REPLICAS)
    stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=rows))
    return rows


def _without(name: str, hit: Collection[str]) -> Expected:
    """Return a partition after those in a log dir of broker 3 have lost that replica."""
    left = tuple(sorted(broker for broker in REPLICAS[name] if broker != TWO_DIRS))
    if name in hit and not left:
        return lost(name, REPLICAS[name], isr=(TWO_DIRS,), waits_for=(), why="Its only replica lies in the log dir that failed.")
    (row,) = after([well(name, REPLICAS[name])])
    return replace(row, isr=left, why="The replica in the log dir that failed is offline.") if name in hit else row


def _freeze_zookeeper(stage: Stage, cluster: FaultyCluster, rows: tuple[Expected, ...]) -> None:
    """Suspend ZooKeeper until a broker's session expires: which ones is a race of its threads on resumption.

    Raises:
        RehearsalError: No session expired, repeatedly.
    """
    fact = stage.truth.facts["causes"].setdefault("zookeeper", {"survived": []})
    for _ in range(MOST_TRIES):
        time.sleep(CALM)
        sessions = {broker: cluster.session(broker) for broker in BROKERS}
        suspended, waits = cluster.freeze_zookeeper()
        stage.act("Suspend ZooKeeper (SIGSTOP) while it waits for its disk." if waits else "Suspend ZooKeeper (SIGSTOP).")
        begun = iso(suspended)
        time.sleep(TIMEOUT + LONGER)
        stage.act("Continue ZooKeeper (SIGCONT).", cluster.thaw_zookeeper)
        ended = stage.truth.actions[-1]["at"]
        stage.reach(cluster, Phase(live=BROKERS, partitions=rows))
        expired = {broker: session for broker, session in sessions.items() if cluster.session(broker) != session}
        if expired:
            fact |= {"begun": begun, "ended": ended, "waited_for_disk": waits, "expired": expired}
            return
        fact["survived"].append({"begun": begun, "ended": ended})
    raise RehearsalError(f"No broker's session expired in {MOST_TRIES} tries.", try_="Play it again.")


def _led(cluster: FaultyCluster, broker: int) -> list[str]:
    return sorted(label(partition) for partition, state in cluster.states().items() if state["leader"] == broker)


def _all_in_sync(cluster: FaultyCluster) -> bool:
    found = {label(partition): tuple(sorted(state["isr"])) for partition, state in cluster.states().items()}
    return found == {name: tuple(sorted(replicas)) for name, replicas in REPLICAS.items()}
