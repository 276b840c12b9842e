"""Coverage: nobody says ok of what was not collected, not read, or not understood."""

import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.cluster import Cluster, Partition, PartitionState, Problem
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica, SegmentFile
from casebook.facts.events import LogFile
from casebook.facts.observed import Source
from casebook.facts.offsets_topic import Scanned, Segment, SegmentDamage
from casebook.facts.znodes import ReadOutcome, Znode
from casebook.findings import copy_coverage, coverage, log_checks
from casebook.findings.finding import Coverage, Gap, Question, Status
from casebook.kafka.past import Break, Past
from casebook.kafka.releases import CLEANER_MAP_RULE, LOAD_TAKES_ANY_BATCH, KafkaVersion, VersionInUse, VersionOrigin
from casebook.kafka.settings import BUILT_IN, BUILT_IN_ASSUMED, SERVER_PROPERTIES, UNREADABLE
from tests.evidence import made, state

ASK = Question(check="a.b", question="Is it well?", coverage=Coverage.every(5, "partition", Source.ZNODES))
GAPS = st.lists(
    st.builds(Gap, why=st.sampled_from(["One is missing.", "Another is missing."]), settle=st.just("Collect.")), max_size=3
)
HERE = {"t": {0: ([1, 2], state(1, [1, 2]))}}


def log(name="server.log", broker=1, lines=10, entries=8, typed=6, damage="", first=1):
    return LogFile(f"brokers/{broker}/logs/{name}", broker, first if entries else None, first if entries else None,
                   lines, entries, typed, damage)  # fmt: skip


def whys(gaps):
    return " ".join(gap.why for gap in gaps)


class TestTheLaw:
    @given(GAPS)
    def test_ok_only_without_gaps(self, gaps):
        """With a gap it is could not check, which names each gap once, and what would settle it."""
        found = ASK.ok("All is well.", gaps=gaps)
        assert (found.status is Status.OK) == (not gaps)
        if gaps:
            assert found.title == "All is well, as far as could be checked"
            assert found.settle == "Collect."
            assert all(found.why.count(gap.why) == 1 for gap in gaps)

    @given(GAPS, st.booleans())
    def test_nor_is_a_question_void(self, gaps, anything):
        """That there is nothing of the kind is not known either."""
        found = ASK.nothing_in([1] if anything else [], "All is well", gaps=gaps)
        assert (found.status is Status.COULD_NOT_CHECK) == bool(gaps)

    @given(st.integers(0, 5), st.none() | st.integers(0, 5))
    def test_ok_only_of_all_there_is(self, seen, of):
        """What was not looked at is named in place of ok: nothing, a part, or a part of nobody knows how much."""
        found = replace(ASK, coverage=Coverage.counted(seen, of, "partition", Source.ZNODES)).ok("All is well", gaps=())
        assert (found.status is Status.OK) == (seen == of != 0)
        assert found.status is Status.OK or f"Looked at: {seen}" in found.why

    def test_what_has_a_gap_is_not_all_there_is(self):
        """One copy that is fine beside those that nobody listed is one copy, and not one of one."""
        seen = ASK.ok("All is well", gaps=[Gap(why="149 copies were not listed.", settle="Collect.")]).coverage
        assert (seen.seen, seen.of, seen.amount) == (5, None, "5 partitions")

    @pytest.mark.parametrize("say", [Question.ok, Question.nothing_in])
    def test_nobody_forgets_them(self, say):
        """There is no way to say ok without a word on gaps."""
        assert inspect.signature(say).parameters["gaps"].default is inspect.Parameter.empty


class TestZnodes:
    def test_a_whole_cluster_has_no_gap(self):
        whole = made(topics=HERE)
        assert not coverage.registrations(whole) + coverage.partitions(whole) + coverage.states(whole)
        assert not coverage.unread(whole, whole.proofs.reassignment) + coverage.overrides(whole, "topics", "brokers")

    @pytest.mark.parametrize(
        ("path", "gap"),
        [
            ("/brokers/ids", coverage.registrations),
            ("/brokers/ids/2", coverage.registrations),
            ("/brokers/topics/t", coverage.partitions),
            ("/brokers/topics/t/partitions/0/state", coverage.states),
            ("/admin/reassign_partitions", lambda cluster: coverage.unread(cluster, cluster.proofs.reassignment)),
            ("/admin/delete_topics", lambda cluster: coverage.unread(cluster, cluster.proofs.deletions)),
            ("/config/topics/t", lambda cluster: coverage.overrides(cluster, "topics")),
            ("/config/brokers/1", lambda cluster: coverage.overrides(cluster, "brokers")),
        ],
    )
    def test_what_was_denied_is_a_gap(self, path, gap):
        denied = made(topics=HERE, extra=[Znode(path=path, outcome=ReadOutcome.DENIED)])
        assert gap(denied)

    def test_a_partition_without_state(self):
        """Whether it has a leader is not known, whatever the reason."""
        without = made(topics={"t": {0: ([1], None)}})
        assert "t-0: there is none" in whys(coverage.states(without))
        assert not coverage.states(without, "another")


class TestSettings:
    @pytest.mark.parametrize(
        ("origins", "gaps"),
        [({BUILT_IN, SERVER_PROPERTIES}, 0), ({BUILT_IN_ASSUMED}, 1), ({UNREADABLE, BUILT_IN_ASSUMED}, 2), (set(), 0)],
    )
    def test_assumed_is_not_known(self, origins, gaps):
        assert len(coverage.settings(origins)) == gaps


class TestLogs:
    @pytest.mark.parametrize(
        ("file", "said"),
        [
            (log(), ""),
            (log(damage="the pack ends early"), "the pack ends early"),
            (log(lines=0, entries=0, typed=0), "it is empty"),
            (log(entries=0, typed=0), "none of its 10 lines has a known layout"),
            (log(typed=0), "none of its 8 entries has a known meaning"),
            (log("server.log.2021-04-27-11", lines=2, entries=2, typed=0), ""),
        ],
    )
    def test_each_way_of_being_unread(self, file, said):
        """A gap wherever the broker's log is needed, and a check of its own; none where it was read."""
        gaps = coverage.server_logs([file], Cluster(), [1])
        assert said in whys(gaps)
        assert bool(said) == bool(log_checks.unread([file]))
        assert bool(gaps) == bool(said or not file.typed)

    def test_a_log_of_each_broker(self):
        """One that was read does not speak for another broker, nor a side log for the server's."""
        assert "broker 2" in whys(coverage.logs([log()], Cluster(), [1, 2]))
        side = [log("state-change.log"), log("controller.log.3"), log("kafkaServer-gc.log")]
        assert not coverage.logs(side, Cluster(), [1])
        assert "server.log of broker 1" in whys(coverage.server_logs(side, Cluster(), [1]))
        assert not coverage.server_logs([log("what-it-printed.txt")], Cluster(), [1])

    def test_one_that_several_write(self):
        """It was read: what is missing are the lines in it that do not name who speaks."""
        shared = log()._replace(broker=None, speakers=((1, 4), (2, 4)))
        told = whys(coverage.server_logs([shared], Cluster(), [1, 2, 3]))
        assert "No server.log of broker 3 was read" in told
        assert "Of the server.log of brokers 1 and 2, only lines that name their broker were read" in told

    def test_one_that_tells_nothing(self):
        """It was given and read, and is not said to be missing."""
        quiet = log(lines=1, entries=1, typed=0)
        assert whys(coverage.server_logs([quiet], Cluster(), [1])) == "The server.log of broker 1 has no usable line."
        assert whys(coverage.server_logs([quiet], Cluster(), ())) == "No server.log of any broker has a usable line."

    def test_no_log_at_all(self):
        """Also where nobody knows which brokers there are."""
        assert coverage.logs([], Cluster(), ())

    def test_one_that_was_named_and_not_taken(self):
        named = Cluster(unreadable=("brokers/1/logs/server.log.1", "zookeeper/history.jsonl.zst"))
        assert whys(coverage.unread_logs([log()], named)) == "brokers/1/logs/server.log.1: could not be taken."

    def test_what_may_well_be_empty(self):
        """Kafka makes these files at its start and may never write to them."""
        empty = [
            log(name, lines=0, entries=0, typed=0) for name in ("kafka-authorizer.log", "kafka-request.log", "log-cleaner.log")
        ]
        assert not coverage.server_logs([log(), *empty], Cluster(), [1])


class TestHistory:
    @pytest.mark.parametrize(
        ("past", "cluster", "whole"),
        [
            (Past(first=1, transactions=1), Cluster(), True),
            (Past(first=1), Cluster(), False),
            (Past(), Cluster(), False),
            (Past(first=1, transactions=1, breaks=[Break(3, 5)]), Cluster(), False),
            (
                Past(first=1, transactions=1),
                Cluster(missing_parts=(Problem(path="zookeeper/history.jsonl.zst", reason="is torn"),)),
                False,
            ),
        ],
    )
    def test_only_a_whole_one(self, past, cluster, whole):
        assert (not coverage.history(past, cluster)) == whole


SEGMENTS = (SegmentFile(0, 100, 1), SegmentFile(50, 100, 1))


def copy(broker, partition, segments=SEGMENTS):
    return Replica(broker, OFFSETS_TOPIC, partition, f"/d/{partition}", f"brokers/{broker}/log_dirs.json:1", segments)


def scanned(*read, damage=()):
    """What a scan brought of segments by broker, partition and base offset."""
    rows = [Segment(*at, 100, 10, 10, 100, 0, 0, 0, at[2], at[2] + 9, 1, 2, 10, 1, False) for at in read]
    return Scanned(segments=tuple(rows), damage=tuple(damage))


class TestLogDirs:
    cluster = Cluster(
        brokers=dict.fromkeys((1, 2)),
        partitions=tuple(
            Partition(OFFSETS_TOPIC, number, (1, 2, 3), state=PartitionState(number + 1, (number + 1,), 0, 0))
            for number in range(2)
        ),
    )

    def test_every_copy_of_the_living(self):
        """That of a broker that is down is missed by nobody; one that lives and was not listed is."""
        both = [LogDir(broker, "/d", 1, (copy(broker, 0), copy(broker, 1))) for broker in (1, 2)]
        assert not copy_coverage.copies(self.cluster, [OFFSETS_TOPIC], both)
        assert "2 copies of __consumer_offsets, on broker 2," in whys(
            copy_coverage.copies(self.cluster, [OFFSETS_TOPIC], both[:1])
        )
        assert copy_coverage.copies(Cluster(), [OFFSETS_TOPIC], both)

    def test_a_log_dir_with_a_problem(self):
        broken = [LogDir(b, "/d", 1, (copy(b, 0), copy(b, 1)), problems=(Problem(path="x", reason="gone"),)) for b in (1, 2)]
        assert whys(copy_coverage.copies(self.cluster, [OFFSETS_TOPIC], broken)) == "x: gone."

    @pytest.mark.parametrize(
        ("read", "said"),
        [
            ([(1, 0, 0), (1, 0, 50), (2, 1, 0), (2, 1, 50)], ""),
            ([(1, 0, 0), (1, 0, 50)], "No copy was read for 1 partition of __consumer_offsets"),
            (
                [(1, 0, 0), (1, 0, 50), (2, 1, 0)],
                "Segment __consumer_offsets-1/00000000000000000050.log of broker 2 could not be read at all",
            ),
        ],
    )
    def test_every_segment_of_one_copy(self, read, said):
        """One copy of one partition does not vouch for the topic, nor one segment for its copy."""
        gaps = copy_coverage.contents(self.cluster, OFFSETS_TOPIC, [copy(1, 0), copy(2, 1)], scanned(*read))
        assert (said in whys(gaps)) and bool(gaps) == bool(said)

    def test_an_empty_copy_is_read(self):
        read = scanned((1, 0, 0), (1, 0, 50))
        assert not copy_coverage.contents(self.cluster, OFFSETS_TOPIC, [copy(1, 0), copy(2, 1, (SegmentFile(0, 0, 1),))], read)

    @pytest.mark.parametrize(
        ("state", "whole"),
        [
            (PartitionState(1, (1, 2), 0, 0), True),
            (PartitionState(2, (1, 2), 0, 0), False),
            (PartitionState(None, (1,), 0, 0), True),
            (PartitionState(None, (2,), 0, 0), False),
            (None, False),
        ],
    )
    def test_the_copy_of_whoever_leads(self, state, whole):
        """A follower's may lag behind, and be cleaned otherwise; without a leader one in sync may lead."""
        led = Cluster(partitions=(Partition(OFFSETS_TOPIC, 0, (1, 2), state=state),))
        gaps = copy_coverage.contents(led, OFFSETS_TOPIC, [copy(1, 0), copy(2, 0)], scanned((1, 0, 0), (1, 0, 50)))
        assert ("only a follower's copy" in whys(gaps)) != whole and bool(gaps) != whole

    @pytest.mark.parametrize(
        ("base", "size", "torn", "whole"), [(50, 100, 0, True), (50, 99, 0, False), (50, 90, 10, True), (0, 90, 10, False)]
    )
    def test_a_segment_that_ends_early(self, base, size, torn, whole):
        """As long as it was listed, it must be there; only the last of a copy may end in a torn batch."""
        led = Cluster(partitions=(Partition(OFFSETS_TOPIC, 0, (1, 2), state=PartitionState(1, (1,), 0, 0)),))
        read = scanned((1, 0, 0), (1, 0, 50))
        rows = tuple(row._replace(bytes=size, damaged_bytes=torn) if row.base_offset == base else row for row in read.segments)
        gaps = copy_coverage.contents(led, OFFSETS_TOPIC, [copy(1, 0)], Scanned(segments=rows))
        assert ("could be read only in part" in whys(gaps)) != whole

    def test_a_list_that_was_cut(self):
        """What stood behind its end was not looked at."""
        cut = LogDir(1, "/d", 1, (copy(1, 0),), problems=(Problem(path="brokers/1/log_dirs.json:9", reason="is cut"),))
        assert whys(copy_coverage.listings([cut])) == "brokers/1/log_dirs.json:9: is cut."
        assert not copy_coverage.listings([cut._replace(problems=(Problem(path="x.swap", reason="is gone"),))])

    def test_damage_in_the_midst(self):
        """A copy that is being written ends in a torn batch; bytes before sound ones that cannot be read hide records."""
        whole = [(1, 0, 0), (1, 0, 50), (2, 1, 0), (2, 1, 50)]
        for tail, gaps in ((True, 0), (False, 1)):
            read = scanned(*whole, damage=[SegmentDamage("/d/0/x.log", 10, 20, None, "CRC", tail)])
            assert len(copy_coverage.contents(self.cluster, OFFSETS_TOPIC, [copy(1, 0), copy(2, 1)], read)) == gaps


class TestRelease:
    def test_assumed(self):
        """Whether a question arises in a release is not known where nobody knows the release."""
        used = VersionInUse(version=KafkaVersion.parse("3.9.2"), origin=VersionOrigin.ASSUMED)
        assert "3.9.2 is assumed" in whys(coverage.release(used, LOAD_TAKES_ANY_BATCH))
        assert not coverage.release(replace(used, origin=VersionOrigin.LOGS), LOAD_TAKES_ANY_BATCH)

    def test_inferred(self):
        """Nor where the znodes allow releases on both sides of a change."""
        first, last = KafkaVersion.parse("0.9.0.1"), KafkaVersion.parse("3.9.2")
        used = VersionInUse(version=last, origin=VersionOrigin.ZNODES, possible="0.9.0.1 or newer", between=(first, None))
        assert "0.9.0.1 or newer" in whys(coverage.release(used, LOAD_TAKES_ANY_BATCH))
        later = replace(used, between=(KafkaVersion.parse("0.10.2.2"), None))
        assert not coverage.release(later, LOAD_TAKES_ANY_BATCH)
        assert not coverage.release(
            replace(used, version=first, between=(first, KafkaVersion.parse("0.10.0.0"))), CLEANER_MAP_RULE
        )
