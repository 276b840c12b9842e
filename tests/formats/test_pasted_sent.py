"""Outputs of tools of 0.8 to 4.x in the ways people send them: cut, masked, commented, folded, in other languages, in a chat.

Each file in ``pasted_sent/`` is one snippet; what it states, and which of its lines must be named, is written down beside it.
"""

import random
from pathlib import Path

import pytest

from casebook.facts.pasted import MoveState, Pasted
from casebook.formats.pasted import paste
from casebook.formats.pasted.text import is_gap

FOLDER = Path(__file__).parent / "pasted_sent"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
OTHERS = {
    path.stem: path.read_text() for name in ("pasted", "pasted_hosts") for path in sorted((FOLDER.parent / name).glob("*.txt"))
}

_MOVES = {MoveState.COMPLETE: "has moved", MoveState.UNDER_WAY: "moves", MoveState.FAILED: "has failed to move"}


def read(text: str) -> Pasted:
    return paste.read(text.splitlines())


def _ids(ids) -> str:
    return ",".join(map(str, ids)) or "none"


def said(found: Pasted) -> str:
    """All that a paste states, a sentence a line."""
    told = [one.says for one in found.told] + [one.text for one in found.hosts] + [line.text for line in found.logs]
    told += [f"{o.group}: {o.topic}-{o.partition} at {o.offset} of {o.end}" for o in found.offsets]
    told += [f"{g.group} is {g.what} by {g.coordinator}" for g in found.groups]
    for member in found.members:
        assigned = _ids([f"{topic}-{number}" for topic, number in member.assigned or ()])
        told.append(f"{member.group}: {member.member} at {member.host} has {'nothing' if member.assigned == () else assigned}")
    for row in found.partitions:
        more = "".join(f", {what} {_ids(ids)}" for what, ids in (("offline", row.offline), ("eligible", row.eligible)) if ids)
        held = f"leader {row.leader}, replicas {_ids(row.replicas)}, ISR {_ids(row.isr)}{more}"
        told.append(f"{row.topic}-{row.partition}: {held}")
    for row in found.assigned:
        moves = "".join(f" {what} {_ids(ids)}" for what, ids in (("plus", row.adding), ("less", row.removing)) if ids)
        told.append(f"{row.topic}-{row.partition} on {_ids(row.replicas)}{moves}")
    told += [f"{move.topic}-{move.partition} {_MOVES.get(move.state, 'does not move')}" for move in found.moves]
    told += [f"{c.kind}/{c.entity}: {name}={value}" for c in found.configs for name, value in c.settings.items()]
    told += [f"{z.path} {z.data}" for z in found.znodes]
    told += [f"{f.broker}: {f.folder}/{f.name} {f.bytes} {f.when}" for f in found.files]
    told += [f"{used.path} {used.about}" for used in found.used]
    return "\n".join(told)


def named(found: Pasted) -> set[int]:
    """The lines that are told as not understood."""
    return {line for part in found.not_understood for line in range(part.span.first, part.span.last + 1)}


STATES = {
    "apiversions_cut": (
        ["1 at kb1:9092 (rack r-a) answered", "Produce 0 to 11", "Fetch 0 to 17", "broker 1 does not support ControlledShutdown"],
        (6,),
    ),
    "apiversions_err": (["1 at kb1:9092", "2 at kb2:9092 (no rack"], ()),
    "cc_text": (["broker 1: leaders 49, replicas 98, out of sync 2, offline 0, the controller", "3 brokers, 290 replicas"], ()),
    "coc_broker": (["g1: t-0 at 15 of 25", "g1: t-1 at None of 9", "1 at h1:9092, 2 at h2:9092"], ()),
    "coc_cut": (["g1: t-0 at 15 of 25", "g1: t-1 at 9 of None"], (3,)),
    "conf": (["tickTime=2000", "maxSessionTimeout=40000", "serverId=3", "server.3=z3:2888:3888:participant"], ()),
    "configs_topic_09": (
        [
            "topics/bills: retention.ms=86400000",
            "topics/bills: cleanup.policy=delete",
            "brokers/2: leader.replication.throttled.rate=10485760",
        ],
        (),
    ),
    "configs_users": (
        ["producer_byte_rate=1048576,consumer_byte_rate=2097152", "request_percentage=150.0", "SCRAM-SHA-256=iterations=8192"],
        (),
    ),
    "configs_wrapped": (
        [
            "topics/bills: retention.ms=86400000",
            "topics/bills: cleanup.policy=compact",
            "log.retention.ms=604800000",
            "log.retention.hours=168",
        ],
        (),
    ),
    "cons_stat": (["version 3.5.9", "Mode leader", "Zxid 0x300000a1f", "10.20.0.5:40112", "Node count 312"], ()),
    "df_de": (["/ (/dev/sda1) is 63% full of space", "/kafka/data (/dev/sdb1) is 100% full of space"], ()),
    "df_fr": (["/kafka (/dev/sdb1) is 95% full of space: 104857600 in all, 99614720 used, 5242880 free, in KiB"], ()),
    "df_zh": (["/data/kafka (/dev/vdb1) is 100% full of space: 493G in all, 470G used"], ()),
    "dir_zh": (
        ["C:/kafka/logs/bills-0/00000000000000000000.log 4711", "2 files of 10,490,471 bytes", "50,000,000,000 bytes are free"],
        (),
    ),
    "dmesg": (["16776704K", "chose to kill process 811 (java)", "killed process 811 (java)", "anon-rss 14888100 kB"], ()),
    "dockerps": (["kafka-2 (confluentinc/cp-kafka:7.4.0): Exited (137) 5 minutes ago"], ()),
    "dumplog": (["baseOffset: 0 lastOffset: 9 count: 10"], ()),
    "du_refused": (
        [
            "/kafka/data/bills-0 49152",
            "du failed: cannot read directory '/kafka/data/lost+found': Permission denied",
            "/kafka/data 53248",
        ],
        (),
    ),
    "election": (
        ["bills-0, bills-2 elected", "bills-1 had their leader already", "audit-3 (PreferredLeaderNotAvailableException"],
        (),
    ),
    "election_cut": (["partition 4 of a topic whose name is cut off has no leader, replicas 3,1, ISR 1"], (1,)),
    "envi": (["zookeeper.version=3.4.10", "java.version=1.8.0_152", "host.name=z1.example"], ()),
    "features": (["kraft.version", "FinalizedVersionLevel: 3.8-IV0"], ()),
    "free": (["Mem: total 15885, used 15420", "Swap: total 0"], ()),
    "get_offsets": (["first offsets of bills-0 at 12, bills-1 at 0, bills-2 at none", "of bills:3 it printed nothing"], ()),
    "groups_masked": (["billing: bills-0 at None of 120", "billing: c-1-aa at None has bills-0"], (2,)),
    "iostat": (["Device sdb", "w_await 310.50", "%util 99.80", "%iowait 61.20"], ()),
    "jmx_commented": (["UnderReplicatedPartitions: Value 3, at 2023-11-14T22:13:20", "UnderReplicatedPartitions: Value 0"], ()),
    "journal": (["kafka.service: Failed with result 'oom-kill'", "Main process exited, code=killed, status=9/KILL"], ()),
    "jstack_states": (
        [
            "kafka-request-handler-1 waits for 0x00007f1c2c004e00 (object 0x00000000e0a1b2c8, a kafka.cluster.Partition), which kafka-scheduler-3 holds"
        ],
        (),
    ),
    "kcat": (
        [
            "bills-0: leader 1, replicas 1,2, ISR 1,2",
            "bills-1: leader None, replicas 3, ISR 3",
            "brokers 1, 2, 3 live",
            "1 is the controller",
            "3 is at kb3:9092",
        ],
        (),
    ),
    "kcat_json_cut": (["bills-0: leader 1, replicas 1,2, ISR 1", "2 is the controller"], (44, 45, 46, 47)),
    "kgroups_list": (["invoices is consumer", "connect-sink is connect"], ()),
    "kubectl": (["pod kafka-1: 0/1 ready, CrashLoopBackOff, 17 restarts, the last 2m31s ago", "IP 10.42.1.12"], ()),
    "list_state": (["invoices is Stable", "audit is Empty"], ()),
    "list_type": (["invoices is Stable", "audit is Dead"], ()),
    "log_dirs_future": (
        ["/kafka/a/bills-0 4711", "bills-0 on broker 1 is being moved to /kafka/b, 1024 bytes so far, 37 records behind"],
        (),
    ),
    "logdirs_cut": (["/kafka/a/bills-0 4711"], (4,)),
    "ls_de": (
        [
            "4: /kafka/bills-0/00000000000000000000.log 4711 6. Mär 14:35",
            "4: /kafka/bills-0/00000000000000000000.index 10485760 6. Mär 14:33",
        ],
        (),
    ),
    "ls_fr": (["/kafka/bills-0/00000000000000000000.log 4711 févr. 16  2023"], ()),
    "members_40": (
        [
            "invoices: zGq1qU2wQSKwKpqcbyx7ag at 10.20.0.11 has bills-0,bills-3",
            "CURRENT-EPOCH 7",
            "TARGET-EPOCH 8",
            "TARGET-ASSIGNMENT bills:0",
            "GROUP-INSTANCE-ID inst-a",
        ],
        (),
    ),
    "members_verbose_24": (
        [
            "invoices: inv-1-5b1c2d7e-0c7e-4a43-8f57-2f8c9d21d001 at 10.20.0.11 has bills-0,bills-3,refunds-1",
            "invoices: inv-2-77aa2d7e-0c7e-4a43-8f57-2f8c9d21d002 at 10.20.0.12 has nothing",
        ],
        (),
    ),
    "mntr": (["server_state leader", "outstanding_requests 4", "znode_count 1033", "synced_followers 1"], ()),
    "offsets_verbose_40": (["invoices: bills-0 at 1201 of 1244", "invoices: bills-1 at None of 17"], ()),
    "prom": (["kafka_server_replicamanager_underreplicatedpartitions is 4.0"], ()),
    "props_masked": (["broker.id=4", "min.insync.replicas=2", "commented out: unclean.leader.election.enable=true"], (4,)),
    "props_noid": (["unclean.leader.election.enable=false, min.insync.replicas=2, default.replication.factor=3"], ()),
    "quorum_repl_human": (["3 leader", "1 follower, directory Wb2qYyK0SMmYcLB1YHJ0yg, log end 20042, lag 2", "11 observer"], ()),
    "quorum_status_39": (
        [
            "LeaderId 3",
            "LeaderEpoch 15",
            "HighWatermark 20044",
            "MaxFollowerLag 2",
            "MaxFollowerLagTimeMs 430",
            "CONTROLLER://kc3:9093",
        ],
        (),
    ),
    "quoted_exc": (["NotLeaderForPartitionException: This server is not the leader"], ()),
    "reassign_additional": (["bills-4 on 4,1,2 less 2", "bills-5 on 1,2,3,4 plus 4 less 1"], ()),
    "reassign_cancel": (["cancelled partition reassignments for: bills-1,bills-2", "None of the specified"], ()),
    "reassign_cut_json": (["bills-0 on 1,2", "bills-1 on 2,3", "proposes, not what is: bills-0 on 3,1"], (6,)),
    "reassign_verify_26": (
        ["bills-0 has moved", "bills-1 moves", "bills-2 does not move", "bills-2 on 1,2", "brokers 1,2,3"],
        (),
    ),
    "reassign_verify_logdir": (
        ["bills-0 has moved", "replica bills-0-2 completed", "replica bills-1-2 is still in progress"],
        (),
    ),
    "sar": (["%iowait 61.20"], ()),
    "state_verbose_40": (["invoices is Reconciling by 2", "kb2:9092 (2)", "uniform", "2 members", "GROUP-EPOCH 8"], ()),
    "strimzi": (["condition NotReady is True, FatalProblem", "Pod kafka-1 is unschedulable", "kafkaVersion 3.6.1"], ()),
    "sums": (["the sum of the first offsets of bills, over the partitions that answered, is 4200"], ()),
    "systemctl": (["kafka.service is failed, result exit-code, since Mon 2024-03-04 10:12:01 UTC"], ()),
    "threads_heads": (
        [
            "waiting on condition: data-plane-kafka-request-handler-0 (daemon, cpu 1.50ms, elapsed 9.00s, nid 0xc403)",
            "runnable: data-plane-kafka-network-thread-4-ListenerName(PLAINTEXT)-PLAINTEXT-0",
        ],
        (),
    ),
    "top": (["load average: 41.20", "PID 811, USER kafka, PR 20, NI 0, VIRT 24.1g, RES 14.2g"], ()),
    "topics_chat_remarks": (["bills-0: leader 1, replicas 1,2, ISR 1,2", "bills-2: leader None, replicas 2,3, ISR 3"], (4, 5)),
    "topics_elr": (
        ["bills-0: leader None, replicas 1,2,3, ISR none, eligible 2,3", "bills-1: leader 2, replicas 2,3,1, ISR 2,3"],
        (),
    ),
    "topics_numbered": (["bills-0: leader 1, replicas 1,2, ISR 1,2", "bills-9: leader 2, replicas 2,1, ISR 2"], (3,)),
    "topics_offline": (
        ["bills-0: leader 1, replicas 1,2,3, ISR 1,2, offline 3", "bills-1: leader None, replicas 3, ISR 3, offline 3"],
        (),
    ),
    "tx_describe": (["TransactionDurationMs 65000", "TopicPartitions bills-0,bills-1"], ()),
    "tx_hanging": (["Topic bills, Partition 0", "Duration(min) 95"], ()),
    "tx_list": (["TransactionalId loader-7, Coordinator 2, ProducerId 4001, TransactionState Ongoing", "loader-8"], ()),
    "tx_producers": (["producers of bills-0", "CurrentTransactionStartOffset 5512", "CurrentTransactionStartOffset None"], ()),
    "vmstat": (["b 12", "wa 61"], ()),
    "wchc": (["does not answer wchs"], ()),
    "wchs": (["3 connections watching 41 paths", "Total watches:77"], ()),
    "zk_refused": (
        ["zk2 did not accept the connection", "10.20.0.5:40112, session 0x1f2aa3c0001, timeout 18000 ms, queued 3"],
        (),
    ),
    "zkshell": (
        ['/brokers/topics/bills/partitions/0/state {"controller_epoch":12,"leader":2,"version":1,"leader_epoch":8,"isr":[2]}'],
        (),
    ),
    "oneline": (["bills-0: leader 1, replicas 1,2, ISR 1,2", "bills-1: leader None, replicas 2,3, ISR 3"], ()),
    "topics_table": (["bills-0: leader None, replicas 1,2, ISR 1", "bills-1: leader 3, replicas 2,3, ISR 3"], ()),
    "lagtable": (["inv: bills-0 at 12 of 15", "inv: c-1 at 10.0.0.1 has bills-0"], ()),
    "zkls_cut": (["/brokers/topics/__consumer_offsets", "/brokers/topics/bills", "/brokers/topics/refunds"], (1, 2)),
    "kcatoff": (["bills-0 is at offset 1244"], ()),
    "version": (["the tools are of Kafka 3.6.1, commit 5e3c2b738d253ff5"], ()),
    "jps": (["process 811 is kafka.Kafka"], (4,)),
    "meta": (["cluster.id is YzA4cQ1nR3aK7v0H5yPZ1g"], ()),
    "getkafka": (["NAME main, DESIRED KAFKA REPLICAS 3, DESIRED ZK REPLICAS 3, READY True, METADATA STATE ZooKeeper"], ()),
    "inspect": (["killed for want of memory", "ExitCode is 137", "Status exited", "Running false"], ()),
    "dusort": (["/kafka/data/__consumer_offsets-12 128849018880"], ()),
    "err_group": (["TimeoutException: Call(callName=describeGroups"], ()),
    "err_topic": (["Topic 'nope' does not exist as expected"], ()),
    "timedout": (["Timed out waiting for a node assignment. Call: listTopics"], ()),
    "groups_spaces": (["inv: bills-1 at 9 of 9", "inv: c-1-aa at 10.0.0.1 has bills-1"], ()),
    "rebal": (["inv is is rebalancing", "inv: bills-0 at 12 of 15"], ()),
    "jolokia": (["ActiveControllerCount: Value 1, at 2023-11-14T22:13:20.000Z"], ()),
    "promql": (["kafka_server_replicamanager_underreplicatedpartitions of instance kb1:7071 is 4"], ()),
}


class TestSnippets:
    def test_each_is_at_hand(self):
        assert STATES.keys() == FILES.keys()

    @pytest.mark.parametrize("name", STATES)
    def test_what_it_states(self, name):
        """Every statement that is printed, and no line silently dropped."""
        statements, lines = STATES[name]
        found = read(FILES[name])
        told = said(found)
        assert [statement for statement in statements if statement not in told] == []
        assert named(found) == set(lines)


class TestSilence:
    LINES = (
        "    zqx: blorp 17",
        "blorp",
        "# blorp 12 34",
        "/blorp/x 12",
        "blorp=17 wibble",
        "\tblorp 1 2 3",
        "zqx 17 blorp wibble",
    )

    @pytest.mark.parametrize("name", sorted({**FILES, **OTHERS}))
    def test_no_unknown_line_is_dropped(self, name):
        """Wherever it stands: it is named by its number, or goes on with what is told."""
        lines = {**FILES, **OTHERS}[name].splitlines()
        chosen = random.Random(name)
        for at in chosen.sample(range(len(lines) + 1), min(6, len(lines) + 1)):
            line = chosen.choice(self.LINES)
            found = paste.read([*lines[:at], line, *lines[at:]])
            is_named = at + 1 in named(found) or any(
                one.span.first <= at + 1 <= one.span.last for one in found.hosts if one.settle
            )
            is_told = "blorp" in repr(found) or any(is_typed(text) for text in lines[max(0, at - 1) : at])
            assert is_named or is_told, (at + 1, line)


def is_typed(text: str) -> bool:
    """Whether a command goes on behind a line."""
    return text.endswith("\\")


class TestGaps:
    @pytest.mark.parametrize("gap", ["...", "[...]", "(snip)", "<snip>", "--snip--", "... 40 more lines ...", "[truncated]", "(output omitted)", "# ...", "...skipped..."])  # fmt: skip
    def test_lines_that_were_left_out(self, gap):
        """The rows around it hold; that rows are missing is told."""
        assert is_gap(gap)
        row = "Topic: t\tPartition: {}\tLeader: 1\tReplicas: 1,2\tIsr: 1"
        found = read(f"{row.format(0)}\n{gap}\n{row.format(7)}\n")
        assert [p.partition for p in found.partitions] == [0, 7]
        assert named(found) == {2}

    @pytest.mark.parametrize("line", ["-----", "Topic: a", "cut", "more", "--- here ---", "partitions:"])
    def test_others(self, line):
        assert not is_gap(line)


class TestSenders:
    ROW = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1"

    @pytest.mark.parametrize("before", ["<ann> ", "10:32 <ann> ", "[10:32] ann: ", "(10:32) ann: ", "[24/05/2024, 10:32:11] Ann Lee: ", "24/05/24, 10:32 - Ann: ", "ann> ", "kb-1: ", "# ", "// "])  # fmt: skip
    def test_what_stands_before_each_line(self, before):
        """A nick, a host or the mark of a comment."""
        found = read(f"{before}{self.ROW}\n{before}{self.ROW.replace('Partition: 0', 'Partition: 1')}\n")
        assert [(p.partition, p.leader) for p in found.partitions] == [(0, 1), (1, 1)]
        assert found.not_understood == ()

    def test_a_logger_is_no_nick(self):
        """A level behind a time is a log's."""
        (line,) = read("7/24/2017, 11:00:00 AM - error: broker 3 is not available, see ECONNREFUSED 10.0.0.1:9092").logs
        assert "error:" in line.text

    @pytest.mark.parametrize("remark", ["<-- here", "# was 1,2", "// gone", "<<< broker 2", "--> look", "** !!"])
    def test_what_stands_behind_a_row(self, remark):
        (row,) = read(f"{self.ROW}   {remark}").partitions
        assert row.isr == (1,)


class TestMasks:
    @pytest.mark.parametrize("mask", ["***", "xxx", "<redacted>", "[hidden]", "XXXXX", "####"])
    def test_a_masked_value_is_none(self, mask):
        """It is told with its line, and the other settings hold."""
        found = read(f"Configs for topic 't' are retention.ms={mask},cleanup.policy=compact")
        (config,) = found.configs
        assert (config.settings, config.whole) == ({"cleanup.policy": "compact"}, False)
        assert named(found) == {1}


class TestCommands:
    LONG = "$ docker exec -it kafka-broker-with-a-long-name ls -la /var/lib/kafka/data/topics/bills-0"

    def test_one_that_a_screen_has_broken(self):
        """Its options in the next line are of it: which topic was asked tells the second line."""
        text = (
            "$ bin/kafka-run-class.sh kafka.tools.GetOffsetShell --broker-list kb1.example.org:9092,kb2.example.org:9092\n"
            "--topic bills --time -2 | awk -F: '{s+=$3} END {print s}'\n42\n"
        )
        (told,) = read(text).told
        assert "first offsets of bills" in told.says
        assert "is 42" in told.says

    @pytest.mark.parametrize("after", ["-rw-r--r-- 1 kafka kafka 4711 Mar  6 14:35 00000000000000000000.log", "--bootstrap-server <String: server>    REQUIRED: the servers", "-- Logs begin at Mon 2024-03-04 09:00:00 UTC. --"])  # fmt: skip
    def test_what_is_printed_is_no_option(self, after):
        """It is told or named, whatever it begins with."""
        found = read(f"{self.LONG}\n{after}\n")
        assert 2 in named(found) or after.rpartition(" ")[2] in repr(found)
