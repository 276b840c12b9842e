"""What lines of brokers' logs state by themselves."""

import pytest

from casebook.facts.logged import LoggedEpoch, LoggedExpiry, LoggedRegistration
from casebook.formats.broker import logged
from casebook.formats.broker.logged import LogLine

NOON = 1_700_049_600_000
PATH = "brokers/4/logs/server.log"


def registrations(text, broker=4):
    return list(logged.told([LogLine(broker, PATH, 9, text)]))


@pytest.mark.parametrize(
    ("text", "zxid", "printed"),
    [
        (
            "[2023-11-15 12:00:00,042] INFO Registered broker 4 at path /brokers/ids/4 with addresses: PLAINTEXT://k4:9092, "
            "czxid (broker epoch): 8589934600 (kafka.zk.KafkaZkClient)",
            8_589_934_600,
            NOON + 42,
        ),
        (
            "[2023-11-15 12:00:00,000] INFO Registered broker 4 at path /brokers/ids/4 with addresses: PLAINTEXT -> "
            "EndPoint(k4,9092,PLAINTEXT) (kafka.utils.ZkUtils)",
            None,
            NOON,
        ),
        ("Registered broker 4 at path /brokers/ids/4 with addresses: x, czxid (broker epoch): 77", 77, None),
    ],
)
def test_a_registration(text, zxid, printed):
    """Its transaction from 2.2 on; its time as it stands there, where one does."""
    assert registrations(text) == [LoggedRegistration(4, zxid, printed, f"{PATH}:9")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "[2023-11-15 12:00:00,042] INFO [Controller id=4 epoch=17] Changed partition t-0 (state.change.logger)",
            LoggedEpoch(17, NOON + 42, f"{PATH}:9"),
        ),
        (
            "[2023-11-15 12:00:00,042] TRACE Controller 4 epoch 17 sent UpdateMetadata request (state.change.logger)",
            LoggedEpoch(17, NOON + 42, f"{PATH}:9"),
        ),
        (
            "[2023-11-15 12:00:00,042] INFO Expiring session 0x10002ab, timeout of 6000ms exceeded (org.apache.zookeeper.server.X)",
            LoggedExpiry(0x10002AB, f"{PATH}:9"),
        ),
    ],
)
def test_what_znodes_know_too(text, found):
    """Epochs of controllers, before 1.1 and since, and the ends of sessions."""
    assert registrations(text) == [found]


def test_that_of_another_broker_is_none():
    """The log was given for the wrong one."""
    assert registrations("Registered broker 5 at path /brokers/ids/5 with addresses: x, czxid (broker epoch): 77") == []


def test_the_last_release_of_each_log():
    lines = [f"[..] INFO Kafka version: {release} (x)" for release in ("2.8.2", "3.1.0")]
    told = logged.versions(LogLine(4, PATH, number, text) for number, text in enumerate(lines, start=1))
    assert [(one.broker, one.text, one.proof) for one in told] == [(4, "3.1.0", f"{PATH}:2")]
