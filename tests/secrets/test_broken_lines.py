"""A paste whose lines a narrow screen has broken shows no more of a secret than the paste with whole lines."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from casebook.collect.pasted.secrets import redacted
from tests.secrets import forms
from tests.secrets.finding import PART

SECRET = "hQ7vX2mZk9RtB4wN"
NAMED = [form for form in forms.NAMED if "\n" not in form]  # of several lines, one may be broken without being wide
LONG = "[2026-01-01 10:00:00,000] INFO KafkaConfig values: " + " ".join(f"log.dirs.{at}={at}" for at in range(40))
BESIDE = ("$ cat a.log", LONG)
ORDINARY = [
    ["KAFKA_SSL_KEYSTORE_PASSWORD=changeit", "KAFKA_HOME=/opt/kafka", "BROKER_ID=3"],
    ["$ kafka-topics.sh --describe --password changeit-4711 --topic orders", "Topic: orders\tPartitionCount: 1\tConfigs:"],
    ["[2026-01-01 10:00:00,000] ERROR no keystore with password=changeit (a.B)", "java.io.IOException: it was tampered with"],
    [
        "Jan 01 10:00:00 kb3 kafka[12]: ERROR token=abcd1234abcd in realm x is old",
        "Jan 01 10:00:01 kb3 kafka[12]: INFO Shutting down",
    ],
    ["ssl.truststore.password=changeit-changeit", "acks=all", "# the broker's"],
    ["kafka 12 java -Djavax.net.ssl.keyStorePassword=changeit kafka.Kafka server.properties", "kafka 13 java -cp x org.a.Main"],
    ["user admin, password=changeit as we discussed yesterday in the call", "kafka-topics shows under-replicated partitions:"],
    [
        *["admin password=changeit in broker 00 of kafka"] * 2,
        *[f"-rw-r--r-- 1 kafka kafka 1048 000000000{at}.log" for at in "12"],
    ],
]
"""A line with a secret, and others that say something else."""
SHORTER = PART - 2


def shown(lines: list[str], quote: str = "") -> str:
    return b"".join(redacted([f"{quote}{line}\n".encode() for line in lines])).decode().replace(f"\n{quote}", "")


def broken(lines: list[str], width: int) -> list[str]:
    return [line[at : at + width] for line in lines for at in range(0, len(line), width)]


def leaks(text: str) -> bool:
    return any(SECRET[at : at + SHORTER] in text for at in range(len(SECRET) - SHORTER + 1))


@pytest.mark.parametrize("quote", ["", "> "])
@settings(max_examples=300)
@given(form=st.sampled_from(NAMED), width=st.integers(31, 140))
def test_no_more_than_in_whole_lines(quote, form, width):
    lines = [BESIDE[0], form.replace("{s}", SECRET), BESIDE[1]]
    assume(len(lines[1]) > width and not leaks(shown(lines)))
    assert not leaks(shown(broken(lines, width), quote))


@pytest.mark.parametrize("lines", ORDINARY, ids=lambda lines: lines[0][:30])
def test_whole_lines_stay(lines):
    """Below a secret that ends its line, also where that is the widest."""
    others = [line for line in lines if "changeit" not in line and "abcd1234" not in line]
    found = b"".join(redacted([f"{line}\n".encode() for line in lines])).decode().splitlines()
    assert [line for line in found if "[redacted]" not in line] == others


@pytest.mark.parametrize("width", range(31, 100))
def test_within_its_name_and_its_value(width):
    text = f"  listener.name.internal.ssl.keystore.password={SECRET} sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:"
    text += f"listener.name.internal.ssl.keystore.password={SECRET}}}"
    parts = broken(["Dynamic configs for broker 1 are:", text, "  log.cleaner.threads=2 sensitive=false synonyms={}"], width)
    found = shown(parts)
    assert not leaks(found)
    assert "log.cleaner.threads=2" in found
