"""Meaning of ledger columns, from parameters or else common names; and words for outcomes."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from casebook.errors import UsageError, did_you_mean
from casebook.facts.records import SendOutcome

ACKED_WORDS = frozenset((
    "acked", "ack", "acknowledged", "ok", "success", "successful", "succeeded", "delivered", "confirmed", "persisted", "stored",
    "processed", "true", "yes", "y", "t", "1", "1.0",
))  # fmt: skip
FAILED_WORDS = frozenset((
    "failed", "fail", "failure", "error", "err", "exception", "timeout", "timedout", "timed out", "timed-out", "expired",
    "rejected", "nack", "nacked", "dropped", "undelivered", "not delivered", "not persisted", "false", "no", "n", "f", "0", "0.0",
))  # fmt: skip
"""Lower case, with blanks for ``_``.

Any other word leaves the outcome unknown: ``sent``, for example, proves no acknowledgement.
"""

NOT_SO = frozenset(("false", "no", "n", "f", "0", "0.0"))
"""Negative values of a column such as ``failed``."""

ABSENT = frozenset(("", "null", "none", "nan", "nat", "\\n"))
"""Placeholders for missing values, in lower case."""

_USUAL = {
    "id": "id,recordid,messageid,msgid,eventid,uuid,key,recordkey,messagekey,msgkey",
    "topic": "topic,topicname,kafkatopic",
    "partition": "partition,partitionid,kafkapartition",
    "offset": "offset,recordoffset,kafkaoffset",
    "acks": "acks,requiredacks",
    "key": "key,recordkey,messagekey,msgkey",
    "producer": "producer,client,clientid,producername,application,app,service",
    "outcome": "outcome,status,result,deliverystatus,ackstatus",
    "acked": "acked,ackedat,acktime,acktimestamp,ackts,ack,acknowledged,acknowledgedat,delivered,deliveredat,confirmedat",
    "failed": "failed,failedat,failure,error,errormessage,exception",
    "time": (
        "ackedat,acktime,acktimestamp,ackts,acknowledgedat,deliveredat,confirmedat,failedat,"
        "processedat,consumedat,handledat,doneat,timestamp,timestampms,time,timems,ts,tsms,at,datetime,eventtime,sent,sentat,"
        "senttime,producedat,createdat,createtime,t,when,date,epoch,epochms"
    ),
    "sent": "sent,sentat,senttime",
    "group": "group,groupid,consumergroup,consumergroupid",
    "work": "processedat,consumedat,handledat,consumergroup,consumergroupid",
}
"""Common names in lower case, letters and digits only; the first one in a ledger is used, for times the first filled one.

Only consumers write ``work``.
"""
PROCESSED = "processed"
"""Prefix of the parameters for ledgers of processed records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerColumns:
    """Columns named by parameters; others are found by common names.

    Args:
        id: Identifies a record.
        outcome: Outcome for the producer; ``acked`` without such a column: everything not failed was acknowledged.
        topic: Topic.
        partition: Partition.
        offset: Acknowledged offset.
        time: Time of the outcome, or else of the send.
        sent: Time of the send.
        acks: Producer setting ``acks``.
        key: Record key.
        producer: Sender.
        group: Consumer group that processed it.
        id_pattern: Regular expression; its first group extracts the id from that column's text.
        prefix: Prefix of the parameters: ``ledger`` or ``processed``.
    """

    id: str | None = None
    outcome: str | None = None
    topic: str | None = None
    partition: str | None = None
    offset: str | None = None
    time: str | None = None
    sent: str | None = None
    acks: str | None = None
    key: str | None = None
    producer: str | None = None
    group: str | None = None
    id_pattern: str | None = None
    prefix: str = "ledger"


class FoundColumns(NamedTuple):
    """Columns of a ledger; ``None`` for missing ones.

    Args:
        id: Column of the id.
        topic: Column of the topic.
        partition: Column of the partition.
        offset: Column of the offset.
        acks: Column of the producer setting.
        key: Column of the key.
        producer: Column of the sender.
        sent: Column of the send time.
        times: Columns of times; the first filled one counts.
        outcome: Column of words for the outcome.
        acked: Column filled on acknowledgement, with a time or a word.
        failed: Column filled on failure, with the reason.
        rest: Outcome when none of these decides.
        group: Column of the consumer group that processed it.
    """

    id: str
    topic: str | None
    partition: str | None
    offset: str | None
    acks: str | None
    key: str | None
    producer: str | None
    sent: str | None
    times: tuple[str, ...]
    outcome: str | None
    acked: str | None
    failed: str | None
    rest: SendOutcome
    group: str | None = None

    @property
    def used(self) -> tuple[str, ...]:
        """Used columns, each once."""
        single = (self.id, self.topic, self.partition, self.offset, self.acks, self.key, self.producer, self.sent, self.group)
        return tuple(dict.fromkeys(filter(None, (*single, *self.times, self.outcome, self.acked, self.failed))))


class JavaPattern(NamedTuple):
    """A Java regular expression.

    Args:
        text: Without group names, which have other rules in Java.
        groups: Numbers of the named groups.
        first: First group, or 0, the whole match, without any.
    """

    text: str
    groups: Mapping[str, int]
    first: int


def find(columns: LedgerColumns, existing: Sequence[str], *, topic: str | None = None) -> FoundColumns:
    """Find the columns of a ledger.

    Args:
        columns: Named columns.
        existing: Names of the ledger's columns.
        topic: Topic of rows without one.

    Raises:
        UsageError: A named column does not exist, or id, topic or outcome is missing.
    """
    roles = ("id", "topic", "partition", "offset", "acks", "key", "producer", "sent", "group")
    single = {role: _one(role, columns, existing) for role in roles}
    if single["id"] is None:
        raise _missing("the id of a record", existing, f"Set {columns.prefix}_id to the column that identifies records.")
    if single["topic"] is None and not topic:
        raise _missing(
            "the topic of a record",
            existing,
            f'Set {columns.prefix}_topic to the topic of all rows, or {columns.prefix}_columns="topic=COLUMN".',
        )
    outcome, acked, failed, rest = _outcome(columns, existing)
    return FoundColumns(
        **single,
        times=(_one("time", columns, existing),) if columns.time else _times(acked, existing),
        outcome=outcome,
        acked=acked,
        failed=failed,
        rest=rest,
    )


def pattern(parameter: str, text: str) -> JavaPattern:
    """Parse a regular expression of a parameter; groups may be named in Python's or Java's syntax.

    Raises:
        UsageError: It is invalid.
    """
    named = re.sub(r"(?<!\\)((?:\\\\)*)\(\?<(?![=!])", r"\1(?P<", text)
    try:
        compiled = re.compile(named)
    except re.error as error:
        raise UsageError(f"{parameter} is not a regular expression: {error}.", try_=f"It reads {text}") from None
    numbers = dict(compiled.groupindex)
    plain = re.sub(r"(?<!\\)((?:\\\\)*)\(\?P<\w+>", r"\1(", named)
    plain = re.sub(r"\(\?P=(\w+)\)", lambda back: rf"(?:\{numbers[back[1]]})", plain)
    return JavaPattern(plain, numbers, min(1, compiled.groups))


def _one(role: str, columns: LedgerColumns, existing: Sequence[str]) -> str | None:
    named = getattr(columns, role)
    if named and named not in existing:  # for JSON lines, a column in no row
        hints = dict.fromkeys((did_you_mean(named, existing), did_you_mean("", existing)))
        raise UsageError(
            f"The ledger has no column {named}, which {columns.prefix}_{role} names.",
            try_=f"{' '.join(hints)} Set {columns.prefix}_{role} to one of these; leave it out where no row has it.",
        )
    return named or next(iter(usual(role, existing)), None)


def usual(role: str, existing: Collection[str]) -> list[str]:
    """Return columns with a common name, most common first."""
    places = {name: place for place, name in enumerate(_USUAL[role].split(","))}
    return sorted((column for column in existing if _plain(column) in places), key=lambda column: places[_plain(column)])


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _outcome(columns: LedgerColumns, existing: Sequence[str]) -> tuple[str | None, str | None, str | None, SendOutcome]:
    """Return the column of words, those filled on acknowledgement or failure, and the default outcome."""
    named = columns.outcome
    acked, failed = (next(iter(usual(role, existing)), None) for role in ("acked", "failed"))
    if named == SendOutcome.ACKED and named not in existing:
        return None, None, failed, SendOutcome.ACKED
    named = _one("outcome", columns, existing)
    if named is None and acked is None and columns.prefix == PROCESSED:
        return None, None, failed, SendOutcome.ACKED  # a ledger of processed records has no others
    if named is None and acked is None:
        others = f"every row without {failed}" if failed else "every row"
        try_ = f"Set {columns.prefix}_outcome to the column that does, or to acked if {others} was."
        raise _missing("whether a record was acknowledged", existing, try_)
    if named is None:
        return None, acked, failed, SendOutcome.UNKNOWN
    if named in usual("acked", existing):
        return None, named, failed, SendOutcome.UNKNOWN
    if named in usual("failed", existing):
        return None, None, named, SendOutcome.UNKNOWN
    return named, None, None, SendOutcome.UNKNOWN


def _times(acked: str | None, existing: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*filter(None, (acked,)), *usual("time", existing))))


def _missing(what: str, existing: Sequence[str], try_: str) -> UsageError:
    return UsageError(f"No column of the ledger was recognised as {what}.", cause=f"It has {', '.join(existing)}.", try_=try_)
