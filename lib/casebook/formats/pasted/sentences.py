"""One-line outputs that are complete: reported as printed, with the name of their tool.

Source: ``TopicCommand.scala@0.9.0.1, 2.8.2``, ``ConsumerGroupCommand.scala@2.8.2``, ``ReassignPartitionsCommand.scala@2.8.2``,
``DeleteRecordsCommand.scala@2.8.2``, all of ``core/src/main/scala/kafka/admin``; ``ReplicaVerificationTool.scala@2.8.2``,
``DumpLogSegments.scala@2.8.2`` of ``kafka/tools``; ``TransactionsCommand.java@3.9.0``, ``MetadataQuorumCommand.java@3.9.0``;
``kcat.c@1.7.1``; ``GetAclCommand.java@release-3.8.4``.
"""

import re

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.text import PastedLine, one

_CLOCK, _ZONE = r"\d\d:\d\d:\d\d(?: [AP]M)?", r"(?:[A-Z]{2,5}(?:[+-]\d{1,2})?|[+-]\d\d(?:\d\d)?)"
_DAY = r"\w{2,3}\.? (?:\w{3,4}\.? {1,2}\d{1,2}|\d{1,2}\.? \w{3,4}\.?),?"
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
"""Output of ``date``, and times that people write above an output."""
_SHORT = (
    ("kafka-topics --create", re.compile(r"Created topic \S+")),
    ("kafka-replica-verification", re.compile(r"verification process is started\.?|.{0,60}max lag is \d+ for partition .*")),
    ("--version", re.compile(r"\d\.\d{1,2}\.\d{1,2}(?:-\w+)?")),
    ("confluent status", re.compile(r"[\w-]{2,40} is \[(?:UP|DOWN)\]")),
    ("kafka-dump-log", re.compile(r"Mismatches in ?:\S+|Index (?:offset|timestamp): -?\d+, log (?:offset|timestamp): -?\d+")),
    ("kafka-console-consumer", re.compile(r"Processed a total of \d+ messages")),
    ("a count", re.compile(r"(?:\[!\] ?)?UnderReplicatedPartitions count: \d+")),
    ("date", re.compile(rf"{_DAY}(?: \d{{4}})? {_CLOCK}(?: {_ZONE})?(?: \d{{4}})?|{_ISO}|\d{{1,2}}:\d\d(?::\d\d)?(?: [AP]M)?:?")),
    ("df", re.compile(r"df: \S+: .*")),
    ("ls", re.compile(r"ls: (?:reading directory|reading symbolic link|cannot \w+(?: \w+)?) .*: \D+")),
    (
        "the limits of a process",
        re.compile(
            r"Max (?:open files|processes|address space|locked memory|file size|data size|stack size|resident"
            r" set|cpu time|core file size)\s+(?:unlimited|\d+)\s+(?:unlimited|\d+)(?:\s+\w+)?"
        ),
    ),
    ("ulimit", re.compile(r"(?:open files|max user processes|max locked memory|virtual memory)\s+\(.{2,20}\) (?:unlimited|\d+)")),
    ("ZooKeeper's crst or srst", re.compile(r"(?:Connection|Server) stats reset\.")),
    ("ssh", re.compile(r"ssh: connect to host .*")),
    (
        "a shell",
        re.compile(
            r"(?!\s*(?:du|ls|df|find): |\s*(?:Caused by: )?(?:[a-z]\w*\.)+[A-Z]\w*: ).{0,120}: "
            r"(?:command not found|not found|No such file or directory|Permission denied"
            r"|cannot execute.*)"
            r"|.{0,120}is not recognized as an internal or external command.*|Error: Could not find or load main class .*"
        ),
    ),
    ("kafka-topics --alter", re.compile(r"Adding partitions succeeded!")),
    (
        "kafka-topics --delete",
        re.compile(r"Topic \S+ is (?:already )?marked for deletion\.?|Note: This will have no impact if .*"),
    ),
    (
        "kafka-consumer-groups --delete",
        re.compile(
            r"Deletion of (?:requested|some) consumer groups .*|Request succeed(?:ed)? for deleting .*"
            r"|These consumer groups were deleted successfully: .*|\* Group '\S+' could not be deleted due to: .*"
        ),
    ),
    ("kafka-consumer-groups --reset-offsets", re.compile(r"Error: Assignments can only be reset if the group .*")),
    (
        "kafka-transactions abort",
        re.compile(r"Could not find any open transactions starting at offset -?\d+ on partition \S+-\d+"),
    ),
    ("kafka-metadata-quorum", re.compile(r"(?:Removed KRaft controller|Added controller) \d+ with directory id \S+.*")),
    ("kcat", re.compile(r"% Reached end of topic \S+ \[\d+\] at offset \d+(?:: exiting)?")),
    ("ZooKeeper's ACL", re.compile(r"'(?:world|digest|sasl|ip|x509|auth),'.*|: [cdrwa]{1,5}")),
    (
        "kafka-reassign-partitions",
        re.compile(r"None of the specified (?:replica|partition) (?:moves|reassignments) are active\.?"),
    ),
    (
        "kafka-delete-records",
        re.compile(
            r"Executing records delete operation|Records delete operation completed:"
            r"|partition: \S+-\d+\s+(?:low_watermark: -?\d+|error: .*)"
        ),
    ),
    (
        "Cruise Control",
        re.compile(
            r"Monitored Windows \[.*\]:|\{\d{13}=[\d.]+%.*\}|Goal Readiness:|\w+Goal, \(requiredNum(?:Windows|Snapshots)=.*"
        ),
    ),
)
_TROUBLE = ("df", "ls", "ssh", "a shell")
_FAILS = re.compile(r"Mismatches|could not be deleted|^Error: |^Could not ")
_LONGEST = 400


def told(line: PastedLine) -> ToolStatement | None:
    """Return the statement of a line; ``None`` for another one."""
    text = line.text.strip()
    tool = next((tool for tool, says in _SHORT if says.fullmatch(text)), None) if 0 < len(text) < _LONGEST else None
    return (
        ToolStatement(tool, one(line), text.rstrip("."), bad=tool in _TROUBLE or _FAILS.search(text) is not None)
        if tool
        else None
    )
