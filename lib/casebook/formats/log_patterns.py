"""The log lines that are understood, as data: each wording with its releases, its source and a sample.

A pattern is matched against a whole message, continuation lines included, after the logger's name was taken off. Named
groups become fields of :class:`casebook.storage.Event`: ``at`` is a partition in either spelling, ``ms`` what it took,
every other group a named number.
"""

import re
from dataclasses import dataclass

from casebook.storage import EventKind

_AT = r"(?P<at>\[\S+,\d+\]|\S+-\d+)"
_BY = r"(?:\[[^\]]*\][,:]? )?"  # who speaks: [Group Metadata Manager on Broker 0]: or [GroupMetadataManager brokerId=0]
_THREAD = r"^\[kafka-log-cleaner-thread-(?P<thread>\d+)\][,:][ \t]*"
_SEGMENT = r"(?P<at>\S+-\d+)/(?P<segment>\d+)\.log"
_EPOCH = r"(?: for epoch (?P<epoch>-?\d+))?"

_MANAGER = "core/src/main/scala/kafka/coordinator/GroupMetadataManager.scala"
_GROUP_MANAGER = "core/src/main/scala/kafka/coordinator/group/GroupMetadataManager.scala"
_RUNTIME = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/runtime/CoordinatorRuntime.java"
_CLEANER = "core/src/main/scala/kafka/log/LogCleaner.scala"
_SERVER = "core/src/main/scala/kafka/server/KafkaServer.scala"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One wording of one message.

    Args:
        kind: What it says; ``None`` when it is known and says nothing that is needed.
        regex: Matched with ``search``; ``^`` and ``$`` are the ends of a line, a dot is not a line end.
        since: First release that prints it.
        until: Last release line that prints it.
        source: Where it was read.
        sample: A message that it matches.
    """

    kind: EventKind | None
    regex: re.Pattern[str]
    since: str
    until: str
    source: str
    sample: str


def _pattern(kind: EventKind | None, regex: str, releases: str, source: str, sample: str) -> Pattern:
    since, until = releases.split("..")
    return Pattern(kind=kind, regex=re.compile(regex, re.MULTILINE), since=since, until=until, source=source, sample=sample)


_LOADING = (
    _pattern(
        EventKind.LOADING,
        rf"^{_BY}Loading offsets and group metadata from {_AT}$",
        "0.9.0.0..0.10.2",
        f"{_MANAGER}@0.9.0.1, 0.10.2.1",
        "[Group Metadata Manager on Broker 0]: Loading offsets and group metadata from [__consumer_offsets,22]",
    ),
    _pattern(
        EventKind.LOAD_SCHEDULED,
        rf"^{_BY}Scheduling loading of (?:offsets and group )?metadata from {_AT}(?: (?:for|with) epoch (?P<epoch>-?\d+))?$",
        "0.11.0.0..3.9",
        f"{_GROUP_MANAGER}@0.11.0.2, 2.8.0, 3.9.0; {_RUNTIME}@3.9.0",
        "[GroupMetadataManager brokerId=0] Scheduling loading of offsets and group metadata from "
        "__consumer_offsets-3 for epoch 0",
    ),
    _pattern(
        EventKind.LOADED,
        rf"^{_BY}Finished loading offsets (?:and group metadata )?from {_AT} in (?P<ms>\d+) milliseconds{_EPOCH}"
        r"(?:, of which (?P<scheduler>\d+) milliseconds was spent in the scheduler)?\.$",
        "0.9.0.0..3.9",
        f"{_MANAGER}@0.9.0.1, 0.10.2.1; {_GROUP_MANAGER}@0.11.0.2, 2.5.1, 2.6.0, 3.9.0",
        "[GroupMetadataManager brokerId=1] Finished loading offsets and group metadata from __consumer_offsets-16 in 74 "
        "milliseconds for epoch 32, of which 14 milliseconds was spent in the scheduler.",
    ),
    _pattern(
        EventKind.LOADED,
        rf"^{_BY}Finished loading of metadata from {_AT} with epoch (?P<epoch>-?\d+) in (?P<ms>\d+)ms where (?P<scheduler>\d+)ms "
        r"was spent in the scheduler\. Loaded (?P<records>\d+) records which total to (?P<bytes>\d+) bytes\.$",
        "3.6.0..3.9",
        f"{_RUNTIME}@3.6.0, 3.9.0",
        "[GroupCoordinator id=0] Finished loading of metadata from __consumer_offsets-48 with epoch 0 in 1ms where 1ms was spent "
        "in the scheduler. Loaded 0 records which total to 0 bytes.",
    ),
    _pattern(
        EventKind.LOAD_FAILED,
        rf"^{_BY}Error (?:in )?loading offsets from {_AT}\s*$",
        "0.9.0.0..3.9",
        f"{_MANAGER}@0.9.0.1, 0.10.2.1; {_GROUP_MANAGER}@0.11.0.2, 3.9.0",
        "[Group Metadata Manager on Broker 1]: Error in loading offsets from [__consumer_offsets,27]\n"
        "java.lang.IllegalArgumentException: requirement failed: Offset entry key should not be null",
    ),
    _pattern(
        EventKind.LOAD_FAILED,
        rf"^{_BY}(?:No log found for {_AT}|Attempted to load offsets and group metadata from (?P<or_at>\S+), but found no log)$",
        "0.9.0.0..3.9",
        f"{_MANAGER}@0.9.0.1, 0.10.2.1; {_GROUP_MANAGER}@3.9.0",
        "[GroupMetadataManager brokerId=1] Attempted to load offsets and group metadata from "
        "__consumer_offsets-7, but found no log",
    ),
    _pattern(
        EventKind.LOAD_FAILED,
        rf"^{_BY}Failed to load metadata from {_AT} with epoch (?P<epoch>-?\d+) due to ",
        "3.6.0..3.9",
        f"{_RUNTIME}@3.9.0",
        "[GroupCoordinator id=0] Failed to load metadata from __consumer_offsets-48 with epoch 3 due to "
        "java.lang.RuntimeException.",
    ),
    _pattern(
        EventKind.UNLOADED,
        rf"^{_BY}Removed (?P<removed>\d+) cached (?:offsets|groups) for {_AT} on follower transition\.$",
        "0.9.0.0..0.10.2",
        f"{_MANAGER}@0.9.0.1, 0.10.2.1",
        "[Group Metadata Manager on Broker 0]: Removed 12 cached offsets for [__consumer_offsets,17] on follower transition.",
    ),
    _pattern(
        EventKind.UNLOADED,
        rf"^{_BY}Finished unloading {_AT}(?: for coordinator epoch \S+?)?\. Removed (?P<offsets>\d+) cached offsets "
        r"and (?P<groups>\d+) cached groups\.$",
        "0.11.0.0..3.9",
        f"{_GROUP_MANAGER}@0.11.0.2, 3.9.0",
        "[GroupMetadataManager brokerId=1] Finished unloading __consumer_offsets-16 for coordinator epoch OptionalInt[3]. "
        "Removed 0 cached offsets and 0 cached groups.",
    ),
    _pattern(
        EventKind.UNLOADED,
        rf"^{_BY}Finished unloading metadata for {_AT} with epoch \S+\.$",
        "3.6.0..3.9",
        f"{_RUNTIME}@3.9.0",
        "[GroupCoordinator id=0] Finished unloading metadata for __consumer_offsets-13 with epoch OptionalInt[1].",
    ),
    _pattern(
        None,
        rf"^{_BY}(?:Scheduling unloading of|Started unloading|Not removing|Not loading|Already loading|Ignored (?:un)?loading|"
        r"Offset load from \S+ already in progress|Loaded offsets and group metadata from \S+ with buffer larger)\b",
        "0.9.0.0..3.9",
        f"{_MANAGER}@0.9.0.1; {_GROUP_MANAGER}@0.11.0.2, 2.0.1, 3.9.0; {_RUNTIME}@3.9.0",
        "[GroupMetadataManager brokerId=1] Scheduling unloading of offsets and group metadata from __consumer_offsets-22",
    ),
)

_CLEANING = (
    _pattern(
        EventKind.CLEANER_DIED,
        rf"{_THREAD}Error due to[^\n]*\n(?:.*\n)*?.*requirement failed: (?P<messages>\d+) messages in segment {_SEGMENT} "
        r"but offset map can fit only (?P<slots>\d+)\.",
        "0.9.0.0..0.9",
        f"{_CLEANER}@0.9.0.1 (messages: the segment's range of offsets)",
        "[kafka-log-cleaner-thread-0], Error due to  (kafka.log.LogCleaner)\njava.lang.IllegalArgumentException: requirement "
        "failed: 9750860 messages in segment orders-17/00000000000000000000.log but offset map can fit only 5033164. "
        "You can increase log.cleaner.dedupe.buffer.size or decrease log.cleaner.threads",
    ),
    _pattern(
        EventKind.CLEANER_DIED,
        rf"{_THREAD}Error due to[^\n]*\n(?:.*\n)*?.*Unable to build the offset map for segment {_SEGMENT}",
        "0.10.0.0..0.10.0",
        f"{_CLEANER}@0.10.0.1",
        "[kafka-log-cleaner-thread-0], Error due to \njava.lang.IllegalArgumentException: requirement failed: Unable to build "
        "the offset map for segment orders-17/00000000000000000000.log. You can increase log.cleaner.dedupe.buffer.size",
    ),
    _pattern(
        EventKind.CLEANER_DIED,
        rf"{_THREAD}Error due to[^\n]*\n(?:.*\n)*?.*Last clean offset is (?P<clean>\d+) but segment base offset is (?P<base>\d+) "
        r"for log (?P<at>\S+-\d+)\.",
        "0.8.2.0..0.10.0",
        f"{_CLEANER}@0.9.0.1, 0.10.0.1",
        "[kafka-log-cleaner-thread-0], Error due to \njava.lang.IllegalArgumentException: requirement failed: Last clean offset "
        "is 100 but segment base offset is 50 for log orders-4.",
    ),
    _pattern(
        EventKind.CLEANER_DIED,
        rf"{_THREAD}Error due to(?:[^\n]*\n(?:.*\n)*?.*message larger than maximum allowable size of (?P<limit>\d+)\.)?",
        "0.8.2.0..2.0",
        f"{_CLEANER}@0.9.0.1, 2.0.1; core/src/main/scala/kafka/utils/ShutdownableThread.scala@0.9.0.1, 0.11.0.2",
        "[kafka-log-cleaner-thread-0]: Error due to\njava.lang.IllegalStateException: This log contains a message larger than "
        "maximum allowable size of 1000012.",
    ),
    _pattern(
        EventKind.CLEANER_STARTED,
        rf"{_THREAD}Starting\s*$",
        "0.8.2.0..3.9",
        "core/src/main/scala/kafka/utils/ShutdownableThread.scala@0.9.0.1, 2.8.0",
        "[kafka-log-cleaner-thread-0], Starting ",
    ),
    _pattern(
        EventKind.CLEANER_STOPPED,
        rf"{_THREAD}Stopped\s*$",
        "0.8.2.0..3.9",
        "core/src/main/scala/kafka/utils/ShutdownableThread.scala@0.9.0.1, 2.8.0",
        "[kafka-log-cleaner-thread-0], Stopped ",
    ),
    _pattern(
        EventKind.CLEANED,
        rf"{_THREAD}\s*\n\s*Log cleaner thread \d+ cleaned log (?P<at>\S+-\d+) "
        r"\(dirty section = \[(?P<from>\d+), (?P<to>\d+)\]\)",
        "0.8.2.0..3.9",
        f"{_CLEANER}@0.9.0.1, 0.10.2.1, 2.8.0 (0.10.2 to 2.4 print the start twice)",
        "[kafka-log-cleaner-thread-0]: \n\tLog cleaner thread 0 cleaned log __consumer_offsets-36 "
        "(dirty section = [37868, 64153])\n\t2.1 MB of log processed in 4.5 seconds (0.5 MB/sec).\n"
        "\tStart size: 2.1 MB (26,289 messages)"
        "\n\tEnd size: 0.0 MB (4 messages)\n",
    ),
    _pattern(
        EventKind.UNCLEANABLE,
        r"^(?:\[kafka-log-cleaner-thread-(?P<thread>\d+)\]: )?Unexpected exception thrown when cleaning log .*"
        r"Marking its partition \((?P<at>\S+-\d+)\) as uncleanable",
        "2.1.0..3.9",
        f"{_CLEANER}@2.1.0, 2.8.0, 3.9.0",
        "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log Log(dir=/d/orders-17). "
        "Marking its partition (orders-17) as uncleanable",
    ),
    _pattern(
        None,
        rf"{_THREAD}(?:Shutting down|Shutdown completed)\s*$",
        "0.8.2.0..3.9",
        "core/src/main/scala/kafka/utils/ShutdownableThread.scala@0.9.0.1, 2.8.0",
        "[kafka-log-cleaner-thread-0], Shutting down",
    ),
)

_BROKER = (
    _pattern(
        EventKind.BROKER_STARTING,
        r"^(?:\[Kafka ?Server [^\]]*\],? )?starting$",
        "0.8.2.0..3.9",
        f"{_SERVER}@0.9.0.1, 3.9.0",
        "starting",
    ),
    _pattern(
        EventKind.BROKER_STARTED,
        r"^\[Kafka ?Server (?:id=)?\d+\],? started$",
        "0.8.2.0..3.9",
        f"{_SERVER}@0.9.0.1, 3.9.0",
        "[Kafka Server 1], started",
    ),
    _pattern(
        EventKind.BROKER_STOPPED,
        r"^\[Kafka ?Server (?:id=)?\d+\],? shut down completed$",
        "0.8.2.0..3.9",
        f"{_SERVER}@0.9.0.1, 3.9.0",
        "[KafkaServer id=1] shut down completed",
    ),
)

PATTERNS = _LOADING + _CLEANING + _BROKER
"""Every wording; the first that matches counts."""

MARKS = re.compile(
    r"oading (?:of )?(?:offsets|metadata)|oaded offsets and group|offsets and group metadata|Offset load from"
    r"|Failed to load metadata|(?:Finished|Started|Ignored) unloading|No log found for"
    r"|cached (?:offsets|groups) for|kafka-log-cleaner-thread-\d|as uncleanable"
    r"|\b(?:starting|started|shut down completed) \(kafka\.server\.KafkaServer"
)
"""What a line has in it when it may be one of them: nothing else is looked at twice."""
