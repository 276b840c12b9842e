"""Entries that their layout, a terminal or a list broke: the class in a line of its own, a logger in two, a sentence in two, items."""

import json

import pytest

from tests.log_layouts import AT
from tests.log_reader import read

BEFORE = "2026-11-20 09:00:00,000 INFO a.b.C - Before"
STAMP = "[2026-11-20 10:00:00,123]"


def test_a_class_behind_its_thread_and_the_message_below():
    """As ``%p [%t] %c{1}%n %m`` lays out."""
    lines = (
        "INFO [broker-2-heartbeat] BrokerLifecycleManager",
        "  [BrokerLifecycleManager id=2] Unable to send a heartbeat because the RPC got timed out",
        "  before it could be sent.",
    )
    (event,) = read(*lines)[0]
    assert (event.kind, event.logger) == ("kraft_heartbeat_failed", "BrokerLifecycleManager")
    assert event.fields["error"] == "the RPC got timed out before it could be sent."


def test_a_logger_that_a_line_end_cuts():
    """Nothing of it is left in the message."""
    error = "Error processing append operation on partition AbCdEfGhIjKlMnOpQrStUv:orders-3"
    (event,) = read(f"{STAMP} ERROR [ReplicaManager broker=1] {error} (kafka.server.Replica", "Manager)")[0]
    assert (event.kind, event.logger, event.time) == ("append_failed", "kafka.server.ReplicaManager", AT)
    assert (event.topic, event.partition) == ("orders", 3)


def test_a_sentence_in_two_lines_has_the_time_of_its_first():
    """The second is no entry's, as its first line names its logger."""
    first = "%3|1795168800.123|FAIL|rdkafka#consumer-3| [thrd:k1:9092/1]: k1:9092/1: Failed to"
    (event,) = read(first, "connect to broker at [k1]:9092: Invalid argument (after 1ms in state CONNECT)")[0]
    assert (event.kind, event.time, event.level) == ("client_disconnected", AT, "ERROR")


@pytest.mark.parametrize(
    "line",
    [
        "# WARNING:kafka.coordinator:Heartbeat failed ([Error 27] RebalanceInProgressError); retrying",
        "> WARNING:kafka.coordinator:Heartbeat failed ([Error 27] RebalanceInProgressError); retrying",
        "2\u3001Heartbeat failed for group billing because it is rebalancing",
        "2. Heartbeat failed for group billing because it is rebalancing",
    ],
)
def test_an_item_of_a_list_is_nothing_of_the_entry_before(line):
    """Behind a sign of a comment or a quotation, or a number: it has not the time of the entry before."""
    (event,) = read(BEFORE, line)[0]
    assert (event.kind, event.time, event.line) == ("consumer_rebalancing", None, 2)


def test_a_word_behind_a_sign_begins_no_entry():
    assert read(BEFORE, "# ERROR of the day")[2].entries == 1


@pytest.mark.parametrize("place", ["(ln:390)", "(Orders.java:390)"])
def test_a_place_in_the_source_is_part_of_the_logger(place):
    line = f"2026-11-20 10:00:00,123 [main] ERROR  o.s.kafka.core.KafkaAdmin{place}  - It went wrong"
    (event,) = read(line)[0]
    assert (event.kind, event.logger) == ("client_error", "o.s.kafka.core.KafkaAdmin")


def test_a_fatal_line_without_words_says_its_exception():
    """``Kafka.scala`` up to 0.11 logs the exception alone."""
    lines = (f"{STAMP} FATAL  (kafka.Kafka$)", "java.io.FileNotFoundException: own.properties (it is not there)")
    (event,) = read(*lines)[0]
    assert (event.kind, event.time) == ("startup_failed", AT)
    assert event.fields == {"error": "java.io.FileNotFoundException: own.properties (it is not there)"}


def test_a_processing_log_says_its_error_within_an_object():
    """Of ksqlDB: the one of three members that is not empty."""
    error = {"deserializationError": None, "productionError": {"errorMessage": "It went wrong"}}
    line = {"level": "ERROR", "logger": "processing.CSAS_7", "time": AT, "message": {"type": 2, **error}}
    (event,) = read(json.dumps(line))[0]
    assert (event.kind, event.time, event.logger) == ("client_error", AT, "processing.CSAS_7")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Could not connect to Kafka, will try again", "client_disconnected"),
        ("Kafka connection timed out after 5 s", "client_disconnected"),
        ("Error while publishing the order to Kafka", "client_error"),
        ("Failed to create Kafka consumer", "client_error"),
    ],
)
def test_what_an_application_says_of_kafka_in_its_own_words(message, kind):
    assert [event.kind for event in read(f"2026-11-20 10:00:00,123 ERROR com.acme.Orders - {message}")[0]] == [kind]


@pytest.mark.parametrize(
    "message",
    [
        "Order sent to Kafka: failed to call the shop",
        "kafka consumer client up and running...",
        "Connected to Kafka",
        "Failed to connect to the shop",
        "Kafka is down the line of what we do",
    ],
)
def test_what_it_says_of_other_things_is_not_taken_for_it(message):
    assert read(f"2026-11-20 10:00:00,123 INFO com.acme.Orders - {message}")[0] == []
