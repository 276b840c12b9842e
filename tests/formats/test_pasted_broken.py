"""Outputs that a screen, a page or the edge of a copy has broken: what is certain counts, a cut value never does."""

from casebook.collect.pasted import paste as collected
from casebook.collect.pasted import told
from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste


def _read(text: str) -> Pasted:
    return paste.read(text.split("\n"))


def _remarks(text: str) -> str:
    return "\n".join(told.remarks(_read(text)))


def _unknown(text: str) -> str:
    return "\n".join(" ".join(each) for each in collected.not_understood(_read(text)))


class TestWrapped:
    def test_entry_of_configs_broken_within_a_word(self) -> None:
        text = (
            "Dynamic configs for topic orders.eu are:\n"
            "  cleanup.policy=compact sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact, DEFA\n"
            "ULT_CONFIG:log.cleanup.policy=delete}\n"
            "  retention.ms=86400\n"
            "000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=86400000}\n"
        )
        (row,) = _read(text).configs
        assert row.settings == {"cleanup.policy": "compact", "retention.ms": "86400000"}
        assert "by default log.cleanup.policy=delete" in _remarks(text)

    def test_entry_of_configs_broken_between_words(self) -> None:
        text = (
            "Dynamic configs for topic orders.eu are:\n"
            "  cleanup.policy=compact sensitive=false\n"
            "synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,\n"
            "DEFAULT_CONFIG:log.cleanup.policy=delete}\n"
        )
        (row,) = _read(text).configs
        assert row.settings == {"cleanup.policy": "compact"}

    def test_entries_of_the_kernel(self) -> None:
        begins = "[Tue Feb 02 03:04:05 2021] "
        first = f"{begins}Out of memory: Killed process 4711 (java) total-vm:9000000kB, anon-r"
        second = f"{begins}oom_reaper: reaped process 4711 (java), now anon-rss:0kB, file-rss:0"
        second += "k" * (len(first) - len(second))
        killed = _read(f"{first}\nss:8123456kB, file-rss:0kB, shmem-rss:0kB\n{second}\nB, shmem-rss:0kB\n").hosts
        assert any(row.facts.get("anon-rss") == 8123456 for row in killed)

    def test_head_of_jmxtool(self) -> None:
        text = (
            '"time","kafka.server:type=ReplicaManager,name=UnderReplicated\n'
            'Partitions:Value","kafka.server:type=ReplicaManager,name=LeaderCount:Value"\n'
            "1650000000000,7,250\n"
        )
        values = {row.facts["mbean"].rpartition("=")[2]: row.facts["values"]["Value"] for row in _read(text).hosts}
        assert values == {"UnderReplicatedPartitions": "7", "LeaderCount": "250"}

    def test_status_of_a_unit_on_one_line(self) -> None:
        text = (
            "● kafka.service - Broker Loaded: loaded (/etc/systemd/system/kafka.service; enabled) "
            "Active: failed (Result: exit-code) since Mon 2022-05-02 01:02:03 UTC; 4min ago Main PID: 77 (code=exited, status=1/FAILURE)"
        )
        (row,) = _read(text).hosts
        assert row.facts["active"] == "failed"
        assert row.facts["since"] == "Mon 2022-05-02 01:02:03 UTC"


class TestCut:
    def test_first_row_without_the_begin_of_its_topic(self) -> None:
        text = (
            "ices        0    10    12    2    billing-5f /10.1.1.1    billing\n"
            "invoices        1    20    20    0    billing-5f /10.1.1.1    billing\n"
        )
        assert [row.topic for row in _read(text).offsets] == ["invoices"]
        assert "a topic whose name is cut (it ends in ices): offset 10" in _remarks(text)

    def test_last_value_of_the_exporter_without_its_exponent(self) -> None:
        text = (
            'kafka_log_log_size{topic="orders",partition="0",} 6.50119E9\n'
            'kafka_log_log_size{topic="orders",partition="1",} 6.5011'
        )
        assert [row.facts["value"] for row in _read(text).hosts] == ["6.50119E9"]
        assert "6.5011" in _unknown(text)

    def test_last_value_that_another_line_follows_is_whole(self) -> None:
        text = 'kafka_log_log_size{partition="0",} 6.50119E9\nkafka_log_log_size{partition="1",} 6.5011\nok\n'
        assert len(_read(text).hosts) == 2

    def test_last_name_of_a_listing(self) -> None:
        text = (
            "$ ls -l /kafka/orders-0\n"
            "-rw-r--r-- 1 kafka kafka 100 Mar  3 10:00 00000000000000000000.log\n"
            "-rw-r--r-- 1 kafka kafka 10 Mar  3 10:00 00000000000000000000.ind"
        )
        assert [row.name for row in _read(text).files] == ["00000000000000000000.log"]
        assert "00000000000000000000.ind" in _unknown(text)

    def test_first_setting_without_the_begin_of_its_name(self) -> None:
        text = "ation.factor=3\nnum.partitions=6\nlog.dirs=/kafka\nnum.io.threads=8\n"
        (row,) = _read(text).settings
        assert "ation.factor=3" not in row.lines
        assert "num.partitions=6" in row.lines
        assert "ation.factor=3" in _unknown(text)


class TestMarks:
    def test_rows_in_tables_of_a_page(self) -> None:
        text = (
            "<table>\n<tr>\n<th>1<br></th>\n<th>Group Topic Pid Offset logSize Lag Owner</th>\n</tr>\n</table>\n\n"
            "<table>\n<tr>\n<th>2<br></th>\n<th>etl orders 0 40 45 5 none<br></th>\n</tr>\n</table>\n\n"
            "<table>\n<tr>\n<th>3<br></th>\n<th>etl orders 1 50 50 0 none<br></th>\n</tr>\n</table>\n"
        )
        assert [(row.topic, row.partition, row.offset, row.end) for row in _read(text).offsets] == [
            ("orders", 0, 40, 45),
            ("orders", 1, 50, 50),
        ]

    def test_references_and_backslashes(self) -> None:
        text = (
            "Metadata for all topics (from broker 1: kb1:9092/1):\n 1 topics:\n"
            "  topic &quot;\\_\\_state&quot; with 1 partitions:\n    partition 0, leader 1, replicas: 1,2, isrs: 1\n"
        )
        (row,) = _read(text).partitions
        assert (row.topic, row.leader, row.isr) == ("__state", 1, (1,))

    def test_quoted_with_bars(self) -> None:
        text = (
            "| Metadata for all topics (from broker 1: kb1:9092/1):\n|  1 topics:\n"
            '|   topic "orders" with 1 partitions:\n|     partition 0, leader 2, replicas: 2,1, isrs: 2\n'
        )
        (row,) = _read(text).partitions
        assert (row.topic, row.leader) == ("orders", 2)

    def test_level_before_a_bar_is_no_container(self) -> None:
        text = "ERROR|12/0|Service kafka|one\nERROR|12/0|Service kafka|two\n"
        assert "container" not in _remarks(text)

    def test_a_page_is_not_said_to_hold_nothing(self) -> None:
        (row,) = _read("<html>\n<body>\n<p>broker 4 down</p>\n").hosts
        assert "nothing" not in row.text


class TestHeadings:
    def test_of_a_loop(self) -> None:
        text = (
            "$ for n in 1 2; do echo kb$n; ssh kb$n 'df -k /kafka'; done\n"
            "kb1\nFilesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 100 100 0 100% /kafka\n"
            "kb2\nFilesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 100 40 60 40% /kafka\n"
        )
        found = _read(text)
        assert [found.heading(row.span.first) for row in found.hosts] == ["kb1", "kb2"]
        assert [each.text for each in found.beside if not each.typed] == ["kb1", "kb2"]

    def test_times_of_a_loop(self) -> None:
        text = (
            '$ for t in -2 -1; do echo "time $t"; kafka-get-offsets.sh --bootstrap-server kb1:9092 --time $t; done\n'
            "time -2\norders:0:5\ntime -1\norders:0:9\n"
        )
        said = _remarks(text)
        assert "below 'time -2': first offsets" in said
        assert "below 'time -1': last offsets" in said


class TestStated:
    def test_empty_lists_of_eligible_leaders(self) -> None:
        text = "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: \n"
        assert "Elr and LastKnownElr are printed as empty of orders-0" in _remarks(text)

    def test_unknown_lag(self) -> None:
        text = "Group Topic Pid Offset logSize Lag Owner\netl orders 0 -1 400 unknown none\n"
        assert "no lag (unknown) is printed for orders-0" in _remarks(text)

    def test_group_without_commits_and_without_a_head(self) -> None:
        text = "etl orders 3 - 90 - etl-1-abc /10.1.1.1 etl-1\n"
        (row,) = _read(text).offsets
        assert (row.group, row.partition, row.offset, row.end) == ("etl", 3, None, 90)

    def test_places_in_the_source_and_objects(self) -> None:
        text = (
            '"kafka-request-handler-3" #9 daemon prio=5 tid=0x1 nid=0x2 runnable\n'
            "   java.lang.Thread.State: RUNNABLE\n\tat kafka.log.Log.append(Log.scala:77)\n"
        )
        assert any("kafka.log.Log.append (Log.scala:77)" in row.text for row in _read(text).hosts)
        dead = (
            'Found one Java-level deadlock:\n=====\n"a":\n  waiting to lock monitor 0x01 (object 0x0a, a java.lang.Object),\n'
            '  which is held by "b"\n'
        )
        assert any("object 0x0a, a java.lang.Object" in row.text for row in _read(dead).hosts)

    def test_usable_versions(self) -> None:
        text = "kb1:9092 (id: 1 rack: null) -> (\n\tProduce(0): 0 to 9 [usable: 8],\n)\n"
        assert "Produce 0 to 9 (usable: 8)" in _remarks(text)

    def test_refusal_of_a_znode(self) -> None:
        text = "[zk: kb1(CONNECTED) 0] get /config/changes\nKeeperErrorCode = NoAuth for /config/changes\n"
        assert "ZooKeeper refused /config/changes: NoAuth" in _remarks(text)
        assert "not its answer" not in _unknown(text)

    def test_rule_between_a_command_and_its_answer(self) -> None:
        text = "[zk: kb1(CONNECTED) 0] ls /brokers/ids\n------------\n[1, 2]\n"
        (row,) = _read(text).znodes
        assert row.children == ("1", "2")

    def test_topics_below_an_empty_line(self) -> None:
        text = "$ kafka-topics.sh --bootstrap-server kb1:9092 --list\n\norders.eu\npay-in\n"
        assert [row.path for row in _read(text).znodes] == ["/brokers/topics/orders.eu", "/brokers/topics/pay-in"]
        assert not _read(text.replace("orders.eu", "Nothing").replace("pay-in", "here")).znodes

    def test_table_with_bars(self) -> None:
        text = "Name | Value\n+----+-----+\nretention.ms | 100\ncleanup.policy |\n"
        said = _remarks(text)
        assert "Name retention.ms, Value 100" in said
        assert "Name cleanup.policy, Value (empty)" in said

    def test_session_of_the_metadata_shell(self) -> None:
        text = "[ Kafka Metadata Shell ]\n>> ls /topics\norders\n>> ls /brokers\n1 2\n"
        assert "`ls /topics` printed orders; `ls /brokers` printed 1 2" in _remarks(text)
        assert not _read(text).znodes

    def test_names_below_a_prompt_with_the_folder(self) -> None:
        text = "➜  kafka-logs ls\norders-0  meta.properties\n➜  kafka-logs cd orders-0\n"
        (row,) = _read(text).files
        assert (row.folder, row.name) == ("kafka-logs", "orders-0")

    def test_what_a_check_and_a_shell_print(self) -> None:
        rows = _read("FAIL: only 1/3 brokers reachable\nssh: connect to host kb3 port 22: No route to host\n").hosts
        assert "it printed FAIL: only 1/3 brokers reachable" in [row.text for row in rows]


class TestRests:
    """What a mail has moved to the next line."""

    def test_a_list_of_ids(self) -> None:
        text = "Current partition reassignments:\n\norders.eu-7: replicas: 4,5,1,2,3. adding: 4,5. removing: 2,\n3.\n"
        (row,) = _read(text).assigned
        assert (row.replicas, row.adding, row.removing) == ((4, 5, 1, 2, 3), (4, 5), (2, 3))

    def test_an_error_of_kcat(self) -> None:
        text = (
            "Metadata for all topics (from broker 2: kb2:9092/2):\n 1 brokers:\n  broker 2 at kb2:9092\n 1 topics:\n"
            '  topic "orders.eu" with 1 partitions:\n    partition 0, leader -1, replicas: 3, isrs: 3, Broker: Leader not\navailable\n'
        )
        assert "orders.eu-0: Broker: Leader not available." in _remarks(text)
        assert not _unknown(text)

    def test_a_list_of_overrides(self) -> None:
        text = "Configs for topics:orders.eu are \nretention.ms=3600000，segment.ms=60000\n"
        (row,) = _read(text).configs
        assert (row.settings, row.whole) == ({"retention.ms": "3600000", "segment.ms": "60000"}, True)

    def test_no_list_below_an_empty_one(self) -> None:
        (row,) = _read("Configs for topic 'plain' are \nexit\n").configs
        assert row.settings == {}


class TestRows:
    HEAD = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"

    def test_a_lag_that_is_no_difference(self) -> None:
        text = f"{self.HEAD}bills orders.eu 0 245 261 0 - - -\nbills orders.eu 1 7 9 2 - - -\n"
        said = "a lag (0) that is not the difference of the printed offsets is printed for orders.eu-0 of group bills"
        assert said in _remarks(text)
        assert "orders.eu-1 of" not in _remarks(text).replace("no consumer (-) is printed for orders.eu-0, orders.eu-1", "")

    def test_a_header_alone(self) -> None:
        asked = "$ kafka-consumer-groups.sh --bootstrap-server kb1:9092 --group bills --describe\n"
        assert "of group bills the header was printed, and no row below it" in _remarks(f"{asked}{self.HEAD}\n$ \n")
        assert "no row below it" not in _remarks(f"{asked}{self.HEAD}")

    def test_a_member_without_partitions(self) -> None:
        """A count of 0 is whole, wherever the row ends."""
        head = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\n"
        rows = "bills app-1-aa /10.0.0.4 app 3 orders.eu(0,1,2)\nbills app-2-bb /10.0.0.5 app 0\n"
        assert [row.partitions for row in _read(head + rows).members] == [3, 0]


class TestAside:
    PROGRESS = (
        "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
        "                                 Dload  Upload   Total   Spent    Left  Speed\n"
        "100 4395k  100 4395k    0     0  7906k      0 --:--:-- --:--:-- --:--:-- 7906k\n"
    )

    def test_progress_of_curl(self) -> None:
        """The heading above it names the owner of what stands below, and nothing is read into it."""
        metric = 'kafka_controller_kafkacontroller_value{name="ActiveControllerCount",} 1.0\n'
        text = f'kb-2:\nDefaulted container "kafka" out of: kafka, init (init)\n{self.PROGRESS}{metric}'
        found = _read(text)
        (row,) = found.hosts
        assert (row.span.first, found.heading(row.span.first)) == (6, "kb-2")
        assert "Dload" in _remarks(text)
        assert "Dload 100" not in _remarks(text)

    def test_names_below_a_warning(self) -> None:
        warning = "OpenJDK 64-Bit Server VM warning: If the number of processors is expected to increase from one, set it\n"
        rows = _read(f"$ kafka-topics --zookeeper=kb1:2181 --list\n{warning}orders.eu\nbills\n$ \n").znodes
        assert [(row.path, row.span.first) for row in rows] == [("/brokers/topics/orders.eu", 3), ("/brokers/topics/bills", 4)]

    def test_a_heading_that_names_an_output(self) -> None:
        text = "#### df\nFilesystem Size Used Avail Use% Mounted on\n/dev/sdb1 99G 98G 1G 99% /data\n"
        found = _read(text)
        assert [found.heading(row.span.first) for row in found.hosts] == [""]


def test_versions_of_a_broker_on_one_line() -> None:
    text = "kb1:9092 (id: 0 rack: null) -> {Produce(0): 0 to 2 [usable: 2], Fetch(1): 0 to 3 [usable: 3]}\n"
    said = _remarks(text)
    assert "0 at kb1:9092 (no rack) answered" in said
    assert "broker 0 knows Produce 0 to 2 (usable: 2), Fetch 0 to 3 (usable: 3)" in said


def test_a_long_dump_is_cut_aloud() -> None:
    row = "| offset: {} CreateTime: 1700000000000 keySize: -1 valueSize: 9 sequence: -1 headerKeys: [] payload: {}"
    said = _remarks(row.format(7, '{"type":"TOPIC_RECORD","version":0,"data":{"name":"' + "x" * 3000 + '"}}') + "\n")
    assert "more characters)" in said


def test_answers_of_several_places() -> None:
    """Of one command they cannot be told apart; of one place they can."""
    table = "Filesystem Size Used Avail Use% Mounted on\n/dev/sdb1 99G 98G 1G 99% /data\n"
    asked = "$ kubectl exec kb-1 -- df -h /data"
    one, both = _read(f"{asked}\n{table}"), _read(f"{asked} \\\n  && kubectl exec kb-2-- df -h /data\n{table}{table}")
    assert {one.heading(row.span.first) for row in one.hosts} == {"kb-1"}
    assert {both.heading(row.span.first) for row in both.hosts} == {""}
