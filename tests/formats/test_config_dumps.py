"""What a Java client prints of its settings when it starts is read as its file would be."""

from casebook.clients import CONSUMER, PRODUCER
from casebook.formats.config_dumps import parse

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


def test_none():
    """A log without any describes no client."""
    assert parse(["[2026-01-01] INFO values:\n", "\tacks = 1\n"], client="b", file="f") == ()
