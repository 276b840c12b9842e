"""What a broker or a Java client prints of its settings when it starts is read as its file would be."""

from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.facts.clients import CONSUMER, PRODUCER
from casebook.formats import properties
from casebook.formats.broker.config_dumps import of_brokers, parse

LOG = """\
[2026-01-01 10:00:00,000] INFO ProducerConfig values: 
\tacks = all
\tretries = 0
\tbootstrap.servers = [a:9092, b:9092]
\ttransactional.id = null
 (org.apache.kafka.clients.producer.ProducerConfig)
[2026-01-01 10:00:01,000] INFO something else
[2026-01-01 10:05:00,000] INFO ProducerConfig values: 
\tacks = 1
\tretries = 3
[2026-01-01 10:05:01,000] INFO ConsumerConfig values: 
\tgroup.id = billing
\tenable.auto.commit = true
"""


def test_the_last_of_each_kind():
    """With the line of the log as proof."""
    found = {one.kind: one for one in parse(LOG.splitlines(keepends=True), client="billing", file="clients/billing/logs/app.log")}
    assert set(found) == {PRODUCER, CONSUMER}
    assert found[PRODUCER].given["acks"].value == "1"
    assert found[PRODUCER].proof("acks") == "clients/billing/logs/app.log:9"
    assert found[PRODUCER].given["retries"].value == "3"
    assert found[CONSUMER].given["enable.auto.commit"].value == "true"


@pytest.mark.parametrize(
    "end", ["", "\tauto.off", "\tauto.offset.reset = ear", "\tauto.offset.reset = earliest\n", "\tauto.off\0\0 = a\n"]
)
def test_a_log_that_ends_within_them(end):
    """What else would have been printed is unknown, not the default; a value that may be cut is not taken."""
    (found,) = parse((LOG[LOG.index("ConsumerConfig") :] + end).splitlines(keepends=True), client="billing", file="f")
    assert (found.whole, found.given["enable.auto.commit"].value) == (False, "true")
    assert ("auto.offset.reset" in found.given) == end.endswith("earliest\n")
    assert "ends within" in found.problems[-1]
    (whole,) = parse([*LOG[LOG.index("ConsumerConfig") :].splitlines(keepends=True), "\n"], client="billing", file="f")
    assert (whole.whole, whole.problems) == (True, ())


def test_none():
    """A log without any describes no client."""
    assert parse(["[2026-01-01] INFO values:\n", "\tacks = 1\n"], client="b", file="f") == ()


STARTS = """\
[2026-01-01 10:00:00,000] INFO KafkaConfig values: 
\tbroker.id = 1
\tlog.dirs = C:\\kafka\\logs
\tlog.cleanup.policy = [compact, delete]
\tlog.retention.ms = null
\tmin.insync.replicas = 2
\tssl.keystore.password = [hidden]
 (kafka.server.KafkaConfig)
INFO KafkaConfig values: 
\tbroker.id = -1
\tnode.id = -1
\tmin.insync.replicas = 1
\tremote.log.manager.task.interval.ms = 30000
 (kafka.server.KafkaConfig)
"""


def test_what_brokers_print():
    """What analyses read of it, unless it is null; a broker without id is to be given one."""
    first, second = of_brokers(STARTS.splitlines(keepends=True))
    assert (first.broker, first.at, first.line) == (1, "2026-01-01 10:00:00,000", 1)
    assert first.settings == {
        "broker.id": "1", "log.dirs": "C:\\kafka\\logs", "log.cleanup.policy": "compact, delete", "min.insync.replicas": "2",
    }  # fmt: skip
    assert (second.broker, second.at, second.settings["min.insync.replicas"]) == (None, "", "1")
    assert parse(STARTS.splitlines(keepends=True), client="b", file="f") == ()


@pytest.mark.parametrize("lines", [0, 1, 3, 5])
def test_a_log_that_ends_within_what_a_broker_prints(lines):
    """Of the rest nobody knows whether it is the default."""
    assert list(of_brokers(STARTS.splitlines(keepends=True)[:lines])) == []


def test_real_brokers_print_what_their_files_set():
    """In every shipped case: whoever was started with a file printed all of it that is known, and its own id."""
    compared = 0
    for sample in sorted((Path(__file__).parents[2] / "data_samples").iterdir()):
        case = Case.open(sample)
        configured = case.server_properties()
        for broker, path, lines in case.log_files():
            for printed in of_brokers(lines):
                assert printed.broker == broker, path
                told = {key: value for key, value in configured[broker].items() if key in properties.OF_BROKERS}
                assert {key: printed.settings.get(key) for key in told} == told, path
                compared += len(told)
    assert compared > 200
