"""Logs of clients in Python, Go and JavaScript: how their lines begin, what their JSON names, and which errors are no broker's."""

import json

import pytest

from tests.log_layouts import AT
from tests.log_reader import read

LATE = "Marking the coordinator dead (node 2) for group billing: [Error 16] NotCoordinatorForGroupError."
REFUSED = "org.apache.kafka.common.errors.NotLeaderOrFollowerException: it moved"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        (f"2026-11-20 10:00:00,123::kafka.coordinator::WARNING::{LATE}", AT),
        (f"kafka.coordinator - WARNING - {LATE}", None),
        (f"November 20th 2026, 10:00:00.123 9,997,351 WARNING MainThread {LATE}", AT),
        (f"[2026-11-20 10:00:00,123: WARNING/MainProcess] {LATE}", AT),
        (f"2026-11-20 10:00:00,123 WARNING Thread-12 {LATE}", AT),
    ],
    ids=["colons", "without time", "Kibana", "Celery", "thread"],
)
def test_lines_of_python(line, time):
    """Each begins an entry of its own; nothing of what ends a sentence is part of a field."""
    events, _, file = read("2026-11-20 09:00:00,000 INFO a.b.C - Before", line)
    (event,) = events
    assert (event.kind, event.time, event.level, event.group) == ("coordinator_lost", time, "WARN", "billing")
    assert event.fields == {"node": "2", "cause": "[Error 16] NotCoordinatorForGroupError"}
    assert (event.line, file.entries) == (2, 2)


@pytest.mark.parametrize("prefix", ["kafka-go: ", "[sarama] ", "[sarama]"])
def test_a_go_logger_writes_a_prefix(prefix):
    """Without level, and with no more than seconds."""
    line = f"{prefix}2026/11/20 10:00:00 the kafka reader got an unknown error reading partition 3 of orders at offset 71: EOF"
    (event,) = read("2026/11/20 09:00:00 before", line)[0]
    assert (event.kind, event.time, event.topic, event.partition) == ("client_error", AT - 123, "orders", 3)
    assert event.fields == {"offset": "71", "error": "EOF"}


def test_a_word_before_a_date_is_no_prefix():
    """What is said of a date begins no entry."""
    _, _, file = read("2026/11/20 09:00:00 before", "since when: 2026/11/20 10:00:00 it is late")
    assert file.entries == 1


def test_members_name_group_and_partition():
    """Of KafkaJS and of franz-go behind zap: the message itself goes before them."""
    kafkajs = {"level": "ERROR", "timestamp": "2026-11-20T10:00:00.123Z", "logger": "kafkajs", "groupId": "billing"}
    zap = {"level": "info", "time": "2026-11-20T10:00:00.123Z", "msg": "joining group", "group": "billing"}
    events, _, _ = read(
        json.dumps(kafkajs | {"message": "[Runner] The group is rebalancing, re-joining", "topic": "orders", "partition": 3}),
        json.dumps(zap),
        json.dumps(
            zap | {"msg": "[Consumer groupId=own] Fetch offset 7 is out of range for partition orders-4, resetting offset"}
        ),
    )
    assert [("consumer_rebalancing", "billing", "orders", 3), ("consumer_rebalancing", "billing", None, None)] == [
        (e.kind, e.group, e.topic, e.partition) for e in events[:2]
    ]
    assert ("consumer_reset", "own", "orders", 4) == (events[2].kind, events[2].group, events[2].topic, events[2].partition)


def test_an_object_whose_brace_was_not_copied():
    line = json.dumps({"@timestamp": "2026-11-20T10:00:00.123Z", "level": "WARN", "message": LATE})[1:]
    (event,) = read(line)[0]
    assert (event.kind, event.time, event.level) == ("coordinator_lost", AT, "WARN")


@pytest.mark.parametrize(
    "logger", ["com.example.Orders", "org.apache.kafka.clients.consumer.KafkaConsumer", "kafka.consumer.fetcher"]
)
def test_errors_of_the_protocol_in_what_an_application_says(logger):
    """Whatever words it has around them: in its message, or in the stack trace below."""
    head = "[2026-11-20 10:00:00,123] ERROR "
    events, _, _ = read(
        f"{head}Nothing could be sent: NOT_LEADER_OR_FOLLOWER ({logger})", f"{head}Nothing could be sent ({logger})", REFUSED
    )
    assert [("not_leader", 1), ("not_leader", 2)] == [(event.kind, event.line) for event in events]


@pytest.mark.parametrize(
    ("ident", "logger"),
    [
        ("", "kafka.server.NewThing"),
        ("", "k.s.NewThing"),
        ("", "kafka.coordinator.group.NewThing"),
        ("", "org.apache.kafka.storage.internals.log.NewThing"),
        ("", "org.apache.zookeeper.server.NewThing"),
        ("[NewThing broker=1] ", "com.example.Shaded"),
    ],
)
def test_a_broker_that_speaks_of_them_is_no_client(ident, logger):
    """In words that no wording knows: whose trouble it is is told, or nothing, rather than a client's error."""
    events, _, _ = read(
        f"[2026-11-20 10:00:00,123] ERROR {ident}Nothing could be appended: NOT_LEADER_OR_FOLLOWER ({logger})", REFUSED
    )
    assert {event.kind for event in events} <= {"broker_warning", "group_error", "zks_error"}


NAMES = {
    "not_leader": (
        "NOT_LEADER_FOR_PARTITION",
        "NotLeaderForPartitionError",
        "[Error 6] NotLeaderForPartitionError",
        "[6] Not Leader For Partition: it moved",
        "Broker: Not leader for partition",
        "kafka server: Tried to send a message to a replica that is not the leader for some partition. Your metadata is out of date",
        "This server is not the leader for that topic-partition",
        'KafkaError{code=NOT_LEADER_FOR_PARTITION,val=6,str="Broker: Not leader for partition"}',
    ),
    "coordinator_unavailable": (
        "COORDINATOR_NOT_AVAILABLE",
        "GROUP_COORDINATOR_NOT_AVAILABLE",
        "GroupCoordinatorNotAvailableError",
        "[15] Group Coordinator Not Available: not yet",
        "Broker: Group coordinator not available",
        "Broker: Coordinator not available",
        "kafka server: Offset's topic has not yet been created",
        "The group coordinator is not available",
    ),
    "coordinator_loading": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "GroupLoadInProgressError",
        "[14] Group Load In Progress: it reads",
        "Broker: Coordinator load in progress",
        "kafka server: The coordinator is still loading offsets and cannot currently process requests",
        "The coordinator is loading and hence can't process requests for this group",
    ),
    "not_coordinator": (
        "NOT_COORDINATOR",
        "NOT_COORDINATOR_FOR_GROUP",
        "NotCoordinatorForGroupError",
        "[16] Not Coordinator For Group: it moved",
        "Broker: Not coordinator",
        "kafka server: Request was for a consumer group that is not coordinated by this broker",
        "This is not the correct coordinator for this group",
    ),
    "consumer_rebalancing": (
        "REBALANCE_IN_PROGRESS",
        "RebalanceInProgressError",
        "[27] Rebalance In Progress: it began",
        "Broker: Group rebalance in progress",
        "kafka server: A rebalance for the group is in progress. Please re-join the group",
        "The group is rebalancing, so a rejoin is needed",
    ),
    "consumer_reset": (
        "OFFSET_OUT_OF_RANGE",
        "OffsetOutOfRangeError",
        "[1] Offset Out Of Range: it is gone",
        "Broker: Offset out of range",
        "kafka server: The requested offset is outside the range of offsets maintained by the server for the given topic/partition",
        "The requested offset is not within the range of offsets maintained by the server",
    ),
}
"""Errors of Kafka's protocol as Java, Python, kafka-go, librdkafka, sarama and KafkaJS print them, by the kind of all."""


@pytest.mark.parametrize("kind", NAMES)
def test_one_error_by_all_its_names(kind):
    lines = [f"2026-11-20 10:00:00,123 ERROR com.example.Orders - Could not go on ({name})" for name in NAMES[kind]]
    assert [(kind, number) for number in range(1, len(lines) + 1)] == [(event.kind, event.line) for event in read(*lines)[0]]


ERRORS = {
    "client_error": (
        "MESSAGE_TOO_LARGE: The request included one",
        "[10] Message Size Too Large: the server has",
        "[Error 10] MessageSizeTooLargeError",
        "kafka.(*Client).Produce: EOF",
        "Kafka publish failed with: circuit breaker is open",
        "The request included a message larger than the max message size the server will accept",
    ),
    "commit_failed": ("Kafka::OffsetCommitError", "[12] Offset Metadata Too Large: the client specified"),
    "auth_failed": ("failed to advance the SCRAM exchange: EOF", "unexpected EOF: broker appears to be expecting TLS"),
    "security_error": ("DELEGATION_TOKEN_EXPIRED: Delegation Token is expired.", "Security features are disabled"),
    "metadata_error": ("Local: Unknown topic", "[17] Invalid Topic: a request"),
    "client_disconnected": ("Kafka::ConnectionError", "error dialing all brokers, one of the errors: EOF"),
    "transaction_error": ("INVALID_TRANSACTION_TIMEOUT: The transaction timeout",),
    "consumer_rebalancing": ('Group "billing" is rebalancing (EAGER) in state up', "Consumer group returned, Rebalancing."),
}
"""What franz-go, kafka-go, kafka-python, sarama's users, ruby-kafka and librdkafka name with words of their own."""


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_means_the_same_wherever_it_is_printed(kind):
    """Behind what an application says first, in Go's layout, in JSON's error beside the message, and alone."""
    for error in ERRORS[kind]:
        lines = [
            f"2026/11/20 10:00:00 oh no: {error}" if not error.startswith("Kafka publish") else f"2026/11/20 10:00:00 {error}",
            json.dumps({"level": "error", "ts": "2026-11-20T10:00:00.123Z", "msg": "oh no", "error": error}),
        ]
        told = [(event.kind, event.time) for event in read(lines[0])[0]]
        assert told == [(kind, AT - 123)], error
        if not error.startswith("Kafka publish"):
            assert (kind, AT) in [(event.kind, event.time) for event in read(lines[1])[0]], error


@pytest.mark.parametrize(
    ("line", "time", "level"),
    [
        (f"E, [2026-11-20T10:00:00.123456 #71] ERROR -- : {LATE}", AT, "ERROR"),
        (f"2026-11-20 11:00:00|1795168800.123|JOIN|app#consumer-1| [thrd:main]: {LATE}", AT, None),
        (f'"2026-11-20T10:00:00.123Z","""host-7""","{LATE}"', AT, None),
        (f"time=2026-11-20T10:00:00.123Z level=warning topic=t, msg={LATE}", AT, "WARN"),
        (
            f'11/20/2026, 10:00:00 AM ERROR {LATE} {{"timestamp":"2026-11-20T10:00:00.123Z","logger":"kafkajs","x":1}}',
            AT,
            "ERROR",
        ),
    ],
    ids=["Ruby", "librdkafka behind a time", "exported row", "pairs without quotes", "KafkaJS behind a time"],
)
def test_how_lines_of_others_begin(line, time, level):
    """The time is the one that the application printed."""
    (event,) = read("2026-11-20 09:00:00,000 INFO a.b.C - Before", line)[0]
    assert (event.kind, event.time, event.level, event.line) == ("coordinator_lost", time, level, 2)


def test_klog_is_of_the_year_of_its_neighbours():
    line = "E1120 10:00:00.123456    4711 client.go:71] kafka: client has run out of available brokers to talk to: EOF"
    (event,) = read("2026-11-20 09:00:00,000 INFO a.b.C - Before", f" {line}")[0]
    assert (event.kind, event.time, event.level) == ("client_disconnected", AT, "ERROR")


def test_nets_console_prints_two_lines():
    """Level and category stand alone."""
    (event,) = read("fail: Shop.Billing.Worker[0]", "      It went wrong: Local: Broker transport failure")[0]
    assert (event.kind, event.level, event.logger, event.line) == ("client_disconnected", "ERROR", "Shop.Billing.Worker", 1)


REFUSED_NODE = "BrokerNotAvailableError: Broker not available"


@pytest.mark.parametrize(
    "line",
    [
        "billing_1    | org.apache.kafka.common.errors.NotEnoughReplicasException: too few",
        f"  kafka-node:ConsumerGroup app-1 Heartbeat error: {{ {REFUSED_NODE}",
        "NestedError {nested: BrokerNotAvailableError, message: it moved",
        "Unhandled rejection Error: Local: Broker transport failure",
        " o.s.k.l.KafkaMessageListenerContainer    : Non-fatal commit failure: RebalanceInProgressException",
        "Handle: rdkafka#consumer-1\tMessage:[thrd:main]: JoinGroup error: Broker: Not coordinator",
    ],
)
def test_what_another_printed_has_not_the_time_before_it(line):
    """Its container is another, or it is laid out as nothing that goes on with an entry."""
    events = read("[2026-11-20 10:00:00,123] INFO Something that says no more", line)[0]
    assert [(2, None)] == [(event.line, event.time) for event in events]


@pytest.mark.parametrize(
    "line",
    [
        "INFO:kafka.conn:<BrokerConnection node_id=1 host=b1/10.0.0.1 port=9092>: connecting to 10.0.0.1:9092",
        '{"level":"DEBUG","timestamp":"2026-11-20T10:00:00.123Z","logger":"kafkajs",'
        '"message":"[Connection] Response OffsetCommit(key: 8, version: 3)","size":41}',
        "%7|1795168800.123|SEND|app#producer-1| [thrd:b1:9092/1]: b1:9092/1: Sent ProduceRequest (v3, 71 bytes @ 0, CorrId 7)",
        "2026/11/20 10:00:00 Deprecation warning: Consumer.Group.Rebalance.Strategy exists for historical compatibility and "
        "should not be used. Please use Consumer.Group.Rebalance.GroupStrategies",
        "2026-11-20 10:00:00,123 INFO o.a.k.c.FetchSessionHandler - [Consumer clientId=a, groupId=b] Node 2 was unable to "
        "process the fetch request with (sessionId=7, epoch=3): FETCH_SESSION_ID_NOT_FOUND.",
    ],
)
def test_a_client_at_work_is_no_error(line):
    assert [] == read(line)[0]


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("org.apache.kafka.common.errors.NotLeaderOrFollowerException: it moved", "not_leader"),
        ("org.apache.kafka.common.errors.NetworkException: Disconnected from node 2", "client_disconnected"),
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: it is not here", "metadata_error"),
    ],
)
def test_a_producers_stale_metadata_is_told_by_its_error(why, kind):
    said = f"Received invalid metadata error in produce request on partition orders-4 due to {why}. Going to request metadata update now"
    assert [kind] == [event.kind for event in read(said)[0]]


def test_what_other_programs_say_too_needs_its_logger():
    """``Failed to process`` is ZooKeeper's, and everybody's."""
    head, said = "[2026-11-20 10:00:00,123] ERROR ", "Failed to process request 7"
    events, _, _ = read(f"{head}{said}", f"{head}{said} (org.apache.zookeeper.server.FinalRequestProcessor)")
    assert [("zks_error", 2)] == [(event.kind, event.line) for event in events]


def test_a_line_of_a_hosts_log_is_nothing_of_a_brokers_entry():
    refused = "org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: FETCH, apiVersion: 4"
    events, _, _ = read("[2026-11-20 10:00:00,123] INFO Before (a.b.C)", f"Nov 20 11:00:00 host app[7]: {refused}")
    assert [("bad_request", True)] == [(event.kind, event.time != AT) for event in events]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Broker k1:9092 disconnected. Retrying.", "client_disconnected"),
        ("DNS lookup failed for k1:9092 (AF_INET)", "client_disconnected"),
        ("Has not committed TP(topic='orders', partition=3) at all since worker start", "commit_failed"),
        ("KafkaJSError: The producer is disconnected", "client_disconnected"),
    ],
)
def test_words_of_a_library_behind_a_prefix_that_nobody_knows(message, kind):
    """Of pykafka, kafka-python, Faust and KafkaJS."""
    (event,) = read(f"2026-11-20 10:00:00,123 ERROR of.ours | {message}")[0]
    assert (event.kind, event.time) == (kind, AT)


@pytest.mark.parametrize(
    ("logger", "message", "kind", "fields"),
    [
        ("kafka.consumer.ZookeeperConsumerConnector", "[app-1_k1], Releasing partition ownership", "consumer_rebalancing", {}),
        (
            "k.c.ZookeeperConsumerConnector",
            "[app-1_k1], begin rebalancing consumer app-1_k1 try #2",
            "consumer_rebalancing",
            {"member": "app-1_k1", "attempt": "2"},
        ),
        ("k.c.ZookeeperConsumerConnector", "app-1_k1 can't rebalance after 4 retries", "consumer_rebalancing", {"attempts": "4"}),
        (
            "o.a.k.connect.runtime.WorkerSinkTask",
            "Commit of WorkerSinkTask{id=orders-0} offsets failed due to exception while flushing:",
            "commit_failed",
            {"task": "WorkerSinkTask{id=orders-0}"},
        ),
        ("o.a.k.c.Metadata", "Cluster ID: FTsnUgYTWOopMYHctkVQAB", "cluster_id", {"cluster": "FTsnUgYTWOopMYHctkVQAB"}),
        (
            "o.a.k.c.p.i.ErrorLoggingCallback",
            "Error when sending message to topic orders with key: null, value: 5 bytes with error: Failed to update metadata after 60000 ms.",
            "metadata_error",
            {"ms": "60000"},
        ),
    ],
)
def test_words_of_javas_clients_behind_a_shortened_logger(logger, message, kind, fields):
    """Of the old consumers, of Connect's first releases, and what an error names as its cause."""
    (event,) = read(f"2026-11-20 10:00:00.123  WARN 7 --- [main] {logger} : {message}")[0]
    assert (event.kind, event.time) == (kind, AT)
    assert fields.items() <= event.fields.items()


@pytest.mark.parametrize(
    "header", ["2026-11-20 10:00:00,123.123.456:kafka.conn:140:{}:7:", "2026-11-20 10:00:00,123:kafka.conn:{}:7:"]
)
def test_the_layout_of_kafka_pythons_examples(header):
    """Its ``logging.basicConfig`` prints milliseconds twice."""
    (event,) = read(header.format("ERROR") + "Error sending GroupCoordinatorRequest_v0 to node 2 [1]")[0]
    assert (event.kind, event.time, event.level, event.logger) == ("coordinator_unavailable", AT, "ERROR", "kafka.conn")
    assert event.fields == {"request": "GroupCoordinatorRequest_v0", "node": "2", "error": "1"}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("kafka.errors.ConnectionError: ConnectionError: No connection to node with id 1", "client_disconnected"),
        ("KafkaTimeoutError: KafkaTimeoutError: ('Failed to update metadata after %s secs.', 60.0)", "metadata_error"),
        (
            "org.apache.kafka.common.errors.TimeoutException: Topic orders not present in metadata after 60000 ms.",
            "metadata_error",
        ),
        ("Socket Error Error: getaddrinfo EAI_AGAIN kafka-1", "client_disconnected"),
        ("Failed to seek orders-4 to 8", "client_error"),
        (
            "2026/11/20 10:00:00 [{ 0 unable to join group session: unable to dial: dial tcp 10.0.0.1:9012: connect: connection refused}]",
            "client_disconnected",
        ),
        (
            "%3|1795168800.123|FAIL|rdkafka#producer-1| sasl_ssl://k1:9093/1: SASL authentication failure: Disconnected",
            "auth_failed",
        ),
        (
            "%7|1795168800.123|QRYLEADER|rdkafka#producer-1| [thrd:main]: Topic orders [3]: leader is unavailable: re-query",
            "not_leader",
        ),
    ],
)
def test_what_the_trouble_is_goes_before_whose_it_is(line, kind):
    """Of exceptions without a logger, slices of Go's errors, and librdkafka's reasons."""
    assert [kind] == [event.kind for event in read(line)[0]]


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("ERROR Kafka at k1 was asked: connection refused (com.example.Orders)", "client_disconnected"),
        ("WARN Only 0 out of 3 Kafka brokers are there (com.example.Orders)", "client_error"),
        ("ERROR Sending failed, it will be tried again (com.example.KafkaSender)", "client_error"),
        ("INFO Kafka: 0 errors (com.example.Orders)", None),
        ("ERROR Query failed, no such table (com.example.Orders)", None),
        ("WARN The file /opt/kafka/x could not be read (com.example.Orders)", None),
        ("WARN The Kafka transport is new (com.example.Orders)", None),
    ],
)
def test_a_warning_of_an_application_that_names_kafka(entry, kind):
    """It is told where it speaks of trouble; a path names nothing, and a line of a calm level is no trouble."""
    assert [kind] * (kind is not None) == [event.kind for event in read(f"[2026-11-20 10:00:00,123] {entry}")[0]]


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        (
            "[sarama] 2026/11/20 10:00:00 x/sarama@v1.43.1/broker.go:12: Error while performing SASL handshake b1:9092",
            "auth_failed",
            {},
        ),
        (
            "[2026-11-20 10:00:00,123] [7] [ERROR] [^--Consumer]: Crashed reason=RuntimeError('late')",
            "client_error",
            {"error": "RuntimeError('late')"},
        ),
        (
            "%3|1795168800.123|FAIL|rdkafka#consumer-1| [thrd:b1:9092/bootstrap]: b1:9092/bootstrap: Failed to resolve 'b1:9092': No",
            "client_disconnected",
            {"node": "b1:9092/bootstrap"},
        ),
        (
            "2026-11-20 10:00:00.123 WARN 1 --- [x] o.a.k.c.NetworkClient : [Producer clientId=p] "
            "Connection to node 3 (b1/<its address>:9092) could not be established. Node may not be available.",
            "client_disconnected",
            {"node": "3", "address": "b1/<its address>:9092", "client_id": "p"},
        ),
        ("[2026-11-20 10:00:00,123] ERROR app: Kafka writer: dial tcp: missing address", "client_disconnected", None),
        ("2026-11-20T10:00:00.123Z [ERROR] app - It failed: Local: Retry operation", "client_error", None),
        ("2026-11-20T10:00:00.123Z [ERROR] app - Error: Local: nothing of it", None, None),
        ("[2026-11-20 10:00:00,123] [7] [ERROR] Partition 3 of the disk is not assigned", None, None),
    ],
)
def test_what_a_library_throws(line, kind, fields):
    """Their errors' own words, with what they name; the like of other programs is none."""
    events = read(line)[0]
    assert [kind] * (kind is not None) == [event.kind for event in events]
    assert fields is None or [fields] == [event.fields for event in events]


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        ("%3|FAIL|rdkafka#producer-1| [thrd:b1:9092/1]: Failed to resolve 'b1:9092'", "client_disconnected", {"node": "b1:9092"}),
        (
            "%3|FAIL|rdkafka#consumer-2| b1:9092/bootstrap: Connect to ipv4#10.0.0.1:9092 failed",
            "client_disconnected",
            {"address": "b1:9092"},
        ),
        ("Delivery of order 12 went wrong: Local: Queue full", "client_error", {"error": "Local: Queue full"}),
        ("LibrdKafkaError: Local: Erroneous state", "client_error", {"error": "Local: Erroneous state"}),
        ("INFO:kafka.coordinator:Successfully joined group billing", "consumer_rebalancing", {}),
        ("Failed to resolve 'com.example.Orders'", None, None),
        ("Connect to the database failed", None, None),
        ("Local: Queue of the printer is empty", None, None),
        ('Reading stopped: KafkaError{code=_PARTITION_EOF,val=-191,str="Broker: No more messages"}', None, None),
        ("Reading stopped: Broker: No more messages", None, None),
    ],
)
def test_what_was_copied_without_its_time_or_cause(line, kind, fields):
    """It says the same; the end of a partition is no error (``RD_KAFKA_RESP_ERR__PARTITION_EOF`` of ``rdkafka.h@v2.15.0``)."""
    events = read(line)[0]
    assert [(kind, None)] * (kind is not None) == [(event.kind, event.time) for event in events]
    assert fields is None or [fields] == [event.fields for event in events]


@pytest.mark.parametrize(
    "message",
    [
        "CONFWARN|rdkafka#producer-1| [thrd:app]: No `bootstrap.servers` configured: client will not be able to connect to Kafka cluster",
        "MAXPOLL|rdkafka#consumer-1| [thrd:main]: GroupCoordinator/7: Broker does not support KIP-62 (requires Apache Kafka >= v0.10.1.0): "
        "consumer configuration `max.poll.interval.ms` (60000) is effectively limited by `session.timeout.ms` (6000) with this broker version",
    ],
)
@pytest.mark.parametrize("quote", ["", "    // ", "  //"])
def test_settings_that_librdkafka_warns_of_also_in_a_comment_of_source(quote, message):
    told = read(f"{quote}%5|1795168800.123|{message}")[0]
    assert [("config_warning", AT)] == [(event.kind, event.time) for event in told]
