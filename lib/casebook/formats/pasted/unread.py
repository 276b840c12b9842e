"""Kafka's tools without use for any check: reported by name (``bin@3.9.0``).

Recognised by their own text, or by their command before them.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, spanned

_READ = ("topics", "consumer-groups", "configs", "log-dirs", "reassign-partitions", "get-offsets", "metadata-quorum",
         "broker-api-versions", "transactions", "leader-election", "preferred-replica-election", "consumer-offset-checker",
         "run-class")  # fmt: skip
_UNREAD = ("acls", "client-metrics", "cluster", "console-consumer", "console-producer", "console-share-consumer",
           "consumer-perf-test", "delegation-tokens", "delete-records", "dump-log", "e2e-latency", "features", "groups", "jmx",
           "metadata-shell", "mirror-maker", "producer-perf-test", "replay-log-producer", "replica-verification", "server-start",
           "server-stop", "share-groups", "simple-consumer-shell", "storage", "streams-application-reset", "streams-groups",
           "verifiable-consumer", "verifiable-producer")  # fmt: skip
_TOOL = re.compile(rf"(?:.*[\s/\\])?(?P<tool>kafka-(?:{'|'.join((*_READ, *_UNREAD))}))(?:\.sh|\.bat)?\s.*")
_NO_COMMAND = re.compile(r":\d{2,5}/\S*|\s-n \S+|\s--(?:topic|group|namespace|entity-name)[ =]\S+")
"""Names of other things: a chroot, a namespace, a topic."""
_INSTEAD = "`kafka-topics --describe` shows leaders and ISRs, `ls /brokers/ids` the registered brokers"
_LONGEST = 512
_SEGMENTS = "segments are read where the log dir itself is given: casebook collect --log-dirs BROKER=DIR"
_GROUPS = "`kafka-consumer-groups --describe --group NAME` shows a group's commits"
_OWN_WORDS = (
    ("kafka-dump-log", re.compile(r"\s*(?:Dumping \S+\.(?:log|index|timeindex|snapshot|txnindex|checkpoint)"
                                  r"|(?:Log s|S)tarting offset: \d+|producerId: \d+ producerEpoch: .*"
                                  r"|(?:\| ?)?(?:baseOffset|offset): \d+ (?:lastOffset|position|is[vV]alid|\w+Time)\b.*"
                                  r"|timestamp: -?\d+ offset: \d+|Found (?:\d+ invalid bytes|timestamp mismatch|out of order).*"
                                  r"|Non-(?:consecutive|increasing) offsets in.*)"),
     _SEGMENTS),
    ("kafka-console-consumer", re.compile(r"\s*\[[^\]]{1,600}\]::(?:\[?Offset(?:And)?Metadata|NULL|null).*"), _GROUPS),
    ("kafka-acls", re.compile(r"\s*(?:Current ACLs for (?:resource|principal) .*|\(principal=.*permissionType=\w+\).*"
                              r"|User:\S+ has (?:Allow|Deny) permission for operations?: .*)"), _INSTEAD),
    ("kafka-features", re.compile(r"\s*Feature: \S+\s+Supported(?:MinVersion|.*Version): .*"), _INSTEAD),
    ("kafka-cluster", re.compile(r"Cluster ID: \S+"), _INSTEAD),
    ("kafka-producer-perf-test", re.compile(r"\d+ records sent, [\d.]+ records/sec .*"
                                           r"|(?:\d+(?:\.\d+)? ms (?:avg|max) latency,? ?)?(?:[\d.]+ ms [\d.]+th[,.] ?)+"),
     _INSTEAD),
    ("kafka-replica-verification", re.compile(r".{0,60}max lag is \d+ for partition .*"), _INSTEAD),
    ("kafka-share-groups", re.compile(r"\s*GROUP\s+TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?START-OFFSET\b.*"), _INSTEAD),
)  # fmt: skip

_OF_RECORD = re.compile(
    r"\s*(?:\{\".*|[A-Z]\w+|(?=.*\b(?:producerEpoch|partitionLeaderEpoch|isTransactional|isControl|deleteHorizonMs|CreateTime"
    r"|LogAppendTime|position|size|magic|compresscodec|crc|isvalid|sequence|headerKeys|keySize|valueSize|controlType|endTxnMarker"
    r"|coordinatorEpoch|key|payload):(?:\s|$))[^:]*:.*)\s*"
)
"""The rest of a row of ``kafka-dump-log`` that a page or a mail has folded: its names, a record's type, a record as JSON."""
_TOLD = ("kafka-dump-log", "kafka-features", "kafka-cluster", "kafka-producer-perf-test")
_MOST_ROWS, _MOST_SHOWN = 40, 2000


def outputs(lines: Sequence[PastedLine]) -> Iterator[CutOutput | ToolStatement]:
    """Yield outputs recognised by their own text; adjacent ones of one tool together. Some are reported with content."""
    at = 0
    while at < len(lines):
        known = _known(lines[at].text)
        after = at + 1
        if known is not None:
            name, instead = known
            while after < len(lines) and (_known(lines[after].text) == known or _is_folded(name, lines[after].text)):
                after += 1
            if name in _TOLD:
                yield ToolStatement(name, spanned(lines, at, after), _rows(_unfolded(name, lines[at:after])), instead)
                at = after
                continue
            yield CutOutput(spanned(lines, at, after), f"is output of {name}, which no check reads: {instead}")
        at = after


def _is_folded(name: str, text: str) -> bool:
    return name == "kafka-dump-log" and _known(text) is None and _OF_RECORD.fullmatch(text[:_LONGEST]) is not None


def _unfolded(name: str, lines: Sequence[PastedLine]) -> list[str]:
    """Return the rows, each with its folded rest behind it."""
    rows: list[str] = []
    for line in lines:
        if rows and _is_folded(name, line.text):
            rows[-1] += f" {line.text}"
        else:
            rows.append(line.text)
    return rows


def _rows(rows: Sequence[str]) -> str:
    """Return the first rows as printed, with single blanks."""
    texts = [_shown(" ".join(row.split())) for row in rows]
    more = f"; {len(texts) - _MOST_ROWS} more lines" if len(texts) > _MOST_ROWS else ""
    return "; ".join(texts[:_MOST_ROWS]) + more


def _shown(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} ... ({len(text) - _MOST_SHOWN} more characters)"


def _known(text: str) -> tuple[str, str] | None:
    seen = text[:_LONGEST]
    return next(((name, instead) for name, words, instead in _OWN_WORDS if words.fullmatch(seen)), None) if seen else None


def tool(text: str) -> str | None:
    """Return the tool of a command line; ``None`` for other text."""
    found = _TOOL.fullmatch(_NO_COMMAND.sub("", text[:_LONGEST])) if "kafka-" in text[:_LONGEST] else None
    return found["tool"] if found else None


def is_typed(text: str) -> bool:
    """Return whether it runs a tool with options, after any prompt, e.g. after ``docker exec``."""
    return " --" in text[:_LONGEST] and tool(text) is not None


def reason(asked: str | None) -> str:
    """Return why lines after a tool's command are undecoded; ``""`` for a supported tool."""
    if asked is None or asked.removeprefix("kafka-") in _READ:
        return ""
    return f"follows {asked}, whose output no check reads: {_INSTEAD}"
