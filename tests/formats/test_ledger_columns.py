"""The columns of a ledger, by parameters and by usual names."""

import re

import pytest

from casebook.errors import UsageError
from casebook.facts.records import SendOutcome
from casebook.formats.clients.ledger_columns import (
    ABSENT,
    ACKED_WORDS,
    FAILED_WORDS,
    NOT_SO,
    PROCESSED,
    LedgerColumns,
    find,
    pattern,
)
from casebook.rehearsal.ledger import LedgerEntry


def test_our_own_ledgers() -> None:
    """A rehearsal's ledger tells its outcomes by which of two columns is filled, and when by the better of two."""
    entry = {"id": "a", "client": "c", "topic": "t", "partition": 0, "sent": 1}
    existing = LedgerEntry(**entry, acked=2, offset=0).as_json() | LedgerEntry(**entry, failed="no").as_json()
    found = find(LedgerColumns(), list(existing))
    assert (found.id, found.topic, found.partition, found.offset) == ("id", "topic", "partition", "offset")
    assert (found.producer, found.sent, found.times) == ("client", "sent", ("acked", "sent"))
    assert (found.outcome, found.acked, found.failed, found.rest) == (None, "acked", "failed", SendOutcome.UNKNOWN)


def test_usual_names() -> None:
    """Neither case nor punctuation matters; of two names the more usual is taken, wherever it stands."""
    found = find(LedgerColumns(), ["Key", "Topic-Name", "recordId", "PARTITION", "ack_status", "@timestamp", "note"])
    assert (found.id, found.key, found.topic, found.partition) == ("recordId", "Key", "Topic-Name", "PARTITION")
    assert (found.outcome, found.times, found.offset, found.sent) == ("ack_status", ("@timestamp",), None, None)
    assert set(found.used) == {"Key", "Topic-Name", "recordId", "PARTITION", "ack_status", "@timestamp"}


def test_a_key_is_an_id_where_there_is_no_other() -> None:
    found = find(LedgerColumns(outcome="acked"), ["key", "topic"])
    assert (found.id, found.key) == ("key", "key")


def test_parameters_before_usual_names() -> None:
    """A named column is taken whatever else there is."""
    existing = ["id", "order", "topic", "stream", "time", "told", "status", "fate"]
    found = find(LedgerColumns(id="order", topic="stream", time="told", outcome="fate"), existing)
    assert (found.id, found.topic, found.times, found.outcome) == ("order", "stream", ("told",), "fate")


@pytest.mark.parametrize(
    ("named", "existing", "expected"),
    [
        (None, ["status", "acked"], ("status", None, None, SendOutcome.UNKNOWN)),
        (None, ["acked_at"], (None, "acked_at", None, SendOutcome.UNKNOWN)),
        ("acked", ["acked", "failed"], (None, "acked", "failed", SendOutcome.UNKNOWN)),
        ("failed", ["failed"], (None, None, "failed", SendOutcome.UNKNOWN)),
        ("acked", [], (None, None, None, SendOutcome.ACKED)),
        ("acked", ["error"], (None, None, "error", SendOutcome.ACKED)),
    ],
)
def test_where_outcomes_stand(named: str | None, existing: list[str], expected: tuple) -> None:
    """In a column of words, in columns that are filled, or in the parameter alone."""
    found = find(LedgerColumns(outcome=named), ["id", "topic", *existing])
    assert (found.outcome, found.acked, found.failed, found.rest) == expected


@pytest.mark.parametrize(
    ("columns", "existing", "said"),
    [
        (LedgerColumns(id="recordid"), ["record_id", "topic", "status"], "ledger_id names. Did you mean record_id?"),
        (LedgerColumns(time="tme"), ["id", "topic", "status", "time"], "ledger_time names. Did you mean time?"),
        (LedgerColumns(outcome="ackd"), ["id", "topic", "acks"], "ledger_outcome names. Did you mean acks?"),
        (LedgerColumns(), ["number", "topic", "status"], "It has number, topic, status. Set ledger_id"),
        (LedgerColumns(), ["id", "status"], "It has id, status. Set ledger_topic"),
        (LedgerColumns(), ["id", "topic"], "or to acked if every row was."),
        (LedgerColumns(), ["id", "topic", "error"], "or to acked if every row without error was."),
    ],
)
def test_what_is_missing(columns: LedgerColumns, existing: list[str], said: str) -> None:
    """The error says what to set."""
    with pytest.raises(UsageError, match=re.escape(said)):
        find(columns, existing)


def test_what_was_processed_needs_no_outcome() -> None:
    """Who writes down what was processed writes down nothing else, but for what failed."""
    found = find(LedgerColumns(prefix=PROCESSED), ["id", "topic", "offset", "consumer_group"])
    assert (found.outcome, found.acked, found.rest) == (None, None, SendOutcome.ACKED)


def test_one_topic_for_all() -> None:
    assert find(LedgerColumns(outcome="acked"), ["id"], topic="orders").topic is None


def test_words_mean_one_thing() -> None:
    assert not ACKED_WORDS & FAILED_WORDS
    assert not ABSENT & (ACKED_WORDS | FAILED_WORDS)
    assert NOT_SO <= FAILED_WORDS
    assert all(word == word.lower().replace("_", " ") for word in ACKED_WORDS | FAILED_WORDS)


@pytest.mark.parametrize(
    ("text", "plain", "groups"),
    [
        (r"(?P<id>\d+) (x) (?<at>.)", r"(\d+) (x) (.)", {"id": 1, "at": 3}),
        (r"(?<=a)(?<!b)(?:c)(?P<record_id>d)(?=e)", r"(?<=a)(?<!b)(?:c)(d)(?=e)", {"record_id": 1}),
        (r"(?P<id>a)-(?P=id)0", r"(a)-(?:\1)0", {"id": 1}),
        (r"\(?P<id> \\(?P<id>.)", r"\(?P<id> \\(.)", {"id": 1}),
    ],
)
def test_patterns(text: str, plain: str, groups: dict[str, int]) -> None:
    """Names of groups become numbers, in either spelling, and nothing else is touched."""
    found = pattern("id_pattern", text)
    assert (found.text, found.groups, found.first) == (plain, groups, 1)


def test_a_pattern_without_groups_is_taken_whole() -> None:
    assert pattern("id_pattern", "[0-9]+").first == 0


def test_what_is_no_pattern() -> None:
    with pytest.raises(UsageError, match="id_pattern is not a regular expression: .* It reads"):
        pattern("id_pattern", "(")
