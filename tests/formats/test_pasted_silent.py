"""Values of outputs that were lost, glued or held against others without a word."""

from casebook.collect.pasted import told
from casebook.formats.pasted import paste


def said(text: str) -> str:
    found = paste.read(text.splitlines())
    return "\n".join([*told.remarks(found), *(each.text for each in found.hosts)])


def test_decimal_commas_of_jstack():
    text = (
        '"controller-event-thread" #51 prio=5 os_prio=0 cpu=12,75ms elapsed=901,04s tid=0x00007f01 nid=0x2a waiting on condition\n'
        "java.lang.Thread.State: WAITING (parking)\nat jdk.internal.misc.Unsafe.park(java.base@11.0.4/Native Method)\n"
        "at kafka.utils.ShutdownableThread.run(ShutdownableThread.scala:89)\n"
    )
    assert "cpu 12,75ms, elapsed 901,04s" in said(text)
    assert paste.read(text.splitlines()).logs == ()


def test_deadlocks_are_counted():
    text = (
        'Found one Java-level deadlock:\n=====\n"a":\n  waiting to lock monitor 0x1 (object 0x2, a A),\n  which is held by "b"\n'
    )
    assert "a deadlock (3 in all)" in said(f"{text}\nFound 3 deadlocks.\n")


def test_offline_column_of_cruise_control():
    head = "TOPIC PARTITION LEADER REPLICAS IN-SYNC OUT-OF-SYNC OFFLINE MIN-ISR\n"
    text = f"{head}bills 4 7 [7, 9] [7] [9] [9] 2\nbills 5 7 [7, 9] [7, 9] [] [] 1\n"
    row, _ = paste.read(text.splitlines()).partitions
    assert (row.isr, row.offline) == ((7,), (9,))
    assert "min-isr: bills-4 2, bills-5 1" in said(text)


def test_json_of_cruise_control():
    """An empty list is no count where another list names what it would hold."""
    row = '{"in-sync":[],"out-of-sync":[9],"leader":-1,"min-isr":3,"replicas":[9],"topic":"bills","partition":4,"offline":[9]}'
    text = said(f'{{"KafkaPartitionState":{{"offline":[{row}],"with-offline-replicas":[]}},"version":1}}\n')
    assert "min-isr: bills-4 3" in text
    assert "nothing is listed under with-offline-replicas" in text
    assert "0 partitions" not in text


def test_remarks_behind_four_letter_words():
    text = said(
        "Zookeeper version: 3.5.8-f439, built on 05/04/2020 15:07 GMT   # ours\nLatency min/avg/max: 0/1/44  # ms\nMode: leader\n"
    )
    assert "GMT, Latency min/avg/max 0/1/44, Mode leader" in text
    assert "a remark next to line 2: # ms" in text


def test_a_chroot_is_no_command():
    found = paste.read(["kafka-topics.sh --zookeeper z1:2181/kafka-cluster --describe", "x y", "", "rollback"])
    assert not any("kafka-cluster" in each.reason for each in found.not_understood)


def test_lone_dots_are_gaps():
    found = paste.read(["21M\t/k/bills-0", ".", ".", "21M\t/k/bills-9"])
    assert [each.span.first for each in found.not_understood] == [2, 3]


def test_log_dirs_of_both_assignments():
    plan = '{"version":1,"partitions":[{"topic":"bills","partition":4,"replicas":[7],"log_dirs":["any"]}]}'
    text = said(f"Current partition replica assignment\n{plan}\n\nProposed partition reassignment configuration\n{plan}\n")
    assert text.count('log dirs: "any" for all of them') == 2


def test_an_open_list_of_versions_is_an_answer():
    text = said("kb-7.kb.svc:9092 (id: 7 rack: null) -> (\n\tProduce(0): 0 to 9 [usable: 9],\n")
    assert "brokers 7 at kb-7.kb.svc:9092 (no rack) answered" in text


def test_a_cut_lag_is_no_other_lag():
    head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    assert "not the difference" not in said(f"{head}g bills 0 5 5 0 c-1 /10.0.0.7 c\ng bills 1 1000 3000 20")


def test_a_path_at_the_prompt_of_zk_shell():
    (node,) = paste.read(["(CONNECTED) /> get brokers/ids/7", '{"version":4,"host":"kb7","port":9092}']).znodes
    assert node.path == "/brokers/ids/7"


def test_ends_of_processes():
    text = "● kafka.service - Kafka\n   Loaded: loaded (/k.service; enabled)\n   Active: failed (Result: oom-kill)\n"
    text += " Duration: 2d 1h\n Main PID: 77 (code=killed, signal=KILL)\n"
    assert "process 77 ended with killed, signal=KILL" in said(text)
    assert "duration 2d 1h" in said(text)


def test_sources_without_a_header():
    text = (
        "  segment.bytes=77 sensitive=false synonyms={DEFAULT_CONFIG:log_segment_bytes=77}\n  a.b=1 sensitive=false synonyms={}\n"
    )
    assert "segment.bytes=77 (DEFAULT_CONFIG:log_segment_bytes=77)" in said(text)


def test_a_kernel_line_has_the_time_at_its_begin():
    """The middle of a hardware address is none."""
    text = "[70211.25] eth0: dropped MAC=02:42:00:00:00:07:33:33\n[70212.5] oom-killer: constraint=CONSTRAINT_MEMCG\n"
    assert "70211.25 s after the host's boot" in said(text)
    assert "00:00:07:" not in said(text).partition("MAC")[0]


def test_a_pod_without_a_node():
    head = "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES\n"
    assert "on no node, without an IP" in said(f"{head}kb-4   0/1   Pending   0   7m   <none>   <none>   <none>   <none>\n")


def test_headers_of_an_answer_are_no_log():
    text = "< HTTP/1.1 200 OK\n< Date: Mon, 06 Jan 2025 09:10:11 GMT\n< Expires: Thu, 01 Jan 1970 00:00:00 GMT\n"
    assert paste.read(text.splitlines()).logs == ()


def test_a_sum_is_no_folder():
    for options, size in (("-csh", "2.5G"), ("-ck", "2621440")):
        found = paste.read([f"$ du {options} /d/bills-*", f"{size}\t/d/bills-0", f"{size}\ttotal"])
        assert [row.path for row in found.used] == ["/d/bills-0"]
        assert [each.text for each in found.hosts] == [f"the sum is {found.used[0].printed} on disk by du"]


def test_the_states_of_threads_have_no_remark():
    text = (
        'Full thread dump OpenJDK 64-Bit Server VM (17.0.2+8 mixed mode):\n\n"kafka-request-handler-3" #40 prio=5 tid=0x1 nid=0x2\n'
        "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
    )
    assert "a remark next to" not in said(text)


def test_frames_of_the_broker_behind_those_of_scala():
    text = (
        '"data-plane-kafka-request-handler-2" #9 daemon tid=0x07 nid=0x9 waiting for monitor entry [0x0f]\n'
        "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat kafka.log.UnifiedLog.append(UnifiedLog.scala:8)\n"
        "\tat kafka.cluster.Partition.$anonfun$append$1(Partition.scala:7)\n\tat kafka.cluster.Partition.append(Partition.scala:6)\n"
        "\tat scala.collection.mutable.HashMap.map(HashMap.scala:35)\n\tat kafka.log.A.a(A.scala:5)\n\tat kafka.log.B.b(B.scala:4)\n"
        "\tat kafka.server.ReplicaManager.appendRecords(ReplicaManager.scala:3)\n"
    )
    assert "by kafka.server.ReplicaManager.appendRecords (ReplicaManager.scala:3)" in said(text)


def test_drop_ins_on_one_line():
    text = (
        "● kafka.service - Kafka\n   Loaded: loaded (/etc/systemd/system/kafka.service; enabled)\n"
        "  Drop-In: /etc/systemd/system/kafka.service.d\n           └─10-nofile.conf, 20-memory.conf\n"
        "   Active: active (running) since Fri 2020-04-03 16:58:22 UTC; 31s ago\n"
    )
    assert "changed by 10-nofile.conf, 20-memory.conf" in said(text)
    assert paste.read(text.splitlines()).not_kept == ()


def test_sessions_of_a_dump():
    text = "SessionTracker dump:\nephemeral nodes dump:\nSessions with Ephemerals (1):\n0x36adec1f32e0003:\n\t/brokers/ids/4\n"
    found = paste.read([*text.splitlines(), "Ncat: Broken pipe."])
    assert "0x36adec1f32e0003" in said(text)
    assert (found.not_kept, found.not_understood) == ((), ())


def test_a_version_whose_build_date_is_on_the_next_line():
    """A narrow terminal, or a page, broke it: the date was not understood, and the rest of the answer lost its server."""
    for head, rest in (
        ("zk_version\t3.7.0-39d3a4f, built on 03/23/2021", "10:13 GMT"),
        ("Zookeeper version: 3.4.13-2d71af4,", "built on 06/29/2018 04:05 GMT"),
    ):
        answer = ["$ echo x | nc zk1 2181", head, rest, *(["zk_server_state\tleader"] if "zk_" in head else ["Mode: leader"])]
        found = paste.read(answer)
        assert rest in " ".join(told.remarks(found))
        assert found.not_understood == ()


def test_sizes_of_a_cut_answer_do_not_tell_that_nothing_is_moved():
    whole = (
        '{"version":1,"brokers":[{"broker":4,"logDirs":[{"logDir":"/d","error":null,"partitions":'
        '[{"partition":"bills-7","size":9,"offsetLag":0,"isFuture":false}]}]}]}'
    )
    assert "isFuture false of 1: none of these is being moved" in said(whole)
    assert "isFuture false of 1;" in said(whole[:-6])


def test_a_row_of_a_partition_without_its_replicas():
    found = paste.read(["Topic: bills\tPartition: 4\tLeader: 7\tIsr: 7,9"])
    assert found.partitions == ()
    assert "bills-4 has leader 7 and ISR 7,9; its replicas were not pasted" in " ".join(told.remarks(found))


def test_children_of_what_is_not_there():
    found = paste.read(["ls /brokers/ids", "Node does not exist: /brokers/ids", "ls /brokers/ids", "[4]"])
    assert [(znode.there, znode.children) for znode in found.znodes] == [(False, None), (True, ("4",))]
    assert found.not_understood == ()


def test_an_answer_that_passed_a_filter_has_no_rows_of_its_own():
    head = "TransactionalId\tCoordinator\tProducerId\tTransactionState"
    for command, says in (
        ("", "no transactional ids"),
        (" | grep -e Trans -e 41", "no transactional ids that passed grep -e Trans -e 41"),
    ):
        found = paste.read([f"$ kafka-transactions.sh --bootstrap-server b1:9092 list{command}", head, "$ ls"])
        assert says in [each.says for each in found.told]


def test_a_refused_connection_to_another_port_is_not_of_zookeeper():
    (found,) = paste.read(["curl: (7) Failed to connect to localhost port 7071: Connection refused"]).told
    assert "ZooKeeper" not in f"{found.tool} {found.says}"


def test_servers_at_other_ports_of_one_host():
    answer = ["Zookeeper version: 3.4.14-4c25, built on 03/06/2019 16:18 GMT", "Mode: {}", "Node count: 141"]
    texts = [
        f"$ echo stat | nc 127.0.0.1 {port}\n" + "\n".join(answer).format(mode)
        for port, mode in ((2182, "follower"), (2183, "leader"))
    ]
    found = said("\n".join(texts))
    assert "ZooKeeper server 127.0.0.1:2182: " in found
    assert "ZooKeeper server 127.0.0.1:2183: " in found


def test_a_here_string_is_no_remark():
    found = paste.read(['$ nc zk1 2181 <<< "dump"', "SessionTracker dump:", "Session Sets (0):"])
    assert all(each.tool != "a remark" for each in found.told)


def test_a_pod_that_is_named_behind_options():
    text = "$ k describe pod -n test broker-2 | grep -C 3 OOM\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
    assert "pod broker-2 was last Terminated" in said(text)


def test_a_path_of_windows_holds_no_line_end():
    line = r"Suppressed: java.nio.file.AccessDeniedException: X:\root\node\new-0 -> X:\root\node\new-0.0f-delete"
    found = paste.read([line])
    assert line in {*(each.text for each in found.logs), *(each.says for each in found.told)}


def test_rows_of_tables_without_their_header():
    for row, tool in (
        ('tcp   CLOSE-WAIT  1  0   192.168.49.107:49762    10.22.73.20:9092   users:(("agent",pid=24,fd=8))', "netstat or ss"),
        ("java   927 train  117u  IPv6 281435   0t0  TCP *:2181 (LISTEN)", "lsof"),
        ("nvme1n1   0.00   3.40  12.00  861.20  0.75  206.11  485.20  141.90  162.58", "iostat"),
        ("Threads:  94 total,   8 running,  86 sleeping,   0 stopped,   0 zombie", "top"),
        (" Container lab-kafka-3-1 Stopped", "docker compose"),
        ("NRestarts=1", "systemctl show"),
        ("0d5f955252e66f8401cc8da5c4c04a55  /d/bills-0/00000000000000000000.log", "checksums"),
        ("0x0000ffff99f4da8c       __pthread_cond_wait", "jstack -m"),
    ):
        found = paste.read([row])
        (host,) = found.hosts
        assert (host.kind, found.not_understood, found.not_kept) == (tool, (), ()), row
        assert " ".join(row.split()) in host.text


def test_sockets_of_unix_are_in_their_columns():
    text = (
        "Active UNIX domain sockets (servers and established)\nProto RefCnt Flags       Type       State         I-Node   Path\n"
        "unix  2      [ ]         STREAM     CONNECTED     685706\n"
    )
    assert "unix 2 [] STREAM CONNECTED 685706" in said(text)


def test_words_that_name_an_error_are_no_log_line():
    for line in (
        "However every call errors out with RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE.",
        "With broker 3 out of play your topic is under-replicated which prevents a group coordinator to be elected:",
        "--- PROMOTE: remove id 3 from the observers at 15:02:17.493Z ---",
    ):
        assert paste.read([line]).logs == ()
    assert len(paste.read(["Error: NOT_COORDINATOR: the group coordinator is not available"]).logs) == 1


def test_what_other_programs_print_is_quoted_below_their_command():
    for command, answer in (
        ("root@b3:~# grep -n Xmx /etc/default/kafka", '4:KAFKA_HEAP_OPTS="-Xms28g -Xmx28g"'),
        ("[kafka@b3 ~]$ cat /data/zookeeper/myid", "1[kafka@b3 ~]$"),
    ):
        found = paste.read([command, answer, "that is all that we have seen"])
        assert f"below its command stands: {answer}" in [each.says for each in found.told]


def test_state_of_a_zookeeper_server_by_its_script():
    text = "$ zkServer.sh stop\nZooKeeper JMX enabled by default\nUsing config: /opt/zk/conf/zoo.cfg\nStopping zookeeper ... STOPPED\n"
    found = paste.read(text.splitlines())
    assert "Using config: /opt/zk/conf/zoo.cfg; Stopping zookeeper ... STOPPED" in said(text)
    assert (found.not_kept, found.not_understood) == ((), ())


def test_threads_that_grep_has_set_apart_are_of_one_dump():
    head = '"{}" #7 daemon prio=5 os_prio=0 tid=0x01 nid={} waiting for monitor entry [0x02]\n   java.lang.Thread.State: BLOCKED (on object monitor)\n'
    text = (
        head.format("data-plane-kafka-request-handler-3", "0x8f7") + "--\n" + head.format("kafka-log-cleaner-thread-0", "0x8e1")
    )
    found = paste.read(text.splitlines())
    assert [dump.span for dump in found.dumps] == [(1, 5)]
    assert "nid 0x8f7" in said(text)


def test_a_row_behind_words_may_end_with_an_empty_isr():
    rows = ["Fail: Under replicated partitions found: \tTopic: bills\tPartition: 4\tLeader: -1\tReplicas: 7\tIsr:", "stdout: /d"]
    (found,) = paste.read(rows).partitions
    assert (found.leader, found.replicas, found.isr) == (None, (7,), ())


def test_files_below_the_name_of_their_folder():
    names = "00000000000000000000.index  00000000000000000000.log"
    found = paste.read(["$ ls data/bills-*", "data/bills-0:", names, "", "data/bills-1:", names])
    assert {each.folder for each in found.files} == {"data/bills-0", "data/bills-1"}


def test_backslashes_of_markdown_before_brackets():
    found = paste.read(
        [
            r"\[zk: zk1:2181\(CONNECTED\) 1\] get /brokers/ids/7",
            r'{"endpoints":\["PLAINTEXT://b7:9092"\],"host":"b7","port":9092,"version":2}',
        ]
    )
    assert [(znode.path, znode.data) for znode in found.znodes] == [
        ("/brokers/ids/7", '{"endpoints":["PLAINTEXT://b7:9092"],"host":"b7","port":9092,"version":2}')
    ]


def test_modes_of_files_are_told():
    text = "$ ls -l /d/bills-0\ntotal 48\n-rw-r--r--  1 kafka  staff  10M  9 30  2019 00000000000000000000.index\n"
    assert "-rw-r--r-- kafka staff" in said(text)


def test_a_host_right_behind_a_member():
    """Where its id fills the column, no blank stands between."""
    head = "TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID"
    found = paste.read([head, "bills  4  10  12  2  app-7-c8551217-a11f-4637-99d0-193a1d97ca7d/10.0.0.3      app-7"])
    (member,) = found.members
    assert (member.member[-4:], member.host, member.client) == ("ca7d", "10.0.0.3", "app-7")
    assert found.not_understood == ()


def test_offsets_that_were_exported_from_zookeeper():
    rows = ["# /consumers/billing/offsets/bills/0:33334", "# /consumers/billing/offsets/bills/1:287048"]
    found = paste.read(rows)
    assert [(each.group, each.topic, each.partition, each.offset) for each in found.offsets] == [
        ("billing", "bills", 0, 33334),
        ("billing", "bills", 1, 287048),
    ]
    assert found.not_kept == ()


def test_children_of_the_root_on_two_lines():
    text = "ls /\n[admin, brokers, controller,\n isr_change_notification, zookeeper]\n"
    assert "/ holds admin, brokers, controller, isr_change_notification, zookeeper" in said(text)


def test_the_root_of_a_tree_is_no_gap():
    found = paste.read(["(CONNECTED [zk1]) /> tree /brokers", ".", "├── ids", "│   ├── 4", "(CONNECTED [zk1]) /> "])
    assert found.not_understood == ()


def test_a_comment_alone_may_be_an_output():
    found = paste.read(["# Successfully started preferred replica election for partitions Set([bills,4])", "", "## broker-7"])
    assert [(each.topic, each.partition) for each in found.elected] == [("bills", 4)]
    assert [each.text for each in found.beside] == ["## broker-7"]


def test_days_of_the_week_in_other_languages():
    assert "at Вт фев 13 03:17:41 2024" in said(
        "[Вт фев 13 03:17:41 2024] Out of memory: Kill process 7 (java) score 8 or sacrifice child"
    )


def test_a_shell_is_no_host():
    assert "ZooKeeper server localhost" in said(
        "bash-4.4# echo mntr | nc localhost 2181\nzk_server_state\tfollower\nzk_znode_count\t6\n"
    )


def test_a_time_without_a_message_is_no_log_line():
    assert paste.read(["Timestamp: 2026-08-03 15:41:32"]).logs == ()
    assert len(paste.read(["2026-08-03 15:41:32,123 WARN Session expired"]).logs) == 1


def test_two_runs_in_one_line_do_not_tell_which_offsets_they_print():
    command = (
        "$ kafka-get-offsets.sh --bootstrap-server b1:9092 --topic bills --time -2; kafka-get-offsets.sh --topic bills --time -1"
    )
    text = said("\n".join([command, "bills:0:3", "---", "bills:0:9"]))
    assert "the value of --time decides which they are" in text
    assert "first offsets" not in text


def test_a_setting_above_is_no_heading_of_log_lines():
    line = "[2025-10-02 14:36:09,446] INFO [KRaftMigrationDriver id=300] No brokers are known to KRaft (org.apache.kafka.metadata.migration.KRaftMigrationDriver)"
    other = "[2025-10-02 14:36:09,446] INFO Awaiting socket connections on 0.0.0.0:9092. (kafka.network.DataPlaneAcceptor)"
    found = paste.read(["$ cat meta.properties", "broker.id=10", "version=0", "", line, other])
    assert [each.broker for each in found.logs] == [300, None]


def test_one_name_with_its_value():
    """As a shell prints a variable, or a report its heading: a sentence with a colon is none."""
    told_of = [each.says for each in paste.read(["KAFKA_OPTS=-Xms2g", "", "Broker Version: Apache Kafka 3.7.0"]).told]
    assert told_of == ["KAFKA_OPTS -Xms2g", "Broker Version Apache Kafka 3.7.0"]
    assert [each.says for each in paste.read(["log.cleanup.policy = [delete]"]).told] == ["log.cleanup.policy [delete]"]
    assert paste.read(["We saw this: it was 3 of them here"]).told == ()


def test_lines_that_no_reader_takes_are_quoted_whole():
    rows = ["frobnicated the seven quuxes", "quux 7 is odd today at most"]
    assert f"lines 1-2 {rows[0]!r}, {rows[1]!r}" in said("\n".join(rows))


def test_quotes_are_as_pasted():
    """With what a reader takes for the mark of a quote, and with typographic signs: they stand so in the file."""
    row = "> “frobnicated” the seven — quuxes"
    assert f"line 1 {row!a}" in said(row)


def test_a_line_is_quoted_of_which_a_part_is_not_kept():
    row = "Topic: bills\tPartition: 4\tLeader: 7\tReplicas: 7,9\tIsr: 7\tQuux: 12"
    assert f"of {row!r}" in said(row)


def test_every_column_of_docker():
    head = "CONTAINER ID   IMAGE           COMMAND     CREATED       STATUS       PORTS      NAMES"
    text = said(f'{head}\n7d23a49633f9   kafka:3.7       "/start"    2 days ago    Up 3 hours   9092/tcp   kb1\n')
    for value in ("kb1 (kafka:3.7)", "Up 3 hours", "ports 9092/tcp", "7d23a49633f9", "2 days ago"):
        assert value in text
    assert "not kept" not in text


def test_callers_further_up_are_told_so():
    text = (
        '"kafka-request-handler-1" #93 daemon prio=5 os_prio=0 tid=0x00007f0c nid=0x55d2 runnable\n'
        "   java.lang.Thread.State: RUNNABLE\n\tat sun.nio.ch.FileDispatcherImpl.force0(Native Method)\n"
        "\tat sun.nio.ch.FileChannelImpl.force(FileChannelImpl.java:471)\n\tat kafka.log.Log.append(Log.scala:1141)\n"
    )
    assert "force0, further up called by kafka.log.Log.append (Log.scala:1141)" in said(text)


def test_sources_that_a_mail_has_put_on_the_next_line():
    found = paste.read(
        ["Dynamic configs for broker 7 are:", "  a.rate=9 sensitive=false", "synonyms={DYNAMIC_BROKER_CONFIG:a.rate=9}"]
    )
    assert (found.configs[0].settings, found.not_understood) == ({"a.rate": "9"}, ())


def test_events_of_all_namespaces():
    assert "pod/kb-0, namespace pay: Unhealthy 12m ago: Liveness probe failed" in said(
        "pay   12m   Warning   Unhealthy   pod/kb-0   Liveness probe failed: timed out\n"
    )


def test_replicas_at_the_cut_end_may_go_on():
    text = "Topic: bills\tPartition: 4\tLeader: 7\tReplicas: 7"
    assert "bills-4 has leader 7 and replicas that begin with 7; its ISR was not pasted in full" in said(text)


def test_a_log_dir_without_partitions():
    row = '{"version":1,"brokers":[{"broker":7,"logDirs":[{"logDir":"/k2","error":null,"partitions":[]}]}]}'
    assert "no partition is printed for /k2 of broker 7" in said(row)


def test_commits_of_the_offsets_topic():
    """As ``kafka-console-consumer`` prints them with Kafka's formatter, of 2.x and of 0.9."""
    later = (
        "[g,bills,3]::OffsetAndMetadata(offset=6, leaderEpoch=Optional[0], metadata=, commitTimestamp=7, expireTimestamp=None)"
    )
    older = "[g,bills,4]::[OffsetMetadata[8,NO_METADATA],CommitTime 1435000000000,ExpirationTime 1435086400000]"
    found = paste.read([later, older])
    assert [(each.group, each.topic, each.partition, each.offset) for each in found.offsets] == [
        ("g", "bills", 3, 6),
        ("g", "bills", 4, 8),
    ]
    assert (found.not_kept, found.not_understood) == ((), ())
    assert "commitTimestamp=7" in said(later)


def test_marks_behind_names():
    found = paste.read(["$ ls -F /kafka", "bills-0/", "meta.properties", "00000000000000000000.log"])
    assert [(each.name, each.is_folder) for each in found.files] == [("bills-0", True), ("00000000000000000000.log", False)]
    assert found.not_understood == ()


def test_tasks_of_cruise_control():
    task = "{EXE_ID: 64, REPLICA_ACTION, {bills-0, oldLeader: 3, [3, 4] -> [3, 1]}, IN_PROGRESS}"
    assert task in said(f"In progress partition movements:\n{task}\n")


def test_a_file_that_another_program_uses():
    text = "D:\\kafka\\bills-0\\0.index.deleted: used by another program\n        at java.base/sun.nio.fs.WindowsException.rethrow(W.java:9)\n"
    assert "of a file, quoted without a time: D:\\kafka\\bills-0\\0.index.deleted: used by another program" in said(text)


def test_a_value_that_a_command_prints():
    assert "/data/kafka" in said("[root@kb1 ~]# echo $DATA\n/data/kafka\n[root@kb1 ~]#\n")
    assert "gp2" in said("$ kubectl get pv pvc-1 -o yaml | yq '.spec'\ngp2\n")
    assert paste.read(["$ kubectl get pods", "a row that is damaged", "another one"]).told == ()


def test_changes_and_claims_of_kubectl():
    text = "statefulset.apps/kb scaled\ndata-kb-0   Bound    pvc-8c21   20Gi   RWO   gp2   33m\n"
    assert "it printed statefulset.apps/kb scaled" in said(text)
    assert "claim data-kb-0 is Bound to pvc-8c21 20Gi RWO gp2 33m" in said(text)


def test_columns_that_a_person_left_out():
    text = "NodeId  ...  LogEndOffset  Lag  ...  Status\n3       ...  348           0    ...  Leader\n"
    assert "3 leader, log end 348, lag 0" in said(text)
    assert "NAME kb, AGE 3d, NODE n1" in said("NAME   ...   AGE   NODE\nkb     ...   3d    n1\n")


def test_a_name_below_its_size():
    """A mail has wrapped Windows' ``dir``."""
    rows = ["Directory of C:\\k\\bills-0", "09/30/2026  11:07 PM       734,003,201", "00000000000000418220.log"]
    (file,) = paste.read(rows).files
    assert (file.folder, file.name, file.bytes) == ("C:/k/bills-0", "00000000000000418220.log", 734_003_201)


def test_paragraphs_of_a_page():
    text = '<pre class="brush:plain">zk_server_state\tleader\nzk_followers\t2\nzk_pending_syncs\t0</pre>\n'
    assert "pending_syncs 0;" in said(text)
    assert "<" not in said(text)


def test_rows_of_two_cells():
    assert "Líneas `slow`: 2; Líneas `odd`: 0" in said("| | |\n|---|---|\n| Líneas `slow` | 2 |\n| Líneas `odd` | **0** |\n")


def test_dates_of_dmesg_in_chinese():
    row = "[五 11月 27 09:33:18 2026] Memory cgroup out of memory: Killed process 2188 (java) total-vm:14kB, anon-rss:6kB, UID:1001 oom_score_adj:936"
    assert "at 五 11月 27 09:33:18 2026: total-vm 14 kB, anon-rss 6 kB, UID 1001, oom_score_adj 936" in said(row)


def test_a_frame_at_the_cut_end():
    text = '"main-EventThread" #18 daemon prio=5 tid=0x1 nid=0x7d03 waiting on condition\n   java.lang.Thread.State: WAITING (parking)\n\tat a.B.c(B.java:1)\n\tat kafka.controller.X.before(Kaf\n'
    found = paste.read(text.splitlines())
    assert found.not_understood == ()
    assert "kafka.controller.X.before (cut off there)" in said(text)


def test_latencies_that_a_mail_has_wrapped():
    text = "300 records sent, 29.6 records/sec (1.43 MB/sec), 36.77 ms avg latency,\n4025.00 ms max latency, 6 ms 50th, 10 ms 95th, 1235 ms 99th, 3927 ms 99.9th.\n"
    assert "3927 ms 99.9th" in said(text)
    assert paste.read(text.splitlines()).not_understood == ()


def test_what_stands_before_a_line_is_told():
    """A chat's time and sender; a label with its value, as in a script's own output, is none."""
    assert "kept as they are: line 1 '[14:07] renske:'" in said("[14:07] renske: disk alarm on 104 again\n")
    for text in ("[03:11:35] leader end offset: bills:0:58000", "[22:41:19] Leader: 0  Replicas: 1,2,0  Isr: 0,1"):
        found = paste.read([text])
        assert [each.text for each in found.logs] == [text]


def test_names_of_two_words():
    assert "Node count 42" in said("Mode: leader Node count: 42\n")


def test_empty_cells_of_kubectl():
    head = "NAME   CLUSTER   PROPOSALREADY   REBALANCING   READY"
    text = said(f"{head}\njob    kb                        True\n")
    assert "NAME job, CLUSTER kb, PROPOSALREADY (empty), REBALANCING True, READY (empty)" in text


def test_a_prompt_right_behind_a_stat():
    (znode,) = paste.read(
        [
            "[zk: z:2181(CONNECTED) 0] get /controller_epoch",
            "7",
            "dataLength = 1",
            "numChildren = 0[zk: z:2181(CONNECTED) 1] quit",
        ]
    ).znodes
    assert znode.stat.numChildren == 0


def test_a_bot_that_was_asked():
    found = paste.read(
        [
            "@bot: k exec kb-1 -n pay -- df -h /data",
            "Filesystem   Size  Used Avail Use% Mounted on",
            "/dev/a  492G  318G  174G  65% /data",
        ]
    )
    sent, typed = found.beside
    assert (sent.text, typed.text[:6], typed.typed, typed.heading) == ("@bot:", "k exec", True, "kb-1")


def test_one_broker_of_log_dirs():
    """As a person has taken it out: an exception in it begins no log line."""
    rows = '{\n  "broker": 14,\n  "logDirs": [\n    {\n      "partitions": [],\n      "error": "org.apache.kafka.common.errors.KafkaStorageException",\n      "logDir": "/k2"\n    }\n  ]\n}'
    found = paste.read(rows.splitlines())
    assert (found.logs, found.not_understood) == ((), ())
    assert "broker 14 cannot use /k2 (KafkaStorageException)" in said(rows)


def test_an_object_of_json_is_no_log():
    text = '{\n  "state": "down",\n  "why": "org.apache.kafka.common.errors.KafkaStorageException: gone"\n}\n'
    assert paste.read(text.splitlines()).logs == ()
    assert "why org.apache.kafka.common.errors.KafkaStorageException: gone" in said(text)


def test_a_thread_without_its_first_quote():
    text = 'kafka-network-thread-5-PLAINTEXT-4" #97 prio=5 os_prio=0 tid=0x7fb nid=0x2d5 runnable\n java.lang.Thread.State: RUNNABLE\n at a.B.c(B.java:1)\n'
    assert "1 network threads were pasted (kafka-network-thread-5-PLAINTEXT-4)" in said(text)


def test_rows_of_jmx_tool_below_a_command_for_one_bean():
    text = "$ JmxTool --object-name 'kafka.server:type=ReplicaManager,name=PartitionCount' --one-time true\n1789919475362,52\n"
    assert "kafka.server:type=ReplicaManager,name=PartitionCount: Value 52, at 2026-09-20T15:51:15.362Z" in said(text)


def test_the_bare_value_of_jmxterm():
    bean = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"
    assert f"{bean}: Value 7" in said(f"$>get -s -b {bean} Value\n#mbean = {bean}:\n7\n")


def test_a_prompt_of_a_host_and_a_dollar():
    (typed,) = paste.read(["kb-01 $ egrep '^num' server.properties", "num.io.threads=8"]).beside
    assert typed.typed


def test_stars_behind_a_backslash():
    (typed, *_) = paste.read(["$ ls -l /k/bills-0/\\*.log", "total 0"]).beside
    assert typed.text == "$ ls -l /k/bills-0/*.log"


def test_literals_in_a_block_of_variables():
    text = "var (\n\tsrvr = `Zookeeper version: 3.4.6-1, built on 02/20/2014 09:09 GMT\nMode: leader\nNode count: 306\n`\n)\n"
    assert "Mode leader, Node count 306" in said(text)


def test_answers_behind_an_arrow():
    text = said("$ kafka-topics.sh --list       → bills\n$ kafka-topics.sh --describe\nx\n")
    assert "behind its command stands: bills" in text
    assert "there is no topic" not in text


def test_the_namespace_of_a_pod():
    assert "pod kb-0 of namespace pay: 1/1 ready" in said("pay   kb-0   1/1   Running   0   40m\n")


def test_an_inner_class_goes_on_with_a_log_line():
    rows = [
        "2020-12-11 07:52:04 INFO  KafkaRoller:287 - Could not roll pod 0",
        "io.strimzi.operator.resource.KafkaRoller$Problem: Pod kb-0 is odd",
    ]
    found = paste.read(rows)
    assert (len(found.logs), found.not_understood) == (2, ())


def test_settings_of_which_a_person_has_left_name_and_value():
    """Others may be left out, too: the list is not whole."""
    (found,) = paste.read(["Configs for topic 'bills' are:", "  cleanup.policy=delete", "  retention.ms=9"]).configs
    assert (found.entity, found.settings, found.whole) == ("bills", {"cleanup.policy": "delete", "retention.ms": "9"}, False)


def test_a_list_of_brokers_log_dirs_that_is_cut():
    row = '[{"broker":7,"logDirs":[{"logDir":"/k1","error":null,"partitions":[{"partition":"bills-0","size":5,"offsetLag":0,'
    assert "bills-0 in /k1 of broker 7 has 5 bytes, 0 records behind; its entry is cut" in said(row)


def test_modes_without_their_first_letter():
    found = paste.read(
        ["rw-r---- 1 u g 0 Dec 16 2017 00000000000000000000.log", "rw-r---- 1 u g 9 Dec 16 2017 00000000000000000000.index"]
    )
    assert [(each.name, each.bytes) for each in found.files] == [
        ("00000000000000000000.log", 0),
        ("00000000000000000000.index", 9),
    ]
    assert found.not_kept == ()


def test_the_main_process_of_a_unit():
    text = "* kafka.service - Kafka\n   Active: failed (Result: signal)\n  Process: 7 ExecStart=/k (code=killed, signal=KILL)\n Main PID: 7 (code=killed, signal=KILL)\n"
    assert "; main process 7 ended with killed" in said(text)


def test_names_of_columns_in_lower_case():
    assert paste.read(["topic: bills\tpartition: 0\tleader: 7\treplicas: 7,9\tisr: 7"]).not_kept == ()
