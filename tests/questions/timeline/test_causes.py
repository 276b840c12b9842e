"""One effect, many causes, told apart by what lines say of their own moment, for and against."""

from types import SimpleNamespace

import pytest

from casebook.facts.cluster import Broker, instant
from casebook.findings.finding import Severity, Status
from casebook.kafka.past_rows import Span
from casebook.kafka.protocols import protocol
from casebook.questions.timeline.analysis.causal_chain import Indication, Root
from casebook.questions.timeline.analysis.causes import restarts
from casebook.questions.timeline.analysis.causes.roots import likeliest
from tests.questions.timeline.scenes import (
    GONE,
    LIVE,
    NEXT,
    OLD,
    SESSION,
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


def first(found):
    return found.roots[0]


class TestDisk:
    """What Kafka takes for a log dir that failed need not be a disk."""

    def told(self, exception, *more):
        """It cannot rename a folder, and gives the log dir up."""
        text = f"Error while renaming dir for t-0 in log dir /d\n{exception}\n\tat a.B.c(B.java:1)"
        given_up = event("log_dir_failed", 2, 1, line=9, dir="/d", text="Stopping serving replicas in dir /d")
        return examined(event("disk_error", 0, 1, line=7, dir="/d", text=text), given_up, *more)

    @pytest.mark.parametrize(
        ("exception", "kind"),
        [
            (
                "java.nio.file.FileSystemException: C:\\k\\t-0\\0.timeindex.cleaned -> C:\\k\\t-0\\0.timeindex.swap: "
                "The process cannot access the file because it is being used by another process.",
                "file_held",
            ),
            ("java.nio.file.AccessDeniedException: C:\\k\\t-0 -> C:\\k\\t-0.1f-delete", "file_held"),
            ("java.nio.file.NoSuchFileException: /tmp/k/t-0/0.log", "files_gone"),
            ("java.io.FileNotFoundException: /tmp/k/checkpoint.tmp (No such file or directory)", "files_gone"),
            ("java.io.FileNotFoundException: /d/checkpoint.tmp (Permission denied)", "permissions"),
            ("java.io.IOException: No space left on device", "disk_full"),
            ("java.io.IOException: Too many open files", "open_files"),
            ("java.io.IOException: Map failed", "maps"),
            ("java.io.IOException: Input/output error", "disk"),
        ],
    )
    def test_what_the_exception_says(self, exception, kind):
        """A disk is named where the system names it."""
        found = self.told(exception)
        assert [root.kind for root in found.roots] == [kind]
        assert found.roots[0].unchecked == ()

    def test_a_line_that_does_not_say_why(self):
        """Then a disk is one of several possibilities, and what would tell is said."""
        root = first(examined(event("log_dir_failed", 0, 1, dir="/d", text="Stopping serving replicas in dir /d")))
        assert root.name == "Disk of broker 1, or another cause that kept it from its files"
        assert "names no exception" in root.unchecked[0]

    def test_a_stop_is_not_begun_by_what_it_says_of_files(self):
        """A clue of a later moment decides nothing: it was stopping already."""
        late = event("disk_error", 500, 1, line=5, text="Error while flushing log for t-0 in dir /d")
        began = [event("broker_starting", -9000, 1), event("broker_started", -8000, 1, line=2)]
        assert [c.kind for c in examined(*began, event("broker_stopping", 0, 1, line=3), late).chains] == []
        assert [c.kind for c in examined(*began, late).chains] == ["disk_failed"]


class TestProtocols:
    @pytest.mark.parametrize(
        ("size", "name"),
        [
            (1347375956, "HTTP (POST)"),
            (1195725856, "HTTP (GET)"),
            (int.from_bytes(b"OPTI", "big"), "HTTP (OPTIONS)"),
            (int.from_bytes(b"PRI ", "big"), "HTTP/2"),
            (0x16030100, "TLS"),
            (0x160301FF, "TLS"),
            (0x16030302, "TLS"),
            (0x15030300, "TLS"),
            (1397966893, "SSH"),
            (int.from_bytes(b"USER", "big"), "text that begins with 'USER'"),
            (104857601, ""),
            (-1, ""),
        ],
    )
    def test_first_bytes(self, size, name):
        assert protocol(size) == name

    @pytest.mark.parametrize(
        ("address", "host"),
        [
            ("/10.0.0.7:5123", "10.0.0.7"),
            ("10.0.0.7", "10.0.0.7"),
            ("/0:0:0:0:0:0:0:1:5123", "0:0:0:0:0:0:0:1"),
            ("/0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1"),
            ("/[fe80:0:0:0:0:0:0:7]:5123", "fe80:0:0:0:0:0:0:7"),
        ],
    )
    def test_a_sender_keeps_its_whole_address(self, address, host):
        """Java prints an address of IPv6 with all its groups, with or without a port."""
        told = event("bad_request", 0, 1, size=int.from_bytes(b"POST"), limit=104857600, client=address)
        assert finding(examined(told), "unknown_requests").facts["senders"] == [host]

    def refused(self, size, times=1):
        """A connection with such a size, closed."""
        told = []
        for number in range(times):
            at, line = number * 1000, 10 * number + 1
            told.append(event("socket_error", at, 1, line=line, client="/10.0.0.7"))
            told.append(event("bad_request", at, 1, line=line + 1, size=size, limit=104857600))
        return told

    def test_http(self):
        """It is named with its sender, and is no client that is newer than the broker."""
        found = examined(*self.refused(1347375956, 6))
        told = finding(found, "unknown_requests")
        assert told.title == "Broker 1 was sent HTTP (POST), 6 times by 10.0.0.7"
        assert (told.severity, told.facts["protocols"]) == (Severity.WARNING, ["HTTP (POST)"])
        assert "health check" in told.next[0].text
        assert "newer" not in first(found).name
        assert first(found).kind == "foreign"

    def test_beside_a_newer_client(self):
        """Both are told, each with what to do."""
        newer = event("bad_request", 50, 1, line=500, api_key=18, api_version=9, client="/10.0.0.8:1")
        told = finding(examined(*self.refused(0x16030100), newer), "unknown_requests")
        assert told.title == "Broker 1 was sent at least 1 unknown request by 10.0.0.8 and TLS, 1 time by 10.0.0.7"
        assert [step.kind for step in told.next] == ["first", "then", "not"]

    def test_it_is_no_root_of_what_others_wait_for(self):
        """The broker closes that connection: no bystander waits for it, and whatever else began stands before it."""
        waits = event("request_timed_out", 900, file="clients/app/logs/app.log")
        found = incident(events=[*lines(), *[one._replace(broker=56) for one in self.refused(1195725856)], waits])
        assert [chain.kind for chain in found.chains] == ["broker_lost", "foreign_protocol"]
        assert found.chains[1].links == ()

    @pytest.mark.parametrize(
        ("cause", "title"),
        [
            ("java.util.NoSuchElementException", None),
            (
                "o.a.k.c.errors.UnsupportedVersionException: Unsupported version 12",
                "Broker 1 was sent at least 1 unknown request",
            ),
        ],
    )
    def test_a_request_that_is_logged_twice(self, cause, title):
        """With its exception, and when its connection is closed; one that is known, and could not be read, is none that is not known."""
        said = (
            "Error getting request for apiKey: PRODUCE, apiVersion: 1, connectionId: 10.0.0.1:9092-10.0.0.2:7-1, listenerName: P"
        )
        told = []
        for at, line in ((0, 1), (8, 20)):
            told.append(event("socket_error", at, 1, line=line, text=f"Closing socket\n{said}\nCaused by: {cause}\n\tat x"))
            told.append(event("bad_request", at, 1, line=line + 1, text=said, api_key="PRODUCE", api_version=1))
        answer = finding(examined(*told, covered=[log(1)]), "unknown_requests")
        assert (answer.title if answer.status is Status.FINDING else None) == title

    def test_an_old_client_that_harms_nobody(self):
        """From 0.10 on a request that is not known closes its own connection."""
        newer = event("bad_request", 50, 1, line=500, api_key=18, api_version=9, client="/10.0.0.8:1")
        waits = event("request_timed_out", 900, file="clients/app/logs/app.log")
        assert examined(newer, waits).chains[0].links == ()


@pytest.mark.parametrize("kind", ["request_timed_out", "metadata_error"])
def test_what_clients_see_of_a_lost_broker(kind):
    """They wait for an answer, or for the metadata of a topic."""
    waits = event(kind, GONE + 900, file="clients/app/logs/app.log")
    assert kind in {link.effect.kind for link in incident(events=[*lines(), waits]).chains[0].links}


class TestStops:
    def test_clean(self):
        """It says so, and came to its end."""
        told = [event("broker_stopping", GONE - 900, 57), event("broker_stopped", GONE + 40, 57, line=2)]
        root = first(incident(events=[*told, *(one for one in lines(silent=False) if one.broker != 57 or one.time < T0 - 5000)]))
        assert root.kind == "stopped"
        assert "completed its shutdown" in root.pro[-1].text

    def test_one_that_its_session_outlived(self):
        """The last word of its process is a stop: its session expired minutes later, and it was no kill."""
        kept = [one for one in lines(silent=False) if one.broker != 57 or one.time < T0 - 400_000]
        told = [event("broker_stopped", -380_000, 57, line=90)]
        ended = [log(57, ends=-380_000) if one.broker == 57 else one for one in files()]
        root = first(incident(events=[*kept, *told], files=ended))
        assert (root.kind, root.pro[0].proof) == ("stopped", "brokers/57/logs/server.log:90")

    def test_the_second_of_two(self):
        """It was stopped, started and stopped again within minutes, and its process ended seconds after its session did."""
        kept = [one for one in lines(silent=False) if one.broker != 57 or one.time < T0 - 60_000]
        told = [
            event("broker_stopping", GONE - 50_000, 57, line=90),
            event("broker_stopped", GONE - 45_000, 57, line=91),
            event("broker_starting", GONE - 40_000, 57, line=92),
            event("broker_stopping", GONE - 16_000, 57, line=93),
            event("broker_stopped", GONE + 1700, 57, line=94),
        ]
        root = first(incident(events=[*kept, *told]))
        assert (root.kind, root.pro[0].proof) == ("stopped", "brokers/57/logs/server.log:93")

    def test_one_that_did_not_end(self):
        """Killed while it stopped: the next start says that its logs were not closed."""
        kept = [one for one in lines(silent=False) if one.broker != 57 or one.time < T0 - 5000]
        told = [
            event("broker_stopping", GONE - 900, 57, line=90),
            event("broker_starting", 9000, 57, line=91),
            event("recovering_segment", 9100, 57, line=92, topic="orders", partition=1),
        ]
        root = first(incident(events=[*kept, *told]))
        assert root.kind == "stopped"
        assert "did not complete its shutdown" in root.contra[0].text


class TestAwake:
    def test_what_it_noticed_first_counts(self):
        """In those seconds its log says that it heard nothing from ZooKeeper; that it came back late decides nothing."""
        told = [one for one in lines(silent=False) if not (one.broker == 57 and T0 - 5000 < one.time < T0 + 4100)]
        told += [event("zk_silent", 1009, 57, ms=4009, session="396c", line=70)]
        told += [event("zk_silent", 8200, 57, ms=7190, session="396c", line=71)]
        found = incident(events=told)
        assert first(found).kind == "network"
        assert any("the process was running" in point.text and "4" in point.text for point in first(found).pro)

    @pytest.mark.parametrize("back", [30, 200, 249])
    def test_at_once_back(self, back):
        """It registered again within the slack of clocks, its last line is of that, and no start is between: it did not end."""
        told = History()
        for broker in LIVE:
            told.register(broker, -400_000)
        told.lose(57, GONE)
        told.register(57, GONE + back, NEXT)
        own = [event("segment_rolled", at, 57, line=line) for line, at in enumerate((-4000, -2000, GONE + back), start=1)]
        calm = [event("segment_rolled", at, 55) for at in (-9000, 30_000)]
        covered = [log(57, ends=GONE + back), log(55)]
        assert first(examined(*own, *calm, told=told, covered=covered)).kind != "killed"


def all_lost(*, stopped=(), silent=(), lived=False):
    """Brokers 55, 56 and 57 go within two seconds and are back after 20; of those that are silent there is no log."""
    told = History()
    for broker in LIVE:
        told.register(broker, -500_000 + broker)
    for number in range(6):
        told.write("t", number, LIVE[number % 3], LIVE, 0, -400_000 + number)
    for place, broker in enumerate(LIVE):
        told.lose(broker, 1000 * place)
    for place, broker in enumerate(LIVE):
        told.register(broker, 20_000 + 1000 * place, SESSION[broker] + 0x1000)
    printed = []
    for place, broker in enumerate(LIVE):
        if broker in silent:
            continue
        printed.append(event("broker_starting", -500_200, broker))
        printed.append(event("broker_started", -499_000, broker, line=2))
        printed.append(event("segment_rolled", -7000, broker, line=3))
        if broker in stopped:
            printed.append(event("broker_stopping", 1000 * place - 500, broker, line=4))
            printed.append(event("broker_stopped", 1000 * place + 40, broker, line=5))
        if lived:
            printed.append(event("segment_rolled", 30_000, broker, line=6))
        else:
            printed.append(event("broker_starting", 17_000, broker, line=7))
            printed.append(event("loaded", 31_000, broker, line=8, topic="__consumer_offsets", partition=broker, ms=9000))
    waits = event("coordinator_unavailable", 12_000, file="clients/app/logs/app.log", error="no coordinator")
    newer = event("bad_request", 50, 55, line=500, api_key=18, api_version=9, client="/10.0.0.8:1")
    covered = [log(broker) for broker in LIVE if broker not in silent]
    return examined(*printed, waits, *([newer] if covered else []), told=told, covered=covered)


class TestAll:
    def test_a_restart_of_all(self):
        """It began the wait for coordinators, not a client that one broker does not understand."""
        found = all_lost(stopped=LIVE)
        assert (found.chains[0].kind, found.chains[0].partitions) == ("all_lost", 6)
        assert {"loaded", "coordinator_unavailable"} <= {link.effect.kind for link in found.chains[0].links}
        assert (first(found).kind, first(found).name) == (
            "all_stopped", "All 3 brokers were stopped at once and started again: a restart of all"
        )  # fmt: skip
        assert "restart of all" in finding(found, "root").title

    def test_of_which_one_starts_again(self):
        """By the lines of the processes: that is no restart of all."""
        lines = []
        for place, broker in enumerate(LIVE):
            lines += [event("broker_starting", -500_200, broker), event("broker_started", -499_000, broker, line=2)]
            lines.append(event("broker_stopping", 100 * place, broker, line=4))
            lines.append(event("broker_stopped", 100 * place + 40, broker, line=5))
        lines.append(event("broker_starting", 17_000, 55, line=7))
        known = cluster(brokers={broker: Broker(id=broker) for broker in LIVE}, brokers_known=True)
        found = examined(*lines, of=known, covered=[log(55), log(56, ends=140), log(57, ends=240)])
        names = [root.name for root in found.roots if root.kind == "all_stopped"]
        assert names == ["All 3 brokers were stopped at once; broker 55 started again"]

    def test_the_last_that_stops_waits_for_nobody(self):
        """Its controlled shutdown finds no broker to take its leaders, and is tried again: they stopped at once all the same."""
        told, lines = History(), []
        for broker, gone in ((55, 1000), (56, 1500), (57, 17_000)):
            told.register(broker, -500_000 + broker)
            lines += [event("broker_starting", -500_200, broker), event("broker_stopping", 600, broker, line=2)]
            lines.append(event("broker_stopped", gone + 50, broker, line=3))
        for broker, gone in ((55, 1000), (56, 1500), (57, 17_000)):
            told.lose(broker, gone)
        found = examined(*lines, told=told)
        (place,) = (place for place, chain in enumerate(found.chains) if chain.kind == "all_lost")
        assert [root.kind for root in found.roots if root.chain == place] == ["all_stopped"]

    def test_all_killed(self):
        """Their next lines are starts, and none says that it stops."""
        assert first(all_lost()).kind == "all_ended"

    def test_all_gone_of_their_log_dirs(self):
        """Who says that its log dirs failed, and ended then, was not killed."""
        lines = []
        for place, broker in enumerate((1, 2)):
            at = 1000 * place
            lines += [event("broker_starting", -500_000, broker), event("become_leader", -400_000, broker, line=2, topic="t",
                            partition=place, leader=broker, leader_epoch=1)]  # fmt: skip
            lines.append(
                event("log_dir_failed", at, broker, line=3, dir=f"/{broker}", text=f"all log dirs in /{broker} have failed")
            )
            lines.append(event("broker_starting", 20_000 + at, broker, line=4))
        found = examined(*lines, of=cluster(brokers={1: Broker(id=1), 2: Broker(id=2)}))
        (place,) = (place for place, chain in enumerate(found.chains) if chain.kind == "all_lost")
        assert {root.kind for root in found.roots if root.chain == place} == {"disk"}

    def test_all_killed_when(self):
        """Without ZooKeeper's history no line dates it: by when they had ended is known, not since when."""
        lines = []
        for broker in (1, 2):
            lines += [event("broker_starting", -500_000, broker), event("segment_rolled", -9000, broker, line=3)]
            lines.append(event("broker_starting", 20_000 + broker, broker, line=4))
        told = finding(examined(*lines, of=cluster(brokers={1: Broker(id=1), 2: Broker(id=2)})), "root")
        assert "killed" in told.title
        assert (told.since, told.at_latest) == (instant(T0 + 20_001), True)

    def test_some_of_each(self):
        assert "stopped or killed" in first(all_lost(stopped=(55,))).name

    def test_processes_that_lived_on(self):
        """ZooKeeper lost them all: nobody restarted anything."""
        found = all_lost(lived=True)
        assert "all_lost" not in {chain.kind for chain in found.chains}

    def test_without_logs(self):
        """Then it may as well have been ZooKeeper: candidates, and no root."""
        found = all_lost(silent=LIVE)
        assert {root.kind for root in found.roots if root.chain == 0} == {"all_ended", "zookeeper"}
        assert finding(found, "root").status is Status.COULD_NOT_CHECK

    def test_one_after_the_other(self):
        """A rolling restart: each is back before the next stops."""
        told = History()
        for broker in LIVE:
            told.register(broker, -500_000 + broker)
        for place, broker in enumerate(LIVE):
            told.lose(broker, 9000 * place)
            told.register(broker, 9000 * place + 5000, SESSION[broker] + 0x1000)
        assert "all_lost" not in {chain.kind for chain in examined(told=told).chains}

    def test_by_logs_alone(self):
        """Nobody sees the last controller go; the processes tell it themselves."""
        found = all_lost(stopped=LIVE)
        events = [one for one in found.rows if one.source == "broker"]
        assert events
        printed = []
        for place, broker in enumerate(LIVE):
            printed += [event("broker_starting", -9000, broker), event("broker_stopping", 100 * place, broker, line=2)]
            printed += [event("broker_stopped", 1000 + place, broker, line=3), event("broker_starting", 9000, broker, line=4)]
            printed.append(event("broker_started", 15_000, broker, line=5))
        live = event("broker_change", -8000, 55, file="controller.log", added="55,56,57", deleted="", live="55,56,57")
        assert "all_lost" in {chain.kind for chain in examined(*printed, live).chains}

    def test_logs_that_end_are_no_end(self):
        """One broker is restarted; the logs of the others were only collected up to there."""
        printed = []
        for broker in LIVE:
            printed += [event("broker_starting", -9000, broker), event("segment_rolled", 2000, broker, line=2)]
        printed += [event("broker_stopping", 100, 57, line=3), event("broker_stopped", 1000, 57, line=4)]
        printed += [event("broker_starting", 1500, 57, line=5), event("broker_started", 1900, 57, line=6)]
        live = event("broker_change", -8000, 55, file="controller.log", added="55,56,57", deleted="", live="55,56,57")
        collected = [log(broker, ends=2000) for broker in LIVE]
        assert "all_lost" not in {chain.kind for chain in examined(*printed, live, covered=collected).chains}


class TestFailedStarts:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Failed to acquire lock on file .lock in /d. A Kafka instance in another process", "holds its log dir"),
            ("Socket server failed to bind to 0.0.0.0:9092: Address already in use.", "holds its port"),
            ("A broker is already registered on the path /brokers/ids/1. This probably indicates", "had not expired yet"),
            ("The Cluster ID a doesn't match stored clusterId Some(b) in meta.properties.", "of another cluster"),
            ("Invalid cluster.id in: /d/meta.properties. Expected a, but read b", "of another cluster"),
            ("Stored node id 1 doesn't match previous node id 2 in /d/meta.properties. If you moved", "of another broker"),
            ("Fatal error during KafkaServer startup. Prepare to shutdown", "the reason is in the line"),
        ],
    )
    def test_why(self, text, words):
        """Each start that failed, and what it says of it."""
        told = [event("broker_starting", 0, 1), event("startup_failed", 900, 1, line=2, text=text)]
        told += [event("broker_starting", 9000, 1, line=3), event("startup_failed", 9900, 1, line=4, text=text)]
        found = examined(*told)
        assert found.chains[0].title.startswith("Broker 1 failed to start, 2 times: ")
        assert words in first(found).name

    def test_each_reason_is_a_cause_of_its_own(self):
        """One start met the process before it, two a class that nobody has: none is said of the others."""
        stack = "Fatal error during KafkaServer startup. Prepare to shutdown\njava.lang.NoClassDefFoundError: a/B\n\tat a.C.d(C.scala:3)"
        cause = f"{stack}\nCaused by: java.lang.ClassNotFoundException: a.B\n\t... 9 more"
        told = []
        again = cause.replace("a.B\n", "a.B\n\tat a.C.e(C.scala:7)\n")
        for start, text in enumerate([cause, "Failed to acquire lock on file .lock in /d.", again]):
            at = 9000 * start
            told += [event("broker_starting", at, 1, line=2 * start + 1)]
            told += [event("startup_failed", at + 900, 1, line=2 * start + 2, text=text)]
        assert [root.name for root in examined(*told).roots] == [
            "Broker 1 could not start, 2 times: it says java.lang.ClassNotFoundException: a.B",
            "Broker 1 could not start: another process of Kafka holds its log dir",
        ]

    def test_a_start_that_failed_before_one_that_did_not(self):
        """It ended nothing that is down now: nobody has to mend it first."""
        told = [
            event("broker_starting", 0, 1),
            event("startup_failed", 900, 1, line=2, text="Failed to acquire lock on file .lock"),
        ]
        told += [event("broker_starting", 9000, 1, line=3), event("broker_started", 9900, 1, line=4)]
        found = examined(*told)
        assert (found.chains[0].back, first(found).name.endswith("; it started later")) == (T0 + 9900, True)
        assert finding(found, "root").facts["ends_again"] == {}

    def test_a_start_that_did_not_fail(self):
        """What a broker says later, when it has started, is no failed start."""
        told = [event("broker_starting", 0, 1), event("broker_started", 500, 1, line=2), event("startup_failed", 900, 1, line=3)]
        assert examined(*told).chains == ()


class TestLookedFor:
    @pytest.mark.parametrize(
        ("weighed", "named"), [([], None), ([(9, True)], 0), ([(9, False)], None), ([(9, True), (9, True)], None), ([(9, True), (3, True)], 0)]
    )  # fmt: skip
    def test_what_something_speaks_for(self, weighed, named):
        """To be alone is no evidence, and to be as likely as another no answer."""
        found = [Root("killed", "a", 1, 0, (Indication("it says so"),) * told, (), (), weight) for weight, told in weighed]
        assert likeliest(found) is (None if named is None else found[named])

    def test_logs_that_were_not_read(self):
        """What they would say may name another root: candidates in order, and what would decide."""
        kept = [one for one in lines() if one.broker != 55]
        found = finding(incident(events=kept, files=[one for one in files() if one.broker != 55]), "root")
        assert found.status is Status.COULD_NOT_CHECK
        assert "1. Network" in found.why
        assert "broker 55" in found.why

    def test_all_logs_read(self):
        assert finding(incident(), "root").status is Status.FINDING


def test_the_exception_of_zookeepers_own_client_is_no_client_that_is_newer():
    """Without a line of a network thread there is no storm."""
    assert examined(event("zk_error", 0, 1, text="ArrayIndexOutOfBoundsException: 1"), version=OLD).chains == ()


def elected(*states, alive=(1, 2, 3)):
    """Brokers 1, 2 and 3, all alive, and the states of t-0 in turn: leader and ISR."""
    told = History()
    for broker in (1, 2, 3):
        told.register(broker, -50_000 + broker, broker)
    for number, (leader, isr) in enumerate(states):
        told.write("t", 0, leader, isr, number, -40_000 + 1000 * number)
    return finding(examined(told=told, of=cluster(brokers={b: Broker(id=b) for b in alive})), "unclean_elections")


class TestElections:
    def test_one_that_healed_long_ago(self):
        """ISR [1], then leader 3: unclean, though all are alive and in sync since."""
        found = elected((1, (1, 3)), (1, (1,)), (3, (3,)), (3, (1, 2, 3)))
        assert (found.severity, found.facts["elections"], found.facts["brokers"]) == (Severity.WARNING, 1, [3])
        assert "the ISR was broker 1; broker 3 was elected" in found.why

    @pytest.mark.parametrize("given_up", [(None, (1,)), (None, ())], ids=["2.8", "0.9"])
    def test_behind_a_time_without_leader(self, given_up):
        """The controller gave up first, and kept the last of the ISR, or nobody."""
        assert elected((1, (1,)), given_up, (3, (3,))).facts["elections"] == 1

    def test_clean_ones(self):
        """Somebody of the ISR takes over, also after a time without leader."""
        assert elected((1, (1, 3)), (3, (3,)), (3, (1, 3)), (1, (1, 3))).status is Status.OK
        assert elected((1, (1,)), (None, (1,)), (1, (1,))).status is Status.OK

    def test_who_was_in_sync_is_not_told(self):
        """It is neither clean nor unclean."""
        assert elected((1, ()), (3, (3,))).status is Status.COULD_NOT_CHECK

    def test_by_the_line_of_the_controller(self):
        """Up to 1.0 it says so itself, where no state tells of it; one that a state tells of is not counted again."""
        fields = {"topic": "t", "partition": 0, "leader": 3, "live": "3"}
        line = event("unclean_election", 1000, 2, line=1, file="controller.log", **fields)
        found = finding(examined(line), "unclean_elections")
        assert (found.facts["elections"], found.facts["brokers"]) == (1, [3])
        assert found.evidence[0].label == "brokers/2/logs/controller.log:1"
        told = History()
        told.write("t", 0, 1, (1,), 0, -40_000)
        told.write("t", 0, 3, (3,), 1, 1000)
        assert finding(examined(line, told=told), "unclean_elections").facts["elections"] == 1

    def test_without_history(self):
        """Logs may not tell of every election."""
        assert finding(examined(covered=[log(1)]), "unclean_elections").status is Status.COULD_NOT_CHECK


def test_a_log_of_endless_restarts_ends():
    """Brokers that start and fail for days: what is asked of each end must not look at all others."""

    class NoLines:
        def kind(self, _):
            return SimpleNamespace(rows=())

    spans = {
        broker: [Span("registered", "", broker, at + broker, at + broker + 500, "", "") for at in range(0, 20_000_000, 1000)]
        for broker in (1, 2, 3)
    }
    assert next(iter(restarts._together(NoLines(), spans))).ids == (1, 2, 3)
    assert sum(1 for _ in restarts._together(NoLines(), spans)) > 1000


def test_sessions_that_nothing_is_told_of():
    """A single broker whose sessions expired, by its own log: no chain, and not nothing."""
    told = [event("zk_session_expired", at, 1, line=line) for line, at in enumerate((0, 90_000), start=1)]
    answer = finding(examined(*told), "root")
    assert answer.status is Status.COULD_NOT_CHECK
    assert answer.title == "Broker 1 lost its session with ZooKeeper, 2 times; the consequences are unknown"


@pytest.mark.parametrize(("since", "speaks"), [(-1000, True), (-3_600_000, False)])
def test_a_log_that_was_silent_while_its_session_lived(since, speaks):
    """Who kept a session of six seconds for an hour was awake, whatever its log lacks: that silence is no sign of a freeze."""
    told = history()
    own = [event("segment_rolled", at, 57, line=line) for line, at in enumerate((-4_000_000, since, GONE + 2000), start=1)]
    frozen = [root for root in examined(*own, told=told).roots if root.kind == "frozen"]
    assert [any("It logged nothing" in point.text for point in root.pro) for root in frozen] == [speaks]


def test_a_stop_that_no_controller_saw():
    """The last broker of all, or one whose ZooKeeper is away: it says itself that it stops, and who led is known."""
    led = event("partition_changed", -9000, 1, line=2, topic="t", partition=0, **{"from": "NewPartition"}, to="OnlinePartition",
                leader=1, leader_epoch=0, isr="1")  # fmt: skip
    lines = [event("broker_starting", -500_000, 1), led, event("broker_stopping", 0, 1, line=3)]
    found = examined(*lines, event("broker_stopped", 900, 1, line=4))
    (chain,) = (chain for chain in found.chains if chain.kind == "broker_stopped")
    assert (chain.broker, chain.opened - T0) == (1, 0)
    assert finding(found, "root").title.startswith("Likeliest root, as far as could be checked: Broker 1 was stopped")
    seen = event("broker_change", 1000, 2, file="controller.log", deleted="1", added="", live="2")
    assert len([chain for chain in examined(*lines, seen).chains if chain.broker == 1]) == 1
