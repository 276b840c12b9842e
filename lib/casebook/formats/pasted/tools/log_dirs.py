"""Output of ``kafka-log-dirs --describe``: sizes of replicas by broker and log dir, as JSON, without segments.

``size`` is the sum of a replica's segments in bytes; an ``error`` means that the broker cannot use that log dir, without listing
its replicas. Source: ``core/src/main/scala/kafka/admin/LogDirsCommand.scala@1.1.1, 2.8.2``,
``tools/src/main/java/org/apache/kafka/tools/LogDirsCommand.java@3.9.0``, ``ReplicaManager.scala@2.8.2`` (``describeLogDirs``).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.facts.pasted_hosts import LineSpan, Used
from casebook.facts.quotes import cut
from casebook.formats.broker import log_dir_names
from casebook.formats.pasted import cut_json
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, spanned

_JSON = re.compile(r"\s*\[?\{.{0,200}\"(?:brokers|logDirs|broker)\"\s*:.*|\s*[\[{]\s*(?:\"version\"\s*:\s*1\s*,\s*)?")
_BESIDE = re.compile(
    r"\s*(?:Querying brokers for log directories information|Received log directory information from brokers .*)\s*"
)
_OF_JQ = re.compile(r'\{\s*"partition"\s*:\s*"[^"]{1,260}"\s*,\s*"size"\s*:.{0,200}\}')
_ERROR = re.compile(r"(?:[a-z]\w*\.)*(?P<name>[A-Z]\w*)(?P<message>(?::? .*)?)", re.DOTALL)
"""An exception's class, with its message or without."""
_LONGEST, _SHOWN, _MOST_OF_JQ, _MOST_SAID = 4 << 20, 40, 40, 200
_TOOL = "kafka-log-dirs"
_SEGMENTS = "`ls -l --time-style=full-iso` of its folder shows the last writes to its segments"


def described(lines: Sequence[PastedLine]) -> Iterator[Used | ToolStatement | CutOutput]:
    """Yield every replica with its size."""
    at = 0
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if text.lstrip()[:1] in ("{", "[") and len(text) < _LONGEST and _JSON.fullmatch(text) and _is_ours(lines, at):
            value, whole, after = cut_json.read(lines, at)
            span = spanned(lines, at, after)
            if (brokers := _answers(value)) is not None:
                yield from _brokers(brokers, span, whole)
                if not whole:
                    yield cut_json.cut_output(lines, at, after)
        elif text.lstrip().startswith("{") and (rows := _of_jq(lines, at)):
            after = at + len(rows)
            yield _told_of_jq(rows, spanned(lines, at, after))
        at = after


def _of_jq(lines: Sequence[PastedLine], at: int) -> list[Mapping[str, object]]:
    """Return replicas one per line, as filtered by ``jq``."""
    found = []
    for line in lines[at:]:
        text = line.text.strip()
        row = json.loads(text) if _OF_JQ.fullmatch(text) and _is_json(text) else None
        if row is None:
            break
        found.append(row)
    return found


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _told_of_jq(rows: Sequence[Mapping[str, object]], span: LineSpan) -> ToolStatement:
    """Return the statement; broker and log dir are not in these lines."""
    some = [
        ", ".join([str(row.get("partition")), *(f"{name} {json.dumps(row[name])}" for name in row if name != "partition")])
        for row in rows
    ]
    more = f"; and {len(some) - _MOST_OF_JQ} more" if len(some) > _MOST_OF_JQ else ""
    says = f"replicas of a broker and log dir that these lines do not name: {'; '.join(some[:_MOST_OF_JQ])}{more}"
    return ToolStatement(_TOOL, span, says, _SEGMENTS)


def is_beside(text: str) -> bool:
    """Return whether it is decoration by the tool."""
    return len(text) < 4096 and _BESIDE.fullmatch(text) is not None


def _answers(value: object) -> list | None:
    """Return the brokers' rows: all of them, or one that a person has taken out; ``None`` for other JSON."""
    if isinstance(value, list) and value and all(isinstance(row, dict) and "logDirs" in row for row in value):
        return value
    rows = value if isinstance(value, dict) else {}
    if "logDirs" in rows and "broker" in rows:
        return [rows]
    return rows["brokers"] if isinstance(rows.get("brokers"), list) else None


def _is_ours(lines: Sequence[PastedLine], at: int) -> bool:
    return any('"logDirs"' in line.text[:_LONGEST] for line in lines[at : at + 10])


def _brokers(brokers: Sequence[object], span: LineSpan, whole: bool) -> Iterator[Used | ToolStatement]:
    replicas, failed, empty, behind, moving, begun, answered = 0, [], [], [], [], [], {}
    level, settled, usable = 0, 0, 0
    for broker, log_dir in _log_dirs(brokers):
        where = log_dir.get("logDir")
        answered.setdefault(broker, []).append(str(where))
        usable += log_dir.get("error", "") is None
        if isinstance(where, str) and log_dir.get("error"):
            failed.append(f"broker {broker} cannot use {where} ({_error(str(log_dir['error']))})")
        if log_dir.get("partitions") == []:
            empty.append(f"no partition is printed for {where} of broker {broker}")
        for row in _maps(log_dir.get("partitions")):
            name, size, lag = row.get("partition"), row.get("size"), row.get("offsetLag")
            if (
                not isinstance(name, str)
                or log_dir_names.folder(name) is None
                or type(size) is not int
                or not isinstance(where, str)
            ):
                continue
            if row.get("isFuture") is True:
                moving.append(f"{name} on broker {broker} is being moved to {where}, {size} bytes so far{_lag(lag)}")
            elif (whole or "isFuture" in row) and 0 <= size < 2**63:
                replicas += 1
                yield Used(f"{where.rstrip('/')}/{name}", span, size, broker, f"{size} bytes", _TOOL)
                behind += [f"{name} on broker {broker} lags by {lag}"] if type(lag) is int and lag else []
                level += lag == 0 and type(lag) is int
                settled += row.get("isFuture") is False
            else:
                begun.append(f"{name} in {where} of broker {broker} has {size} bytes{_lag(lag)}; its entry is cut")
    asked = ", ".join(f"{broker} ({', '.join(dirs[:_SHOWN])})" for broker, dirs in list(answered.items())[:_SHOWN])
    parts = [part for rows in (failed, empty, moving, behind, begun) for part in _some(rows)]
    parts += [f"error null of {usable} log dir{'' if usable == 1 else 's'}"] if usable else []
    parts += [f"offset lag 0 of {level}"] if level else []
    settling = ": none of these is being moved between log dirs" if whole and not moving else ""
    parts += [f"isFuture false of {settled}{settling}"] if settled else []
    parts += [] if whole else ["its text is cut"]
    sizes = (
        f"sizes of {replicas} replica{'' if replicas == 1 else 's'}, asked of broker{'' if len(answered) == 1 else 's'} {asked}"
    )
    yield ToolStatement(_TOOL, span, "; ".join([*parts, sizes]), _SEGMENTS, bool(failed))


def _error(text: str) -> str:
    """Why a log dir cannot be used, without the package of the exception."""
    found = _ERROR.fullmatch(text.strip())
    return cut(" ".join((found["name"] + found["message"] if found else text).split()).rstrip(". "), _MOST_SAID)


def _some(rows: Sequence[str]) -> list[str]:
    return [*rows[:_SHOWN], *([f"{len(rows) - _SHOWN} more such replicas or log dirs"] if len(rows) > _SHOWN else [])]


def _lag(lag: object) -> str:
    return f", {lag} records behind" if type(lag) is int else ""


def _log_dirs(brokers: Sequence[object]) -> Iterator[tuple[int, Mapping[str, object]]]:
    for row in _maps(brokers):
        if type(row.get("broker")) is int:
            yield from ((row["broker"], log_dir) for log_dir in _maps(row.get("logDirs")))


def _maps(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
