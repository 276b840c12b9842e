"""Commits of groups for topics that do not exist: found, well, or not to be checked."""

from dataclasses import replace

import pytest

from casebook.facts.cluster import Cluster, Partition, PartitionState, Problem, Topic
from casebook.facts.offsets_topic import GroupCommit, OffsetsLog, Scanned, Segment
from casebook.findings.finding import Severity, Status
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.offsets_topic.analysis import offsets_topic

OFFSETS = "__consumer_offsets"
USED = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)
WALKED = 1_780_272_000_000


def commit(group, topic, *, broker=5, time=WALKED - 1):
    return GroupCommit(broker, 0, group, topic, 0, 7, time, None, 25, 0)


def copy(broker, bytes_=100):
    return Segment(
        broker=broker, partition=0, base_offset=0, bytes=bytes_, records=9, live_records=9, live_bytes=90, tombstones=0,
        open_transactional=0, markers=0, first_offset=0, last_offset=8, first_time=WALKED - 9, last_time=WALKED - 1, largest_batch=30,
        keepers=9, safe_to_do_without=False,
    )  # fmt: skip


def scanned(*commits, kept=True):
    brokers = sorted({one.broker for one in commits}) or [5]
    count = {broker: sum(one.broker == broker for one in commits) for broker in brokers}
    return Scanned(
        segments=tuple(copy(broker, 100 * broker) for broker in brokers),
        logs=tuple(OffsetsLog(broker, 0, count[broker] + (not kept), 1, 0, None, expired=0) for broker in brokers),
        commits=tuple(commits),
    )


def cluster(*topics, leader=5, **more):
    """A cluster whose walk found these topics, and the offsets topic led by a broker."""
    state = PartitionState(leader=leader, isr=(leader,), leader_epoch=1, controller_epoch=1)
    own = Partition(topic=OFFSETS, partition=0, replicas=(5, 6), state=state)
    known = {name: Topic(name=name) for name in (OFFSETS, *topics)}
    return Cluster(topics=known, partitions=(own,), there=frozenset({"/brokers/topics"}), read_to=WALKED, **more)


def asked(scan, of):
    found = offsets_topic.examine(of, USED, scanned=scan).findings
    return next(one for one in found if one.check == "offsets_topic.missing_topics")


def test_groups_are_named_with_the_topics_that_do_not_exist():
    """Each with its topics; the proofs are the commits, and the znodes that are not there."""
    found = asked(
        scanned(commit("audit", "old"), commit("audit", "older"), commit("billing", "old"), commit("g", "t")), cluster("t")
    )
    assert (found.status, found.severity) == (Status.FINDING, Severity.INFO)
    assert found.title == "2 groups have commits for 2 topics that do not exist: audit (old, older); billing (old)"
    assert found.facts == {"topics": ["old", "older"], "groups": ["audit", "billing"], "commits": 3}
    assert [one.label for one in found.evidence] == ["tables/commits", "/brokers/topics/old", "/brokers/topics/older"]


def test_all_topics_exist():
    """One that is marked for deletion still does."""
    marked = replace(cluster(), topics={OFFSETS: Topic(name=OFFSETS), "t": Topic(name="t", deleting=True)})
    assert asked(scanned(commit("g", "t")), marked).status is Status.OK


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (Cluster(), "list of topics was not collected"),
        (cluster(unlisted=(Problem(path="/brokers/topics", reason="the list of topics is not whole"),)), "is not whole"),
    ],
)
def test_without_the_list_of_topics_it_cannot_be_checked(of, reason):
    """A topic that nobody listed may exist."""
    found = asked(scanned(commit("g", "old")), of)
    assert (found.status, reason in found.why, bool(found.settle)) == (Status.COULD_NOT_CHECK, True, True)
    assert "old" in found.title and found.facts["topics"] == []


def test_a_commit_after_the_walk_proves_nothing():
    """Its topic may have been created in between; another group's is as old as before."""
    new = commit("g", "new", time=WALKED + 1)
    found = asked(scanned(new), cluster())
    assert (found.status, "new may have been created" in found.why) == (Status.COULD_NOT_CHECK, True)
    both = asked(scanned(new, commit("g", "old")), cluster())
    assert (both.status, both.facts["topics"], both.title[:9]) == (Status.FINDING, ["old"], "At least ")


def test_the_copy_of_the_coordinator_counts():
    """A larger copy of a follower may have a commit that the coordinator has removed; alone, it proves nothing."""
    stale, own = commit("g", "old", broker=6), commit("g", "t", broker=5)
    assert asked(scanned(stale, own), cluster("t", leader=5)).status is Status.OK
    assert asked(scanned(stale), cluster("t", leader=5)).status is Status.COULD_NOT_CHECK


def test_commits_that_were_not_kept_or_read():
    """A scan keeps only the first of very many rows; without a scan nothing is known; without commits nothing is asked."""
    cut = asked(scanned(commit("g", "t"), kept=False), cluster("t"))
    assert (cut.status, "1 of 2 commits were kept" in cut.why) == (Status.COULD_NOT_CHECK, True)
    assert asked(Scanned(), cluster("t")).status is Status.COULD_NOT_CHECK
    assert asked(scanned(), cluster("t")).status is Status.NOT_APPLICABLE
