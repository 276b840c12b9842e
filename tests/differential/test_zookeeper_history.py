"""The history of a real cluster's znodes, out of its ZooKeeper's own files, against walks over the live tree meanwhile."""

import time
from dataclasses import dataclass, replace

import pytest

from casebook.case import Case
from casebook.collect import collect_case
from casebook.collect.zookeeper import walk
from casebook.errors import CaseError
from casebook.facts import ReadOutcome, Znode
from casebook.formats.history_lines import BEGIN
from casebook.rehearsal import Cluster

TOPICS = {"orders": {0: [1, 2], 1: [2, 3], 2: [3, 1]}, "alone": {0: [2]}}
LOOKS = 4
"""Walks between two acts, to have instants that nobody chose."""


@dataclass(frozen=True, slots=True)
class Look:
    """A walk during which nothing changed: a moment of it, and all it saw."""

    at: int
    znodes: dict[str, Znode]


@pytest.fixture(scope="module", params=["0.9.0.1", "3.9.2"])
def lived(request, tmp_path_factory) -> tuple[Case, list[Look]]:
    """A case made of nothing but ZooKeeper's files, and what was seen while they were written."""
    home = tmp_path_factory.mktemp("lived")
    looks: list[Look] = []
    with Cluster(kafka=request.param, brokers=3, home=home / "home", keep=True) as cluster:
        acts = (
            lambda: [cluster.create_topic(name, replicas) for name, replicas in TOPICS.items()],
            lambda: cluster.wait_until(lambda: len(cluster.states()) == 4, what="the first leaders"),
            lambda: (cluster.kill(2), cluster.wait_gone(2)),
            lambda: cluster.start(2),
            lambda: cluster.delete_topic("alone"),
            lambda: cluster.wait_until(lambda: "alone" not in cluster.topic_names(), what="the end of the topic"),
            lambda: cluster.stop(3),
        )
        for act in acts:
            act()
            looks += _looks(cluster)
        data = next(path for path in (home / "home").rglob("version-2")).parent
        case = collect_case(home / "case", zookeeper_data=[data], chroot=cluster.chroot)
    return Case.open(case), looks


def _looks(cluster: Cluster) -> list[Look]:
    found = []
    for _ in range(LOOKS):
        walked = walk(cluster.zookeeper)
        if all(znode.outcome in (ReadOutcome.READ, ReadOutcome.MISSING) for znode in walked.znodes):
            at = max(znode.read_at for znode in walked.znodes)
            found.append(Look(at, {znode.path: replace(znode, read_at=None) for znode in walked.znodes}))
        time.sleep(0.1)
    return found


def test_every_moment(lived):
    """The tree of each moment, byte for byte, with every stat."""
    case, looks = lived
    assert len(looks) > LOOKS
    for look in looks:
        told = {znode.path: replace(znode, read_at=None) for znode in case.znodes(at=look.at)}
        assert told == look.znodes


def test_every_change_that_was_seen(lived):
    """Whatever data a walk saw stand in the history, under the transaction that wrote them."""
    case, looks = lived
    told = {
        (znode.path, znode.stat.mzxid): znode.data
        for change in case.history()
        for znode in change.znodes
        if znode.stat is not None
    }
    seen = {(z.path, z.stat.mzxid): z.data for look in looks for z in look.znodes.values() if z.stat is not None}
    assert seen.items() <= told.items()


def test_the_last_state(lived):
    """Without a walk or dump the case's znodes are those of the last transaction."""
    case, looks = lived
    assert {znode.path: replace(znode, read_at=None) for znode in case.znodes()} == looks[-1].znodes


def test_sessions(lived):
    """A killed broker's session ends, and its znode with it; a new one begins."""
    case, _ = lived
    changes = list(case.history())
    (gone,) = [c for c in changes if c.operation == "closeSession" and _is_gone("/brokers/ids/2", c)]
    assert any(change.operation == "createSession" and change.session == gone.session for change in changes)
    assert any(change.operation == "createSession" and change.time > gone.time and change.timeout for change in changes)
    assert [change.operation for change in changes].count(BEGIN) == 1


def _is_gone(path: str, change) -> bool:
    return any(znode.path == path and znode.outcome is ReadOutcome.MISSING for znode in change.znodes)


def test_as_of(lived):
    """The verdict of a moment: the broker that was dead then is dead, and its partition without leader."""
    case, _ = lived
    gone = next(c.time for c in case.history() if _is_gone("/brokers/ids/2", c))
    back = next(c.time for c in case.history() if c.time > gone and any(z.path == "/brokers/ids/2" and z.data for z in c.znodes))
    then = case.cluster(at=back - 1)
    assert then.live == {1, 3}
    alone = next(partition for partition in then.partitions if partition.topic == "alone")
    assert alone.state.leader in (None, 2)
    assert case.cluster(at=back).live == {1, 2, 3}


def test_moments_that_are_not_told(lived):
    """Before the first change nobody knows."""
    case, _ = lived
    begin = next(case.history()).time
    with pytest.raises(CaseError, match="begins at"):
        case.cluster(at=begin - 1)
