"""What a release's own ``DumpLogSegments`` says of segments, as rows: one JVM a release, over that release's real jars.

The wording changed from release to release, and each prints less than the next (``DumpLogSegments.scala@0.9.0.1, 0.11.0.2,
1.1.1, 2.8.2, 3.9.0-rc3``; ``GroupMetadataManager.scala@2.8.2``). A row holds what was printed and nothing else, under the
names of the columns of ``kafka_segments``, and ``key_size`` and ``value_size``: it is to be compared with as much of a record.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from casebook.rehearsal.servers import jars

Row = dict[str, object]

_FILE = re.compile(r"Dumping (?P<path>.+\.log)")
_FIELD = re.compile(r"(\w+): (\S+)")
_NUMBERS = {
    "position": "position",
    "magic": "magic",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    **dict.fromkeys(("CreateTime", "LogAppendTime", "NoTimestampType"), "timestamp"),
}
_SIZES = {"key_size": ("keysize", "keySize"), "value_size": ("payloadsize", "valuesize", "valueSize")}
_DELETED = "<DELETE>"
_MEMBER = re.compile(r"(?P<member>[^=,{]+)=(?:\[(?P<partitions>.*?)\](?::[0-9A-F]+)?|[0-9A-F]*)[,}]")


def dump(kafka: str, files: Iterable[Path], *options: str) -> list[Row]:
    """Dump segments with the tool of a release.

    Args:
        files: In the order of the rows; their folders are named after their partitions.
        options: Beside ``--deep-iteration`` and ``--print-data-log``, e.g. ``--offsets-decoder``.
    """
    return list(_rows(_dumped(kafka, files, options).split("\n")))


def _dumped(kafka: str, files: Iterable[Path], options: Iterable[str]) -> str:
    command = [jars.java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"]
    command += ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp", ":".join(map(str, jars.jars(kafka)))]
    command += ["kafka.tools.DumpLogSegments", "--deep-iteration", "--print-data-log", *options]
    command += ["--files", ",".join(map(str, files))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _rows(lines: Iterable[str]) -> Iterator[Row]:
    """A line is a file's name, from 2.4 on a batch, or a record; what was said of file and batch holds for the record."""
    file, batch = {}, {}
    for line in lines:
        if found := _FILE.fullmatch(line):
            file, batch = _of_path(Path(found["path"])), {}
        elif line.startswith("| "):
            yield file | batch | _record(line.removeprefix("| "))
        elif line.startswith("baseOffset: ") or (line.startswith("offset: ") and " size: " in line):
            batch = _metadata(line)
        elif line.startswith("offset: "):
            yield file | _record(line)


def _of_path(path: Path) -> Row:
    return {"log_partition": int(path.parent.name.rpartition("-")[2]), "segment": int(path.stem)}


def _record(line: str) -> Row:
    line, _, payload = line.partition(" payload: ")
    line, _, key = line.partition(" key: ")
    said = dict(_FIELD.findall(line))
    row = _metadata(line) | {"log_offset": int(said["offset"])}
    row |= {column: _size(said, names) for column, names in _SIZES.items()}
    if "sequence" in said:
        row["sequence"] = _known(int(said["sequence"]))
    if "endTxnMarker" in said:
        return row | {"kind": "control", "control_type": said["endTxnMarker"].lower()}
    row["tombstone"] = row["value_size"] is None
    return row | (_decoded(key, None if payload == _DELETED else payload) if key else {})


def _size(said: Mapping[str, str], names: Iterable[str]) -> int | None:
    """Bytes of a key or value; ``None`` for none, which 0.9 passes over in silence where it is the key."""
    return next((_known(int(said[name])) for name in names if name in said), None)


def _metadata(line: str) -> Row:
    """What a line says of a record or its batch beside key and value."""
    said = dict(_FIELD.findall(line))
    row: Row = {column: _known(int(said[name])) for name, column in _NUMBERS.items() if name in said}
    if "isTransactional" in said:
        row["transactional"] = said["isTransactional"] == "true"
    if (codec := said.get("compresscodec", said.get("compressType"))) and "CompressionCodec" not in codec:
        row["codec"] = codec.lower()
    return row


def _known(number: int) -> int | None:
    return None if number == -1 else number


def _decoded(key: str, value: str | None) -> Row:
    """Key and value as ``--offsets-decoder`` prints them; the value's part is empty for a tombstone."""
    if key.startswith('{"type"'):
        return _as_json(json.loads(key), value and json.loads(value))
    if key.startswith("offset"):
        return _commit_key(key) | (_commit_value(value) if value else {})
    return {"kind": "group", "group": _group_key(key)} | (_group_value(value) if value else {})


def _commit_key(key: str) -> Row:
    """``offset::group:topic:0`` up to 1.1, ``offset_commit::group=group,partition=topic-0`` in 2.8."""
    if key.startswith("offset::"):
        group, topic, partition = key.removeprefix("offset::").rsplit(":", 2)
    else:
        group, of = key.removeprefix("offset_commit::group=").rsplit(",partition=", 1)
        topic, partition = of.rsplit("-", 1)
    return {"kind": "commit", "group": group, "topic": topic, "partition": int(partition)}


def _commit_value(value: str) -> Row:
    """``5:metadata`` up to 1.1, ``offset=5,metadata=metadata`` in 2.8; nothing of metadata when that is empty."""
    offset, metadata = re.fullmatch(r"(?s)(?:offset=)?(-?\d+)(?:(?::|,metadata=)(.*))?", value).groups()
    return {"committed": int(offset), "metadata": metadata or ""}


def _group_key(key: str) -> str:
    """``metadata::group`` up to 0.11, ``{"metadata":"group"}`` in 1.1, ``group_metadata::group=group`` in 2.8."""
    if key.startswith("{"):
        return json.loads(key)["metadata"]
    return key.removeprefix("group_metadata::group=").removeprefix("metadata::")


def _group_value(value: str) -> Row:
    """``type:protocol:generation:{member=[topic-0, ..],..}`` up to 0.11, those four in JSON from 1.1."""
    if value.startswith("{"):
        said = json.loads(value)
        parts = [said[name] for name in ("protocolType", "protocol", "generationId", "assignment")]
    else:
        parts = value.split(":", 3)
    protocol_type, protocol, generation, assignment = parts
    row: Row = {"protocol": None if protocol == "null" else protocol, "generation": int(generation)}
    if protocol_type:  # 0.11 has it from the members only (``readGroupMessageValue``)
        row["protocol_type"] = protocol_type
    return row | {"assigned": {one["member"]: _partitions(one["partitions"]) for one in _MEMBER.finditer(assignment)}}


def _partitions(listed: str | None) -> frozenset[str] | None:
    """``topic-0, topic-1``; ``None`` where the tool does not take the bytes for a consumer's."""
    return None if listed is None else frozenset(filter(None, listed.split(", ")))


def _as_json(key: Mapping[str, object], value: Mapping[str, object] | None) -> Row:
    """Everything, from 3.7 on: the fields of Kafka's own generated classes."""
    key_version, of = int(key["type"]), key["data"]
    row = {"key_version": key_version, "kind": "group" if key_version == 2 else "commit", **of}
    row["value_version"] = value and int(value["version"])
    if value:
        row |= _json_group(value["data"]) if key_version == 2 else _json_commit(value["data"])
    return row


def _json_commit(data: Mapping[str, object]) -> Row:
    return {
        "committed": data["offset"],
        "committed_epoch": _known(data.get("leaderEpoch", -1)),
        "metadata": data["metadata"],
        "commit_time": data["commitTimestamp"],
        "expire_time": _known(data.get("expireTimestamp", -1)),
    }


def _json_group(data: Mapping[str, object]) -> Row:
    return {
        "protocol_type": data["protocolType"],
        "generation": data["generation"],
        "protocol": data["protocol"],
        "leader": data["leader"],
        "state_time": _known(data.get("currentStateTimestamp", -1)),
        "members": sorted((_json_member(member) for member in data["members"]), key=lambda member: member["member_id"]),
    }


def _json_member(member: Mapping[str, object]) -> Row:
    return {
        "member_id": member["memberId"],
        "instance_id": member.get("groupInstanceId"),
        "client_id": member["clientId"],
        "client_host": member["clientHost"],
        "rebalance_timeout": _known(member.get("rebalanceTimeout", -1)),
        "session_timeout": member["sessionTimeout"],
        "subscription": _unless_raw(member["subscription"], lambda said: said["topics"]),
        "assignment": _unless_raw(member["assignment"], _json_assignment),
    }


def _unless_raw(said: object, read: Callable[[Mapping[str, object]], object]) -> object:
    """``None`` where the tool does not take the bytes for a consumer's, and prints them as text."""
    return None if isinstance(said, str) else read(said)


def _json_assignment(said: Mapping[str, object]) -> list[Row]:
    return [{"topic": one["topic"], "partitions": one["partitions"]} for one in said["assignedPartitions"]]
