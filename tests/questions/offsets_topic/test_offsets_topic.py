"""The offsets topic: numbers from a scan's rows, three outcomes, and what deleting would cost."""

from dataclasses import replace

from casebook.errors import ScanError
from casebook.facts.cluster import Cluster, Partition, PartitionState
from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.facts.offsets_topic import (
    Deletion,
    GroupBytes,
    GroupCommit,
    GroupHistory,
    GroupLoss,
    GroupState,
    OffsetsLog,
    Scanned,
    Segment,
    SegmentDamage,
)
from casebook.findings import tables
from casebook.findings.finding import Severity, Status
from casebook.findings.words import count
from casebook.kafka.load_rate import Measured, rate
from casebook.kafka.load_work import Work
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.offsets_topic.analysis import deletion, offsets_topic, writers

HOUR, DAY, GIB = 3_600_000, 86_400_000, 1 << 30
MONDAY = 1_780_272_000_000  # 1 June 2026
USED = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)


def segment(base, *, live=0, safe=False, time=MONDAY, size=GIB, **more):
    facts = {
        "broker": 5, "partition": 19, "base_offset": base, "bytes": size, "records": 1000, "live_records": live, "live_bytes": 50 * live,
        "tombstones": 0, "open_transactional": 0, "markers": 0, "first_offset": base, "last_offset": base + 9, "first_time": time,
        "last_time": time + HOUR, "largest_batch": 300, "keepers": live, "safe_to_do_without": safe,
    }  # fmt: skip
    return Segment(**(facts | more))


def hours(group, sizes, *, start=MONDAY):
    """A row an hour."""
    return [GroupBytes(5, 19, group, "t", start + n * HOUR, 10, size, 0) for n, size in enumerate(sizes)]


SEGMENTS = (segment(0, safe=True), segment(10, live=3, time=MONDAY + DAY), segment(20, live=7, time=MONDAY + 8 * DAY))
SCANNED = Scanned(
    segments=SEGMENTS,
    logs=(OffsetsLog(5, 19, commits=9, groups=2, open_transactional=0, first_open=None, expired=0),),
    commits=(GroupCommit(5, 19, "g", "t", 0, 7, MONDAY, None, 25, 20),),
    groups=(GroupState(5, 19, "g", commits=9, members=0),),
    group_bytes=(*hours("g", [2 * GIB] * 49), *hours("h", [GIB // 2] * 49)),
    history=(GroupHistory(5, 19, "g", MONDAY, MONDAY + DAY, 25, 1, 7200, 86_400, 2, 40, 1.0),),
)


READ = Cluster(server_properties={5: {"broker.id": "5"}})


def examined(scanned=SCANNED, version=USED, cluster=READ):
    rates = {5: rate([Measured(Work(5, GIB, 1000, counted=True), 10_000), Measured(Work(5, GIB, 1000, counted=True), 10_000)])}
    return offsets_topic.examine(cluster, version, scanned=scanned, rates=rates)


def check(name, scanned=SCANNED, **more):
    return {f.check: f for f in examined(scanned, **more).findings}[f"offsets_topic.{name}"]


class TestTopic:
    def test_partition(self):
        """What is kept, for what, and what it costs."""
        copy = examined().partitions[0]
        assert (copy.bytes, copy.live_bytes, copy.superseded_bytes) == (3 * GIB, 500, 3 * GIB - 500)
        assert (copy.live_segments, copy.safe_segments, copy.safe_bytes, copy.coordinator) == (2, 1, GIB, None)
        assert 25_000 < copy.load_ms < 36_000

    def test_dead_weight(self):
        found = check("dead_weight")
        assert found.severity is Severity.WARNING and "3.0 GiB for 500 B" in found.title

    def test_could_not_check(self):
        """Without a scan no question about content is called well."""
        answers = {f.check: f.status for f in examined(Scanned()).findings}
        assert {Status.COULD_NOT_CHECK} == set(answers.values())

    def test_load_for_ever(self):
        """A batch larger than the loader's buffer, up to 0.10.0."""
        huge = Scanned(segments=(segment(0, largest_batch=6 << 20),))
        assert check("load_buffer", huge).next[0].command == "offsets.load.buffer.size=8388608"
        unread = check("load_buffer", huge, cluster=Cluster())
        assert (unread.status, count(5 << 20) in unread.why) == (Status.COULD_NOT_CHECK, True)
        assert "--properties" in unread.settle
        later = VersionInUse(version=KafkaVersion.parse("2.8.2"), origin=VersionOrigin.PARAMETER)
        by_name = {f.check: f for f in examined(huge, later).findings}
        assert by_name["offsets_topic.load_buffer"].status is Status.NOT_APPLICABLE

    def test_the_smallest_buffer(self):
        """Any broker with a replica may have to load it, also one that is down."""
        led = (Partition(topic="__consumer_offsets", partition=19, replicas=(5, 6)),)
        small = {5: {"offsets.load.buffer.size": "8388608"}, 6: {"offsets.load.buffer.size": "100"}}
        asked = check("load_buffer", cluster=Cluster(partitions=led, server_properties=small))
        assert (asked.status, asked.facts["limit"]) == (Status.FINDING, 100)
        del small[6]
        asked = check("load_buffer", cluster=Cluster(partitions=led, server_properties=small))
        assert asked.status is Status.COULD_NOT_CHECK and "server.properties of broker 6 was not collected" in asked.why

    def test_expiring(self):
        """By a retention that nobody has read commits may be past their time; by one that was, they are."""
        past = Scanned(segments=SEGMENTS, logs=(SCANNED.logs[0]._replace(expired=3),))
        asked = check("expiring", past, cluster=Cluster())
        assert (asked.status, "may have expired" in asked.title) == (Status.COULD_NOT_CHECK, True)
        assert check("expiring", past).status is Status.FINDING
        asked = check("expiring", cluster=Cluster())
        assert "Built-in defaults are assumed" in asked.why

    def test_what_a_cut_segment_cannot_tell(self):
        """Behind its end a commit may have been written anew, or a transaction ended: neither is found there, nor is it well."""
        listed = [
            LogDir(5, "/d", MONDAY, (Replica(5, "__consumer_offsets", 19, "/d/19", "x", (SegmentFile(0, 2 * GIB, MONDAY),)),))
        ]
        log = SCANNED.logs[0]._replace(expired=3, open_transactional=2, first_open=7)
        scan = Scanned(segments=(segment(0),), logs=(log,))
        found = offsets_topic.examine(READ, USED, log_dirs=listed, scanned=scan).findings
        asked = {one.check: one for one in found}
        for name in ("expiring", "open_transactions"):
            one = asked[f"offsets_topic.{name}"]
            assert (one.status, "could be read only in part" in one.why) == (Status.COULD_NOT_CHECK, True)
            assert check(name, scan).status is Status.FINDING

    def test_bounds(self):
        """What was not read may count, hold an older value, and be of anyone."""

        def asked(*listed, scan=SCANNED):
            files = tuple(SegmentFile(base, bytes_, MONDAY) for base, bytes_ in listed)
            dirs = [LogDir(5, "/d", MONDAY, (Replica(5, "__consumer_offsets", 19, "/d/19", "x", files),))]
            found = offsets_topic.examine(READ, USED, log_dirs=dirs, scanned=scan)
            return {one.check.removeprefix("offsets_topic."): one for one in found.findings}

        whole, cut = ((0, GIB), (10, GIB), (20, GIB)), ((0, GIB), (10, GIB), (20, 2 * GIB))
        most = ((0, GIB), (10, GIB), (20, 5 * GIB))
        names = ("dead_weight", "safe_segments", "writers")
        assert [asked(*whole)[name].status for name in names] == [Status.FINDING] * 3
        few = replace(SCANNED, group_bytes=(*hours("g", [2 * GIB]), *hours("h", [GIB // 2])))
        a_bit, much = asked(*cut, scan=few), asked(*most, scan=few)
        assert "for at most 1.0 GiB of latest values" in a_bit["dead_weight"].title
        assert "2.5 GiB" in a_bit["writers"].title and a_bit["writers"].status is Status.FINDING
        assert [much[name].status for name in names] == [Status.COULD_NOT_CHECK] * 3
        assert "500 B to 4.0 GiB" in much["dead_weight"].title and "4.0 GiB could not be read" in much["writers"].why
        assert a_bit["safe_segments"].status is Status.COULD_NOT_CHECK

    def test_damage(self):
        """A cut end is told, and is not corruption."""
        tail = SegmentDamage("f", 900, 30, None, "cut", tail=True)
        assert check("damage", Scanned(segments=SEGMENTS, damage=(tail,))).severity is Severity.INFO
        middle = tail._replace(tail=False)
        found = check("damage", Scanned(segments=SEGMENTS, damage=(tail, middle)))
        assert (found.severity, found.next[0].kind) == (Severity.CRITICAL, "first")

    def test_newer(self):
        """Records of the new protocol end a load of an old coordinator."""
        newer = Scanned(segments=SEGMENTS, logs=(OffsetsLog(5, 19, 1, 1, 0, None, newer={"ConsumerGroupMetadata": 3}),))
        found = check("decoded", newer)
        assert found.severity is Severity.CRITICAL and "3 ConsumerGroupMetadata" in found.title

    def test_tables(self, tmp_path):
        """Every table can be written."""
        found = examined()
        rows = {
            "offsets_partitions": found.partitions,
            "offsets_segments": SEGMENTS,
            "group_bytes": SCANNED.group_bytes,
            "commits": SCANNED.commits,
            "damage": [SegmentDamage("f", 900, 30, None, "cut", tail=True)],
        }
        for name, some in rows.items():
            tables.write(tmp_path, name, some)
            assert (tmp_path / f"{name}.parquet").exists()


class TestWriters:
    def test_shares(self):
        """The largest first, with pace and clients."""
        topic = examined()
        first, second = topic.writers(topic.partitions[0])
        assert (first.group, first.share, first.per_second, first.busiest, first.per_commit) == ("g", 0.8, 1.0, 2.0, 1.0)
        assert second.per_second is None

    def test_a_few_together(self):
        """Nobody writes half of it, and six write nearly all; where all write alike, nobody stands out."""

        def said(*sizes):
            rows = tuple(GroupBytes(5, 19, f"g{n:02}", "t", MONDAY, 10, size, 0) for n, size in enumerate(sizes))
            return check("writers", replace(SCANNED, group_bytes=rows))

        six = said(*[GIB] * 6, *[1 << 10] * 94)
        assert six.status is Status.FINDING and six.title.startswith("6 groups of 100, g00, g01")
        assert six.title.endswith("write 100.0 % of the bytes together") and len(six.facts["writers"]) == 6
        assert said(*[GIB] * 8).status is not Status.FINDING
        assert said(*[GIB] * 6, *[GIB // 3] * 2).status is not Status.FINDING
        assert said(*[1 << 20] * 6, *[1 << 10] * 94).status is not Status.FINDING
        assert said(6 * GIB, 2 * GIB, GIB).title.startswith("One group of 3, g00 writes 66.7 %")

    def test_growth(self):
        """By the last whole hours, and a load a month on."""
        grown = examined().growth(examined().partitions[0])
        assert grown.bytes_per_day == 24 * (2 * GIB + GIB // 2)
        assert grown.load_ms_then > 100 * grown.load_ms_now

    def test_growth_of_what_was_seen(self):
        """Two hours are no day; and what was cleaned away is not taken for quiet hours."""
        short = writers.growth(hours("g", [GIB] * 3), 19, 3 * GIB, None, lambda *_: 1)
        assert (short.seen, short.bytes_seen, short.bytes_per_day, short.bytes_then) == (2 * HOUR, 2 * GIB, None, None)
        cleaned = [*hours("g", [1] * 96), *hours("g", [GIB] * 49, start=MONDAY + 4 * DAY)]
        grown = writers.growth(cleaned, 19, GIB, None, lambda *_: 1, since=MONDAY + 4 * DAY)
        assert grown.bytes_per_day == 24 * GIB
        assert writers.growth(cleaned, 19, GIB, None, lambda *_: 1).bytes_per_day < 12 * GIB

    def test_onset(self):
        """The week in which a group began to write more."""
        quiet = hours("g", [1] * 336)
        assert writers.onset(quiet, 19) is None
        loud = [*quiet, *hours("loud", [9] * 20, start=MONDAY + 8 * DAY)]
        assert writers.onset(loud, 19).group == "loud"


class TestDeletion:
    def test_sets(self):
        """Never the active segment, unless picked."""
        tried = deletion.sets(SEGMENTS, older_than=MONDAY + 2 * HOUR, picked=[20])
        assert {name: [base for _, _, base in some] for name, some in tried.items()} == {
            "nothing": [], "provably safe": [0], "older": [0], "all but the active": [0, 10], "picked": [20],
        }  # fmt: skip

    def test_choices(self):
        """Each set with its price; nothing lost is called so."""
        tried = deletion.sets(SEGMENTS)
        loss = GroupLoss(19, "g", 9, 9, 0, 0, 0, MONDAY)
        answers = [
            Deletion("provably safe", 5, 19, (0,), GIB, 1000, 9, 0, 0, 0, 0, 2, 0, 0, 0),
            Deletion("all but the active", 5, 19, (0, 10), 2 * GIB, 2000, 9, 9, 0, 0, 0, 2, 1, 1, 0, (loss,)),
        ]
        nothing, safe, every = deletion.choices(tried, answers, SEGMENTS, examined().load_time(5))
        assert (safe.verdict, safe.severity, every.severity, every.groups_emptied) == ("same answers", None, Severity.CRITICAL, 1)
        assert nothing.load_ms > safe.load_ms > every.load_ms
        assert deletion.lost_groups(answers[1], SCANNED.groups)[0].then.startswith("none left")


class TestUnread:
    """Where no segment was read, the advice is to do what would bring an answer, not what was done already."""

    def of(self, *, size=None, leader=5, failed=None, looked=True, scanned=None):
        replica = Replica(5, "__consumer_offsets", 19, "/d", "brokers/5/log_dirs.json:1", (SegmentFile(0, size or 0, MONDAY),))
        dirs = () if size is None else (LogDir(5, "/d", MONDAY, (replica,)),)
        state = PartitionState(leader=leader, leader_epoch=1, isr=(leader,), controller_epoch=1)
        led = (Partition(topic="__consumer_offsets", partition=19, replicas=(5, 6), state=state),)
        found = offsets_topic.examine(Cluster(partitions=led), USED, log_dirs=dirs, failed=failed, looked=looked, scanned=scanned)
        content = [
            f
            for f in found.findings
            if f.check.startswith("offsets_topic.") and not f.check.endswith((".compacted", ".cleaner_map", ".replicated"))
        ]
        assert len(content) == 9
        return found, {(f.status, f.why, f.settle) for f in content}

    def test_without_log_dirs_they_are_wanted(self):
        _, ((status, why, settle),) = self.of()
        assert (status, "no log dir" in why, "--log-dirs" in settle) == (Status.COULD_NOT_CHECK, True, True)

    def test_where_nobody_looked_the_notebook_that_does_is_named(self):
        """Triage reads no segment: the log dirs may all be here."""
        _, ((status, _, settle),) = self.of(size=GIB, looked=False)
        assert status is Status.COULD_NOT_CHECK
        assert "casebook run offsets_topic" in settle and "--log-dirs" not in settle

    def test_a_scan_that_failed_says_how(self):
        """Log dirs that were given are elsewhere: to give them again helps nobody."""
        _, ((status, why, settle),) = self.of(size=GIB, failed=ScanError("They are not here.", try_="Go there."))
        assert (status, why, settle) == (Status.COULD_NOT_CHECK, "They are not here.", "Go there.")

    def test_an_empty_topic_is_well(self):
        """There is nothing to read, whether somebody looks or not."""
        for looked in (True, False):
            found, ((status, why, settle),) = self.of(size=0, looked=looked, scanned=Scanned())
            assert (found.empty, status, why, settle) == (True, Status.OK, "", None)

    def test_empty_copies_of_others_prove_nothing(self):
        """The coordinator's own copy may be full."""
        found, ((status, why, settle),) = self.of(size=0, leader=6)
        assert (found.empty, status, "is empty" in why, "--log-dirs" in settle) == (False, Status.COULD_NOT_CHECK, True, True)
