"""Each way of :mod:`tests.degraded.removals`, carried out on a copy of a case."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import zstandard

from casebook.case.folder import HISTORY
from casebook.facts.events import is_log
from casebook.facts.proofs import ZNODES
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.formats.zookeeper import history_lines, time_machine, znode_lines
from casebook.formats.zookeeper.history_lines import BEGIN
from tests.case_copies import CaseCopy, packed, unpacked
from tests.degraded.removals import Removal
from tests.shifted_logs import shift
from tests.unreadable import lesser

_ENTRY = re.compile(rb"^\[?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})", re.MULTILINE)
_FORMAT = "%Y-%m-%d %H:%M:%S,%f"
_HOUR, _QUARTER = 3600, 900


def take(copy: CaseCopy, removal: Removal) -> bool:
    """Carry it out; whether there was something to take it from."""
    special = _WAYS.get((removal.way, removal.kind))
    try:
        if special is not None:
            return special(copy, removal)
        if removal.kind == "logs" and removal.way in lesser.SAME:
            return lesser.rewrite(copy, removal.way)
        return lesser.degrade(copy, removal.kind, removal.way, removal.of or None)
    except (zstandard.ZstdError, ValueError):  # what an earlier removal has made unreadable
        return False


def _file(copy: CaseCopy, removal: Removal) -> bool:
    if removal.of not in copy.paths:
        return False
    copy.remove(removal.of)
    return True


def _subtree(copy: CaseCopy, removal: Removal) -> bool:
    def within(path: str) -> bool:
        return path == removal.of or path.startswith(f"{removal.of}/")

    rows = [znode_lines.decode(line) for line in unpacked(copy.read(ZNODES)).splitlines()] if ZNODES in copy.paths else []
    if not any(within(row.path) and row.outcome is ReadOutcome.READ for row in rows):
        return False
    kept = [row for row in rows if not within(row.path)]
    _store_znodes(copy, [*kept, Znode(path=removal.of, outcome=ReadOutcome.DENIED)])
    copy.not_collected(removal.of, "its ACL forbids reading")
    return True


def _store_znodes(copy: CaseCopy, rows: list[Znode]) -> None:
    lines = (znode_lines.encode(row) for row in sorted(rows, key=lambda row: row.path))
    copy.store(ZNODES, packed("".join(f"{line}\n" for line in lines).encode()))


def _dated(content: bytes) -> list[tuple[datetime, int]]:
    """When each entry of a log was written, as printed, and where it begins."""
    return [(datetime.strptime(match[1].decode(), _FORMAT), match.start()) for match in _ENTRY.finditer(content)]


def _logs_of(copy: CaseCopy, broker: str) -> list[str]:
    return [path for path in copy.paths if is_log(path) and path.startswith(f"brokers/{broker}/" if broker else "")]


def _moment(copy: CaseCopy, paths: list[str], percent: str) -> datetime | None:
    times = [time for path in paths for time, _ in _dated(copy.read(path))]
    return min(times) + (max(times) - min(times)) * int(percent) / 100 if times else None


def _logs_in_part(copy: CaseCopy, removal: Removal) -> bool:
    percent, _, broker = removal.of.partition(" of ")
    paths = _logs_of(copy, broker)
    moment = _moment(copy, paths, percent)
    for path in paths if moment else ():
        content = copy.read(path)
        at = next((start for time, start in _dated(content) if time > moment), len(content))
        copy.store(path, content[:at] if removal.way == "older" else content[at:])
    return moment is not None


def _changes(copy: CaseCopy) -> list[ZnodeChange]:
    return list(history_lines.decode(unpacked(copy.read(HISTORY)).splitlines())) if HISTORY in copy.paths else []


def _store_changes(copy: CaseCopy, changes: list[ZnodeChange]) -> bool:
    copy.store(HISTORY, packed("".join(f"{line}\n" for one in changes for line in history_lines.encode(one)).encode()))
    return True


def part_of(changes: list[ZnodeChange], percent: str) -> int:
    """The moment at a part of the history, epoch ms."""
    first, last = changes[0].time, changes[-1].time
    return first + (last - first) * int(percent) // 100


def _beginning(changes: list[ZnodeChange], time: int) -> ZnodeChange:
    """What a snapshot holds that was made after these changes."""
    known: dict[str, Znode] = {}
    for change in changes:
        known = {} if change.operation == BEGIN else known
        known |= {znode.path: znode for znode in change.znodes}
    there = tuple(known[path] for path in sorted(known) if known[path].outcome is not ReadOutcome.MISSING)
    return ZnodeChange(changes[-1].zxid, time, None, BEGIN, None, there)


def _history_in_part(copy: CaseCopy, removal: Removal) -> bool:
    if not (changes := _changes(copy)):
        return False
    moment = part_of(changes, removal.of)
    before = [change for change in changes if change.time <= moment]
    if removal.way == "older":
        return _store_changes(copy, before)
    after = changes[len(before) :]
    return _store_changes(copy, [_beginning(before, after[0].time if after else moment), *after])


def _snapshots(copy: CaseCopy, removal: Removal) -> bool:
    if not (changes := _changes(copy)):
        return False
    places = sorted({len(changes) * turn // int(removal.of) for turn in range(1, int(removal.of) + 1)} - {0})
    return _store_changes(copy, [_beginning(changes[:place], changes[place - 1].time) for place in places])


def _earlier_znodes(copy: CaseCopy, removal: Removal) -> bool:
    if not (changes := _changes(copy)) or ZNODES not in copy.paths:
        return False
    _store_znodes(copy, list(time_machine.znodes(changes, part_of(changes, removal.of))))
    return True


def _swapped(copy: CaseCopy, removal: Removal) -> bool:
    one, other = removal.of.split()
    if not (_logs_of(copy, one) and _logs_of(copy, other)):
        return False
    moved = {}
    for owner, to in ((one, other), (other, one)):
        for path in _logs_of(copy, owner):
            moved[path.replace(f"brokers/{owner}/", f"brokers/{to}/", 1)] = copy.read(path)
            copy.remove(path)
    for path, content in sorted(moved.items()):
        copy.store(path, content)
    return bool(moved)


def _ahead(copy: CaseCopy, removal: Removal) -> bool:
    seconds, _, broker = removal.of.partition(" of ")
    if int(seconds) % _QUARTER:
        _stamp(copy, int(broker), int(seconds) * 1000)
    return _shifted(copy, broker, float(seconds), None)


def _stamp(copy: CaseCopy, broker: int, ms: int) -> None:
    """What a broker writes into its znodes bears the clock of its log, unless they differ by a zone."""

    def shifted(znode: Znode) -> Znode:
        if znode.path not in (f"/brokers/ids/{broker}", "/controller") or not znode.data:
            return znode
        told = json.loads(znode.data)
        if told.get("brokerid", broker) != broker or "timestamp" not in told:
            return znode
        return znode._replace(data=json.dumps(told | {"timestamp": str(int(told["timestamp"]) + ms)}).encode())

    if ZNODES in copy.paths:
        _store_znodes(copy, [shifted(znode_lines.decode(line)) for line in unpacked(copy.read(ZNODES)).splitlines()])
    if changes := _changes(copy):
        _store_changes(copy, [one._replace(znodes=tuple(map(shifted, one.znodes))) for one in changes])


def _hour_changed(copy: CaseCopy, removal: Removal) -> bool:
    percent, _, broker = removal.of.partition(" of ")
    since = _moment(copy, _logs_of(copy, broker), percent)
    return since is not None and _shifted(copy, broker, _HOUR if removal.way == "summer" else -_HOUR, since)


def _shifted(copy: CaseCopy, broker: str, seconds: float, since: datetime | None) -> bool:
    paths = _logs_of(copy, broker)
    for path in paths:
        copy.store(path, shift(copy.read(path), timedelta(seconds=seconds), since))
    return bool(paths)


def _interleaved(copy: CaseCopy, removal: Removal) -> bool:
    """The lines of both by their time, in the file of the first."""
    one, other = (f"brokers/{broker}/logs/server.log" for broker in removal.of.split())
    if not {one, other} <= set(copy.paths):
        return False
    entries = sorted((*_entries(copy.read(one)), *_entries(copy.read(other))), key=lambda entry: entry[0])
    copy.store(one, b"".join(text for _, text in entries))
    copy.remove(other)
    return True


def _entries(content: bytes) -> Iterator[tuple[datetime, bytes]]:
    dated = _dated(content)
    ends = [start for _, start in dated[1:]] + [len(content)]
    for (time, start), end in zip(dated, ends, strict=True):
        yield time, content[start:end]


_WAYS: dict[tuple[str, str], Callable[[CaseCopy, Removal], bool]] = {
    ("left out", "file"): _file,
    ("denied", "subtree"): _subtree,
    ("older", "logs"): _logs_in_part,
    ("newer", "logs"): _logs_in_part,
    ("older", "history"): _history_in_part,
    ("newer", "history"): _history_in_part,
    ("snapshots", "history"): _snapshots,
    ("at", "znodes"): _earlier_znodes,
    ("swapped", "logs"): _swapped,
    ("ahead", "clock"): _ahead,
    ("summer", "clock"): _hour_changed,
    ("winter", "clock"): _hour_changed,
    ("interleaved", "server.log"): _interleaved,
}
