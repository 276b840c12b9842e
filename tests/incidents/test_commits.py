"""Raw commits reach real brokers of the oldest and the latest release, and OffsetFetch gives them back."""

import time

import pytest

from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.formats.pasted import paste
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.commits import CommitRequest, Groups, fetch_offsets, find_coordinator
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.members import member
from casebook.rehearsal.servers.protocol import BrokerLink, addresses, named
from tests.rehearsal import kafka_tools

SETTINGS = {"offsets.topic.num.partitions": "2", "offsets.topic.replication.factor": "1"}
ORDERS = [("orders", number) for number in range(3)]


@pytest.fixture(scope="module", params=["0.9.0.1", "3.9.2"])
def cluster(request):
    """One broker with two partitions of the offsets topic."""
    with PlayedCluster(kafka=request.param, brokers=1, settings=SETTINGS) as cluster:
        cluster.create_topic(OFFSETS_TOPIC, {0: [1], 1: [1]}, {"cleanup.policy": "compact"})
        cluster.create_topic("orders", {number: [1] for number in range(3)})
        yield cluster


class TestCommits:
    def test_the_last_one_counts(self, cluster):
        """Pipelined, over many groups, each in order; what was never committed is unknown, not zero."""
        with Groups(cluster.bootstrap) as groups:
            count = groups.commit(
                CommitRequest(group=f"group-{step % 7}", offsets={"orders": {0: step, 2: 0}}, metadata="été")
                for step in range(700)
            )
        assert count == 1400
        for group in range(7):
            assert fetch_offsets(cluster.bootstrap, f"group-{group}", ORDERS) == {
                ("orders", 0): 693 + group,
                ("orders", 1): None,
                ("orders", 2): 0,
            }

    def test_they_lie_in_the_log(self, cluster):
        """Nothing is kept elsewhere."""
        topic = [(OFFSETS_TOPIC, 0), (OFFSETS_TOPIC, 1)]
        before = disks.size(cluster.log_dir(1), topic)
        with Groups(cluster.bootstrap) as groups:
            groups.commit([CommitRequest(group="one", offsets={"orders": {0: 1}}, metadata="m" * 1_000)])
        assert 1_000 < disks.size(cluster.log_dir(1), topic) - before < 1_300

    def test_refusals_are_errors(self, cluster):
        """A partition's refusal is no success of the others."""
        with Groups(cluster.bootstrap) as groups, pytest.raises(RehearsalError, match="big was refused"):
            groups.commit([CommitRequest(group="big", offsets={"orders": {0: 1}}, metadata="m" * 5_000)])

    def test_removed(self, cluster):
        """Offsets and groups are deleted by request where the release can."""
        if cluster.kafka == "0.9.0.1":
            pytest.skip("0.9 knows no such request")
        with Groups(cluster.bootstrap) as groups:
            groups.commit(CommitRequest(group=name, offsets={"orders": {0: 5, 1: 6}}) for name in ("forgetful", "deleted"))
            groups.forget("forgetful", [("orders", 0)])
            groups.delete("deleted")
            assert groups.fetch("forgetful", ORDERS) == {("orders", 0): None, ("orders", 1): 6, ("orders", 2): None}
            assert set(groups.fetch("deleted", ORDERS).values()) == {None}

    def test_real_members(self, cluster):
        """While a group has members, commits without one are refused."""
        settings = {"bootstrap": cluster.bootstrap, "kafka": cluster.kafka, "topics": ["orders"]}
        with Groups(cluster.bootstrap) as groups, member(group="joined", client="reader", **settings) as consumer:
            assert len(consumer.assignment()) == 3
            with pytest.raises(RehearsalError, match=r"\(25\)"):
                groups.commit([CommitRequest(group="joined", offsets={"orders": {0: 1}})])

    def test_kafkas_own_tool_prints_what_is_understood(self, cluster):
        """A group with a member, one partition without a commit, as ``kafka-consumer-groups --describe`` shows them."""
        with Groups(cluster.bootstrap) as groups:
            groups.commit([CommitRequest(group="described", offsets={"orders": {0: 5, 2: 0}})])
        settings = {"bootstrap": cluster.bootstrap, "kafka": cluster.kafka, "topics": ["orders"]}
        with member(group="described", client="reader", **settings):
            found = paste.read(kafka_tools.describe_group(cluster, "described").splitlines())
        assert found.not_understood == ()
        assert {(row.group, row.topic, row.partition): row.offset for row in found.offsets} == {
            ("described", "orders", 0): 5,
            ("described", "orders", 1): None,
            ("described", "orders", 2): 0,
        }

    def test_no_request_disturbs_the_broker(self, cluster):
        """Nobody is asked for ApiVersions."""
        with BrokerLink(addresses(cluster.bootstrap)[0]) as link:
            assert find_coordinator(link, "any") == (0, addresses(cluster.bootstrap)[0])
        assert "uncaught exception" not in "\n".join(disks.log_lines(cluster, 1, "server.log"))


def test_a_group_that_is_just_being_removed():
    """Brokers until 2.2 refuse its commits as those of an unknown member; a client hears nothing of it, nor do other groups.

    Seen before: 17 refusals in 15 seconds.
    """
    often = {"offsets.retention.check.interval.ms": "1"}
    with PlayedCluster(kafka="1.1.1", brokers=1, settings=SETTINGS | often) as cluster, Groups(cluster.bootstrap) as groups:
        cluster.create_topic(OFFSETS_TOPIC, {0: [1], 1: [1]}, {"cleanup.policy": "compact"})
        cluster.create_topic("orders", {number: [1] for number in range(3)})
        step, until = 0, time.monotonic() + 3
        while time.monotonic() < until:
            step += 1
            expired = CommitRequest(group="expired", offsets={"orders": {0: step}}, retention_ms=1)
            groups.commit(
                [expired, *(CommitRequest(group=f"stays-{number}", offsets={"orders": {number: step}}) for number in range(3))]
            )
        for number in range(3):
            assert groups.fetch(f"stays-{number}", [("orders", number)]) == {("orders", number): step}


def test_codes_have_names():
    """Unknown ones stay numbers."""
    assert (named(16), named(4711)) == ("NOT_COORDINATOR (16)", "4711")
