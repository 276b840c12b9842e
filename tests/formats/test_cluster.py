"""A cluster put together from its znodes, whole or not."""

import pytest

from casebook.facts.cluster import Partition, PartitionState, Problem
from casebook.facts.history import HOLES
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import cluster
from tests.evidence import made, of_brokers, override, rows, state, state_path, znode

ONE = {"t": {0: ([1, 2], state(1, [1, 2]))}}


class TestPartitions:
    def test_order(self):
        """Partitions come by topic and number, 10 behind 2."""
        topics = {"b": {0: ([1], None)}, "a": {10: ([1], None), 2: ([1], None)}}
        assert [p.name for p in made(topics=topics).partitions] == ["a-2", "a-10", "b-0"]

    def test_read(self):
        """Assignment and state come together."""
        assert made(topics=ONE).partitions == (
            Partition(
                topic="t",
                partition=0,
                replicas=(1, 2),
                state=PartitionState(leader=1, isr=(1, 2), leader_epoch=3, controller_epoch=5),
            ),
        )

    def test_no_state(self):
        """A state that is not there is missing, not unreadable."""
        (partition,) = made(topics={"t": {0: ([1], None)}}).partitions
        assert (partition.missing, partition.problem) == (True, None)

    @pytest.mark.parametrize(
        ("outcome", "reason"),
        [
            (ReadOutcome.DENIED, "cannot be read: its ACL forbids it"),
            (ReadOutcome.FAILED, "could not be read: the server did not answer"),
            (ReadOutcome.TOO_LARGE, "is larger than the collector keeps"),
        ],
    )
    def test_state_not_read(self, outcome, reason):
        """A state that could not be read is a problem with its reason, and not missing."""
        found = made(topics=ONE, extra=[znode(state_path("t", 0), outcome=outcome)])
        assert (found.partitions[0].missing, found.partitions[0].problem, found.problems) == (
            False, reason, (Problem(path=state_path("t", 0), reason=reason),)
        )  # fmt: skip

    def test_state_without_assignment(self):
        """A state that no assignment names is shown, with that reason."""
        (partition,) = made(extra=[znode(state_path("t", 0), state(1, [1]))]).partitions
        assert partition.problem == "has a state and no assignment"

    @pytest.mark.parametrize("name", ["00", "٣", "x", "9" * 5000])
    def test_names_that_are_no_numbers(self, name):
        """A partition or broker id that Kafka would not write so is a problem, and never taken for another."""
        found = made(
            topics=ONE, extra=[znode(f"/brokers/topics/t/partitions/{name}/state", state(2, [2])), znode(f"/brokers/ids/{name}")]
        )
        assert (found.partitions, found.live) == (made(topics=ONE).partitions, {1, 2, 3})
        assert {p.reason for p in found.problems} == {"is not a broker id", "is the state of no partition number"}


class TestBrokers:
    def test_unreadable_registration(self):
        """A registration that nobody can read still says that the broker is alive."""
        found = made(extra=[znode("/brokers/ids/3", b"?")])
        assert (found.live, found.problems) == ({1, 2, 3}, (Problem(path="/brokers/ids/3", reason="is not JSON"),))

    @pytest.mark.parametrize(
        "extra",
        [
            znode("/brokers/ids", outcome=ReadOutcome.DENIED),
            znode("/brokers/ids", outcome=ReadOutcome.MISSING),
            znode("/brokers/ids", stat=Stat(numChildren=4)),
        ],
    )
    def test_list_not_whole(self, extra):
        """Where /brokers/ids was not read, or counts more children than are here, nobody may be called dead."""
        assert not made(extra=[extra]).brokers_known

    def test_none_alive(self):
        """An empty list is a list: all are dead."""
        assert made(live=()).brokers_known

    @pytest.mark.parametrize("part", ["/brokers", "/brokers/ids"])
    def test_not_collected(self, part):
        """A part that was not collected makes them unknown."""
        assert not cluster.from_znodes(rows(), not_collected=[Problem(path=part, reason="cut")]).brokers_known

    def test_a_short_root(self):
        """A root that lacks children makes them unknown only where their own list does not prove itself whole."""
        short = [Problem(path="/", reason="holds 5 of 7 children")]
        uncounted = [row._replace(stat=None) for row in rows()]
        assert cluster.from_znodes(rows(), not_collected=short).brokers_known
        assert not cluster.from_znodes(uncounted, not_collected=short).brokers_known

    def test_no_znodes(self):
        """No evidence is no empty cluster."""
        found = cluster.from_znodes([])
        assert (found.brokers_known, found.controller.readable, [p.path for p in found.unlisted]) == (
            False,
            False,
            ["/brokers/topics"],
        )
        assert found.unreadable_configs == {"topics", "brokers"}


class TestUnlisted:
    def test_whole(self):
        """Nothing is hidden in a whole walk."""
        assert made(topics=ONE).unlisted == ()

    @pytest.mark.parametrize(
        ("extra", "path"),
        [
            (znode("/brokers/topics/x", b"{"), "/brokers/topics/x"),
            (znode("/brokers/topics/x", outcome=ReadOutcome.DENIED), "/brokers/topics/x"),
            (znode("/brokers/topics", stat=Stat(numChildren=9)), "/brokers/topics"),
            (znode("/brokers/topics", outcome=ReadOutcome.FAILED), "/brokers/topics"),
        ],
    )
    def test_hidden(self, extra, path):
        """A topic or list that cannot be read may hide partitions."""
        assert [problem.path for problem in made(topics=ONE, extra=[extra]).unlisted] == [path]

    def test_vanished_topic(self):
        """A topic deleted in mid-walk hides nothing."""
        assert made(topics=ONE, extra=[znode("/brokers/topics/x", outcome=ReadOutcome.VANISHED)]).unlisted == ()

    def test_torn_file(self):
        """A damaged file of znodes may hide partitions; a damaged log may not."""
        parts = [
            Problem(path="zookeeper/znodes.jsonl.zst", reason="cut"),
            Problem(path="brokers/1/logs/server.log", reason="cut"),
        ]
        assert cluster.from_znodes(rows(topics=ONE), not_collected=parts).unlisted == (parts[0],)

    def test_a_hole_in_the_past_hides_nothing(self):
        """Transactions that are missing before a whole snapshot."""
        hole = Problem(path=HOLES, reason="transactions between 0x5 and 0x9 are missing")
        assert cluster.from_znodes(rows(topics=ONE), not_collected=[hole]).unlisted == ()


class TestOthers:
    def test_configs(self):
        """Overrides and dynamic settings come by entity; what cannot be read is named."""
        found = made(
            extra=[override("t", min_insync_replicas="2"), of_brokers("<default>", x="1"), znode("/config/topics/u", b"?")]
        )
        assert found.topic_configs == {"t": {"min.insync.replicas": "2"}}
        assert found.broker_configs == {"<default>": {"x": "1"}}
        assert found.unreadable_configs == {"topics/u"}

    def test_no_config_at_all(self):
        """Without /config the overrides are unknown, unless it was asked for and is not there."""
        without = [row for row in rows() if not row.path.startswith("/config")]
        assert cluster.from_znodes(without).unreadable_configs == {"topics", "brokers"}
        assert cluster.from_znodes([*without, znode("/config", outcome=ReadOutcome.MISSING)]).unreadable_configs == frozenset()

    def test_unknown_kinds_are_counted(self):
        """Znodes that are not Kafka's are counted; the root itself is none."""
        assert made(extra=[znode("/zookeeper/quota"), znode("/zookeeper"), znode("/")]).unknown_znodes == {"/zookeeper": 2}

    @pytest.mark.parametrize(("controller", "data"), [("/controller", b""), ("/controller_epoch", b"?")])
    def test_unreadable_controller(self, controller, data):
        """A controller that cannot be read is not a missing one."""
        assert not made(extra=[znode(controller, data)]).controller.readable

    def test_missing_controller(self):
        """No /controller in a whole walk is a missing one."""
        found = made(controller=None).controller
        assert (found.readable, found.broker, found.epoch) == (True, None, 5)

    def test_order_does_not_matter(self):
        """Rows may come in any order."""
        assert cluster.from_znodes(reversed(rows(topics=ONE))) == cluster.from_znodes(rows(topics=ONE))

    def test_deleting(self):
        """A topic under /admin/delete_topics is being deleted, since that znode was made, where its stat was read."""
        for stat, since in ((None, None), (Stat(ctime=1_570_878_219_000), 1_570_878_219_000)):
            topic = made(topics=ONE, extra=[Znode(path="/admin/delete_topics/t", stat=stat)]).topics["t"]
            assert (topic.deleting, topic.deleting_since) == (True, since)
