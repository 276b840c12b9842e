"""Offsets that groups keep in ZooKeeper: which znodes hold them, and what they tell."""

import pytest

from casebook.facts.cluster import Cluster, GroupOffset, Problem
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.findings.finding import Severity
from casebook.formats.zookeeper import cluster, kafka_tree
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.coordinators.analysis import coordinators

VERSION = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)
STAT = Stat(czxid=1, mzxid=2, pzxid=2, ctime=5, mtime=7000, version=0, cversion=0, aversion=0, ephemeralOwner=0, dataLength=2,
            numChildren=0)  # fmt: skip


def znode(path, data):
    return Znode(path=path, data=data, stat=STAT, outcome=ReadOutcome.READ)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/consumers/g/offsets/t/0", True),
        ("/consumers/g/offsets/t/12", True),
        ("/consumers/g/offsets/t", False),
        ("/consumers/g/offsets/t/0/x", False),
        ("/consumers/g/owners/t/0", False),
        ("/consumers/g/ids/g_host", False),
        ("/brokers/topics/offsets/t/0", False),
    ],
)
def test_which(path, is_one):
    """Offsets alone: who the members are is nobody's business here."""
    assert kafka_tree.is_evidence(path) is is_one


def test_facts():
    """Group, place, offset and moment; what is no number is a problem."""
    rows = [
        znode("/consumers/g/offsets/t/1", b"42"),
        znode("/consumers/g/offsets/t/0", b"4x"),
        znode("/consumers/a/offsets/t/0", b"0"),
    ]
    found = cluster.from_znodes(rows)
    assert found.group_offsets == (GroupOffset("a", "t", 0, 0, 7000), GroupOffset("g", "t", 1, 42, 7000))
    assert [problem.path for problem in found.problems] == ["/consumers/g/offsets/t/0"]


def test_answer():
    """Who keeps them there, and who commits to Kafka as well."""
    of = Cluster(group_offsets=(GroupOffset("a", "t", 0, 5, 1), GroupOffset("g", "t", 0, 9, 1), GroupOffset("g", "t", 1, 9, 1)))
    found = coordinators.examine(of, VERSION, groups=["g", "k"]).findings
    (one,) = (finding for finding in found if finding.check == "coordinators.commits_in_zookeeper")
    assert one.severity is Severity.INFO
    assert one.title == "2 groups keep offsets in ZooKeeper: a, g"
    assert (one.facts["both"], one.facts["offsets"]) == (["g"], 3)


def test_what_could_not_be_read():
    """Nobody says how many groups there are, or that there is none, of a tree that is only known in part."""
    denied = Problem(path="/consumers/b/offsets/t/0", reason="its ACL forbids reading")
    for kept, title in (((GroupOffset("a", "t", 0, 5, 1),), "At least 1 group keeps"), ((), "It is unknown whether groups keep")):
        found = coordinators.examine(Cluster(group_offsets=kept, missing_parts=(denied,)), VERSION).findings
        (one,) = (finding for finding in found if finding.check == "coordinators.commits_in_zookeeper")
        assert one.title.startswith(title)
        assert one.coverage.of is None
