"""What was processed is told from what was produced by columns and words, never by a file's name."""

import json

import pytest

from casebook.formats.clients.ledger_kind import kind


def lines(*rows):
    return [json.dumps(row) + "\n" for row in rows]


@pytest.mark.parametrize(
    ("head", "processed"),
    [
        (lines({"id": "1", "topic": "t", "offset": 4, "consumer_group": "billing"}), True),
        (lines({"id": "1", "topic": "t", "outcome": "processed", "client": "billing-1"}), True),
        (lines({"id": "1", "topic": "t", "outcome": "acked"}), False),
        (lines({"id": "1", "topic": "t", "outcome": "processed"}, {"id": "2", "topic": "t", "outcome": "failed"}), False),
        (lines({"id": "1", "topic": "t", "group": "gold customers", "acks": "all"}), False),
        (lines({"id": "1", "topic": "t", "group": "gold customers", "outcome": "delivered"}), False),
        (["id,topic,group,at\n", "1,t,billing,2026-01-01T00:00:00Z\n"], True),
        (["id,topic,partition,offset,processed_at\n", "1,t,0,4,2026-01-01T00:00:00Z\n"], True),
        (["id,topic,consumer_group,acked_at\n", "1,t,billing,2026-01-01T00:00:00Z\n"], True),
        (lines({"id": "1", "topic": "t", "consumer_group": "billing", "status": "failed"}), True),
        (["id,topic,offset,group,sent_at\n", "1,t,4,gold,2026-01-01T00:00:00Z\n"], False),
        (["id;topic;status\n", "1;t;Processed\n"], True),
        (["id,topic,status\n", "1,t,sent\n"], False),
        (["2026-01-01 INFO sent 17\n"], False),
        ([], False),
    ],
)
def test_kind(head, processed):
    """By a column that names a group, or by words that only consumers write."""
    assert kind(head).processed is processed
