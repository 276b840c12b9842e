"""The cleaner: its own arithmetic, and a verdict by rules from whatever evidence there is."""

import pytest

from casebook.facts.cluster import Cluster, Problem
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica, SegmentFile
from casebook.facts.events import Event
from casebook.facts.offsets_topic import OffsetsLog, Scanned
from casebook.findings.finding import Severity, Status
from casebook.kafka import cleaner_map
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.leadership.analysis import leadership
from casebook.questions.offsets_topic.analysis import offsets_topic
from casebook.questions.triage.analysis import plan

MIB, DAY = 1 << 20, 86_400_000
NOW = 1_800_000_000_000
READ = Cluster(server_properties={1: {"broker.id": "1"}})
"""A broker's file was read: what it does not say is the release's default, for certain."""
K090, K09, K010, K28, K39 = (KafkaVersion.parse(text) for text in ("0.9.0.0", "0.9.0.1", "0.10.0.1", "2.8.2", "3.9.2"))


def replica(*bases, topic=OFFSETS_TOPIC, partition=0, size=100, point=None, modified=NOW - 40 * DAY, **more):
    """A copy whose segments have the given base offsets; the last is active."""
    files = tuple(SegmentFile(base_offset=base, bytes=size, modified=modified) for base in bases)
    return Replica(broker=1, topic=topic, partition=partition, place="/d", item="brokers/1/log_dirs.json", segments=files,
                   cleaner_point=point, **more)  # fmt: skip


def log_dir(*replicas, written=NOW - 30 * DAY, listed=NOW):
    return LogDir(broker=1, place="/d", listed_at=listed, replicas=replicas, checkpoints={"cleaner-offset-checkpoint": written})


def examined(*replicas, version=K09, events=(), cluster=None, scan=1, **more):
    """As of the segments of a broker's copy, which hold no open transaction; ``None``: of none."""
    used = VersionInUse(version=version, origin=VersionOrigin.PARAMETER)
    return offsets_topic.examine(
        cluster or (READ if replicas else Cluster()),
        used,
        log_dirs=[log_dir(*replicas, **more)] if replicas else (),
        events=events,
        scanned=Scanned(logs=(OffsetsLog(scan, 0, 1, 1, 0, None),)) if scan else None,
    )


def verdict(*replicas, **more):
    """The rule of the first copy."""
    return examined(*replicas, **more).partitions[0].rule


def event(kind, time=NOW, **more):
    return Event(kind, time, 1, "brokers/1/logs/log-cleaner.log", 7, **more)


DEATH = event("cleaner_died", NOW - 9 * DAY, topic="clicks", partition=101, text="requirement failed",
              fields={"messages": "9113204", "slots": "5033164", "segment": "00000000000431887001"})  # fmt: skip


class TestMap:
    def test_holds(self):
        """As the brokers print it: 128 MiB of 0.9.0.1 take 5,033,164 keys, 500 MiB of 0.9.0.0 19,660,799; two threads halve it."""
        assert cleaner_map.map_holds(128 * MIB, 1, 0.9) == 5_033_164
        assert cleaner_map.map_holds(500 * MIB, 1, 0.9) == 19_660_799
        assert cleaner_map.map_holds(128 * MIB, 2, 0.9) == 2_516_581
        assert cleaner_map.map_holds(1_100_000, 1, 0.9) == 41_249

    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("keys", [1, 41_250, 5_033_165, 9_113_204])
    def test_least(self, keys, threads):
        """The least buffer is enough, and an entry less is not."""
        least = cleaner_map.buffer_for(keys, threads, 0.9)
        assert cleaner_map.map_holds(least, threads, 0.9) >= keys > cleaner_map.map_holds(least - 24 * threads, threads, 0.9)

    def test_too_many(self):
        """No thread uses more than 2 GiB."""
        assert cleaner_map.buffer_for(90_000_000, 1, 0.9) is None

    def test_to_set(self):
        least = cleaner_map.buffer_for(9_113_204, 1, 0.9)
        assert (-(-least // MIB), cleaner_map.buffer_to_set(least, 1)) == (232, 320 * MIB)


class TestDirt:
    def test_ratio(self):
        """Whole segments, without the active one; never cleaned is all dirt."""
        assert cleaner_map.dirt(replica(0, 10, 20, 30, point=10), K09, now=NOW).ratio == 2 / 3
        assert cleaner_map.dirt(replica(0, 10, 20), K09, now=NOW).ratio == 1.0
        assert cleaner_map.dirt(replica(0), K09, now=NOW).ratio is None

    def test_inside(self):
        """A point inside a segment: the broker counts that segment twice."""
        found = cleaner_map.dirt(replica(0, 10, 20, point=15), K28, now=NOW)
        assert (found.clean_bytes, found.cleanable_bytes, found.first_segment) == (200, 100, 10)

    def test_bounds(self):
        """Open transactions bound it from 0.11, compaction lag from 0.10.1."""
        young = replica(0, 10, 20, 30, modified=NOW)
        assert cleaner_map.dirt(young, K39, now=NOW, unstable=25).first_uncleanable == 20
        assert cleaner_map.dirt(young, K09, now=NOW, unstable=25, lag=DAY).first_uncleanable == 30
        assert cleaner_map.dirt(young, K28, now=NOW, lag=DAY).cleanable_bytes == 0

    def test_checkpoint(self):
        """Below the log's start it is taken as that; beyond its end only from 2.3."""
        assert cleaner_map.dirt(replica(10, 20, point=5), K09, now=NOW).first_dirty == 10
        assert cleaner_map.dirt(replica(10, 20, point=50, high_watermark=30), K28, now=NOW).first_dirty == 10
        assert cleaner_map.dirt(replica(10, 20, point=50, high_watermark=30), K09, now=NOW).first_dirty == 50


class TestVerdict:
    def test_disabled(self):
        """By the default of 0.9.0.0; 0.9.0.1 has it on."""
        assert verdict(replica(0, 10, 20), version=K090) == "C2"
        assert verdict(replica(0, 10, 20), version=K09) == "C6"

    def test_assumed(self):
        """What rests on a default that nobody has read is possible, and no more; what a log says, or the topic's own, is so."""
        full, large = replica(0, 10, 20), replica(0, 6_000_000, 6_000_010, topic="clicks", point=0)
        for copies, version in (
            ((full,), K090),
            ((full,), K09),
            ((full, large), K09),
            ((replica(0, 10, 20, point=5), large), K28),
        ):
            found = examined(*copies, version=version, cluster=Cluster())
            asked = {answer.check: answer for answer in found.findings}["offsets_topic.compacted"]
            assert (found.partitions[0].rule, asked.status) == ("C0", Status.COULD_NOT_CHECK)
            assert "was not collected" in asked.why and "--properties" in asked.settle
        asked = {f.check: f for f in examined(full, large, cluster=Cluster()).findings}["offsets_topic.cleaner_map"]
        assert asked.status is Status.COULD_NOT_CHECK and "may stop the cleaner of broker 1" in asked.title
        assert "--properties" in asked.settle
        assert verdict(full, cluster=Cluster(), events=[DEATH]) == "C3"
        assert verdict(replica(0, 10, 20, point=5), cluster=Cluster()) == "C5"
        own = Cluster(topic_configs={OFFSETS_TOPIC: {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.3"}})
        assert verdict(full, cluster=own) == "C6"

    def test_checkpoint_not_read(self):
        """Without the cleaner's checkpoint nobody knows what is clean: neither due, nor where cleaning begins."""
        for problems in ((), (Problem(path="cleaner-offset-checkpoint", reason="announces '2' lines and holds 1"),)):
            read = {"cleaner-offset-checkpoint": NOW} if problems else {}
            unread = log_dir(replica(0, 10, 20))._replace(checkpoints=read, problems=problems)
            used = VersionInUse(version=K09, origin=VersionOrigin.PARAMETER)
            found = offsets_topic.examine(READ, used, log_dirs=[unread])
            assert (found.partitions[0].rule, found.findings[0].status) == ("C0", Status.COULD_NOT_CHECK)
            assert "cleaner-offset-checkpoint" in found.findings[0].why
        only_active = log_dir(replica(0))._replace(checkpoints={})
        assert offsets_topic.examine(READ, used, log_dirs=[only_active]).partitions[0].rule == "C8"

    def test_dead(self):
        """Dead by another topic's segment, with the buffer it needs; a later start makes it forget."""
        found = examined(replica(0, 10, 20), events=[DEATH])
        answer = found.findings[0]
        assert found.partitions[0].rule == "C3" and "another topic, clicks-101" in found.partitions[0].why
        assert answer.severity is Severity.CRITICAL and answer.evidence[0].line == 7
        made = plan.make(leadership.examine(found.cluster, found.version), topic=found)
        assert "log.cleaner.dedupe.buffer.size=335544320" in [step.command for step in made.of(answer.check)]
        assert verdict(replica(0, 10, 20), events=[DEATH, event("broker_starting")]) == "C6"

    def test_logs_alone(self):
        """Without log dir, znodes or properties the log still tells."""
        found = examined(events=[DEATH])
        assert found.findings[0].status is Status.FINDING and found.findings[0].since.startswith("2027-01")
        assert not found.partitions

    def test_nothing(self):
        """Without any evidence nothing is well."""
        statuses = {f.status for f in examined().findings}
        assert statuses == {Status.COULD_NOT_CHECK}

    def test_uncleanable(self):
        """Until the next start, which begins with its first line and not with its last."""
        marked = event("uncleanable", topic=OFFSETS_TOPIC, partition=0)
        assert verdict(replica(0, 10, 20), version=K28, events=[marked]) == "C4"
        start = [event("broker_starting", NOW - 9), event("cleaner_started", NOW - 5), event("broker_started", NOW + 5)]
        assert verdict(replica(0, 10, 20), version=K28, events=[*start, marked]) == "C4"
        assert verdict(replica(0, 10, 20), version=K28, events=[marked, event("broker_starting", NOW + 1)]) == "C6"

    def test_would_die(self):
        """Up to 2.0 another topic's segment stops all; the rule itself ended with 0.10.1."""
        large = replica(0, 6_000_000, 6_000_010, topic="clicks", point=0)
        assert verdict(replica(0, 10, 20), large) == "C5"
        assert verdict(replica(0, 10, 20), large, version=K28) == "C6"
        asked = {f.check: f for f in examined(replica(0, 10, 20), large, version=K010).findings}["offsets_topic.cleaner_map"]
        assert asked.severity is Severity.WARNING and "may" in asked.title

    def test_segment_start(self):
        """A checkpoint inside a segment kills the cleaner up to 0.10.0."""
        assert verdict(replica(0, 10, 20, point=5)) == "C5"

    def test_at_work(self):
        """Above the limit, and the checkpoint is fresh: it works and does not keep up."""
        assert verdict(replica(0, 10, 20), written=NOW) == "C7"

    def test_transactions_that_nobody_looked_for(self):
        """From 0.11 on an open one bounds what may be cleaned: without the segments it is not known that a copy was due."""
        for written in (NOW, NOW - 30 * DAY):
            assert verdict(replica(0, 10, 20), written=written, version=K09, scan=None) != "C0"
            (found,) = examined(replica(0, 10, 20), written=written, version=K28, scan=None).partitions
            assert (found.rule, found.since) == ("C0", None)
            assert (
                found.why
                == "Its dirty ratio is 1.00, above 0.50: it is due, unless a transaction is open. Segments were not read."
            )

    def test_of_nobody_knows_when(self):
        """A checkout keeps no times: neither that it works is known, nor that it was due for long."""
        copied = replica(0, 10, 20, modified=None)
        (found,) = examined(copied, written=None, listed=None).partitions
        assert (found.rule, found.since) == ("C0", None)
        assert found.why == "Its dirty ratio is 1.00, above 0.50; its start time is unknown: the log dir listing has no date."

    def test_waiting(self):
        """Only the active segment is dirty; or the ratio is not reached."""
        assert verdict(replica(0, 10, point=10)) == "C8"
        assert verdict(replica(0, 10, 20, 30, 40, point=30)) == "C9"

    def test_policy(self):
        cluster = Cluster(topic_configs={OFFSETS_TOPIC: {"cleanup.policy": "delete"}})
        assert verdict(replica(0, 10, 20), cluster=cluster) == "C1"


def start(at, *dies, thread="0", last=True):
    """The lines of a start: the broker prints that it started when its cleaner has cleaned for a while, or has died."""
    lines = [event("broker_starting", at), event("cleaner_started", at + 1, fields={"thread": thread})]
    lines += [event("cleaner_died", at + 2, topic=topic, partition=0, fields={"thread": thread}) for topic in dies]
    return [*lines, event("broker_started", at + 3)] if last else lines


def cleaned(at, thread="0", topic="clicks"):
    return event("cleaned", at, topic=topic, partition=0, fields={"thread": thread})


def failure(at, partition=0, topic=OFFSETS_TOPIC):
    return event("clean_failed", at, topic=topic, partition=partition, fields={"dir": "/d"},
                 text="Failed to clean up log for x in dir /d due to IOException\njava.io.IOException: Input/output error")  # fmt: skip


class TestLives:
    """Deaths, starts and failures in the true order of their lines."""

    def test_died_while_starting(self):
        """The broker says that it has started when its new cleaner is dead already."""
        found = examined(replica(0, 10, 20), events=start(NOW, "clicks"), written=NOW)
        assert found.partitions[0].rule == "C3"
        assert found.cleaners[0].died.time == NOW + 2

    def test_died_within_the_millisecond_of_its_start(self):
        """The cleaner's file is read before the server's: of one time, the start comes first."""
        events = [event("cleaner_died", NOW, topic="clicks", partition=0, fields={"thread": "0"}), event("broker_starting", NOW)]
        assert verdict(replica(0, 10, 20), events=[*start(NOW - DAY), *events]) == "C3"

    def test_killed_at_each_start(self):
        """How often, since when, and by which partition."""
        events = [*start(NOW - 3 * DAY, "clicks"), *start(NOW - 2 * DAY, "clicks"), *start(NOW - DAY, "orders")]
        answer = examined(replica(0, 10, 20), events=events).findings[0]
        assert (answer.facts["deaths"], answer.facts["died_on"]) == (3, "orders-0")
        assert answer.title.startswith("The cleaner of broker 1 dies at each start: 3 times since 2027-01-12")
        assert "3 times in a row" in answer.why and "clicks-0 (2 times), orders-0" in answer.why
        assert answer.since == answer.facts["dead_since"] and answer.since.startswith("2027-01-12")
        assert len([one for one in answer.evidence if one.line]) == 3

    def test_worked_between(self):
        """Deaths before a life that cleaned are another story; a life that lives ends them all."""
        events = [*start(NOW - 3 * DAY, "clicks"), *start(NOW - 2 * DAY), cleaned(NOW - 2 * DAY + 9), *start(NOW - DAY, "clicks")]
        assert examined(replica(0, 10, 20), events=events).findings[0].facts["deaths"] == 1
        alive = [*events, *start(NOW - 9)]
        assert verdict(replica(0, 10, 20), events=alive) == "C6"
        assert verdict(replica(0, 10, 20), events=[*events, cleaned(NOW)], written=NOW) == "C7"

    def test_threads(self):
        """A thread that starts beside a dead one, or cleans, does not bring it back."""
        events = [*start(NOW - DAY, "clicks"), cleaned(NOW, thread="1")]
        assert verdict(replica(0, 10, 20), events=events) == "C3"
        both = [event("broker_starting", NOW - DAY), *start(NOW - DAY, "clicks", last=False)[1:]]
        both.append(event("cleaner_started", NOW - DAY + 1, fields={"thread": "1"}))
        assert verdict(replica(0, 10, 20), events=both) == "C3"

    def test_start_not_seen(self):
        """A death, and then the last line of a start whose first is missing: whose death it was, nobody knows."""
        clean = replica(0, 10, 20, 30, 40, point=30)
        for events in ([DEATH, event("broker_started")], [*start(NOW - 20 * DAY), DEATH, event("broker_started")]):
            found = examined(clean, events=events)
            answer = found.findings[0]
            assert (found.partitions[0].rule, answer.status) == ("C9", Status.COULD_NOT_CHECK)
            assert "before or after the broker's last start" in answer.why
        assert examined(clean, events=start(NOW - DAY)).findings[0].caveats == ()

    def test_last_start_not_logged(self):
        """It died at each start that its log shows; the log of the last one is missing."""
        events = [*start(NOW - 3 * DAY, "clicks"), *start(NOW - 2 * DAY, "clicks"), event("broker_starting", NOW - DAY)]
        answer = examined(replica(0, 10, 20, 30, 40, point=30), events=events).findings[0]
        assert answer.status is Status.COULD_NOT_CHECK and "It had died 2 times before its last start" in answer.why

    def test_io_exceptions(self):
        """A cleaner whose cleans fail does not work, however fresh its checkpoint; its copies are named, and how often."""
        events = [*start(NOW - DAY), *(failure(NOW - 1000 * n) for n in range(17, 0, -1))]
        found = examined(replica(0, 10, 20), replica(0, 10, 20, partition=1), events=events, version=K28, written=NOW)
        assert [one.rule for one in found.partitions] == ["C10", "C10"]
        answer = found.findings[0]
        assert (answer.status, answer.facts["failed_cleans"]) == (Status.FINDING, 17)
        assert "17 times" in answer.title and "__consumer_offsets-0" in answer.title and "Input/output error" in answer.why
        alone = examined(events=events, version=K28).findings[0]
        assert alone.title == "The cleaner of broker 1 fails with an IOException: 17 times, on __consumer_offsets-0"

    def test_a_start_since_the_last_failure(self):
        """Who starts again cleans anew: that it fails is said where it failed since; months later it is a thing of the past."""
        events = [*start(NOW - 90 * DAY), failure(NOW - 90 * DAY + 9), *start(NOW - 80 * DAY), failure(NOW - 80 * DAY + 9)]
        failing = examined(events=events, version=K28).findings[0]
        assert failing.facts["failed_cleans"] == 2
        since = examined(events=[*events, *start(NOW - DAY)], version=K28).findings[0]
        assert since.status is Status.COULD_NOT_CHECK
        assert "failed with an IOException before its last start, last on __consumer_offsets-0 at 2026-10-27" in since.why
        assert verdict(replica(0, 10, 20, 30, 40, point=30), events=[*events, *start(NOW - DAY)], version=K28) == "C9"

    def test_a_failure_before_the_last_start(self):
        """It does not work and fall behind, however fresh its checkpoint; nor where nobody knows whose failure a line tells of."""
        events = [*start(NOW - 3 * DAY), failure(NOW - 2 * DAY), *start(NOW - DAY)]
        nobodys = [*start(NOW - 3 * DAY), failure(NOW - 2 * DAY)._replace(broker=None)]
        for told, words in ((events, "before its last start"), (nobodys, "the broker is not logged")):
            found = examined(replica(0, 10, 20), events=told, version=K28, written=NOW).partitions[0]
            assert found.rule == "C0" and words in found.why
        elsewhere = failure(NOW - 2 * DAY, topic="clicks")._replace(broker=None)
        assert verdict(replica(0, 10, 20), events=[*start(NOW - 3 * DAY), elsewhere], version=K28, written=NOW) == "C7"

    def test_of_some_nobody_knows(self):
        """It is not said to be compacted, not even as far as could be checked."""
        events = [*start(NOW - 3 * DAY), failure(NOW - 2 * DAY), *start(NOW - DAY)]
        well = replica(0, 10, 20, 30, 40, point=30, partition=1)
        answer = examined(replica(0, 10, 20), well, events=events, version=K28, written=NOW).findings[0]
        assert answer.status is Status.COULD_NOT_CHECK
        assert answer.title == "Whether 1 of 2 copies of the offsets topic is compacted is unknown"

    def test_cleaned_since(self):
        """What was cleaned after it had failed is no failure any more; what failed and has nothing to clean is no ok."""
        ours = cleaned(NOW, topic=OFFSETS_TOPIC)
        assert verdict(replica(0, 10, 20), events=[*start(NOW - DAY), failure(NOW - 5), ours], written=NOW, version=K28) == "C7"
        other = [*start(NOW - DAY), failure(NOW - 5, topic="clicks")]
        found = examined(replica(0, 10, 20, 30, 40, point=30), events=other, version=K28)
        assert (found.partitions[0].rule, found.findings[0].status) == ("C9", Status.COULD_NOT_CHECK)
        assert "clicks-0" in found.findings[0].why
