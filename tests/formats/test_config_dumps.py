"""What a Java client prints of its settings when it starts is read as its file would be."""

import pytest

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
