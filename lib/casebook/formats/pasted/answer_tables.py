"""Tables of Kafka's tools with their own header and no row of a case for their content.

Source: ``TransactionsCommand.java@3.9.0``, ``ConsumerGroupCommand.scala@2.8.2`` (``--reset-offsets``).
"""

import re
from dataclasses import dataclass

from casebook.formats.pasted.text import TOPIC_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """A table with its own header.

    Args:
        tool: Tool that prints it.
        head: Columns.
        what: Noun for its rows.
        first: Pattern of the first value.
        last: Last column.
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
        first=re.compile(TOPIC_NAME),
    ),
    AnswerTable(
        tool="kafka-consumer-groups --reset-offsets",
        head=re.compile(r"\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+NEW-OFFSET\s*"),
        what="partitions whose offset is, or would be, set",
        first=re.compile(TOPIC_NAME),
    ),
)
