"""Logs of many programs in one paste: every line says what it says alone, nothing is glued, and no time is another line's."""

import random
import tempfile
from pathlib import Path

import pytest

from casebook.formats.pasted import paste
from casebook.questions.timeline.scans import logs
from tests.log_layouts import AT, LAYOUTS
from tests.log_reader import read

DATED = tuple(layout.format("Session expired.") for name, layout in LAYOUTS.items() if name not in {"Windows", "byte order mark"})
"""Lines of a calm entry in each layout: its level is INFO, and no trouble that an exception could follow is told."""

UNDATED = {
    "kafka: client has run out of available brokers to talk to: EOF": "client_disconnected",
    'Exception in thread "main" org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.': "request_timed_out",
    "reader.go:812: the kafka reader got an unknown error reading partition 3 of orders at offset 7: EOF": "client_error",
    "[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition orders-4 to local high watermark 42": "truncating_to_hw",
    "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced": "commit_failed",
    "kafka.errors.NoBrokersAvailable: NoBrokersAvailable": "client_disconnected",
    "%3|1795168800.123|FAIL|rdkafka#producer-1| [thrd:b1:9092/1]: b1:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused": "client_disconnected",
    '"Heartbeat failed for group billing because it is rebalancing"': "consumer_rebalancing",
    "`Fatal consumer exception; stopping container`": "client_error",
    "Revoking previously assigned partitions [orders-0, orders-3] for group billing": "consumer_rebalancing",
    "(Re-)joining group billing": "consumer_rebalancing",
    "Marking the coordinator 2147483640 dead;": "coordinator_lost",
    "Discovered coordinator <broker>:9092 (id: 7 rack: null) for group billing": "coordinator_discovered",
    "Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.": "request_timed_out",
    "[7.113s][info][gc] GC(8) Pause Initial Mark 640M->20M(1024M) 5.3ms": "gc_pause",
    "  [Full GC (Ergonomics)  829K->658K(7168K), 0.0054946 secs]": "gc_pause",
    "Total time for which application threads were stopped: 3.3715080 seconds": "gc_pause",
    "b1-app: kafka.errors.ConnectionError: ConnectionError: Unable to bootstrap from [('b1', 9092)]": "client_disconnected",
}
"""Lines that print no time, or their own in a form of their own, and what each says."""


def mixed(seed: int) -> tuple[list[str], dict[int, tuple[str, int | None]]]:
    """Every layout once and a line without one behind each, and the kind and time by line."""
    drawn = random.Random(seed)
    lines, said = [], {}
    for dated in drawn.sample(DATED, len(DATED)):
        undated = drawn.choice(list(UNDATED))
        lines += [dated, undated]
        said[len(lines) - 1] = ("zk_session_expired", AT)
        said[len(lines)] = (UNDATED[undated], AT if undated.startswith("%") else None)
    return lines, said


def told(rows) -> dict[int, tuple[str, int | None]]:
    return {event["line"]: (event["kind"], event["time"]) for event in rows if event["row"] == "event"}


@pytest.mark.parametrize("seed", range(12))
def test_as_a_file(tmp_path, seed):
    assert len(DATED) >= 15
    lines, said = mixed(seed)
    path = tmp_path / "mixed.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert told(logs.typed([(path, "UTC")])) == said


@pytest.mark.parametrize("seed", range(12))
def test_as_a_paste(seed):
    """Of what the paste takes for log lines."""
    lines, said = mixed(seed)
    kept = {line.span.first: line.text for line in paste.read(lines).logs}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pasted.log")
        path.write_text("".join(f"{kept.get(number, '')}\n" for number in range(1, len(lines) + 1)))
        assert told(logs.typed([(path, "UTC")])) == said


STAMP = "2026-11-20 10:00:00,123"
FAILED = f"[{STAMP}] ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-3 (kafka.server.ReplicaManager)"


def events(*lines: str) -> list[tuple[str, int | None, int]]:
    return [(event.kind, event.time, event.line) for event in read(*lines)[0]]


def test_a_container_s_trace_belongs_to_its_entry_wherever_the_entry_stands():
    """Its prefix is known behind the first line of a file as well."""
    own = [
        f"kafka-1  | {FAILED}",
        "kafka-1  | java.lang.Exception: it went wrong",
        "kafka-1  | \tat kafka.log.Log.append(Log.scala:1)",
    ]
    assert read(*own, *own)[2].entries == 2
    assert events(*own, *own) == [("append_failed", AT, 1), ("append_failed", AT, 4)]


def test_an_exception_that_is_not_told_as_a_cause_is_another_s():
    """A trace has one exception without ``Caused by`` (``Throwable.printStackTrace``)."""
    first = "org.apache.kafka.common.errors.NotLeaderOrFollowerException: For requests intended only for the leader"
    other = "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced"
    assert ("commit_failed", None, 4) in events(FAILED, first, "\tat a.B.c(B.java:1)", other)


def test_an_exception_below_frames_is_another_s():
    """Of a trace whose own exception was not copied."""
    other = "node.BrokerNotAvailableError: Could not find the leader"
    assert ("metadata_error", None, 3) in events(FAILED, "    at Client.send (/srv/app/client.js:52:19)", other)


class TestTraceback:
    """Python prints ``Traceback``, frames below their files, and the exception; ``logging`` prints no exception without them."""

    LOGGED = f"{STAMP} ERROR app: it went wrong"
    TRACE = ("Traceback (most recent call last):", '  File "/srv/app.py", line 9, in run', "    future.result()")
    RAISED = 'cimpl.KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Local: Timed out"}'

    def test_its_exception_is_its_own(self):
        assert [at for _, at, _ in events(self.LOGGED, *self.TRACE, self.RAISED)] == [AT]

    def test_an_exception_without_one_is_another_s(self):
        assert ("request_timed_out", None, 2) in events(self.LOGGED, self.RAISED)

    def test_what_is_no_exception_is_another_s(self):
        other = "failed to create client err=kafka: client has run out of available brokers to talk to"
        assert ("client_disconnected", None, 5) in events(self.LOGGED, *self.TRACE, other)


@pytest.mark.parametrize(("logger", "kinds"), [("ReplicaManager", ["disk_error"]), ("AcceptLoop", [])])
def test_a_trace_that_every_program_prints_counts_below_a_class_of_kafka(logger, kinds):
    lines = [f"{STAMP} ERROR {logger} - it went wrong", "java.io.IOException: Too many open files", "\tat a.B.c(B.java:1)"]
    assert [kind for kind, _, line in events(*lines) if line == 2] == kinds


def test_a_cause_stays_with_what_names_its_exception():
    cause = "Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment."
    thrown = "java.util.concurrent.ExecutionException: it went wrong"
    assert events(FAILED, thrown, cause) == [("append_failed", AT, 1)]
    assert ("request_timed_out", None, 2) in events(FAILED, cause)


def test_a_message_below_its_header_is_kept_and_ends_it():
    lines = [
        f"{STAMP} [worker-1] DEBUG com.acme.Listener -",
        "Processing 3 records",
        "Revoking previously assigned partitions [orders-0] for group billing",
    ]
    assert [line.text for line in paste.read(lines).logs] == lines
    assert events(*lines) == [("consumer_rebalancing", None, 3)]


def test_members_that_a_collector_broke_off_have_the_time_of_their_entry():
    lines = [
        "2026-11-20T10:00:02Z  2026-11-20T10:00:00.123Z  ERROR  scaler  cannot find the latest offset of orders",
        '2026-11-20T10:00:02Z    {"error": "write tcp 10.0.0.1:33824->10.0.0.2:9092: write: broken pipe"}',
    ]
    assert {time for _, time, _ in events(*lines)} == {AT}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "    % ERROR: Local: Broker transport failure: ssl://b1:9093/1: Disconnected (after 9ms in state UP)",
            "client_disconnected",
        ),
        ('    `KafkaException: KafkaError{code=_INVALID_ARG,val=-186,str="it is not known"}`', "client_error"),
        ("   [billing] [ntainer#0-0-C-1] org.apache.kafka.clients.NetworkClient : Node -1 disconnected.", "client_disconnected"),
        ("[ntainer#0-0-C-1] o.s.c.s.b.k.KafkaMessageChannelBinder$1  : partitions revoked: [orders-3]", "consumer_rebalancing"),
    ],
)
def test_what_a_client_printed_is_not_of_the_entry_above_however_it_is_indented(line, kind):
    assert [one.span.first for one in paste.read([FAILED, line]).logs] == [1, 2]
    assert events(FAILED, line) == [("append_failed", AT, 1), (kind, None, 2)]


@pytest.mark.parametrize("layout", ["[{}] [622525] [INFO] ", "{} ", "{} INFO ", "[{}][INFO] ", "{} [main] INFO "])
@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("(Re-)joining group billing", "consumer_rebalancing"),
        (
            "<BrokerConnection node_id=1 host=b1/10.0.0.1 port=9092>: Closing connection. KafkaConnectionError: timeout",
            "client_disconnected",
        ),
        ("[Consumer clientId=app-1, groupId=billing] (Re-)joining group", "consumer_rebalancing"),
    ],
)
def test_a_message_may_begin_with_a_bracket(layout, message, kind):
    assert events(layout.format(STAMP) + message) == [(kind, AT, 1)]


def test_prose_about_clients_is_no_log_line():
    lines = [
        "We saw that the group was rebalancing, and restarted it.",
        "The consumer exception is gone.",
        "ids: 3,1,2",
        '"-Xmx9g"',
    ]
    assert not paste.read(lines).logs


@pytest.mark.parametrize(
    "whole",
    [
        '{"time":"2026-11-20T10:00:00.123Z","level":"error","msg":"cannot go on"}',
        'time="2026-11-20T10:00:00.123Z" level=error msg="cannot go on"',
    ],
)
def test_nothing_goes_on_with_what_its_line_ends(whole):
    behind = "org.apache.kafka.common.network.InvalidReceiveException: Invalid receive (size = 369295616 larger than 104857600)"
    assert events(whole, behind) == [("bad_request", None, 2)]


@pytest.mark.parametrize(
    "around",
    [
        "10:00:01,000  INFO || - [Containers] docker-java-stream - STDOUT: {}",
        "INFO|712/0|Service kafka|26-11-20 10:00:01|{}",
    ],
)
def test_kafka_s_own_header_counts_within_a_wrapper_s(around):
    assert events(around.format(FAILED)) == [("append_failed", AT, 1)]


def test_milliseconds_behind_a_blank():
    """A number of three digits between seconds and a level."""
    line = "2026-11-20 10:00:00 123 ERROR [] org.springframework.kafka.support.LoggingProducerListener - Exception thrown when sending a message"
    assert [time for _, time, _ in events(line)] == [AT]


def test_a_class_behind_a_time_without_a_level():
    said = "Unable to reconnect to ZooKeeper service, session 0x1640005 has expired"
    assert events(f"2026-11-20T10:00:00.123000Z org.apache.zookeeper.ClientCnxn$SendThread: {said}") == [
        ("zk_session_expired", AT, 1)
    ]


def test_what_stands_behind_the_end_of_a_sentence_is_not_of_it():
    """As behind a record of java.util.logging, whose second line has neither time nor logger."""
    lines = (
        "Nov 20, 2026 10:00:00 AM com.acme.Orders start",
        "WARNING: It is late.",
        "Timed out 2 in-flight, 1 retry-queued, 0 out-queue, 0 partially-sent requests",
    )
    assert [event for event in events(*lines) if event[0] == "request_timed_out"] == [("request_timed_out", None, 3)]


def test_what_looks_like_the_answer_of_a_tool_stays_with_its_entry():
    """A shell's words end an exception; a level stands where a folder's rows have a name; an error's name is in an entry."""
    lines = [
        FAILED,
        "java.io.IOException: Permission denied",
        "2026-11-20 10:00:00 123 ERROR [] com.acme.Orders - failed",
        "app_1  | 2026-11-20 10:00:00,123 Caught KafkaError{code=COORDINATOR_LOAD_IN_PROGRESS,val=14}",
    ]
    assert [line.text for line in paste.read(lines).logs] == lines
