"""The history of a real cluster's znodes, out of its ZooKeeper's own files, against who looked at the live tree meanwhile."""

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, pairwise, permutations
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.zookeeper.walk import walk
from casebook.errors import CaseError
from casebook.facts.znodes import ReadOutcome, Znode
from casebook.formats.zookeeper.history_lines import BEGIN
from casebook.rehearsal import PlayedCluster
from tests.differential.live_watcher import LiveWatcher
from tests.zookeeper_session import client_of

RELEASES = ("0.9.0.1", "3.9.2")
SECONDS, ROUNDS = 120, 5
"""How long a life lasts at least, and how often it goes round: by the fifth reassignment each broker has led ``orders-0``."""
ORDERS, ALONE = {0: [1, 2], 1: [2, 3], 2: [3, 1]}, {0: [2]}
MORE = {partition: [1 + partition % 3, 1 + (partition + 1) % 3] for partition in range(6)}
CONFIGS = 60
TRIES = 30
"""Collections, of which one must see nothing change. An ISR's change is told and taken away again within seconds."""
INSTANTS, SEED = 50, 5
_STATE = "/brokers/topics/orders/partitions/0/state"


@dataclass(frozen=True, slots=True)
class Look:
    """A walk during which nothing changed: a moment of it, and all it saw."""

    at: int
    znodes: dict[str, Znode]


@dataclass(frozen=True, slots=True)
class Lived:
    """A case made of nothing but ZooKeeper's files, and what was seen while they were written."""

    case: Case
    looks: list[Look]
    watcher: LiveWatcher


@pytest.fixture(scope="module")
def lives(tmp_path_factory) -> Iterator[dict[str, Future[Lived]]]:
    """The lives of all releases, at once: they wait most of the time."""
    with ThreadPoolExecutor(len(RELEASES)) as pool:
        yield {kafka: pool.submit(_lived, kafka, tmp_path_factory.mktemp("lived")) for kafka in RELEASES}


@pytest.fixture(scope="module", params=RELEASES)
def lived(request, lives) -> Lived:
    """What is left of the life of a release."""
    return lives[request.param].result()


def _lived(kafka: str, home: Path) -> Lived:
    with PlayedCluster(kafka=kafka, brokers=3, home=home / "home", keep=True) as cluster:
        began = time.monotonic()
        with LiveWatcher(cluster.zookeeper) as watcher, looking(cluster.zookeeper) as looks:
            cluster.create_topic("orders", ORDERS)
            replicas = cycle(permutations(cluster.ids, 2))
            for _ in range(ROUNDS):
                _live(cluster, next(replicas))
            while time.monotonic() < began + SECONDS:
                _live(cluster, next(replicas))
            cluster.wait_until(lambda: len(looks) > INSTANTS, what="looks at it")
            cluster.stop(3)
        case, last = _at_rest(cluster, home)
        looks.append(last)
    return Lived(Case.open(case), looks, watcher)


def _at_rest(cluster: PlayedCluster, home: Path) -> tuple[Path, Look]:
    """A case made of ZooKeeper's files between two looks that saw the same: notifications of ISR changes come and go of themselves."""
    before = _look(cluster.zookeeper)
    for number in range(TRIES):
        case = collect_case(home / f"case-{number}", zookeeper_data=[cluster.zookeeper_data], chroot=cluster.chroot)
        after = _look(cluster.zookeeper)
        if before.znodes == after.znodes:
            return case, before
        before = after
    raise AssertionError(f"something has changed during each of {TRIES} collections")


def _live(cluster: PlayedCluster, moved: Sequence[int]) -> None:
    """Creations, two kills and restarts, one of them of the controller, ISR changes, a reassignment, settings, deletions."""
    cluster.create_topic("alone", ALONE)
    _kill_and_start(cluster, 2)
    _reassign(cluster, "orders", 0, moved)
    cluster.delete_topic("alone")
    _change_settings(cluster, "orders")
    cluster.create_topic("more", MORE)
    _wait_until_gone(cluster, "alone")
    _kill_and_start(cluster, cluster.controller())
    cluster.delete_topic("more")
    _wait_until_gone(cluster, "more")


def _kill_and_start(cluster: PlayedCluster, broker: int) -> None:
    """And wait until the leaders have taken its replicas back."""
    replicas = _replicas(cluster)
    cluster.kill(broker)
    cluster.wait_gone(broker)
    cluster.wait_until(cluster.controller, what="a controller")
    cluster.start(broker)
    cluster.wait_until(lambda: replicas == _in_sync(cluster), what="replicas in sync")


def _in_sync(cluster: PlayedCluster) -> dict[tuple[str, int], set[int]]:
    return {partition: set(state["isr"]) for partition, state in cluster.states().items()}


def _replicas(cluster: PlayedCluster) -> dict[tuple[str, int], set[int]]:
    """As assigned: on a busy machine an ISR may be smaller for a while, also without a kill."""
    with client_of(cluster) as client:
        assigned = {topic: json.loads(client.get(f"/brokers/topics/{topic}")[0])["partitions"] for topic in cluster.topic_names()}
    return {(topic, int(partition)): set(ids) for topic, partitions in assigned.items() for partition, ids in partitions.items()}


def _wait_until_gone(cluster: PlayedCluster, topic: str) -> None:
    cluster.wait_until(lambda: topic not in cluster.topic_names(), what="the end of the topic")


def _reassign(cluster: PlayedCluster, topic: str, partition: int, replicas: Sequence[int]) -> None:
    """As ``kafka-reassign-partitions --zookeeper`` did; the controller of 3.9 heeds it still (``KafkaController.scala@3.9.0``)."""
    row = {"version": 1, "partitions": [{"topic": topic, "partition": partition, "replicas": list(replicas)}]}
    with client_of(cluster) as client:
        client.create("/admin/reassign_partitions", json.dumps(row).encode())
        cluster.wait_until(lambda: not client.exists("/admin/reassign_partitions"), what="the end of the reassignment")
    cluster.wait_until(lambda: sorted(cluster.states()[topic, partition]["isr"]) == sorted(replicas), what="the new replicas")


def _change_settings(cluster: PlayedCluster, topic: str) -> None:
    """One change after the other, faster than who watches can follow."""
    with client_of(cluster) as client:
        for number in range(CONFIGS):
            row = {"version": 1, "config": {"retention.ms": str(3_600_000 + number)}}
            client.set(f"/config/topics/{topic}", json.dumps(row).encode())


@contextmanager
def looking(address: str) -> Iterator[list[Look]]:
    """Walk on and on in the background; of two walks that saw the same, the moment between them is known."""
    looks: list[Look] = []
    over, random = Event(), Random(SEED)

    def look() -> None:
        before = _look(address)
        while not over.wait(random.uniform(0.1, 0.3)):
            now = _look(address)
            if before.znodes == now.znodes:
                looks.append(Look((before.at + now.at) // 2, now.znodes))
            before = now

    thread = Thread(target=look, name="looks", daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()


def _look(address: str) -> Look:
    """A walk and the moment of its end; it may have been disturbed."""
    walked = walk(address)
    return Look(walked.read_to, {znode.path: znode._replace(read_at=None) for znode in walked.znodes})


def _as_of(case: Case, at: int) -> dict[str, Znode]:
    return {znode.path: znode._replace(read_at=None) for znode in case.znodes(at=at)}


def _told(case: Case) -> Iterator[Znode]:
    return (znode for change in case.history() for znode in change.znodes)


def test_random_instants(lived):
    """The tree of moments that nobody chose, byte for byte, with every stat, as walks over it saw it."""
    assert len(lived.looks) > INSTANTS
    for look in Random(SEED).sample(lived.looks, INSTANTS):
        assert _as_of(lived.case, look.at) == look.znodes


def test_random_instants_of_who_watches(lived):
    """Moments in the midst of changes: whatever a live watcher is sure of was so."""
    compared, random = 0, Random(SEED)
    for _ in range(INSTANTS):
        at = random.randint(lived.looks[0].at, lived.looks[-1].at)
        told, known = _as_of(lived.case, at), lived.watcher.known(at)
        compared += len(known)
        assert {path: _shown(told.get(path)) for path in known} == {path: _shown(znode) for path, znode in known.items()}
    assert compared > 20 * INSTANTS


def _shown(znode: Znode | None) -> object:
    return None if znode is None or znode.outcome is ReadOutcome.MISSING else (znode.data, znode.stat.mzxid, znode.stat.version)


def test_every_change_that_was_watched(lived):
    """Each reading of a live watcher stands in the history with the same data and the same stat, and each end that it was told of."""
    told = {(znode.path, znode.stat): znode.data for znode in _told(lived.case) if znode.stat is not None}
    assert {(znode.path, znode.stat): znode.data for znode in lived.watcher.seen}.items() <= told.items()
    assert len(lived.watcher.seen) > CONFIGS
    ended = {(znode.path, change.zxid) for change in lived.case.history() for znode in change.znodes if znode.stat is None}
    for path, lives in lived.watcher.lives.items():
        for czxid, life in lives.items():
            assert life.gone_at is None or any(gone == path and zxid > czxid for gone, zxid in ended), path


def test_every_change_that_was_walked_over(lived):
    """Whatever data a walk saw stand in the history, under the transaction that wrote them."""
    told = {(znode.path, znode.stat.mzxid): znode.data for znode in _told(lived.case) if znode.stat is not None}
    seen = {(z.path, z.stat.mzxid): z.data for look in lived.looks for z in look.znodes.values() if z.stat is not None}
    assert seen.items() <= told.items()


def test_what_happened(lived):
    """The story is worth being told: a leader that changed, an ISR that shrank and grew, replicas that moved, a topic that went."""
    states = [json.loads(znode.data) for znode in _told(lived.case) if znode.path == _STATE and znode.data]
    assert {state["leader"] for state in states} >= {1, 2, 3}
    assert {-1, 0, 1} <= {len(after["isr"]) - len(before["isr"]) for before, after in pairwise(states)}
    moved = [json.loads(znode.data) for znode in _told(lived.case) if znode.path == "/brokers/topics/orders" and znode.data]
    assert len({tuple(row["partitions"]["0"]) for row in moved}) > 2
    assert any(znode.path == "/admin/reassign_partitions" and znode.data for znode in _told(lived.case))
    assert any(znode.path == "/brokers/topics/alone" and znode.outcome is ReadOutcome.MISSING for znode in _told(lived.case))


def test_the_last_state(lived):
    """Without a walk or dump the case's znodes are those of the last transaction."""
    assert {znode.path: znode._replace(read_at=None) for znode in lived.case.znodes()} == lived.looks[-1].znodes


def test_sessions(lived):
    """A killed broker's session ends, and its znode with it; a new one begins."""
    case = lived.case
    changes = list(case.history())
    gone = next(c for c in changes if c.operation == "closeSession" and _is_gone("/brokers/ids/2", c))
    assert any(change.operation == "createSession" and change.session == gone.session for change in changes)
    assert any(change.operation == "createSession" and change.time > gone.time and change.timeout for change in changes)
    assert [change.operation for change in changes].count(BEGIN) == 1


def _is_gone(path: str, change) -> bool:
    return any(znode.path == path and znode.outcome is ReadOutcome.MISSING for znode in change.znodes)


def test_as_of(lived):
    """The verdict of a moment: the broker that was dead then is dead, and its partition without leader."""
    case = lived.case
    gone = next(c.time for c in case.history() if _is_gone("/brokers/ids/2", c))
    back = next(c.time for c in case.history() if c.time > gone and any(z.path == "/brokers/ids/2" and z.data for z in c.znodes))
    then = case.cluster(at=back - 1)
    assert then.live == {1, 3}
    alone = next(partition for partition in then.partitions if partition.topic == "alone")
    assert alone.state.leader in (None, 2)
    assert case.cluster(at=back).live == {1, 2, 3}


def test_moments_that_are_not_told(lived):
    """Before the first change nobody knows."""
    case = lived.case
    begin = next(case.history()).time
    with pytest.raises(CaseError, match="begins at"):
        case.cluster(at=begin - 1)
