"""Wordings that are not printed as they are known: cut off, folded, with other words behind them, or with names in place of others."""

import pytest

from tests.log_layouts import AT
from tests.log_reader import read

OWN = "[2026-11-20 10:00:00,123] {} {} ({})"
SHRINKING = "[Partition orders-3 broker=2] Shrinking ISR from 1,2,4 to 1,2"


def of_broker(message, logger="kafka.cluster.Partition", level="INFO"):
    return OWN.format(level, message, logger)


@pytest.mark.parametrize(
    "rest",
    [
        "",
        ".",
        ". Lea...",
        ". Leader: (highWatermark: 70, endOffset: 71…",
        ".\n  Leader: (highWatermark: 70, endOffset: 71). Out of sync replicas: (brokerId: 4, endOffset: 60, ...)",
        ". Leader: (highWatermark: 70, endOffset: 71, since: 5). Out of sync replicas: (brokerId: 4, endOffset: 60, since: 6).",
        " for a reason that a later release tells",
    ],
)
def test_what_is_behind_the_decisive_part_may_be_anything(rest):
    (event,) = read(*of_broker(SHRINKING + rest).split("\n"))[0]
    assert (event.kind, event.time, event.topic, event.partition) == ("isr_shrunk", AT, "orders", 3)
    assert (event.fields["old"], event.fields["new"]) == ("1,2,4", "1,2")


@pytest.mark.parametrize("name", ["<topic>-<partition>", "X-N", "_topic_name_-_partition_", "...", "[topic,partition]"])
def test_a_name_in_place_of_a_partition(name):
    """People hide theirs: what is said of it stays known, and no partition is made up."""
    line = of_broker(
        f"[ReplicaManager broker=2] Error processing append operation on partition {name}", "kafka.server.ReplicaManager"
    )
    (event,) = read(line)[0]
    assert (event.kind, event.topic, event.partition) == ("append_failed", None, None)


@pytest.mark.parametrize("number", ["#", "XX", "<n>", "..."])
def test_a_sign_in_place_of_a_number(number):
    line = of_broker(
        f"[UnifiedLog partition=orders-3, dir=/d] Incremented log start offset to {number} due to segment deletion", "a.Log"
    )
    (event,) = read(line)[0]
    assert (event.kind, event.topic, "offset" in event.fields) == ("log_start_moved", "orders", False)


def test_what_was_cut_off_within_a_wording():
    """Its kind is sure before its fields are."""
    ident = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0]"
    (event,) = read(of_broker(f"{ident} Retrying leaderEpoch request for partition orders-3 as the lea..."))[0]
    assert (event.kind, event.topic, event.fields["leader"]) == ("fetch_refused", None, "1")


def test_that_no_wording_is_only_begun_by_another():
    """What was not cut off, and is no known wording but for its end, is told as nothing."""
    assert (
        read(of_broker("[ReplicaFetcher replicaId=2, leaderId=1] Retrying leaderEpoch request for partition orders-3 soon"))[0]
        == []
    )


def test_an_ident_in_a_line_of_its_own():
    events, _, file = read(
        of_broker("x", "a.B").removesuffix("x (a.B)") + "[KafkaApi-7]",
        "    Error while retrieving topic metadata (kafka.server.KafkaApis)",
        "    kafka.admin.AdministrationException:",
        "        replication factor: 2 larger than available brokers: 1",
    )
    assert [("too_few_brokers", {"required": "2", "live": "1", "speaker": "7"})] == [(e.kind, e.fields) for e in events]
    assert file.entries == 1


@pytest.mark.parametrize(
    "thread", ["[data-plane-kafka-network-thread-2:Selector] ", "(kafka-network-thread-2-ListenerName(A)-SSL-7:Selector) "]
)
def test_a_thread_before_the_ident(thread):
    line = (
        f"[2026-11-20 10:00:00,123] INFO {thread}[SocketServer brokerId=2] Failed authentication with b1/10.0.0.1 (no such user)"
    )
    (event,) = read(line)[0]
    assert (event.kind, event.time) == ("auth_failed", AT)
    assert event.fields == {"client": "b1/10.0.0.1", "why": "no such user", "speaker": "2"}


@pytest.mark.parametrize("prefix", ["kafka-1  | ", "> app_kafka_1 | ", ""])
def test_what_a_collector_put_before_every_line(prefix):
    """It is taken off those that go on with an entry as well."""
    lines = (
        "[2026-11-20 10:00:00,123] INFO [kafka-log-cleaner-thread-0]: ",
        "\tLog cleaner thread 0 cleaned log orders-3 (dirty section = [10, 20])",
        "\t0.1 MB of log processed in 0.1 seconds (0.7 MB/sec).",
        " (kafka.log.LogCleaner)",
        "[2026-11-20 10:00:00,123] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)",
    )
    events, _, file = read(*(prefix + line for line in lines))
    assert [("cleaned", "kafka.log.LogCleaner"), ("broker_started", "kafka.server.KafkaServer")] == [
        (e.kind, e.logger) for e in events
    ]
    assert file.entries == 2


@pytest.mark.parametrize("folds", [1, 2])
def test_a_message_without_a_time_that_was_folded(folds):
    parts = (
        "[ReplicaFetcher replicaId=2, leaderId=1] Truncating partition orders-3 with",
        "    TruncationState(offset=31, completed=true) due to leader epoch and offset",
    )
    events = read(*(parts * folds))[0]
    assert [("truncating_by_epoch", "orders", 3, "31")] * folds == [
        (e.kind, e.topic, e.partition, e.fields["offset"]) for e in events
    ]
    assert [2, 4][:folds] == [event.line for event in events]


UNKNOWN = "Something went on that no wording tells of"


@pytest.mark.parametrize(
    "logger",
    [
        "org.apache.kafka.clients.consumer.internals.Fetcher",
        "o.a.k.c.NetworkClient",
        "o.s.k.l.Container",
        "org.apache.kafka.connect.runtime.Worker",
        "akka.kafka.internal.Actor",
    ],
)
@pytest.mark.parametrize(("level", "kinds"), [("ERROR", ["client_error"]), ("WARN", ["client_error"]), ("INFO", [])])
def test_a_warning_of_kafkas_own_clients(logger, level, kinds):
    """In words that nobody knows: that it is one is told, and by whom."""
    events = read(f"2026-11-20 10:00:00,123 {level} {logger} - {UNKNOWN}")[0]
    assert kinds == [event.kind for event in events]


def test_a_client_that_names_itself_needs_no_logger():
    (event,) = read(f"2026-11-20 10:00:00,123 WARN [Consumer clientId=app-1, groupId=billing] {UNKNOWN}")[0]
    assert (event.kind, event.group, event.fields) == ("client_error", "billing", {"client_id": "app-1"})


def test_a_warning_of_an_application_is_nothing():
    assert read(f"2026-11-20 10:00:00,123 ERROR com.example.kafka.Orders - {UNKNOWN}")[0] == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TopicAuthorization", "security_error"),
        ("Authorization", "security_error"),
        ("DelegationTokenExpired", "auth_failed"),
        ("TransactionAbortable", "transaction_error"),
        ("UnreleasedInstanceId", "consumer_rebalancing"),
        ("Timeout", "request_timed_out"),
        ("UnknownServer", "client_error"),
        ("UnsupportedVersion", "client_error"),
        ("Wakeup", None),
        ("TopicExists", None),
    ],
)
@pytest.mark.parametrize("before", ["", "Caused by: ", "2026-11-20 10:00:00,123 ERROR com.example.Orders - Failed: "])
def test_an_exception_of_kafka_alone(name, kind, before):
    """Its name says what happened; some tell nothing on call."""
    events = read(f"{before}org.apache.kafka.common.errors.{name}Exception: for the reason of this test")[0]
    assert [kind] * (kind is not None) == [event.kind for event in events]
