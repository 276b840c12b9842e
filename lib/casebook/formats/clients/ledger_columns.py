"""What the columns of a ledger mean: as parameters name them, else by names that are usual; and the words of its outcomes."""

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
"""In lower case, ``_`` as a blank. Any other word leaves the outcome unknown: ``sent``, for one, was only given away."""

NOT_SO = frozenset(("false", "no", "n", "f", "0", "0.0"))
"""What a column such as ``failed`` holds where it did not."""

ABSENT = frozenset(("", "null", "none", "nan", "nat", "\\n"))
"""What writers put, in lower case, where there is no value."""

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
"""Names in lower case, letters and digits alone; the first that a ledger has is taken, of times the first that is filled.

``work`` is what only consumers write.
"""
PROCESSED = "processed"
"""What the parameters of ledgers of processed records begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerColumns:
    """The columns that parameters name; what none names is found by usual names.

    Args:
        id: What tells records apart.
        outcome: What the producer was told; ``acked`` where no column has that name: all that did not fail was acknowledged.
        topic: Its topic.
        partition: Its partition.
        offset: Its offset as acknowledged.
        time: When the producer was told, else when it sent.
        sent: When it sent.
        acks: The producer's setting ``acks``.
        key: The record's key.
        producer: Who sent it.
        group: The consumer group that processed it.
        id_pattern: Its first group takes the id out of that column's text.
        prefix: Of the parameters that name columns: ``ledger`` or ``processed``.
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
    """Where a ledger has what; ``None`` where it does not.

    Args:
        id: Column of the id.
        topic: Of the topic.
        partition: Of the partition.
        offset: Of the offset.
        acks: Of the producer's setting.
        key: Of the key.
        producer: Of who sent it.
        sent: Of when it was sent.
        times: Columns of moments; the first that is filled counts.
        outcome: Column with words for what became of it.
        acked: Column that is filled, with a moment or a word, once it is acknowledged.
        failed: Column that is filled, with the reason, once it failed.
        rest: What became of it where none of these says.
        group: Of the consumer group that processed it.
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
        """The columns that anything is read from, each once."""
        single = (self.id, self.topic, self.partition, self.offset, self.acks, self.key, self.producer, self.sent, self.group)
        return tuple(dict.fromkeys(filter(None, (*single, *self.times, self.outcome, self.acked, self.failed))))


class JavaPattern(NamedTuple):
    """A regular expression as Java takes it.

    Args:
        text: Without names of groups, of which Java has its own rules.
        groups: Numbers of the named groups.
        first: The first group, or 0, the whole match, where there is none.
    """

    text: str
    groups: Mapping[str, int]
    first: int


def find(columns: LedgerColumns, existing: Sequence[str], *, topic: str | None = None) -> FoundColumns:
    """Where a ledger has what.

    Args:
        columns: What parameters name.
        existing: Names of the ledger's columns.
        topic: Of rows that do not name theirs.

    Raises:
        UsageError: A named column does not exist, or nothing tells the id, the topic or the outcome.
    """
    roles = ("id", "topic", "partition", "offset", "acks", "key", "producer", "sent", "group")
    single = {role: _one(role, columns, existing) for role in roles}
    if single["id"] is None:
        raise _untold("the id of a record", existing, f"Set {columns.prefix}_id to the column that identifies records.")
    if single["topic"] is None and not topic:
        raise _untold(
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
    """A regular expression of a parameter; its groups may be named as Python or as Java writes that.

    Raises:
        UsageError: It is none.
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
    if named and named not in existing:  # of JSON lines, a column that stands in no row
        hints = dict.fromkeys((did_you_mean(named, existing), did_you_mean("", existing)))
        raise UsageError(
            f"The ledger has no column {named}, which {columns.prefix}_{role} names.",
            try_=f"{' '.join(hints)} Set {columns.prefix}_{role} to one of these; leave it out where no row has it.",
        )
    return named or next(iter(usual(role, existing)), None)


def usual(role: str, existing: Collection[str]) -> list[str]:
    """Columns with a usual name, the most usual first."""
    places = {name: place for place, name in enumerate(_USUAL[role].split(","))}
    return sorted((column for column in existing if _plain(column) in places), key=lambda column: places[_plain(column)])


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _outcome(columns: LedgerColumns, existing: Sequence[str]) -> tuple[str | None, str | None, str | None, SendOutcome]:
    """The column of words, those that are filled when acknowledged or failed, and what holds else."""
    named = columns.outcome
    acked, failed = (next(iter(usual(role, existing)), None) for role in ("acked", "failed"))
    if named == SendOutcome.ACKED and named not in existing:
        return None, None, failed, SendOutcome.ACKED
    named = _one("outcome", columns, existing)
    if named is None and acked is None and columns.prefix == PROCESSED:
        return None, None, failed, SendOutcome.ACKED  # who writes down what was processed writes down nothing else
    if named is None and acked is None:
        others = f"every row without {failed}" if failed else "every row"
        try_ = f"Set {columns.prefix}_outcome to the column that does, or to acked if {others} was."
        raise _untold("whether a record was acknowledged", existing, try_)
    if named is None:
        return None, acked, failed, SendOutcome.UNKNOWN
    if named in usual("acked", existing):
        return None, named, failed, SendOutcome.UNKNOWN
    if named in usual("failed", existing):
        return None, None, named, SendOutcome.UNKNOWN
    return named, None, None, SendOutcome.UNKNOWN


def _times(acked: str | None, existing: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*filter(None, (acked,)), *usual("time", existing))))


def _untold(what: str, existing: Sequence[str], try_: str) -> UsageError:
    return UsageError(f"No column of the ledger was recognised as {what}.", cause=f"It has {', '.join(existing)}.", try_=try_)
