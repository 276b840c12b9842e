"""Every partition's state and verdict."""

import pytest

from casebook.facts.cluster import instant
from casebook.facts.znodes import ReadOutcome
from casebook.kafka.partitions import dead_brokers, verdicts
from casebook.kafka.verdict import PartitionCondition
from tests.evidence import K09, K28, made, of_brokers, override, state, state_path, znode

OFF = override("t", unclean_leader_election_enable="false")
ON = override("t", unclean_leader_election_enable="true")


def judged(replicas, content, *, version=K09, extra=(OFF,), **how):
    """The verdict on t-0."""
    (verdict,) = verdicts(made(topics={"t": {0: (replicas, content)}}, extra=extra, **how), version)
    return verdict


def facts(verdict, *names):
    return tuple(getattr(verdict, name) for name in names)


class TestState:
    def test_online(self):
        """A living leader: nothing blocks, and a clean election would choose the first in assignment that is in sync."""
        v = judged([3, 1, 2], state(2, [2, 1]))
        assert facts(v, "state", "rule", "clean_winner", "unclean_winner", "waits_for") == (
            PartitionCondition.ONLINE,
            None,
            1,
            None,
            (),
        )

    def test_leaderless(self):
        """Leader -1 with the last ISR member dead waits for that member alone (observed 2)."""
        v = judged([5, 1], state(-1, [5]))
        assert facts(v, "state", "rule", "clean_winner", "unclean_winner", "waits_for") == (
            PartitionCondition.LEADERLESS,
            "R3",
            None,
            1,
            (5,),
        )

    def test_offline_is_not_always_leader_minus_one(self):
        """A controller that died with the leader leaves it named; the whole ISR stays, and any of it heals (observed 1, 2)."""
        v = judged([1, 5, 2], state(1, [1, 5]), live=(2, 3), controller=3)
        assert facts(v, "state", "rule", "leader", "unclean_winner", "waits_for") == (
            PartitionCondition.LEADER_DEAD,
            "R1",
            1,
            2,
            (1, 5),
        )

    def test_empty_isr_with_nobody_alive(self):
        """0.9 with unclean election on writes an empty ISR; any replica brings the partition back (observed 3)."""
        v = judged([4, 5], state(-1, []), extra=(ON,))
        assert facts(v, "state", "rule", "clean_winner", "unclean_winner", "waits_for") == (
            PartitionCondition.LEADERLESS,
            "R4",
            None,
            None,
            (4, 5),
        )

    def test_unclean_just_enabled(self):
        """Setting unclean election to true does nothing by itself in 0.9: the election is due (observed 4)."""
        v = judged([5, 2], state(-1, [5]), extra=(ON,))
        assert facts(v, "rule", "clean_winner", "unclean_winner", "unclean_allowed") == ("R8", None, 2, True)

    def test_no_controller(self):
        """An election that could be held needs a controller."""
        assert judged([5, 2], state(5, [5, 2]), controller=None).rule == "R2"

    def test_due(self):
        """A leader that died a moment ago, with a controller there: nothing blocks."""
        assert facts(judged([5, 2], state(5, [5, 2])), "state", "rule", "clean_winner") == (
            PartitionCondition.LEADER_DEAD,
            "R8",
            2,
        )

    def test_newer_controller(self):
        """A state of a newer controller epoch must not be touched by this controller."""
        assert judged([5, 2], state(5, [2], controller_epoch=6)).rule == "R5"

    def test_stray_isr_member(self):
        """A living ISR member outside of the assignment forbids even an unclean election; an assigned one that returns ends that."""
        v = judged([5, 2], state(-1, [3, 5]), extra=(ON,))
        assert facts(v, "rule", "clean_winner", "unclean_winner", "waits_for") == ("R10", None, None, (5,))

    def test_uninitialised(self):
        """No state znode is neither healthy nor offline."""
        v = judged([4, 5], None)
        assert facts(v, "state", "rule", "clean_winner", "waits_for", "leader") == (
            PartitionCondition.UNINITIALISED,
            "R6",
            None,
            (4, 5),
            None,
        )

    def test_deleting(self):
        """Nobody is elected for a topic being deleted, and it is not offline."""
        v = judged([5], state(-1, [5]), extra=(OFF, znode("/admin/delete_topics/t")))
        assert facts(v, "state", "rule", "under_min_isr", "at_min_isr") == (PartitionCondition.DELETING, "R7", None, None)

    @pytest.mark.parametrize(
        "extra",
        [
            znode(state_path("t", 0), b""),
            znode(state_path("t", 0), state(-2, [1])),
            znode(state_path("t", 0), outcome=ReadOutcome.DENIED),
            znode("/brokers/topics/t", {"version": 1, "partitions": {"0": [1, 1]}}),
            znode("/brokers/topics/t", b"?"),
            znode("/brokers/ids", outcome=ReadOutcome.DENIED),
        ],
    )
    def test_unknown(self, extra):
        """What cannot be taken at its word is unknown: no winner, no flag, no health."""
        v = judged([1, 2], state(1, [1, 2]), extra=(OFF, extra))
        assert facts(v, "state", "rule") == (PartitionCondition.UNKNOWN, "R9")
        assert {None} == set(facts(v, "clean_winner", "unclean_winner", "under_replicated", "under_min_isr", "at_min_isr"))

    def test_dead_brokers(self):
        """Dead are those named by assignments or ISRs and not registered."""
        assert dead_brokers(made(topics={"t": {0: ([1, 7], state(1, [1, 9]))}})) == (7, 9)


class TestMinIsr:
    ALL = (
        override("t", min_insync_replicas="5"),
        of_brokers("1", min_insync_replicas="4"),
        of_brokers("<default>", min_insync_replicas="3"),
    )

    @pytest.mark.parametrize(
        ("first", "value", "origin"),
        [(0, 5, "topic override"), (1, 4, "dynamic broker setting"), (2, 3, "dynamic cluster default")],
    )
    def test_precedence(self, first, value, origin):
        """Topic before broker before cluster default."""
        assert facts(judged([1], state(1, [1]), version=K28, extra=self.ALL[first:]), "min_isr", "min_isr_origin") == (
            value,
            origin,
        )

    def test_no_dynamic_settings_before_1_1(self):
        """What stands under /config/brokers does not count for 0.9."""
        v = judged([1], state(1, [1]), version=K09, extra=self.ALL[1:])
        assert facts(v, "min_isr", "min_isr_origin") == (1, "built-in default, as server.properties was not collected")

    def test_server_properties(self):
        """Then the leader's own file; without the line in it, the release's default."""
        from casebook.formats.zookeeper import cluster
        from tests.evidence import rows

        found = {1: {"min.insync.replicas": "2"}, 2: {}}
        topics = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([2, 1], state(2, [1, 2]))}}
        of_one, of_two = verdicts(cluster.from_znodes(rows(topics=topics), server_properties=found), K09)
        assert facts(of_one, "min_isr", "min_isr_origin") == (2, "server.properties")
        assert facts(of_two, "min_isr", "min_isr_origin", "unclean_origin") == (1, "built-in default", "built-in default")

    @pytest.mark.parametrize("value", ["two", "", "0", "-1", "1_0", "٣", "9" * 5000])
    def test_no_number(self, value):
        """A value that Kafka would refuse leaves the number unknown, and with it the judgement."""
        v = judged([1], state(1, [1]), extra=(override("t", min_insync_replicas=value),))
        assert facts(v, "min_isr", "min_isr_origin", "under_min_isr", "at_min_isr") == (None, "topic override", None, None)

    @pytest.mark.parametrize("path", ["/config/topics/t", "/config/topics", "/config"])
    def test_unreadable(self, path):
        """Where overrides cannot be read, nothing is assumed."""
        v = judged([1], state(1, [1]), extra=(znode(path, outcome=ReadOutcome.DENIED),) if path != "/config" else (
            znode("/config", outcome=ReadOutcome.DENIED), znode("/config/topics", outcome=ReadOutcome.FAILED)))  # fmt: skip
        assert facts(v, "min_isr", "unclean_allowed", "under_min_isr") == (None, None, None)

    @pytest.mark.parametrize(("isr", "under", "at"), [([1, 2, 3], False, False), ([1, 2], False, True), ([1], True, False)])
    def test_against_the_isr(self, isr, under, at):
        """Under means fewer than min ISR, at means just as many."""
        v = judged([1, 2, 3], state(1, isr), extra=(override("t", min_insync_replicas="2"),))
        assert facts(v, "under_min_isr", "at_min_isr") == (under, at)

    @pytest.mark.parametrize("content", [state(-1, [5]), state(5, [5]), None])
    def test_without_leader(self, content):
        """Without a leader acks=all is refused, whatever the ISR says."""
        assert facts(judged([5, 1], content), "under_min_isr", "at_min_isr") == (True, False)


class TestUnclean:
    @pytest.mark.parametrize(("version", "allowed"), [(K09, True), (K28, False)])
    def test_default(self, version, allowed):
        """The default is true up to 0.10.2 and false from 0.11."""
        assert judged([1], state(1, [1]), version=version, extra=()).unclean_allowed is allowed

    def test_inferred(self):
        """A live replica that 0.9 passed over proves that its assumed default does not hold."""
        v = judged([5, 1], state(-1, [5]), extra=())
        assert facts(v, "unclean_allowed", "rule") == (False, "R3")
        assert v.unclean_origin == "inferred: an election it allows was not held"


class TestUnderReplicated:
    def test_plain(self):
        """Fewer in sync than assigned."""
        assert judged([1, 2], state(1, [1])).under_replicated
        assert not judged([1, 2], state(1, [1, 2])).under_replicated

    @pytest.mark.parametrize(("isr", "under"), [([1, 2], False), ([1], True)])
    def test_adding_is_not_missing(self, isr, under):
        """From 2.4 the topic znode says what is being added: it does not count yet."""
        fields = {"version": 2, "adding_replicas": {"0": [3]}, "removing_replicas": {}}
        v = judged([1, 2, 3], state(1, isr), version=K28, topic_fields=fields)
        assert facts(v, "state", "under_replicated") == (PartitionCondition.REASSIGNING, under)

    @pytest.mark.parametrize(
        ("replicas", "target", "condition"),
        [([3, 1, 2], [1, 3], PartitionCondition.REASSIGNING), ([1, 2], [1, 2], PartitionCondition.ONLINE)],
    )
    def test_old_reassignment(self, replicas, target, condition):
        """Before 2.4 /admin/reassign_partitions names the target; one that is reached already moves nothing."""
        entry = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": target}]}
        v = judged(replicas, state(1, [1, 2]), extra=(OFF, znode("/admin/reassign_partitions", entry)))
        assert facts(v, "state", "rule", "under_replicated") == (condition, None, False)

    def test_reassignment_not_begun(self):
        """Replicas that an untouched entry is to add are not missing yet."""
        entry = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2, 3]}]}
        assert not judged([1, 2], state(1, [1, 2]), extra=(OFF, znode("/admin/reassign_partitions", entry))).under_replicated


class TestInstant:
    @pytest.mark.parametrize(
        ("epoch_ms", "text"),
        [
            (None, None),
            (0, None),
            (-5, None),
            (2**63 - 1, None),
            (1, "1970-01-01T00:00:00.001Z"),
            (1463400000123, "2016-05-16T12:00:00.123Z"),
        ],
    )
    def test_instant(self, epoch_ms, text):
        """Epoch milliseconds as ISO-8601 UTC; what is no time is unknown."""
        assert instant(epoch_ms) == text
