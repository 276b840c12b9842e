"""Chains and their roots: what caused what, and what speaks against it."""

import pytest

from casebook.facts.cluster import Broker, Partition, instant
from casebook.facts.history import Happened, What
from tests.questions.timeline.scenes import (
    GONE,
    LIVE,
    OLD,
    T0,
    History,
    cluster,
    event,
    examined,
    files,
    finding,
    history,
    incident,
    lines,
    log,
)

OFFSETS = {"topic": "__consumer_offsets", "partition": 19}


def effects(found, chain=0):
    return [link.effect.kind for link in found.chains[chain].links]


def root(found, kind):
    return next(one for one in found.roots if one.kind == kind)


def frozen(*more):
    """Broker 57 stands still from before its last beat until after the elections."""
    told = [one for one in lines(silent=False) if not (one.broker == 57 and T0 - 5000 < one.time < T0 + 4100)]
    told += [event("fetcher_added", -3500, 57), event("zk_silent", 4180, 57, ms=7200, session="396c")]
    return incident(events=[*told, *more])


class TestLoss:
    def test_frozen(self):
        """A log without a line for longer than the timeout, and a silence that was noticed late: it stood still."""
        found = frozen()
        assert found.roots[0].kind == "frozen"
        assert found.chains[0].links[0].cause.kind == "log_gap"
        assert any("paused longer" in point.text for point in found.roots[0].pro)
        assert any("paused longer" in point.text for point in root(found, "network").contra)

    @pytest.mark.parametrize(("after", "shows_nothing"), [(-2700, True), (-1300, True), (-500, False), (1500, False)])
    def test_what_it_printed(self, after, shows_nothing):
        """A line counts only from when the beat that did not come was due, a third of the timeout behind the last: -1 s here."""
        found = frozen(event("isr_expanded", after, 57, topic="u", partition=0, old="1", new="1,2"))
        assert (found.roots[0].kind == "frozen") == shows_nothing
        assert any("It logged 1 line" in point.text for point in root(found, "frozen").contra) != shows_nothing

    def test_gc_pause(self):
        """A pause in the GC log explains the freeze, also in the seconds of JDK 8."""
        found = frozen(event("gc_pause", 2900, 57, secs="5,61", file="kafkaServer-gc.log"))
        assert found.roots[0].kind == "gc"
        assert "A pause of 6 s" in found.roots[0].pro[0].text
        assert found.chains[0].links[0].cause.kind == "gc_pause"

    def test_fsync(self):
        """A ZooKeeper that waits for its disk, and several sessions at once: not the broker."""
        told = history()
        told.rows = [one for one in told.rows if one.what not in ("session_closed", "broker_gone") or one.broker != 56]
        told.lose(55, GONE + 300)
        slow = event("zks_fsync_slow", 2500, file="zookeeper/logs/1/zookeeper.log", ms=5200)
        found = incident(events=[*lines(silent=False), slow], history=sorted(told.rows, key=lambda one: one.time))
        zookeeper = next(one for one in found.roots if (one.kind, one.broker) == ("zookeeper", 57))
        assert any("write to disk took 5 s" in point.text for point in zookeeper.pro)
        assert any("broker 55 lost their sessions" in point.text for point in zookeeper.pro)

    def test_killed(self):
        """A process whose log ends without a word, and that next says that it starts."""
        told = [one for one in lines(silent=False) if not (one.broker == 57 and one.time > T0 - 5000)]
        told += [
            event("broker_starting", 9000, 57, line=9000),
            event("recovering_segment", 9100, 57, line=9001, topic="orders", partition=1),
        ]
        found = incident(events=told)
        assert found.roots[0].kind == "killed"
        assert [point.text for point in found.roots[0].pro] == [
            "Its log ends before, without a stop",
            "Its next line is a start",
            "It finds its logs not closed",
        ]

    @pytest.mark.parametrize("host", [57, 55])
    def test_killed_by_the_kernel(self, host):
        """The kernel's own line tells, where it is of that broker's host, and no other one's."""
        told = [one for one in lines(silent=False) if not (one.broker == 57 and one.time > T0 - 5000)]
        told.append(event("broker_starting", 9000, 57, line=9000))
        place = f"clients/host-of-broker-{host}/logs/messages"
        told.append(event("process_killed", -900, file=place, line=77, pid=4711, name="java", vm_kb=9, rss_kb=8))
        killed = root(incident(events=told), "killed")
        words = "The kernel of its host killed process 4711 (java) for want of memory"
        assert ((words, f"{place}:77") in [(point.text, point.proof) for point in killed.pro]) == (host == 57)
        assert ("whether that process was the broker" in killed.unchecked) == (host == 57)

    def test_killed_by_the_kernel_by_logs_alone(self):
        """Between its last line and its next start."""
        told = [
            event("broker_starting", -9000, 57),
            event("segment_rolled", 0, 57, line=2),
            event("broker_starting", 9000, 57, line=3),
        ]
        told += [event("recovering_segment", 9100, 57, line=4, topic="t", partition=0)]
        place = "clients/host-of-broker-57/logs/messages"
        told.append(event("process_killed", 50, file=place, line=77, pid=4711, name="java", vm_kb=9, rss_kb=8))
        assert f"{place}:77" in [point.proof for point in root(examined(*told), "killed").pro]
        told[-1] = event("container_ended", 50, file=place, line=77, reason="OOMKilled", exit_code=137)
        words = "Kubernetes says that its container ended: OOMKilled, exit code 137"
        assert words in [point.text for point in root(examined(*told), "killed").pro]

    def test_log_that_begins_after_the_loss(self):
        """A rotated log, without a start of a process: that process lived on, and took writes."""
        told = [one for one in lines() if one.broker != 57 or one.time >= T0 + 4000]
        found = incident(events=told, files=[log(55), log(56), log(57, begins=4000)])
        assert "killed" not in {one.kind for one in found.roots}
        assert finding(found, "two_leaders").severity == "critical"
        assert not any("ends before" in one.what for one in found.silences)

    def test_log_that_begins_with_another_process(self):
        """What ran before has no log: it may have been killed, and nobody knows what it took."""
        told = [one for one in lines() if one.broker != 57]
        told.append(event("broker_starting", 4000, 57))
        found = incident(events=told, files=[log(55), log(56), log(57, begins=4000)])
        assert found.roots[0].kind == "killed"
        assert finding(found, "two_leaders").status == "could_not_check"

    def test_log_that_begins_long_after_the_loss(self):
        """Another process may have registered since: unknown, unless a line names the session that was lost."""
        late = event("segment_rolled", 50_000, 57)
        told = [*(one for one in lines() if one.broker != 57), late]
        found = incident(events=told, files=[log(55), log(56), log(57, begins=50_000)])
        assert "begins long after" in root(found, "killed").unchecked[0]
        assert finding(found, "two_leaders").status == "could_not_check"
        told.append(event("zk_session_expired", 50_001, 57, session="396c", line=2))
        found = incident(events=told, files=[log(55), log(56), log(57, begins=50_000)])
        assert "killed" not in {one.kind for one in found.roots}

    def test_nothing_tells_which(self):
        """With the history alone every candidate is as good as the next: no likeliest one is named."""
        found = incident(events=(), files=())
        told = finding(found, "root")
        assert (told.status, told.severity) == ("could_not_check", None)
        assert "the evidence does not show which of 5 candidates" in told.title
        assert all(one.name in told.why for one in found.roots if one.chain == 0)

    def test_trouble_before_it(self):
        """Partitions that had no leader long before say that something else began that."""
        assert not any("before it" in text for text in finding(frozen(), "root").caveats)
        told = history()
        told.write("other", 0, None, (55,), 3, -400_000)
        told.write("other", 0, 55, (55,), 4, -300_000)
        found = incident(events=lines(), history=sorted(told.rows, key=lambda one: one.time))
        assert any("1 partition had no leader before it" in text for text in finding(found, "root").caveats)

    def test_stopped(self):
        """A controlled shutdown moves leaders first; nobody is surprised."""
        told = History()
        for broker in LIVE:
            told.register(broker, -500_000 + broker)
        told.write("t", 0, 57, (57, 55), 0, -400_000)
        told.write("t", 0, 55, (55,), 1, 2000)
        told.lose(57, GONE)
        told = [event("broker_stopping", 1900, 57), event("broker_stopped", GONE - 5, 57)], told
        found = examined(*told[0], told=told[1], covered=[log(broker) for broker in LIVE])
        assert (found.chains[0].kind, found.chains[0].partitions) == ("broker_stopped", 1)
        assert found.roots[0].kind == "stopped"
        assert finding(found, "root").severity == "info"
        partly = finding(examined(*told[0], told=told[1], covered=[log(57)]), "root")
        assert partly.status == "could_not_check"
        assert "as far as could be checked: Broker 57 was stopped" in partly.title

    def test_a_start_that_failed_is_no_stop(self):
        """A process that did not get up shuts down, too: the one whose session ends had been killed before."""
        told = History()
        for broker in LIVE:
            told.register(broker, -500_000 + broker)
        told.write("t", 0, 57, (57, 55), 0, -400_000)
        told.lose(57, GONE)
        told.write("t", 0, 55, (55,), 1, GONE + 100)
        kinds = ("broker_starting", "startup_failed", "broker_stopping", "broker_stopped")
        again = [event(kind, 1000 + 10 * place, 57, line=20 + place) for place, kind in enumerate(kinds)]
        found = examined(event("broker_starting", -500_100, 57), *again, told=told, covered=[log(broker) for broker in LIVE])
        assert found.chains[0].kind == "broker_lost"

    def test_no_log_of_the_broker(self):
        """Then it may as well have been killed: said, not guessed."""
        found = incident(events=[one for one in lines() if one.broker != 57], files=[one for one in files() if one.broker != 57])
        assert "no log of broker 57" in root(found, "killed").unchecked[0]

    def test_clients(self):
        """What clients are told is the chain's end, and counted."""
        told = [event("not_coordinator", 4000 + n, file="clients/app/logs/app.log", line=n + 1) for n in range(6)]
        found = incident(events=[*lines(), *told])
        link = next(link for link in found.chains[0].links if link.effect.kind == "not_coordinator")
        assert link.count == 6
        assert any("a symptom of the same move, not its cause, 6 times" in one.text for one in found.story)

    def test_a_client_names_its_coordinator(self):
        """Java's client prints the broker's id taken from the largest of its integers."""
        lost = event("coordinator_lost", 4000, file="clients/app/logs/app.log", node="h:9092 (id: 2147483590 rack: null)")
        found = incident(events=[*lines(), lost])
        assert any(one.text == "A client resigns as coordinator, broker 57." for one in found.story)

    def test_two_losses_are_two_chains(self):
        """Each has its own, up to the next one of the same broker."""
        told = history()
        told.lose(57, 60_000, 0x396D)
        assert [chain.kind for chain in incident(history=told.rows).chains] == ["broker_lost", "broker_lost"]


class TestStillDown:
    """Brokers 1, 2 and 3 led t, u and v; each was lost, and 1, which led most, came back."""

    def told(self, *, back=(1,)):
        told = History()
        for broker in (1, 2, 3):
            told.register(broker, -500_000 + broker, 0x10 + broker)
        for number in range(4):
            told.write("t", number, 1, (1,), 0, -400_000 + number)
        for number in range(2):
            told.write("u", number, 2, (2,), 0, -300_000 + number)
        told.write("v", 0, 3, (3,), 0, -200_000)
        for broker, at in ((1, 1000), (2, 20_000), (3, 30_000)):
            told.lose(broker, at, 0x10 + broker)
            for topic, leader, many in (("t", 1, 4), ("u", 2, 2), ("v", 3, 1)):
                for number in range(many if leader == broker else 0):
                    told.write(topic, number, None, (broker,), 1, at + 100 + number)
        for broker in back:
            told.register(broker, 60_000 + broker, 0x20 + broker)
            for number in range(4 if broker == 1 else 0):
                told.write("t", number, 1, (1,), 2, 60_100 + number)
        return told

    def test_who_holds_partitions_comes_before_who_is_back(self):
        """Broker 1 hit most, and has them again: what is wrong now waits for brokers 2 and 3, which holds less."""
        found = examined(told=self.told())
        assert [(chain.broker, chain.holds) for chain in found.chains] == [(2, 2), (3, 1), (1, 0)]
        assert found.roots[0].broker == 2
        said = finding(found, "root").title
        assert "(broker 2, still down; broker 3, still down; broker 1, back since 11:04:39)" in said

    def test_all_back(self):
        """Nothing is left to be waited for: who hit most comes first, and none is called down."""
        told = self.told(back=(1, 2, 3))
        told.write("u", 0, 2, (2,), 2, 70_000)
        told.write("u", 1, 2, (2,), 2, 70_001)
        told.write("v", 0, 3, (3,), 2, 70_002)
        found = examined(told=told)
        assert [(chain.broker, chain.holds) for chain in found.chains] == [(1, 0), (2, 0), (3, 0)]
        assert "down" not in finding(found, "root").title

    @pytest.mark.parametrize("known", [True, False])
    def test_what_the_znodes_say_counts(self, known):
        """Walked after the history ends: broker 2 had come back, or nobody could see who had; it is not called down."""
        walked = cluster(
            partitions=(Partition("v", 0, (3,)),),
            brokers={2: Broker(id=2)} if known else {},
            brokers_known=known,
        )
        found = examined(told=self.told(), of=walked)
        assert {chain.broker: chain.holds for chain in found.chains} == {1: 0, 2: 0, 3: 1 if known else 0}
        assert found.chains[0].broker == (3 if known else 1)
        assert "broker 2, still down" not in finding(found, "root").title

    def test_a_stop_that_was_asked_for_is_no_trifle_then(self):
        """Broker 2 was stopped, and nobody else has its partitions: a warning, before the loss that healed."""
        found = examined(event("broker_stopping", 19_900, 2), told=self.told(), covered=[log(broker) for broker in (1, 2, 3)])
        assert (found.chains[0].broker, found.chains[0].kind) == (2, "broker_stopped")
        assert finding(found, "root").severity == "warning"

    @pytest.mark.parametrize(("after", "holds"), [(19_900, 2), (-550_000, 0)], ids=["took it along", "an earlier life"])
    def test_a_disk_that_took_the_broker_along(self, after, holds):
        """It is what began it; a disk that failed before the broker was last registered is not."""
        found = examined(event("log_dir_failed", after, 2), told=self.told(), covered=[log(2)])
        assert next(chain.holds for chain in found.chains if chain.kind == "disk_failed") == holds
        assert found.chains[0].kind == ("disk_failed" if holds else "broker_lost")

    def test_missing_transactions(self):
        """Who registered in them nobody knows: none is called down."""
        told = self.told()
        told.rows.append(Happened(What.BEGIN, 900, T0 + 90_000))
        found = examined(told=told)
        assert {chain.holds for chain in found.chains} == {0}
        assert "still down" not in finding(found, "root").title

    def test_an_emptied_isr_waits_for_any_replica(self):
        """Nobody knows who had everything: each of the dead holds it."""
        told = self.told()
        told.write("v", 0, None, (), 2, 80_000)
        walked = cluster(partitions=(Partition("v", 0, (3, 2)),), brokers={1: Broker(id=1)})
        found = examined(told=told, of=walked)
        assert {chain.broker: chain.holds for chain in found.chains} == {1: 0, 2: 3, 3: 1}


class TestStorm:
    def thrown(self, after, line):
        return [event("processor_failed", after, 1, line=line), event("unknown_api_key", after, 1, line=line + 1, api_key=18)]

    def test_whom_it_hits(self):
        """The exception, other brokers, other clients; without DEBUG nobody is named."""
        lines = [
            *self.thrown(0, 10),
            event("fetch_failed", 30_000, 2, leader=1),
            event("controller_request_failed", 30_000, 3, file="controller.log", broker_=1),
            event("request_timed_out", 31_000, file="clients/app/logs/app.log"),
        ]
        found = examined(*lines, version=OLD, covered=[log(1), log(2)])
        assert found.chains[0].kind == "unknown_request"
        assert effects(found) == ["processor_failed", "fetch_failed", "request_timed_out"]
        told = finding(found, "unknown_requests")
        assert (told.severity, told.facts["api_keys"], told.facts["senders"]) == ("critical", [18], [])
        assert "names neither address nor client id" in told.caveats[0]

    def test_sender_by_its_connections(self):
        """Who opened as many connections as there were exceptions; the others may have been in the same polls."""
        lines = []
        for burst in range(3):
            at = 100_000 * burst
            lines += self.thrown(at, 100 * burst)
            lines += self.thrown(at + 5, 100 * burst + 20)
            for number, client in enumerate(("/127.0.0.99:1", "/127.0.0.99:2", "/127.0.0.7:5")):
                lines.append(
                    event("connection_opened", at - 9 + number, 1, line=100 * burst + 50 + number, client=client, processor=0)
                )
        told = finding(examined(*lines, version=OLD, covered=[log(1)]), "unknown_requests")
        assert told.facts["senders"] == ["127.0.0.99"]
        assert told.title == "Broker 1 was sent at least 6 unknown requests by 127.0.0.99"

    def test_connections_that_were_logged_later(self):
        """The exceptions before DEBUG was turned on have no known sender: the others alone are laid to it."""
        lines = [one for n in range(5) for one in self.thrown(100_000 * n, 100 * n)]
        for n in (2, 3, 4):
            lines.append(event("connection_opened", 100_000 * n - 9, 1, line=100 * n + 50, client="/127.0.0.99:1", processor=0))
        found = examined(*lines, version=OLD, covered=[log(1)])
        told = finding(found, "unknown_requests")
        assert told.title == "Broker 1 was sent at least 5 unknown requests, 3 of them by 127.0.0.99 according to the logs"
        assert "the sender of the other 2 requests" in told.caveats[0]
        points = [point.text for point in found.roots[0].pro]
        assert points[0] == "5 requests with api key 18, 3 of them from 127.0.0.99"
        assert points[1] == "127.0.0.99 connected just before the 3 of 5 exceptions for which connections were logged"
        assert found.roots[0].unchecked == ("the sender of the other 2 requests: no line logs the connection or client",)

    def test_unknown_broker(self):
        """Pasted lines may not tell whose they are; nobody is called None."""
        line = event("unknown_api_key", 0, None, file="clients/pasted/logs/a.log", api_key=18)
        found = examined(line, version=OLD)
        assert finding(found, "unknown_requests").title == "A broker that the lines do not name was sent 1 unknown request"
        assert found.chains[0].title == "A broker that the lines do not name received 1 request that it does not support"
        assert "None" not in found.roots[0].name
        known = event("unknown_api_key", 9, 1, api_key=18)
        told = finding(examined(line, known, version=OLD), "unknown_requests")
        assert told.title.startswith("Broker 1, and perhaps one that the lines do not name, was sent")
        assert told.facts["brokers"] == [1]
        lines = self.thrown(0, 1)
        found = examined(*(one._replace(broker=None, file="clients/pasted/logs/a.log") for one in lines), version=OLD)
        assert all(one.text.startswith("A broker that the lines do not name") for one in found.story)

    def test_named_by_the_line(self):
        """Later releases name the sender, and hit nobody else."""
        line = event("bad_request", 0, 1, api_key=18, api_version=9, client="/10.0.0.7:4711")
        told = finding(examined(line, covered=[log(1)]), "unknown_requests")
        assert (told.severity, told.facts["senders"]) == ("warning", ["10.0.0.7"])

    def test_period(self):
        """librdkafka asks again every 20 minutes."""
        lines = [one for n in range(4) for one in self.thrown(n * 1_200_000, 10 * n)]
        found = examined(*lines, version=OLD, covered=[log(1)])
        assert any("api.version.fallback.ms" in point.text for point in found.roots[0].pro)

    def test_none(self):
        """A broker's log without any is well; no log is not."""
        assert finding(examined(covered=[log(1)]), "unknown_requests").status == "ok"
        assert finding(examined(), "unknown_requests").status == "could_not_check"


class TestOthers:
    def test_dead_cleaner(self):
        """Segments grow, and a coordinator that reads them all takes minutes."""
        lines = [
            event("cleaner_died", 0, 1, text="requirement failed: 9000 messages", messages=9000),
            *(event("segment_rolled", 1000 * n, 1, line=n, **OFFSETS) for n in range(1, 2000)),
            event("loaded", 3_000_000, 1, line=2000, **OFFSETS, ms=600_000),
        ]
        found = examined(*lines, version=OLD)
        assert (found.chains[0].kind, effects(found)) == ("cleaner_dead", ["segment_rolled", "loaded"])
        assert (found.chains[0].links[0].count, len(found.chains[0].links[0].examples)) == (1999, 5)
        assert found.roots[0].pro[0].text.startswith("requirement failed")
        assert found.roots[0].name == "A segment that does not fit the log cleaner's map on broker 1"

    @pytest.mark.parametrize(
        ("line", "name"),
        [(event("uncleanable", 0, 1, **OFFSETS), "A partition that the log cleaner on broker 1 could not clean and gave up"),
         (event("cleaner_died", 0, 1, text="Error due to java.io.EOFException"), "An error of the log cleaner on broker 1")],
        ids=["given up", "another error"],
    )  # fmt: skip
    def test_other_errors_of_a_cleaner(self, line, name):
        """Only a line that states the messages of a segment is about the cleaner's map."""
        found = examined(line, *(event("segment_rolled", 1000 * n, 1, line=n, **OFFSETS) for n in range(1, 9)))
        assert found.roots[0].name == name

    def test_unclean_start(self):
        """How long the recovery took; the first start of all recovers nothing."""
        first = [event("broker_starting", -9000, 1), event("unclean_start", -8900, 1), event("broker_started", -8000, 1)]
        assert examined(*first).chains == ()
        again = [event("broker_starting", 0, 1), event("unclean_start", 100, 1, line=7), event("broker_started", 90_100, 1)]
        found = examined(*first, *again)
        assert found.chains[0].title == "Broker 1 recovered its logs for 1 min 30 s"

    def test_an_end_without_a_word(self):
        """The last line that is understood is none at which the process ended: it did before the next one started."""
        first = [event("broker_starting", -9_000_000, 1), event("broker_started", -8_999_000, 1, text="started")]
        again = [event("broker_starting", 0, 1, line=6), event("unclean_start", 100, 1, line=7)]
        found = examined(*first, *again)
        told = finding(found, "root")
        assert (told.since, told.at_latest) == (instant(T0), True)
        assert found.roots[0].pro[1].text == "Its last known line is from 2019-10-12 08:33:40 UTC: started"

    def test_an_end_by_a_disk(self):
        """A process whose last words tell of its log dir ended by that, and not without a word."""
        first = [event("broker_starting", -9_000_000, 1), event("broker_started", -8_999_000, 1)]
        held = "java.nio.file.FileSystemException: C:\\a: The process cannot access the file because it is being used by another process"
        first.append(event("clean_failed", -8_000_000, 1, line=5, text=held))
        again = [event("broker_starting", 0, 1, line=6), event("unclean_start", 100, 1, line=7)]
        found = examined(*first, *again)
        assert {root.kind for root in found.roots} == {"file_held"}

    def test_a_first_start_behind_lines_of_others(self):
        """On one host ZooKeeper and broker may share a log, and a start may have failed before: no logs, nothing to recover."""
        failed = [event("broker_starting", -9000, 1), event("startup_failed", -8500, 1, line=2)]
        first = [event("broker_starting", 0, 1, line=3), event("unclean_start", 100, 1, line=4)]
        empty = event("logs_loaded", 110, 1, line=5, logs=0, ms=7)
        assert "unclean_start" not in {chain.kind for chain in examined(*failed, *first, empty).chains}
        held = event("logs_loaded", 110, 1, line=5, logs=3, ms=7)
        assert "unclean_start" in {chain.kind for chain in examined(*failed, *first, held).chains}

    @pytest.mark.parametrize(
        ("loaded", "started", "chains"),
        [
            ([], True, ["Log dir /d of broker 1 was empty"]),
            ([event("log_loaded", 130, 1, line=8, offset=0)], True, ["Log dir /d of broker 1 was empty"]),
            ([event("log_loaded", 130, 1, line=8, offset=7)], True, []),
            ([event("logs_loaded", 130, 1, line=8, logs=2)], True, []),
            ([], False, []),
        ],
        ids=["empty", "a log made anew", "logs of before", "a number of logs", "never used"],
    )
    def test_a_log_dir_that_came_back_empty(self, loaded, started, chains):
        """Who deletes ``meta.properties`` alone leaves the logs; one that no start has used before was empty, of course."""
        first = [event("broker_starting", -9_000_000, 1), event("log_dir_unused", -8_999_900, 1, line=2, dir="/d")]
        first.append(
            event("broker_started", -8_999_000, 1, line=3) if started else event("startup_failed", -8_999_000, 1, line=3)
        )
        again = [event("broker_starting", 0, 1, line=6), event("log_dir_unused", 100, 1, line=7, dir="/d"), *loaded]
        found = examined(
            *first, *again, event("log_dir_unused", 110, 1, line=9, dir="/d"), event("broker_started", 900, 1, line=10)
        )
        emptied = [chain for chain in found.chains if chain.kind == "log_dir_emptied"]
        assert [chain.title for chain in emptied] == chains
        assert [(root.kind, len(root.pro)) for root in found.roots if root.kind == "log_dir_emptied"] == [
            ("log_dir_emptied", 2)
        ] * len(chains)
        assert all((chain.opened, chain.by) == (T0 - 8_999_000, T0 + 100) for chain in emptied)

    def test_failed_disk(self):
        """Its replicas leave, and a broker without a dir stops."""
        told = History()
        told.register(1, -50_000, 0xA)
        told.register(2, -50_000, 0xB)
        told.write("t", 0, 1, (1, 2), 0, -40_000)
        told.write("t", 0, 2, (2,), 1, 900)
        found = examined(
            event("log_dir_failed", 0, 1, dir="/d", text="Stopping serving logs in dir /d"), told=told, covered=[log(1)]
        )
        assert (found.chains[0].kind, effects(found)) == ("disk_failed", ["znode_leader_changed"])
        assert found.roots[0].kind == "disk"

    def test_a_failed_disk_within_a_millisecond(self):
        """What failed stands first in the log, and is what the rest follows from, though both were printed at once."""
        found = examined(
            event("disk_error", 0, 1, line=7, text="Error while writing to checkpoint file /d/second/checkpoint"),
            event("log_dir_failed", 0, 1, line=8, dir="/d/second", text="Stopping serving replicas in dir /d/second"),
        )
        (link,) = found.chains[0].links
        assert (link.cause.kind, link.effect.kind) == ("disk_error", "log_dir_failed")
        assert found.roots[0].pro[0].text == "Error while writing to checkpoint file /d/second/checkpoint"


def test_one_cause_of_several_brokers():
    """The chain that hit most is named, since the same befell the first of them."""
    full = "java.io.IOException: No space left on device"
    struck = [event("disk_error", at, broker, line=at, text=full) for broker, at in ((1, 100), (2, 900_000))]
    gone = event("replicas_offline", 900_050, 2, line=900_001, partitions="t-0,t-1")
    told = finding(examined(*struck, gone), "root")
    assert told.title.endswith("Disk of broker 2 is full; the same had happened to broker 1 at 2019-10-12 11:03:39 UTC")
    assert told.since == instant(T0 + 100)


@pytest.mark.parametrize("kind", ["frozen", "network", "gc", "zookeeper"])
def test_candidates_of_a_loss(kind):
    """Each candidate is there, with what could not be checked."""
    assert root(incident(), kind).broker == 57
