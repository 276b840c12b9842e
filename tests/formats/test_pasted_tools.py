"""What Kafka's and ZooKeeper's own tools print, in a paste.

The files in ``pasted/`` were printed by the tools of a cluster of three brokers with the topics ``orders`` (partitions 0 to 3 on
brokers 1,2; 2,3; 3; 3,1) and ``plain`` (on broker 1), of which broker 3 was killed, and of one KRaft node. Broker 2 is the
controller. ``plain-0`` was moved to broker 2; then ``orders-0`` to brokers 1 and 3, of which 3 hung.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.pasted import GroupMember, MoveState, Pasted, PastedMove
from casebook.formats.pasted import paste
from tests.ends import ends

FOLDER = Path(__file__).parent / "pasted"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
ZOOKEEPERS = ("3.4.6", "3.5.9", "3.8.4")
KAFKAS = ("0.9.0.1", "2.8.2", "3.9.2")


def read(text: str) -> Pasted:
    return paste.read(text.splitlines())


def said(found: Pasted, tool: str) -> str:
    """All that a tool said."""
    return "; ".join(told.says for told in found.told if told.tool == tool and told.says)


def states(found: Pasted) -> dict:
    return {(p.topic, p.partition): (p.leader, p.replicas, set(p.isr)) for p in found.partitions}


class TestWords:
    @pytest.mark.parametrize("version", ZOOKEEPERS)
    def test_dump(self, version):
        """Sessions tell who is registered and who is controller: the session of broker 2 holds both."""
        found = read(FILES[f"words_{version}"])
        by_path = {znode.path: znode for znode in found.znodes}
        assert set(by_path["/kafka/brokers/ids"].children) == {"1", "2"}
        owner = {path: znode.stat.ephemeralOwner for path, znode in by_path.items() if znode.stat}
        assert owner["/kafka/controller"] == owner["/kafka/brokers/ids/2"] != owner["/kafka/brokers/ids/1"]
        assert all(f"{hex(each)}:" in FILES[f"words_{version}"] for each in owner.values())

    @pytest.mark.parametrize("version", ZOOKEEPERS)
    def test_the_other_words(self, version):
        """Each is known by its name; what the server says of itself is told."""
        found = read(FILES[f"words_{version}"])
        assert {told.tool for told in found.told} == {
            f"ZooKeeper's {word}" for word in ("dump", "mntr", "srvr or stat", "cons", "conf", "wchs", "ruok")
        }
        for tool in ("ZooKeeper's mntr", "ZooKeeper's srvr or stat"):
            assert f"version {version}" in said(found, tool)
            assert "standalone" in said(found, tool)

    def test_no_line_ends(self):
        """A chat may take them: a path ends where the next session begins."""
        found = read(
            "SessionTracker dump:ephemeral nodes dump:Sessions with Ephemerals (2):0x27dac12e4e10000:\t/k/controller"
            "\t/k/brokers/ids/00x37dac1322e10001:\t/k/brokers/ids/15\n\nregards"
        )
        assert [znode.children for znode in found.znodes if znode.children] == [("0", "15")]

    def test_a_dump_that_may_go_on_is_not_whole(self):
        """Nor one that lacks sessions: who is not in it may be registered all the same."""
        head = "Sessions with Ephemerals (2):\n0x27dac12e4e10000:\n\t/brokers/ids/0\n"
        for text in (head + "\n", head + "0x37dac1322e10001:\n\t/brokers/ids/1"):
            found = read(text)
            assert not [znode for znode in found.znodes if znode.children is not None or not znode.there]
        whole = read(head + "0x37dac1322e10001:\n\t/brokers/ids/1\n\n").znodes
        assert {znode.path: znode.there for znode in whole}["/controller"] is False

    def test_the_admin_server(self):
        """It answers in JSON, with sessions as decimal numbers: 0x10 is 16."""
        answer = '{"expiry_time_to_session_ids":{},"session_id_to_ephemeral_paths":{"16":["/controller","/brokers/ids/2"]},"command":"dump"}'
        by_path = {znode.path: znode for znode in read(answer).znodes}
        assert by_path["/brokers/ids"].children == ("2",)
        assert by_path["/controller"].stat.ephemeralOwner == 16
        cut = read(answer[: answer.index("/ids/2")] + '/ids/2"]')
        assert not [znode for znode in cut.znodes if znode.children is not None]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (
                "ZooKeeper JMX enabled by default\nUsing config: /etc/zoo.cfg\nClient port found: 2181.\nMode: follower",
                "Mode: follower",
            ),
            ("This ZooKeeper instance is not currently serving requests", "not currently serving requests"),
            ("mntr is not executed because it is not in the whitelist.", "does not answer mntr"),
            ("imok", "runs"),
        ],
    )
    def test_one_line(self, text, says):
        (told,) = read(text).told
        assert says in told.says
        assert told.instead


class TestConfigs:
    @pytest.mark.parametrize("version", KAFKAS)
    def test_topics(self, version):
        """As they were created, in each form: a list below ``All configs`` tells by its synonyms what is the topic's own."""
        rows = [row for row in read(FILES[f"configs_{version}"]).configs if row.kind == "topics"]
        for row in rows:
            wanted = {"orders": {"min.insync.replicas": "2", "cleanup.policy": "compact"}, "plain": {}}.get(
                row.entity, row.settings
            )
            assert row.settings == wanted
        assert {row.entity for row in rows} == {"orders", "plain", "__consumer_offsets"}

    @pytest.mark.parametrize("version", ["2.8.2", "3.9.2"])
    def test_brokers(self, version):
        """As they were set: by a broker and for all of them."""
        rows = {
            row.entity: row.settings for row in read(FILES[f"configs_{version}"]).configs if row.kind == "brokers" and row.whole
        }
        assert rows["1"] == {"message.max.bytes": "1048589"}
        assert rows["2"] == {}
        assert rows["<default>"] == {"message.max.bytes": "1048590"}

    def test_synonyms(self):
        """The topic's own value counts, the broker's file is told of; a secret is not printed."""
        found = read(
            "All configs for topic t are:\n"
            "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2,\n"
            " STATIC_BROKER_CONFIG:min.insync.replicas=1, DEFAULT_CONFIG:min.insync.replicas=1}\n"
            "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, "
            "DEFAULT_CONFIG:log.cleanup.policy=delete}\n"
            "  retention.ms=1 sensitive=false synonyms={STATIC_BROKER_CONFIG:log.retention.ms=1}\n"
            "  x.password=null sensitive=true synonyms={DYNAMIC_TOPIC_CONFIG:x.password=null}\n\n"
        )
        (row,) = found.configs
        assert row.settings == {"min.insync.replicas": "2", "cleanup.policy": "compact,delete", "x.password": "[redacted]"}
        assert (row.whole, row.span) == (True, (1, 6))
        assert "log.retention.ms=1" in said(found, "kafka-configs")

    def test_a_list_that_may_go_on(self):
        """Its settings are known, and there may be more; half a line says nothing."""
        entry = "  retention.ms=5 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=5}"
        for text in (entry, f"{entry}\n  min.insync.rep", f"{entry}\n  min.insync.replicas=2 sens"):
            (row,) = read(f"Dynamic configs for topic t are:\n{text}").configs
            assert (row.settings, row.whole) == ({"retention.ms": "5"}, False)

    @pytest.mark.parametrize("text", ["Configs for brokers '2' are a.b=1", "Configs for brokers:2 are a.b=1", "Configs for broker 2 are:\n  a.b=1 sensitive=false synonyms={}"])  # fmt: skip
    def test_a_broker(self, text):
        """Each release names it otherwise."""
        (row,) = read(text).configs
        assert (row.kind, row.entity, row.settings) == ("brokers", "2", {"a.b": "1"})

    def test_others(self):
        """Quotas are settings of nobody that a check asks for: told as printed."""
        (told,) = read("Quota configs for client-id 'app' are producer_byte_rate=1024.0").told
        assert told.says == "Quota configs for client-id 'app' are producer_byte_rate=1024.0"


class TestReassignments:
    def test_old(self):
        """0.9 prints plans whole. What ``--generate`` proposes is not what is: it prints the union of a move that is under way."""
        found = read(FILES["reassign_0.9.0.1"])
        now = {(row.topic, row.partition): set(row.replicas) for row in found.assigned}
        assert now == {
            ("plain", 0): {2},
            ("orders", 0): {1, 2, 3},
            ("orders", 1): {2, 3},
            ("orders", 2): {3},
            ("orders", 3): {1, 3},
        }
        last = {(row.topic, row.partition): (row.target, row.state) for row in found.moves}
        assert last == {("plain", 0): (None, MoveState.COMPLETE), ("orders", 0): (None, MoveState.UNDER_WAY)}
        assert ("orders", 0, (1, 3)) in {(row.topic, row.partition, row.target) for row in found.moves}

    def test_listed(self):
        """``--list`` prints old and new together: 1,2 leads to 1,3."""
        found = read(FILES["reassign_3.9.2"])
        (row,) = [row for row in found.assigned if row.topic == "orders"]
        assert (set(row.replicas), row.adding, row.removing) == ({1, 2, 3}, (3,), (2,))

    def test_refused(self):
        """What a tool could not do is told."""
        assert "it failed" in said(read(FILES["reassign_2.8.2"]), "kafka-reassign-partitions")

    def test_cut(self):
        """Partitions that are whole count, wherever the plan is cut."""
        plan = '{"version":1,"partitions":[{"topic":"t","partition":8,"replicas":[2,5]},{"topic":"t","partition":4,"repl'
        found = read(f"Successfully started reassignment of partitions {plan}")
        assert found.moves == (PastedMove("t", 8, (1, 1), (2, 5), MoveState.UNDER_WAY),)

    def test_verified(self):
        """What is assigned, where it is not what was wanted."""
        found = read(
            "There is no active reassignment of partition t-0, but replica set is 1,2 rather than 2,3.\n"
            "ERROR: Assigned replicas (1,2) don't match the list of replicas for reassignment (2,3) for partition [t,1]\n"
            "Reassignment of partition [t,1] failed\n"
        )
        assert [(row.partition, row.replicas, row.adding) for row in found.assigned] == [(0, (1, 2), None), (1, (1, 2), None)]
        assert "t-1 failed" in said(found, "kafka-reassign-partitions")

    def test_a_plan_says_what_is_wanted(self):
        """Nothing of it is stated, but that it is one; a znode of the same form is one when its command says so."""
        plan = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}'
        found = read(f"here is my plan:\n\n{plan}\n")
        assert (found.assigned, found.moves, found.znodes) == ((), (), ())
        assert "not what is" in said(found, "a plan for kafka-reassign-partitions")
        (znode,) = read(f"get /admin/reassign_partitions\n{plan}\n").znodes
        assert znode.data == plan


class TestLogDirs:
    @pytest.mark.parametrize("version", ["2.8.2", "3.9.2"])
    def test_sizes(self, version):
        """Each replica of the brokers that answered."""
        rows = {(row.path, row.broker) for row in read(FILES[f"log_dirs_{version}"]).used}
        mine = {row for row in rows if "__consumer_offsets" not in row[0]}
        assert mine == {(f"/var/kafka-logs/{name}", broker) for name, broker in (("orders-0", 1), ("orders-0", 2), ("orders-1", 2), ("orders-3", 1), ("plain-0", 2))}  # fmt: skip

    def test_cut_and_failed(self):
        """An error is a log dir that cannot be used; a replica whose size was cut off has none."""
        found = read(
            '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/k1","error":"org.apache.kafka.common.errors.KafkaStorageException",'
            '"partitions":[]},{"logDir":"/k2","error":null,"partitions":[{"partition":"t-0","size":7,"offsetLag":3,"isFuture":false},'
            '{"partition":"t-1","size":9,"offsetLag":0,"isFuture":true},{"partition":"t-2","si'
        )
        assert [(row.path, row.about, row.broker) for row in found.used] == [("/k2/t-0", 7, 1)]
        told = said(found, "kafka-log-dirs")
        assert "broker 1 cannot use /k1 (KafkaStorageException)" in told
        assert "t-0 on broker 1 lags by 3" in told
        assert "cut" in told


class TestMetadata:
    @pytest.mark.parametrize("version", ["2.8.2", "3.9.2"])
    def test_kcat(self, version):
        """Text and JSON tell the same; who lives by the metadata is no registration."""
        text, json = FILES[f"kcat_{version}"].split("$ kcat -L -J")
        told, same = read(text), read("$ kcat -L -J" + json)
        assert states(told) == states(same)
        assert states(told)["orders", 2] == (None, (3,), {3})
        assert states(told)["orders", 3] == (1, (3, 1), {1})
        assert "brokers 1, 2 live, and 2 is the controller" in said(told, "kcat -L")
        assert (told.znodes, same.znodes) == ((), ())

    @pytest.mark.parametrize("version", ["2.8.2", "3.9.2"])
    def test_kcat_cut(self, version):
        """Wherever its JSON is cut: no list is taken for whole that goes on."""
        json = FILES[f"kcat_{version}"].partition("$ kcat -L -J")[2].splitlines()[1]
        whole = set(WHOLE[f"kcat_{version}"]["partitions"])
        for end in range(0, len(json), 7):
            assert told(read(json[:end]))["partitions"] <= whole

    def test_kcat_printed_nicely(self):
        """As jq prints it."""
        found = read(
            '{\n  "originating_broker": {\n    "id": 1\n  },\n  "controllerid": 1,\n  "brokers": [\n    {\n      "id": 1\n    }\n  ]\n}\n'
        )
        assert "brokers 1 live" in said(found, "kcat -L")
        assert found.not_understood == ()

    def test_a_kraft_cluster(self):
        """Its quorum says so, and so does an ELR, which a cluster with ZooKeeper has not."""
        found = read(FILES["quorum_3.9.2"])
        assert found.kraft == 2
        assert "KRaft" in said(found, "kafka-metadata-quorum")
        row = "Topic: t\tPartition: 0\tLeader: {}\tReplicas: 1,2\tIsr: {}\tElr: {}\tLastKnownElr: {}"
        assert [read(row.format(*each)).kraft for each in ((1, 1, 2, ""), ("none", "", "2", "1"), (1, 1, "N/A", "N/A"))] == [
            1,
            1,
            None,
        ]
        (partition,) = read(row.format("none", "", 2, 1)).partitions
        assert (partition.leader, partition.isr, partition.eligible, partition.last_eligible) == (None, (), (2,), (1,))

    def test_a_dead_leader(self):
        """Asked of ZooKeeper, the list holds partitions whose leader is not registered; asked of brokers, it names none."""
        row = "\tTopic: t\tPartition: 0\tLeader: 3\tReplicas: 3,1\tIsr: 3\tOffline: 3\n"
        for command, is_dead in (
            ("kafka-topics.sh --zookeeper zk:2181 --describe --unavailable-partitions", True),
            ("kafka-topics.sh --zookeeper zk:2181 --describe --under-replicated-partitions", False),
            ("kafka-topics.sh --bootstrap-server b:9092 --describe --unavailable-partitions", False),
        ):
            (partition,) = read(f"$ bin/{command}\n{row}").partitions
            assert (partition.dead_leader, partition.offline) == (is_dead, (3,))

    @pytest.mark.parametrize(
        ("option", "means"),
        [
            ("under-min-isr", "acks=all is refused"),
            ("at-min-isr", "just min.insync.replicas"),
            ("unavailable", "no leader that lives"),
        ],
    )
    def test_what_a_list_means(self, option, means):
        """It may say more than its rows; they end where something else is said."""
        row = "\tTopic: t\tPartition: {}\tLeader: 1\tReplicas: 1,2\tIsr: 1\n"
        found = read(f"with --{option}-partitions:\n{row.format(0)}{row.format(1)}and all of them:\n{row.format(2)}")
        (told,) = found.told
        assert told.says.startswith("t-0, t-1 have")
        assert means in told.says
        assert len(found.partitions) == 3

    @pytest.mark.parametrize("version", KAFKAS)
    def test_names(self, version):
        assert {znode.path for znode in read(FILES[f"names_{version}"]).znodes} == {
            f"/brokers/topics/{topic}" for topic in ("__consumer_offsets", "orders", "plain")
        }

    def test_being_deleted(self):
        found = read("$ kafka-topics.sh --zookeeper z:2181 --list\nold - marked for deletion\nnew\n")
        assert {znode.path for znode in found.znodes} == {
            "/brokers/topics/old",
            "/admin/delete_topics/old",
            "/brokers/topics/new",
        }

    @pytest.mark.parametrize(
        ("name", "tool", "says"),
        [
            ("api_versions_2.8.2", "kafka-broker-api-versions", "brokers 1 at 127.0.0.1:"),
            ("api_versions_3.9.2", "kafka-broker-api-versions", "answered"),
            ("elections_0.9.0.1", "kafka-leader-election", "asked for, not completed"),
            ("elections_2.8.2", "kafka-leader-election", "orders-3"),
            ("elections_3.9.2", "kafka-leader-election", "orders-3"),
            ("offsets_0.9.0.1", "GetOffsetShell", "last offsets of orders-"),
            ("offsets_2.8.2", "GetOffsetShell", "last offsets of orders-"),
            ("offsets_3.9.2", "GetOffsetShell", "last offsets of orders-"),
            ("transactions_3.9.2", "kafka-transactions list", "no transactional ids"),
        ],
    )  # fmt: skip
    def test_told_by_name(self, name, tool, says):
        """What no row holds is told, and nothing else is made of it."""
        found = read(FILES[name])
        assert says in said(found, tool)
        assert (found.znodes, found.partitions, found.assigned, found.not_understood) == ((), (), (), ())

    def test_a_time_is_no_offset(self):
        """``11:03:43`` alone says nothing of a topic 11."""
        assert [one.tool for one in read("11:03:43\n").told] == ["date"]
        assert "t1-3 at 43" in said(read("t1:3:43\n"), "GetOffsetShell")


class TestGroups:
    @pytest.mark.parametrize(
        ("version", "client", "assigned"),
        [("2.8.2", "billing", tuple(("orders", p) for p in range(4))), ("3.9.2", "console-consumer", None)],
    )
    def test_members(self, version, client, assigned):
        """Who has which partitions, verbose or not; 3.9.2 prints ``(0,1,2,3)`` without the topic, which is nobody's then."""
        found = read(FILES[f"groups_{version}_members"])
        assert {(m.group, m.client, m.host, m.partitions) for m in found.members} == {("billing", client, "127.0.0.1", 4)}
        assert [m.assigned for m in found.members] == [None, assigned]
        assert "billing" in said(found, "kafka-consumer-groups --list")

    def test_the_checker(self):
        """0.9: partition 2 has no leader, and its line is one of trouble; those behind it count."""
        found = read(FILES["checker_0.9.0.1"])
        assert [(row.group, row.partition, row.offset) for row in found.offsets] == [("billing", p, 0) for p in (0, 1, 3)]
        assert "Could not parse broker info" in said(found, "ConsumerOffsetChecker")
        assert found.not_understood == ()

    def test_members_without_partitions(self):
        """Before 2.1 the group stands in the command only; a row that is cut says nothing."""
        found = read(
            "$ kafka-consumer-groups --describe --group g --bootstrap-server b:9092\n\n"
            "TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID\n"
            "t      0          22              25              3    c-1-aa       /10.0.0.1  c-1\n"
            "-      -          -               -               -    c-2-bb       /10.0.0.2  c-2\n"
            "-      -          -\n"
        )
        assert [(row.group, row.offset, row.end) for row in found.offsets] == [("g", 22, 25)]
        assert found.members == (
            GroupMember("g", "c-1-aa", (4, 4), "10.0.0.1", "c-1", None, (("t", 0),)),
            GroupMember("g", "c-2-bb", (5, 5), "10.0.0.2", "c-2", 0, ()),
        )

    def test_wrapped(self):
        """A terminal wraps head and rows; the rest of a row is no row."""
        found = read(
            "GROUP           TOPIC           PARTITION  CURRENT-OFFSET\n  LOG-END-OFFSET  LAG             CONSUMER-ID\nHOST  CLIENT-ID\n"
            "billing         orders          0          5\n  7               2               app-1-aa\n/127.0.0.1      app\n"
            "billing         orders          1          unknown\n  9               unknown         app-1-aa\n/127.0.0.1      app\n"
        )
        assert [(row.partition, row.offset, row.end, row.span) for row in found.offsets] == [
            (0, 5, 7, (4, 6)),
            (1, None, 9, (7, 9)),
        ]
        assert {(m.member, m.host, m.client) for m in found.members} == {("app-1-aa", "127.0.0.1", "app")}
        assert found.not_understood == ()

    def test_head_cut_at_its_end(self):
        """Rows may hold more than the head that was copied with them names."""
        found = read("TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID\nt 0 1 2 1 c-1\n/10.0.0.1 app\n")
        assert [(m.member, m.host, m.client) for m in found.members] == [("c-1", "10.0.0.1", "app")]
        assert found.not_understood == ()

    def test_members_in_a_block_of_their_own(self):
        found = read("CONSUMER-ID  HOST  CLIENT-ID\napp-1-aa  /127.0.0.1  app\n")
        assert [(m.member, m.host, m.client) for m in found.members] == [("app-1-aa", "127.0.0.1", "app")]

    @pytest.mark.parametrize(
        "text",
        [
            "| GROUP | TOPIC | PARTITION | CURRENT-OFFSET | LOG-END-OFFSET | LAG | CONSUMER-ID |\n|---|---|---|---|---|---|---|\n| g | t | 0 | 5 | 7 | 2 | c-1 |\n",
            "|| GROUP || TOPIC || PARTITION || CURRENT-OFFSET || LOG-END-OFFSET || LAG || CONSUMER-ID ||\n| g | t | 0 | 5 | 7 | 2 | c-1 |\n",
            "GROUP\tTOPIC\tPARTITION\tLEADER-EPOCH\tCURRENT-OFFSET\tLOG-END-OFFSET\tLAG\tCONSUMER-ID\ng\tt\t0\t3\t5\t7\t2\tc-1\n",
            "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\ng, t, 0, 5, 7, 2, c-1\n",
        ],
        ids=["markdown", "jira", "tabs and epochs", "commas"],
    )  # fmt: skip
    def test_layouts(self, text):
        found = read(text)
        assert [(row.group, row.topic, row.partition, row.offset, row.end) for row in found.offsets] == [("g", "t", 0, 5, 7)]
        assert ([m.member for m in found.members], found.not_understood) == (["c-1"], ())

    def test_states(self):
        """Of one group or of all; without the group's name it is the command's."""
        found = read(
            "$ kafka-consumer-groups.sh --bootstrap-server b:9092 --describe --group g --state\n\n"
            "COORDINATOR (ID)          ASSIGNMENT-STRATEGY       STATE                #MEMBERS\nb:9092 (2)                range                     Stable               3\n\n"
            "GROUP      STATE\na          Empty\nb          PreparingRebalance\n"
        )
        assert [(g.group, g.what, g.coordinator) for g in found.groups] == [
            ("g", "Stable", 2),
            ("a", "Empty", None),
            ("b", "PreparingRebalance", None),
        ]


class TestTrees:
    TREE = "/kafka/brokers/ids\n/kafka/brokers/ids/1\n/kafka/brokers/ids/2\n"

    @pytest.mark.parametrize("command", ["[zk: h:1(CONNECTED) 0] ls -R /kafka/brokers/ids", "$ echo 'ls -R /kafka/brokers/ids' | zkCli -server h"])  # fmt: skip
    def test_below(self, command):
        """Who is below is known where the list has an end; each is there in any case."""
        whole = read(f"{command}\n{self.TREE}[zk: h:1(CONNECTED) 1] quit\n")
        assert {znode.path: znode.children for znode in whole.znodes}["/kafka/brokers/ids"] == ("1", "2")
        assert whole.not_understood == ()
        cut = read(f"{command}\n{self.TREE}")
        assert {znode.path: znode.children for znode in cut.znodes} == dict.fromkeys(self.TREE.split())


class TestByName:
    @pytest.mark.parametrize(
        ("text", "tool"),
        [
            ("[g,t,0]::NULL\n", "kafka-console-consumer"),
        ],
    )  # fmt: skip
    def test_by_their_own_words(self, text, tool):
        """Also where the command was not pasted."""
        (part,) = read(text).not_understood
        assert f"is output of {tool}" in part.reason

    @pytest.mark.parametrize(
        ("text", "tool", "says"),
        [
            ("Dumping /d/t-0/00000000000000000000.log\nStarting offset: 0\nbaseOffset: 0 lastOffset: 1 count: 2 isvalid: true\n", "kafka-dump-log", "baseOffset: 0 lastOffset: 1 count: 2"),
            ("Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: 3.9-IV0\n", "kafka-features", "metadata.version SupportedMinVersion: 3.0-IV1"),
        ],
    )  # fmt: skip
    def test_what_they_print_is_told(self, text, tool, says):
        """As it stands, with what answers a check in its place."""
        found = read(text)
        (told,) = (one for one in found.told if one.tool == tool)
        assert says in told.says
        assert told.instead
        assert found.not_understood == ()

    def test_tools_that_are_not_read(self):
        """What stands behind their command bears their name and what to paste instead."""
        (part,) = read(
            "$ bin/kafka-acls.sh --bootstrap-server b:9092 --list\nCurrent ACLs for resource `Topic:LITERAL:t`:\n"
        ).not_understood
        assert "kafka-acls" in part.reason
        assert "`kafka-topics --describe`" in part.reason


class TestParts:
    @pytest.mark.parametrize(
        ("text", "tool", "says"),
        [
            ('[{"partitions": [{"partition": "t-0", "size": 7, "offsetLag": 0, "isFuture": false}], "error": null}]', "kafka-log-dirs", "size 7"),
            ("baseOffset: 3 lastOffset: 4 count: 2 position: 0", "kafka-dump-log", "lastOffset"),
            ("+12 Dumping /d/t-0/00000000000000000000.log\n+13 Starting offset: 0\n+14 baseOffset: 0 lastOffset: 1 count: 2", "kafka-dump-log", "count: 2"),
        ],
    )  # fmt: skip
    def test_their_names_tell_the_tool(self, text, tool, says):
        """Names that only one tool prints, also behind the numbers of an editor or a diff."""
        assert any(one.tool == tool and says in one.says for one in read(text).told)

    def test_answers_behind_their_commands(self):
        """A page without line ends shows them on one line."""
        found = read(
            '[zk: z:2181(CONNECTED) 6] get /controller {"version":1,"brokerid":2,"timestamp":"1610500701187"}\n\n'
            "[zk: z:2181(CONNECTED) 7] get /controller_epoch 4\n\n[zk: z:2181(CONNECTED) 8] ls /brokers/ids [1, 2]\n"
        )
        assert [(one.path, one.data or one.children, one.span.first) for one in found.znodes] == [
            ("/controller", '{"version":1,"brokerid":2,"timestamp":"1610500701187"}', 1),
            ("/controller_epoch", "4", 3),
            ("/brokers/ids", ("1", "2"), 5),
        ]

    @pytest.mark.parametrize("command", ["I ran kafka-get-offsets.sh three times, see below", "GetOffsetShell says"])
    def test_a_remark_is_no_command(self, command):
        """Which offsets they are stays open."""
        (one,) = read(f"{command}\n\nt:0:884120031\n").told
        assert "some offsets" in one.says

    def test_a_command_in_the_code_of_a_chat(self):
        """Its last sign is no part of the group's name."""
        row = "a 0 5 5 0 consumer-1-4dfbf580-772d-4e3d-89fb-1ecbe2f2ec6d /10.0.0.1 consumer-1"
        head = "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
        found = read(f"I typed `kafka-consumer-groups.sh --describe --group g` and got\n\n{head}\n{row}\n")
        assert [one.group for one in found.offsets] == ["g"]

    def test_a_thread_without_its_first_line(self):
        """Its state and place are told; it is no log."""
        text = "   java.lang.Thread.State: TIMED_WAITING (on object monitor)\n\tat java.lang.Object.wait(Native Method)\n"
        found = read(text)
        assert found.logs == ()
        assert any("TIMED_WAITING" in one.text and "whose name was not pasted" in one.text for one in found.hosts)

    def test_threads_without_their_first_lines_are_apart(self):
        """Each has its own state and stack."""
        text = "   java.lang.Thread.State: RUNNABLE\n\tat java.net.SocketInputStream.read(X.java:1)\n\n"
        text += "   java.lang.Thread.State: WAITING (parking)\n\tat jdk.internal.misc.Unsafe.park(Native Method)\n"
        (said,) = (one.text for one in read(text).hosts if "by their state" in one.text)
        assert "RUNNABLE: a thread whose name was not pasted (in java.net.SocketInputStream.read" in said
        assert "WAITING: a thread whose name was not pasted (in jdk.internal.misc.Unsafe.park" in said

    @pytest.mark.parametrize("typed", ["[...]", "[watch]", "[this hung for 30 s]", "[1, 2]"])
    def test_words_behind_a_command(self, typed):
        """The answer is below it."""
        (found,) = read(f"[zk: z:2181(CONNECTED) 1] ls /brokers/ids {typed}\n[1, 2, 3]\n").znodes or [None]
        assert found is None or found.children == ("1", "2", "3")

    def test_added_lines_of_a_change_are_no_settings(self):
        """They are proposed ones."""
        assert read("+10 log.retention.hours=1\n+11 broker.id=2\n+12 num.io.threads=16\n").settings == ()

    def test_unknown_apis_are_named_by_key(self):
        """Each of them, although the tool calls all of them UNKNOWN."""
        found = read(
            "k1:9092 (id: 0 rack: null) -> (\n\tProduce(0): 0 to 5 [usable: 5],\n\tUNKNOWN(34): 0,\n\tUNKNOWN(35): 0\n)\n"
        )
        assert "UNKNOWN(34) 0, UNKNOWN(35) 0" in found.told[0].says


def told(found: Pasted) -> dict[str, set]:
    """What a paste states, without where."""
    return {
        "children": {(z.path, z.children) for z in found.znodes if z.children is not None},
        "znodes": {(z.path, z.there, z.data) for z in found.znodes},
        "partitions": {(p.topic, p.partition, p.leader, p.replicas, p.isr, p.adding, p.removing, p.dead_leader) for p in found.partitions},
        "offsets": {(o.group, o.topic, o.partition, o.offset, o.end) for o in found.offsets},
        "groups": {(g.group, g.what, g.coordinator) for g in found.groups},
        "members": {m._replace(span=None) for m in found.members},
        "settings": {(c.kind, c.entity, *item) for c in found.configs for item in c.settings.items()},
        "whole settings": {(c.kind, c.entity, *sorted(c.settings.items())) for c in found.configs if c.whole},
        "assigned": {row._replace(span=None) for row in found.assigned},
        "moves": {row._replace(span=None) for row in found.moves},
        "sizes": {(u.path, u.about) for u in found.used},
        "kraft": {found.kraft is not None} - {False},
    }  # fmt: skip


WHOLE = {name: told(read(text)) for name, text in FILES.items()}


class TestCutAnywhere:
    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_any_mixture(self, data):
        """Outputs in any order, each cut behind any of its lines: nothing is stated that no whole one states."""
        names = data.draw(st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=4))
        lines: list[str] = []
        for name in names:
            rows = FILES[name].splitlines()
            lines += [*rows[: data.draw(st.integers(0, len(rows)))], "(cut here, I do not have the rest)"]
        stated = told(paste.read(lines))
        for kind, rows in stated.items():
            assert rows <= set().union(*(WHOLE[name][kind] for name in names)), kind

    @given(st.data())
    @settings(max_examples=100, deadline=None)
    def test_in_the_middle_of_a_line(self, data):
        """It never raises, and says no less than that something was cut or not understood."""
        text = FILES[data.draw(st.sampled_from(sorted(FILES)))]
        begin, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        found = read(re.sub(r"[\r\n]", "\n", text[begin:end]))
        assert all(1 <= part.span.first <= part.span.last <= found.lines for part in found.not_understood)


class TestHostile:
    @pytest.mark.parametrize(
        "lines",
        [
            ['{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}'] * 50_000,
            ['{"originating_broker":' + "[" * 60] * 50_000,
            ['{"logDirs":' + '"\\"' * (1 << 20)],
            ['{"logDirs":' + "[" * (1 << 20) + "]" * (1 << 20)],
            ["Current partition replica assignment", '{"version":1,"partitions":[{'] * 50_000,
            ["Successfully started reassignment of partitions {" + '"topic"' * (1 << 19)],
            ["Dynamic configs for topic t are:", "a=" + " " * 60_000 + "x"] * 200,
            ["Sent: 3", ""] * 50_000,
            ["clientPort=1", ""] * 50_000,
            ["Sessions with Ephemerals (1):", "0x27dac12e4e10000:" * 3000] * 100,
            ["kafka-" * 10_000] * 500,
            ["GROUP TOPIC PARTITION CURRENT-OFFSET"] * 100_000,
            ["GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG", "g t 0 1"] * 50_000,
            ["GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT", "g m /h c 1 " + "t(1,2)" * 9000] * 100,
            ["| " + "| " * 30_000 + "|"] * 100,
            ["a:0:1 "] * 100_000,
        ],
        ids=range(16),
    )  # fmt: skip
    def test_bounded(self, lines):
        """Each line is looked at a few times, whatever it is."""
        with ends():
            paste.read(lines)
