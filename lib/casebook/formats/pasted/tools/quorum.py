"""Output of ``kafka-metadata-quorum describe``: only a cluster without ZooKeeper (KRaft) has such a quorum.

``--status`` prints fields, ``--replication`` a table of the nodes that fetch the metadata log
(``core/src/main/scala/kafka/admin/MetadataQuorumCommand.scala@3.3.2``,
``tools/src/main/java/org/apache/kafka/tools/MetadataQuorumCommand.java@3.9.0``).
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import METADATA_QUORUM, QUORUM_REPLICATION, ToolStatement
from casebook.formats.pasted.text import PastedLine, one, spanned

IS_KRAFT = "this is a KRaft cluster, which keeps its metadata in no ZooKeeper"

_FIELD = re.compile(
    r"\s*(?P<name>ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|CurrentVoters|CurrentObservers):"
    r"\s*(?P<value>.*?)\s*"
)
_OF_QUORUM = frozenset(
    {"LeaderEpoch", "HighWatermark", "MaxFollowerLag", "MaxFollowerLagTimeMs", "CurrentVoters", "CurrentObservers"}
)
_ALIGNED = re.compile(r"\s*ClusterId: {4,}\S+\s*")
"""The cluster's id, as only this tool aligns it."""
_HEAD = re.compile(r"\s*(?:NodeId|ReplicaId)\s+(?:\S+\s+)?LogEndOffset\s+Lag\s+.*Status\s*")
_ROW = re.compile(
    r"\s*(?P<node>\d{1,10})\s+(?:(?:(?P<directory>[\w-]{22})|\.{3})\s+)?(?P<end>-?\d{1,19})\s+(?P<lag>-?\d{1,19})"
    r"\s+(?:(?P<fetched>-?\d+(?: ms ago)?)\s+(?P<caught>-?\d+(?: ms ago)?)|\.{3})\s+(?P<status>Leader|Follower|Observer)\s*"
)
"""A person may have put dots in place of columns."""
_CUT_ROW = re.compile(r"\s*(?P<node>\d{1,10})\s+(?:(?P<directory>[\w-]{22})\s+)?(?:(?P<end>-?\d{1,19})\s+)?(?P<rest>-?\d.*)?\s*")
_AGES = {"fetched": "last fetch", "caught": "last caught up"}
_LONGEST, _SHOWN = 16 << 10, 30


def described(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every description of the quorum."""
    at = 0
    while at < len(lines):
        text, after = lines[at].text[:_LONGEST], at + 1
        if _FIELD.fullmatch(text):
            while after < len(lines) and _FIELD.fullmatch(lines[after].text[:_LONGEST]):
                after += 1
            values = {f["name"]: f["value"] for line in lines[at:after] if (f := _FIELD.fullmatch(line.text[:_LONGEST]))}
            if values.keys() & _OF_QUORUM or _ALIGNED.fullmatch(text):
                yield ToolStatement(METADATA_QUORUM, spanned(lines, at, after), f"{IS_KRAFT}{_status(values)}")
        elif _HEAD.fullmatch(text) or _ROW.fullmatch(text):
            rows = [row] if (row := _ROW.fullmatch(text)) else []
            while after < len(lines) and (row := _ROW.fullmatch(lines[after].text[:_LONGEST])):
                rows.append(row)
                after += 1
            nodes = "; ".join(map(_node, rows[:_SHOWN])) + (f"; {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else "")
            yield ToolStatement(QUORUM_REPLICATION, spanned(lines, at, after), f"{IS_KRAFT}{f': {nodes}' if nodes else ''}")
            if after < len(lines) and rows and (cut := _CUT_ROW.fullmatch(lines[after].text[:_LONGEST])):
                yield ToolStatement(QUORUM_REPLICATION, one(lines[after]), _cut(cut))
                after += 1
        at = after


def _node(row: re.Match[str]) -> str:
    directory = f", directory {row['directory']}" if row["directory"] else ""
    ages = [f", {what} {row[name]}" for name, what in _AGES.items() if row[name]]
    return f"{row['node']} {row['status'].lower()}{directory}, log end {row['end']}, lag {row['lag']}{''.join(ages)}"


def _cut(row: re.Match[str]) -> str:
    """Return what is whole in a row that is cut: its last value may go on."""
    directory = f", directory {row['directory']}" if row["directory"] else ""
    end = f", log end {row['end']}" if row["end"] else ""
    rest = f", then {row['rest'].strip()}" if row["rest"] else ""
    return f"{row['node']}{directory}{end}{rest}: its row is cut there"


def _status(values: dict[str, str]) -> str:
    return ": " + ", ".join(f"{name} {value}" for name, value in values.items())
