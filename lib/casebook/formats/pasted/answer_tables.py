"""Tables of Kafka's tools that have a head of their own, and answer nothing that a row of a case holds.

Source: ``TransactionsCommand.java@3.9.0``, ``ConsumerGroupCommand.scala@2.8.2`` (``--reset-offsets``).
"""

import re
from dataclasses import dataclass

_NAME = r"[a-zA-Z0-9._-]{1,249}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """A table with a head of its own.

    Args:
        tool: Whose.
        head: Its columns.
        what: What a row is.
        first: What its first value looks like.
        last: Its last column.
    """

    tool: str
    head: re.Pattern[str]
    what: str
    first: re.Pattern[str]
    last: str = ""


TABLES = (
    AnswerTable(
        tool="kafka-transactions list",
        head=re.compile(r"\s*TransactionalId\s+Coordinator\s+ProducerId\s+TransactionState\s*"),
        what="transactional ids",
        first=re.compile(r"\S+"),
    ),
    AnswerTable(
        tool="kafka-transactions describe",
        head=re.compile(r"\s*CoordinatorId\s+TransactionalId\s+ProducerId\s+ProducerEpoch\s+TransactionState\s+.*"),
        what="transactions",
        last="TopicPartitions",
        first=re.compile(r"\d+"),
    ),
    AnswerTable(
        tool="kafka-transactions describe-producers",
        head=re.compile(r"\s*ProducerId\s+ProducerEpoch\s+LatestCoordinatorEpoch\s+LastSequence\s+LastTimestamp\s+.*"),
        what="producers",
        last="CurrentTransactionStartOffset",
        first=re.compile(r"\d+"),
    ),
    AnswerTable(
        tool="kafka-transactions find-hanging",
        head=re.compile(r"\s*Topic\s+Partition\s+ProducerId\s+ProducerEpoch\s+CoordinatorEpoch\s+.*"),
        what="hanging transactions",
        last="Duration(min)",
        first=re.compile(_NAME),
    ),
    AnswerTable(
        tool="kafka-consumer-groups --reset-offsets",
        head=re.compile(r"\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+NEW-OFFSET\s*"),
        what="partitions whose offset is, or would be, set",
        first=re.compile(_NAME),
    ),
)
