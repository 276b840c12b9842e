"""What hosts and operators' tools print, taken apart.

``jstack.txt`` is a broker of 2.8.2 on Java 17, with the deeper frames of its stacks left out; ``jmxtool_*.txt`` are what JmxTool of 2.8.2
printed of it. The others are written after what the tools print.
"""

import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted import paste
from tests.ends import ends

FOLDER = Path(__file__).parent / "pasted_hosts"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
STACKS = FILES["jstack"]
CLEANER = re.search(r'"kafka-log-cleaner-thread-0".*?\n\n', STACKS, re.DOTALL)[0]
WITHOUT_CLEANER = STACKS.replace(CLEANER, "").replace("length=56", "length=55")


def read(text):
    return paste.read(text.splitlines())


def said(text, kind=None):
    return [one for one in read(text).hosts if kind in (None, one.kind)]


def facts(text, name):
    return [one.facts[name] for one in read(text).hosts if name in one.facts]


@pytest.mark.parametrize("name", FILES)
def test_all_of_it_is_understood(name):
    assert read(FILES[name]).not_understood == ()


class TestDisks:
    def test_what_is_full(self):
        """Of space and of inodes apart; not what lies in memory or is an image."""
        rows = {(r.facts["mount"], r.facts["of"], r.facts["share"], r.bad) for r in said(FILES["df"])}
        assert rows >= {
            ("/dev", "space", 0, False),
            ("/data", "space", 100, True),
            ("/data", "inodes", 1, False),
            ("/snap/core20/1828", "space", 100, False),
            ("/System/Volumes/Data/home", "space", 100, False),
        }

    def test_units(self):
        """Rounded stays rounded, blocks are those of the header."""
        texts = "\n".join(r.text for r in said(FILES["df"]))
        assert "1.0T in all, 1.0T used, 20K free (rounded)" in texts
        assert "1055762868 in all, 1055762848 used, 20 free, in KiB" in texts
        assert "420000000 free, in blocks of 512 bytes; of inodes 0%: 356839 used" in texts

    def test_a_device_on_a_line_of_its_own(self):
        (wrapped,) = [r for r in said(FILES["df"]) if r.facts["device"] == "/dev/mapper/vg_kafka-lv_data"]
        assert wrapped.span == (5, 6)

    def test_without_header(self):
        """98% of what, only the header tells."""
        (row,) = said("/dev/sdb1   1055762868 1055762848  20  98% /data")
        assert (row.facts["of"], row.bad, bool(row.settle)) == ("", False, True)
        assert "is 98% full" in row.text

    def test_what_the_command_says_of_rows_alone(self):
        """``df -h | grep /data``: of space; with -i of inodes."""
        row = "/dev/sdb1   1.0T 1.0T  20K  98% /data"
        for options, of in (("-h", "space"), ("-ih", "inodes")):
            (found,) = said(f"$ kubectl exec broker-0 -- df {options} | grep /data\n{row}")
            assert (found.facts["of"], found.bad, found.settle) == (of, True, "")

    def test_in_a_comment(self):
        text = "# Filesystem  Size  Used Avail Use% Mounted on\n# /dev/sdb1  500G  500G  20K  100%  /data"
        assert [(one.facts["mount"], one.facts["of"], one.bad) for one in said(text)] == [("/data", "space", True)]

    @pytest.mark.parametrize("device", ["overlay", "shm", "tmpfs", "10.0.0.5:/export", "none"])
    def test_devices_without_header(self, device):
        (row,) = said(f"{device}   59G  20G  36G  36% /data")
        assert (row.facts["device"], bool(row.settle), "59G, 20G and 36G" in row.text) == (device, True, True)

    def test_a_row_that_is_folded(self):
        (row,) = said("Filesystem Size Used Avail Use% Mounted on\n/dev/sdb1 100G 99G 1G 99%\n/data\n")
        assert (row.facts["mount"], row.bad, row.span) == ("/data", True, (1, 3))

    @pytest.mark.parametrize("prefix", ["kafka-1  | ", "[10:03] bob: ", "[10:03 AM] <bob> "])
    def test_behind_what_a_chat_or_compose_puts_before(self, prefix):
        (row,) = said(f"{prefix}Filesystem Size Used Avail Use% Mounted on\n{prefix}/dev/sdb1 100G 99G 1G 99% /data\n")
        assert (row.facts["mount"], row.bad) == ("/data", True)

    def test_other_tables_are_none(self):
        assert said("GROUP  TOPIC  1 2 3 50% /x\nsome 10 20 30 40% /path") == []

    def test_used(self):
        """Any folder, as it was printed."""
        rows = read(FILES["listings"]).used
        assert [(u.path, u.printed, u.broker) for u in rows] == [("/data/__consumer_offsets-3", "100G", 3), ("/data", "101G", 3)]


class TestUsage:
    @pytest.mark.parametrize(
        ("command", "about", "printed"),
        [
            ("$ du -sk /data/*\n", 120 << 10, "120 KiB"),
            ("$ du -b /data\n", 120, "120 bytes"),
            ("$ du -m\n", 120 << 20, "120 MiB"),
        ],
    )
    def test_an_option_tells_the_unit(self, command, about, printed):
        assert [(u.about, u.printed) for u in read(f"{command}120\t/data/t-0\n").used] == [(about, printed)]

    @pytest.mark.parametrize("command", ["", "$ du /data/t-0\n", "broker 1:\n"])
    def test_without_one_nothing_does(self, command):
        """1 KiB on Linux, 512 bytes on macOS."""
        found = read(f"{command}120\t/data/t-0\n")
        assert (found.used, ["takes 120 on disk" in one.text for one in found.hosts]) == ((), [True])


class TestListings:
    def test_forms_of_ls(self):
        """Exact sizes in bytes, rounded ones none; names alone tell no size."""
        files = {(f.folder[-1], f.name[-6:]): (f.bytes, f.modified) for f in read(FILES["listings"]).files}
        assert files["0", "00.log"] == (1073741620, None)
        assert files["1", "00.log"] == files["1", "10.log"] == (None, None)
        assert files["2", "00.log"] == (555, 1795687200000)
        assert files["3", "00.log"] == (8543, None)
        assert files["4", "00.log"] == (None, None)
        assert {f.broker for f in read(FILES["listings"]).files} == {3}

    def test_windows(self):
        """In English and German, of cmd and of PowerShell; a time without zone is none."""
        rows = {(f.folder, int(f.name[:20]), f.name[20:], f.bytes, f.modified) for f in read(FILES["dir"]).files}
        assert rows == {
            ("C:/kafka-logs/test-0", 0, ".index", 10485760, None),
            ("C:/kafka-logs/test-0", 0, ".log", 15204, None),
            ("D:/kafka/test-1", 0, ".log", 1234567, None),
            ("C:/kafka-logs/test-2", 7, ".log", 15204, None),
        }
        assert facts(FILES["dir"], "free") == [88123482112] * 2

    def test_two_moments_are_two_listings(self):
        """A heading in prose is no folder; what a command asks for, through a container or not, is one."""
        row = "-rw-r--r-- 1 k k {} 3月   2 10:02 00000000000000000000.log\n"
        text = f"Before:\n$ docker exec b1 ls -l /data/t-0\n{row.format(1)}After:\n$ ls -l /data/t-0 | head\n# now\n{row.format(2)}Later:\n{row.format(3)}"
        files = read(text).files
        assert [(f.folder, f.bytes, f.when) for f in files] == [
            ("/data/t-0", 1, "3月   2 10:02"),
            ("/data/t-0", 2, "3月   2 10:02"),
            ("", 3, "3月   2 10:02"),
        ]
        assert len({f.listing for f in files}) == 3

    @pytest.mark.parametrize("when", ["2020年 3月  2日", "3월  2 2020", "...", "Mar  2 10:02"])
    def test_dates_of_any_language_or_none(self, when):
        (file,) = read(f"$ ls -l /data/t-0\n-rw-r--r-- 1 k k 77 {when} 00000000000000000000.log\n").files
        assert (file.bytes, file.when, file.modified) == (77, when, None)

    def test_other_files_are_told_too(self):
        one, _ = said("$ ls -l /data/t-0\ntotal 4\n-rw-r--r-- 1 k k 17 Mar  2 10:02 leader-epoch-checkpoint\n")
        assert "/data/t-0 also holds leader-epoch-checkpoint (17, Mar  2 10:02)" in one.text

    def test_more_files_than_a_sentence_bears_are_not_understood(self):
        rows = "".join(f"-rw-r--r-- 1 k k 17 Mar  2 10:02 file{number}\n" for number in range(25))
        assert read(f"$ ls -l /tmp\n{rows}").not_understood[0].span == (22, 26)

    def test_prose_is_no_name(self):
        assert read("orders-0 broker-3\nsee orders-1").files == ()


class TestThreads:
    def test_whole(self):
        """It names its broker, and says how many threads it had: 56 that Java knows."""
        (dump,) = read(STACKS).dumps
        assert (dump.broker, dump.taken, dump.whole, dump.counted) == (1, "2026-11-26 19:26:09", True, True)
        assert (dump.cleaners, dump.loading) == (("kafka-log-cleaner-thread-0",), ())
        assert facts(STACKS, "handlers") == [{"TIMED_WAITING": 4}]

    def test_a_cleaner_that_is_not_there(self):
        (dump,) = read(WITHOUT_CLEANER).dumps
        assert (dump.whole, dump.cleaners) == (True, ())
        assert [one.bad for one in said(WITHOUT_CLEANER) if "cleaner" in one.facts] == [True]

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda t: t.replace(CLEANER, ""),
            lambda t: t.replace(CLEANER, "...\n"),
            lambda t: WITHOUT_CLEANER.replace("JNI global refs", "JN"),
            lambda t: WITHOUT_CLEANER.partition("\n\n")[2],
            lambda t: "\n".join(WITHOUT_CLEANER.splitlines()[:200]),
            lambda t: WITHOUT_CLEANER.replace('"kafka-scheduler-9"', '[cut]\n"kafka-scheduler-9"'),
        ],
        ids=["a thread taken out", "left out", "no end", "no begin", "half", "marked as cut"],
    )
    def test_a_cut_dump_tells_of_no_absence(self, spoil):
        found = read(spoil(STACKS))
        assert not any(dump.whole and not dump.cleaners for dump in found.dumps)
        assert not [one for one in found.hosts if one.facts.get("cleaner", 1) is None]

    def test_quoted_and_indented(self):
        for prefix in ("> ", "    "):
            (dump,) = read("\n".join(prefix + line for line in STACKS.splitlines())).dumps
            assert (dump.whole, dump.cleaners) == (True, ("kafka-log-cleaner-thread-0",))

    def test_java_8(self):
        """It does not say how many threads there were."""
        text = WITHOUT_CLEANER.replace("JNI global refs: 13, weak refs: 0", "JNI global references: 345")
        text = re.sub(r"Threads class SMR info:.*?\}\n\n", "", text, flags=re.DOTALL)
        (dump,) = read(text).dumps
        assert (dump.whole, dump.counted, dump.cleaners) == (True, False, ())
        assert "this Java does not say how many" in " ".join(one.text for one in said(text))

    def test_loading(self):
        """By its frames, as ``GroupMetadataManager.scala@2.8.2`` names them; a thread of that name alone waits."""
        waiting = re.search(r'"group-metadata-manager-0".*?\n\n', STACKS, re.DOTALL)[0]
        busy = (
            waiting.splitlines()[0]
            + "\n   java.lang.Thread.State: RUNNABLE\n\tat sun.nio.ch.FileDispatcherImpl.pread0(Native Method)\n"
            "\tat kafka.coordinator.group.GroupMetadataManager.doLoadGroupsAndOffsets(GroupMetadataManager.scala:555)\n\n"
        )
        (dump,) = read(STACKS.replace(waiting, busy)).dumps
        assert dump.loading == ("group-metadata-manager-0",)

    def test_who_waits_for_whom(self):
        text = (
            '"data-plane-kafka-request-handler-0" #71 daemon prio=5 os_prio=0 tid=0x1 nid=0x5a1 waiting for monitor entry [0x2]\n'
            "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat kafka.log.Log.append(Log.scala:1)\n"
            "\t- waiting to lock <0x0a> (a java.lang.Object)\n\n"
            '"data-plane-kafka-request-handler-1" #72 daemon prio=5 os_prio=0 tid=0x3 nid=0x5a2 runnable [0x4]\n'
            "   java.lang.Thread.State: RUNNABLE\n\tat sun.nio.ch.FileDispatcherImpl.write0(Native Method)\n\t- locked <0x0a> (a java.lang.Object)\n"
        )
        (blocked,) = [one for one in said(text) if "blocked" in one.facts]
        assert "handler-0 was BLOCKED in kafka.log.Log.append" in blocked.text
        assert "which data-plane-kafka-request-handler-1 held: RUNNABLE" in blocked.text
        (dump,) = read(text).dumps
        assert (dump.whole, dump.broker) == (False, None)

    def test_deadlock(self):
        text = STACKS + (
            "Found one Java-level deadlock:\n=============================\n"
            '"kafka-scheduler-0":\n  waiting to lock monitor 0x1 (object 0x2, a java.lang.Object),\n  which is held by "kafka-scheduler-1"\n'
            '"kafka-scheduler-1":\n  waiting to lock monitor 0x3 (object 0x4, a java.lang.Object),\n  which is held by "kafka-scheduler-0"\n\n'
            "Java stack information for the threads listed above:\n===================================================\n"
            '"kafka-scheduler-0":\n\tat a.B.c(B.java:1)\n\t- waiting to lock <0x2> (a java.lang.Object)\n\nFound 1 deadlock.\n'
        )
        assert facts(text, "deadlock") == [["kafka-scheduler-0", "kafka-scheduler-1"]]
        assert read(text).not_understood == ()

    def test_a_deadlock_alone(self):
        """Its section says who waits for whom, without any thread above it."""
        text = (
            'Found one Java-level deadlock:\n=============================\n"a":\n  waiting to lock monitor 0x1 (object 0x2, a x),\n'
            '  which is held by "b"\n"b":\n  waiting to lock monitor 0x3 (object 0x4, a x),\n  which is held by "a"\n'
        )
        (one,) = said(text)
        assert (one.bad, one.facts["deadlock"]) == (True, ["a", "b"])
        assert "a waits for 0x1 (object 0x2, a x), which b holds; b waits for 0x3 (object 0x4, a x), which a holds" in one.text
        assert read(text).not_understood == ()

    def test_what_other_threads_do(self):
        """How many, in which state."""
        row = '"ReplicaFetcherThread-0-{}" #71 prio=5 tid=0x1 nid=0x5a1 waiting\n   java.lang.Thread.State: WAITING (parking)\n\n'
        (one,) = [one for one in said(row.format(1) + row.format(2)) if "fetchers" in one.text]
        assert one.text.startswith(
            "2 fetchers of replicas were pasted (ReplicaFetcherThread-0-1, ReplicaFetcherThread-0-2): 2 WAITING"
        )

    def test_another_jvm(self):
        """Its threads say nothing of a broker."""
        text = 'Full thread dump OpenJDK 64-Bit Server VM (17 mixed mode):\n\n"main" #1 prio=5 tid=0x1 nid=0x2 runnable\n\nJNI global refs: 1\n'
        (one,) = said(text)
        assert (read(text).dumps, "not a broker" in one.text, "kafka.Kafka" in one.settle) == ((), True, True)


class TestServices:
    def test_systemctl(self):
        """State, result and since when, as printed: CST is several zones, and no instant."""
        first, second, third = said(FILES["systemctl"])
        assert (first.facts["active"], first.facts["result"], first.bad) == ("failed", "oom-kill", True)
        assert first.facts["since"] == "Thu 2026-11-26 03:12:44 CST"
        assert "process 1234 ended with killed, signal=KILL" in first.text
        assert (second.facts["active"], second.bad) == ("active", False)
        assert "heap -Xms1G -Xmx1G" in second.text
        assert "there is no unit mirror-maker.service" in third.text

    def test_is_active(self):
        (one,) = said("$ systemctl is-active kafka\ninactive\n")
        assert (one.text, one.bad) == ("kafka is inactive", False)

    def test_no_memory_for_java(self):
        """As HotSpot says it (``os_linux.cpp@jdk-17``), and Docker of a container."""
        failed = "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00000000c0000000, 1073741824, 0) failed; error='{}' (errno=12)"
        rows = said(failed.format("Cannot allocate memory") + '\n            "OOMKilled": true,\n')
        assert [(row.kind, row.bad) for row in rows] == [("Java", True), ("docker inspect", True)]
        assert "1073741824 bytes, Cannot allocate memory" in rows[0].text
        assert said('"OOMKilled": false,') == []

    def test_sets_of_pods(self):
        (one,) = said("NAME READY AGE\nbroker 2/3 45d\n")
        assert (one.text, one.bad) == ("set broker: 2/3 pods ready, age 45d", True)
        assert said("broker 2/3 45d\n") == []

    def test_a_unit_that_is_cut(self):
        (one,) = said("● kafka.service - Apache Kafka\n   Loaded: loaded (/etc/systemd/system/kafka.service; enabled)\n")
        assert "whether it is active was not pasted" in one.text

    def test_killed(self):
        """Who, with what memory, and when: seconds since boot are no time of day. Whether it was the broker its name does not say."""
        killed = [one for one in said(FILES["kernel"]) if "anon-rss" in one.facts]
        assert [(k.facts["pid"], k.facts["anon-rss"], k.facts["when"], k.broker) for k in killed] == [
            (29541, 30209924, "863081.196640 s after the host's boot", None),
            (1234, 8000, "Nov 26 03:12:43", 3),
            (4711, 9, "Thu Nov 26 03:12:43 2026", 3),
        ]
        assert all(k.bad and "its name does not show whether it was the broker" in k.text for k in killed)

    @pytest.mark.parametrize(
        ("prefix", "when"),
        [
            ("host1 kernel: [  12.5] ", "12.5 s after the host's boot"),
            ("[  +0.000001] ", "0.000001 s after the line before it"),
            ("node-a | Nov 26 03:12:43 node-a kernel: ", "Nov 26 03:12:43"),
        ],
    )
    def test_when_behind_a_prefix(self, prefix, when):
        (one,) = said(f"{prefix}Memory cgroup out of memory: Killed process 7 (java) total-vm:1kB, anon-rss:2kB")
        assert (one.facts["when"], "in its cgroup" in one.text) == (when, True)

    def test_whose_memory_ran_out(self):
        """Of ``oom_kill.c@v5.10``: a cgroup, or the whole host."""
        text = (
            "[1.2] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/docker/ab,"
            "task_memcg=/docker/ab,task=java,pid=7,uid=0"
        )
        (one,) = said(text)
        assert (one.facts["constraint"], one.facts["cgroup"], one.facts["chosen"]) == ("CONSTRAINT_MEMCG", "/docker/ab", 7)

    def test_the_kernel_writes_no_brokers_log(self):
        """Its lines are of a host: else a broker would seem to write after it was killed."""
        logs = read(FILES["kernel"]).logs
        assert {(line.broker, line.host) for line in logs} == {(None, 3)}

    def test_pods(self):
        rows = said(FILES["pods"])
        assert [(r.facts.get("pod"), r.facts.get("restarts"), r.bad) for r in rows] == [
            ("broker-0", 0, False),
            ("broker-1", 361, True),
            ("broker-2", 0, True),
            (None, None, True),
            (None, None, False),
        ]
        assert {r.broker for r in rows} == {None}
        assert "the last 4m8s ago, age 32h" in rows[1].text

    def test_a_description(self):
        """How the container ended, with its zone; the broker is the one that its environment names, and no ordinal."""
        (last,) = [one for one in said(FILES["describe"]) if one.facts.get("which") == "Last State"]
        assert (last.facts["reason"], last.facts["exit_code"], last.broker) == ("OOMKilled", "137", 2)
        assert last.facts["finished"] == "Thu, 26 Nov 2026 10:05:09 +0000"
        assert "(signal 9)" in last.text
        without = said(FILES["describe"].replace("      KAFKA_NODE_ID:  2\n", ""))
        assert {one.broker for one in without} == {None}

    def test_the_end_of_a_container_is_an_entry_of_its_hosts_log(self):
        """At the time with its zone, put together from the lines of its state."""
        (line,) = read(FILES["describe"]).logs
        assert (line.span, line.broker, line.host) == ((20, 24), None, 2)
        assert line.text.startswith("Thu, 26 Nov 2026 10:05:09 +0000 Last State Terminated, Reason OOMKilled, Exit Code 137, ")

    def test_yaml_and_json(self):
        """As ``-o yaml`` and ``-o json`` print it."""
        lines = ["exitCode: 137", 'finishedAt: "2021-05-18T08:00:00Z"', "reason: OOMKilled"]
        yaml = "lastState:\n  terminated:\n" + "".join(f"    {line}\n" for line in lines)
        as_json = (
            '"lastState": {"terminated": {\n"exitCode": 137,\n"finishedAt": "2021-05-18T08:00:00Z",\n"reason": "OOMKilled"\n}}'
        )
        for text in (yaml, as_json):
            (one,) = said(text)
            assert one.text == "a container was last terminated, reason OOMKilled, exit code 137, finished 2021-05-18T08:00:00Z"

    def test_a_part_of_a_description(self):
        (one,) = said("   Last State:    Terminated\n     Reason:      OOMKilled\n     Exit Code:   137\n")
        assert one.text.startswith("a pod whose name was not pasted was last Terminated, reason OOMKilled, exit code 137")


class TestSettings:
    def test_of_the_broker_that_it_names(self):
        """What is behind # is not set; a line that goes on is one."""
        (block,) = read(FILES["properties"]).settings
        (told,) = facts(FILES["properties"], "settings")
        assert (block.broker, block.span) == (2, LineSpan(2, 9))
        assert told["zookeeper.connect"] == "zk1:2181,zk2:2181,zk3:2181/kafka"
        assert (told["min.insync.replicas"], told["unclean.leader.election.enable"]) == ("2", "true")
        assert "log.retention.hours" not in told

    def test_a_heading_names_it_where_they_do_not(self):
        text = "log.dirs=/data\nmin.insync.replicas=2\n"
        assert [s.broker for s in read(f"broker 5:\n{text}").settings] == [5]
        assert [s.broker for s in read(text).settings] == [None]
        assert 'such as "broker 3:"' in said(text)[0].settle

    def test_two_ids_are_none(self):
        assert [s.broker for s in read("broker.id=1\nnode.id=2\nlog.dirs=/data\n").settings] == [None]

    @pytest.mark.parametrize(
        "text",
        [
            "bootstrap.servers=a:9092\ngroup.id=g\nauto.offset.reset=earliest\n",
            "version=0\nbroker.id=3\ncluster.id=abc\n",
            "dataDir=/zk\nclientPort=2181\nzookeeper.x=1\n",
            "log.dirs: /data\nmin.insync.replicas: 2\n",
            "broker.id=3\n",
        ],
        ids=["client", "meta.properties", "ZooKeeper", "YAML", "alone"],
    )
    def test_others_are_none(self, text):
        assert read(text).settings == ()


class TestMetrics:
    @pytest.mark.parametrize("name", [name for name in FILES if name.startswith("jmxtool")])
    def test_every_format_of_jmxtool(self, name):
        """The same three MBeans; 0 under-replicated partitions tell of no trouble."""
        values = {one.facts["mbean"]: one.facts["values"] for one in said(FILES[name])}
        assert values["kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"] == {"Value": "0"}
        assert values["kafka.controller:type=KafkaController,name=ActiveControllerCount"] == {"Value": "1"}
        assert values["kafka.server:type=ReplicaManager,name=IsrShrinksPerSec"]["EventType"] == "shrinks"
        assert not any(one.bad or one.broker is not None for one in said(FILES[name]))
        assert all(1795721172000 < one.facts["at"] < 1795721179000 for one in said(FILES[name]))

    def test_a_series(self):
        """Each row at its own time."""
        head = '"time","kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions:Value"\n'
        rows = said(f"{head}1583148030712,12\n1583148032713,0\n")
        assert [(r.facts["at"], r.facts["values"]["Value"], r.bad) for r in rows] == [
            (1583148030712, "12", True),
            (1583148032713, "0", False),
        ]
        (alone,) = said("1583148030712,12\n")
        assert "looks like a row of JmxTool" in alone.text
        assert "first line" in alone.settle

    def test_a_date_in_whatever_form(self):
        """``--date-format`` prints what it is given, a comma in it included."""
        head = '"time","kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions:Value"\n'
        for when in ("2020-03-02 10:20:31", "2020-03-02 10:20:31,500", "03/02/2020 10:20"):
            found = read(f"{head}{when},3\n")
            (one,) = found.hosts
            assert f"UnderReplicatedPartitions: Value 3, at {when} (as printed)" in one.text
            assert (one.bad, one.facts["at"], found.logs) == (True, None, ())

    def test_others(self):
        """jmxterm, Jolokia, Prometheus; of the JVM only how many lines."""
        texts = {one.text.split(" (")[0].split(", at")[0]: one.bad for one in said(FILES["metrics"])}
        assert texts == {
            "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec: Count 15, MeanRate 0.0034": False,
            "kafka.server:name=UnderReplicatedPartitions,type=ReplicaManager: Value 3": True,
            "kafka.server:name=LeaderCount,type=ReplicaManager: Value 4": False,
            "kafka_log_logcleanermanager_uncleanable_partitions_count of logDirectory /data is 2.0": True,
            "kafka_log_logcleanermanager_time_since_last_run_ms_value is 5000.0": False,
            "kafka_network_socketserver_networkprocessoravgidlepercent is 0.05": True,
            "kafka_server_replicamanager_isrshrinkspersec_total is 12.0": False,
            "2 lines of Prometheus text are of the JVM or the host, and say nothing of Kafka": False,
        }

    def test_what_prometheus_answers(self):
        """To a query of one moment; its time is in seconds."""
        row = {
            "metric": {"__name__": "kafka_topic_partition_under_replicated_partition", "topic": "t"},
            "value": [1583148030.5, "1"],
        }
        text = json.dumps({"status": "success", "data": {"resultType": "vector", "result": [row]}})
        (one,) = said(text)
        assert (one.facts["value"], one.facts["at"], one.facts["labels"], one.bad) == ("1", 1583148030500, {"topic": "t"}, True)

    def test_many_lines(self):
        """What tells of trouble is said, however far behind."""
        text = (
            "\n".join(f'kafka_x_y{{topic="t{n}"}} 1.0' for n in range(1000))
            + "\nkafka_server_replicamanager_underreplicatedpartitions 2.0"
        )
        rows = said(text)
        assert len(rows) == 202
        assert [one.text.split(" is ")[0] for one in rows if one.bad] == ["kafka_server_replicamanager_underreplicatedpartitions"]
        assert read(text).not_understood == ()


class TestSettingsOfPeople:
    def test_as_people_paste_them(self):
        """Indented, with words behind a value, and a value that was folded."""
        (found,) = read("  broker.id=2   # ours\n  log.dirs=/data/k1,\n    /data/k2\n  min.insync.replicas=2\n").settings
        assert (found.broker, found.span) == (2, (1, 4))
        (said_of,) = said("  broker.id=2   # ours\n  log.dirs=/data/k1,\n    /data/k2\n  min.insync.replicas=2\n")
        assert said_of.facts["settings"] == {"broker.id": "2", "log.dirs": "/data/k1,/data/k2", "min.insync.replicas": "2"}

    def test_what_a_broker_printed_at_its_start_is_no_file(self):
        found = read("\tadvertised.listeners = null\n\tbroker.id = 3\n\tlog.dirs = /d\n\tnum.io.threads = 8\n")
        assert (found.settings, [one.kind for one in found.hosts]) == ((), ["KafkaConfig values"])


class TestCruiseControl:
    def test_partitions(self):
        """As rows of kafka-topics: leader -1 is none."""
        rows = {(p.topic, p.partition): (p.leader, p.replicas, p.isr) for p in read(FILES["cruise_control"]).partitions}
        assert rows == {("orders", 1): (None, (1, 2), (2,)), ("orders", 2): (4, (4, 5), (4,))}

    def test_brokers(self):
        texts = [one.text for one in said(FILES["cruise_control"]) if one.broker is not None]
        assert texts == [
            "broker 1: leaders 3, replicas 3, the controller, no failed log dirs",
            "broker 2: leaders 0, replicas 3, offline 3, dead",
            "broker 4: leaders 3, replicas 9, out of sync 1, offline 0, the controller",
        ]

    def test_anomalies_are_trouble(self):
        """Also where the rest is cut; a cut one without any is not sound."""
        cut = "AnomalyDetectorState: {selfHealingEnabled:[], recentBrokerFailures:[%s], recentMetric"
        (failed,), (unknown,) = said(cut % "{failedBrokers={2=3}}"), said(cut % "")
        assert (failed.bad, failed.settle, "recentBrokerFailures" in failed.text) == (True, "", True)
        assert (unknown.bad, "cut" in unknown.settle) == (False, True)
        (whole,) = said('{"AnomalyDetectorState": {"recentBrokerFailures": [{"failedBrokers": [2]}]}, "version": 1}')
        assert whole.bad

    def test_its_own_state_says_what_to_paste(self):
        assert [one.text[:12] for one in said(FILES["cruise_control"]) if one.settle] == ["MonitorState"]


def test_known_by_name():
    """Each by its name, and with what to paste in its place."""
    rows = said(FILES["named"])
    assert [one.kind for one in rows] == ["top", "free", "vmstat", "iostat", "netstat or ss", "a YAML manifest"]
    assert all(one.settle for one in rows)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<html>\n<body>\n<p>x</p>", "HTML"),
        ("NAME: kafka\nLAST DEPLOYED: today\nSTATUS: deployed", "Helm's output"),
        ("CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS\nabcdefabcdef   k   x   y   z", "docker ps"),
        ("Active Internet connections (only servers)\ntcp 0 0 :::9092 :::* LISTEN", "netstat or ss"),
        ("NAME STATUS ROLES AGE VERSION\nnode-1 Ready <none> 3d v1.30", "a list of kubectl"),
        ("services:\n  kafka:\n    image: k", "a docker-compose file"),
    ],
)
def test_more_that_is_known_by_name(text, kind):
    assert [one.kind for one in said(text)] == [kind]
    assert read(text).not_understood == ()


_COUNTED = {"threads", "handlers", "whole", "bad"}


def stated(found, before=None):
    """Everything that is stated, one by one; of the lines before one only, where that is given."""
    told = set()
    for one in found.hosts:
        if before is not None and one.span.last >= before:
            continue
        for name, value in one.facts.items():
            if name in _COUNTED or value is None or value == "":
                continue
            inner = value.items() if isinstance(value, dict) else [("", value)]
            told |= {(one.kind, name, key, str(part), one.bad and name == "share") for key, part in inner if part is not None}
    told |= {("file", f.folder, f.name, f.bytes, f.modified) for f in found.files if before is None or f.span.last < before}
    told |= {("partition", *p[:2], *p[3:6]) for p in found.partitions if before is None or p.span.last < before}
    told |= {("settings", s.broker) for s in found.settings if before is None or s.span.last < before}
    told |= {("absent", d.broker) for d in found.dumps if d.whole and not d.cleaners}
    return told


LINES = [line for text in FILES.values() for line in text.splitlines()]
SMALL = {name: text for name, text in FILES.items() if name != "jstack"}


class TestCut:
    @pytest.mark.parametrize("name", SMALL)
    def test_nothing_is_stated_that_the_whole_does_not_state(self, name):
        """However many of its last lines are missing."""
        lines = FILES[name].splitlines()
        whole = stated(paste.read(lines))
        for end in range(len(lines)):
            assert stated(paste.read(lines[:end])) <= whole, end

    def test_threads(self):
        for text in (STACKS, WITHOUT_CLEANER):
            lines = text.splitlines()
            whole = stated(paste.read(lines))
            for end in range(0, len(lines) - 1, 7):
                part = paste.read(lines[:end])
                assert stated(part) <= whole, end
                assert not any(dump.whole for dump in part.dumps)

    @given(st.sampled_from(sorted(SMALL)), st.data())
    @settings(max_examples=80, deadline=None)
    def test_within_a_line(self, name, data):
        """What stands before the line that is cut is stated as in the whole."""
        text = FILES[name]
        cut = text[: data.draw(st.integers(0, len(text)))]
        last = len(cut.splitlines())
        assert stated(read(cut), before=last) <= stated(read(text))

    @given(st.permutations(sorted(SMALL)), st.sampled_from(["\n", "\n\n", "\nsee below\n", "\nbroker 7:\n"]))
    @settings(max_examples=40, deadline=None)
    def test_any_mixture_of_outputs(self, names, between):
        """Each says what it says alone: what stands around it takes nothing away, and adds nothing."""
        alone = set().union(*(stated(read(FILES[name])) for name in names))
        mixed = stated(read(between.join(FILES[name] for name in names)))
        assert mixed == alone

    @given(st.lists(st.sampled_from([*LINES, "", "> ", "{", "[", '"', "broker 3:", "=> x"]), max_size=40))
    @settings(max_examples=200, deadline=None)
    def test_any_mixture_of_lines(self, lines):
        """Never raises; each line is taken, told or says nothing."""
        found = paste.read(lines)
        assert all(1 <= one.span.first <= one.span.last <= len(lines) for one in itertools.chain(found.hosts, found.dumps))
        assert not any(dump.whole for dump in found.dumps)


class TestHostile:
    @pytest.mark.parametrize(
        "line",
        [
            '"a" tid=0x1',
            "Full thread dump x:",
            "Filesystem 1K-blocks Used Available Use% Mounted on",
            "/dev/a 1 2 3 4% /" + "x" * 3000,
            "   Last State: Terminated",
            "Name: x",
            "a.b=c\\",
            "log.dirs=/d",
            '{"request":{"mbean":"kafka.x:type=a"},',
            "kafka_a_b{" * 300,
            "kafka.server:type=a:b=1",
            "   Active: active (running) since x",
            "kubectl get pods " * 20,
            "[1.1] Out of memory: Kill process 1 (java) " + "a" * 3000,
            "1 2 3 4 5 6 7 8 9 0 " * 150,
            "-rw-r--r-- 1 " + "a " * 1000,
            "00000000000000000000.log " * 80,
            "procs ---memory--",
            "kafka-" * 10_000,
            " " * 3900 + "!",
            "[[" * 2000,
        ],
    )
    def test_bounded(self, line):
        """However often: each line is looked at a few times."""
        with ends():
            paste.read([line] * min(6000, 2_000_000 // len(line)))
