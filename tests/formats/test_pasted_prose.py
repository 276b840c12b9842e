"""Words of people on lines of their own are remarks; a damaged row of a tool is not."""

import pytest

from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste
from casebook.formats.pasted.prose import is_of_person

ROW = "Topic: ledger\tPartition: 3\tLeader: 7\tReplicas: 7,9\tIsr: 7"


def read(*lines: str) -> Pasted:
    return paste.read(lines)


@pytest.mark.parametrize(
    "text",
    [
        "partition 3 has not been written since Tuesday, have a look",
        "ledger stood at 118 when we restarted it at 7:15",
        "that's du of the fifth node, it only has two of them",
        "Raising `linger.ms` (it was missing) in `client.properties`.",
        "Which leads to this:",
        "**Expected:**",
        "Wir haben das seit gestern, ist das normal?",
        "下面是修改以后的输出:",
    ],
)
@pytest.mark.parametrize("place", ["above", "below", "apart"])
def test_a_remark(text, place):
    lines = {"above": [text, ROW], "below": [ROW, text], "apart": [text, "", ROW]}[place]
    found = read(*lines)
    assert [each.text for each in found.beside] == [text.replace("**", "")] or [each.text for each in found.beside] == [text]
    assert (found.not_understood, len(found.partitions)) == ((), 1)


def test_a_paragraph():
    """Its lines need no words of their own."""
    found = read(
        ROW, "", "We moved replicas of this topic to the", "second rack of broker 9 on Monday and", "restarted broker 7."
    )
    assert (len(found.beside), found.not_understood) == (3, ())


@pytest.mark.parametrize(
    "text",
    [
        "Topic: ledger Partition 3 Leader none Replicas: 7,9",
        "Reassignment of partition ledger-3 is still in prog",
        "ledger 3 118 120 2 consumer-1 /10.0.0.1 ledger",
        "[2031-05-06 07:08:09,101] INFO this broker is now here",
        "There is no active reassignment of partition ledger-3, but replica set is 7,9 rather th",
        "Error: Executing consumer group command failed due to this",
        "partition 3, leader 7, replicas: 7,9, isrs",
        "  retention.ms=86400000 sensitive=false syn",
    ],
)
def test_damaged_rows_are_none(text):
    assert not is_of_person(text)


def test_records_of_a_consumer_are_none():
    """Right below its command, any sentence may be a record."""
    found = read("$ kafka-console-consumer.sh --bootstrap-server kb7:9092 --topic mails", "Hello, could you see this please?")
    assert "kafka-console-consumer" in found.not_understood[0].reason


def test_a_sentence_ends_the_records_of_a_consumer():
    """Text below a person's words does not follow the command above them."""
    command = "$ kafka-console-consumer.sh --bootstrap-server kb1:9092 --topic ledger"
    words = "We have seen this since yesterday, and this is what we get now:"
    apart, below = read(command, "zorg-1 17", "", words, "zorg-2 18"), read(command, "zorg-1 17", "zorg-2 18")
    assert [each.reason for each in below.not_understood] == [apart.not_understood[0].reason]
    assert [each.reason for each in apart.not_understood][1:] == ["is nothing that is known"]


def test_what_words_announce_is_not_theirs():
    """An unknown line below a colon is no part of the sentence: it stays named."""
    announced, told = read("This is what we see now:", "zorg two 2"), read("This is what we see now", "since the zorg restarted")
    assert [(each.span.first, each.reason) for each in announced.not_understood] == [(2, "is nothing that is known")]
    assert told.not_understood == ()
