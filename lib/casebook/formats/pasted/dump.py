"""Output of ``dump`` of a ZooKeeper server: sessions with their timeouts, and the ephemeral nodes that each of them holds.

It also names the registered brokers and the holder of ``/controller``. Source: ``command/DumpCommand.java@release-3.8.4``,
``DataTree.java@release-3.4.6, 3.8.4`` (``dumpEphemerals``), ``SessionTrackerImpl.java@release-3.8.4`` (``dumpSessions``).
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedZnode, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.znodes import Stat
from casebook.formats.pasted.text import PastedLine, is_end, is_remark, spanned
from casebook.formats.pasted.tools.zookeeper import kafka_path

_SESSION = r"0x[0-9a-f]{6,16}"
_DUMP = re.compile(r".*(?:SessionTracker dump:|ephemeral nodes dump:|Sessions with Ephemerals \(\d{1,9}\):).*")
_OF_DUMP = re.compile(
    rf"\s*(?:{_SESSION}:?(?:\s.*)?|/\S+(?:\s+/\S+)*|org\.apache\.zookeeper\.\S+@[0-9a-f]+|\d{{1,9}} expire"
    rf" at .*|(?:Global |Local )?Sess\w+ ?(?:Sets )?\(.*|ip: .*"
    r"|SessionTracker dump:|ephemeral nodes dump:|Sessions with Ephemerals .*|Connections (?:dump|Sets).*)\s*"
)
_PART = re.compile(
    rf".*(?:dump:|Sessions with Ephemerals|Sess\w+ ?(?:Sets )?\(|Connections Sets)|\s*{_SESSION}:?\s*$|\d+ expire at"
)
_EPHEMERALS = re.compile(r".*?Sessions with Ephemerals \((?P<sessions>\d{1,9})\):(?P<rest>.*)")
_HOLDS = re.compile(rf"(?P<session>{_SESSION}):|(?P<path>/\S+?)(?=\s|$|{_SESSION}:)")
_GLOBAL = re.compile(rf"\s*(?P<session>{_SESSION})\s+(?P<timeout>\d{{1,9}}) ?ms\s*")
_COUNT = re.compile(r"\s*(?P<what>(?:Global |Local )?Sessions) ?\((?P<count>\d{1,9})\):?\s*")
_SETS = re.compile(r"\s*(?P<what>Session Sets|Connections Sets) \((?P<count>\d{1,9})\)(?:/\((?P<of>\d{1,9})\))?:?\s*")
_EXPIRES = re.compile(r"\s*(?P<count>\d{1,9}) expire at (?P<when>.*?):?\s*")
_OF_SET = re.compile(rf"\s*(?P<session>{_SESSION})\s*")
_CONNECTED = re.compile(r"\s*ip: /?(?P<address>\S+) sessionId: (?P<session>0x[0-9a-f]+)\s*")
_LONGEST, _MOST, _MOST_TOLD = 64 << 10, 5000, 200
_WHO_LIVES = "who is registered tells `ls /brokers/ids`, or `echo dump | nc HOST 2181`"
_ALL_BITS = (1 << 64) - 1
_Held = Sequence[tuple[int, str | None, int]]


def begins(text: str) -> bool:
    """Whether a line begins a dump, or the part of it that is there."""
    return ("dump:" in text or "Ephemerals" in text) and _DUMP.fullmatch(text) is not None


def told(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[PastedZnode | ToolStatement], int]:
    """Sessions and their ephemeral nodes; also where line ends were lost on the way."""
    after = _of_dump(lines, at)
    begin = next((index for index in range(at, after) if _EPHEMERALS.fullmatch(lines[index].text)), None)
    whole_span = spanned(lines, at, after)
    if begin is None:
        says = "sessions of a ZooKeeper server; which ephemeral nodes they hold is not in these lines"
        says = "; ".join((says, *_sessions(lines[at:after], ())))
        return (ToolStatement("ZooKeeper's dump", whole_span, says, _WHO_LIVES),), after
    head = _EPHEMERALS.fullmatch(lines[begin].text)
    texts = [(lines[begin].number, head["rest"]), *((line.number, line.text) for line in lines[begin + 1 : after])]
    held = list(_held(texts))
    sessions = len({session for session, _, _ in held})
    ended = is_end(lines, after) or any("Connections dump" in line.text for line in lines[begin:after])
    whole = sessions == int(head["sessions"]) and ended
    kafka = list(of_kafka(held, whole_span if whole else None))
    none = f"{head['sessions']} sessions with ephemeral nodes" + (": no broker is registered" if whole else "")
    counted = (
        none if head["sessions"] == "0" else "" if kafka else "no broker of Kafka's among the ephemeral nodes that were pasted"
    )
    holders = _some([f"{session & _ALL_BITS:#x}" for session, path, _ in held if path is None])
    counted = counted or f"{head['sessions']} sessions with ephemeral nodes: {holders}"
    says = "; ".join(filter(None, (counted, of_others(held), *_sessions(lines[at:after], held))))
    return (*kafka, ToolStatement("ZooKeeper's dump", whole_span, says)), after


def of_others(held: _Held) -> str:
    """Ephemeral nodes of others than Kafka's brokers, each with the session that holds it."""
    rows = [f"{path} of {session & _ALL_BITS:#x}" for session, path, _ in held if path and kafka_path(path) is None]
    return f"ephemeral nodes of others: {_some(rows)}" if rows else ""


def _sessions(lines: Sequence[PastedLine], held: _Held) -> Iterator[str]:
    """Sessions with their timeouts, those that hold nothing, and connections, as far as they were pasted."""
    for line in lines:
        if count := _COUNT.fullmatch(line.text[:_LONGEST]):
            yield f"{count['what'].lower()}: {count['count']}"
    found = [row for line in lines if (row := _GLOBAL.fullmatch(line.text[:_LONGEST]))]
    if found:
        yield f"sessions with their timeouts: {_some([f'{row[1]} {row[2]} ms' for row in found])}"
    holding = {session for session, path, _ in held if path}
    idle = [row["session"] for row in found if int(row["session"], 16) not in holding] if held else []
    if idle:
        yield f"without ephemeral nodes: {_some(idle)}"
    yield from _sets(lines)
    clients = [row for line in lines if (row := _CONNECTED.fullmatch(line.text[:_LONGEST]))]
    if clients:
        yield f"connections: {_some([f'{row[1]} of session {row[2]}' for row in clients])}"


def _sets(lines: Sequence[PastedLine]) -> Iterator[str]:
    """Yield how many sessions or connections expire at each time, with those that are named below it; times as printed."""
    what, rows = "", []
    for line in lines:
        text = line.text[:_LONGEST]
        if (head := _SETS.fullmatch(text)) or _EPHEMERALS.fullmatch(text):
            yield from ((f"{what}: {_some(rows)}",) if rows else ())
            of = f" of {head['of']}" if head and head["of"] else ""
            what, rows = (f"{head['what'].lower()}: {head['count']}{of}" if head else ""), []
        elif expires := _EXPIRES.fullmatch(text):
            rows.append(f"{expires['count']} expire at {expires['when']}")
        elif rows and what and (one_of := _OF_SET.fullmatch(text) or _CONNECTED.fullmatch(text)):
            rows[-1] += f" ({one_of['session']})"
    yield from ((f"{what or 'sets'}: {_some(rows)}",) if rows else ())


def _some(rows: Sequence[str]) -> str:
    return ", ".join(rows[:_MOST_TOLD]) + (f" and {len(rows) - _MOST_TOLD} more" if len(rows) > _MOST_TOLD else "")


def _of_dump(lines: Sequence[PastedLine], at: int) -> int:
    """Where a dump ends: empty lines and remarks between its parts are borne, where what follows is surely of it."""
    last = at
    for index in range(at + 1, min(len(lines), at + _MOST)):
        text = lines[index].text
        if text and not is_remark(text):
            if len(text) >= _LONGEST or not _OF_DUMP.fullmatch(text):
                break
            if index > last + 1 and not _PART.match(text) and not _PART.match(lines[last].text):
                break
            last = index
    return last + 1


def _held(texts: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str | None, int]]:
    """Session, path and line: one without path for each session as it begins."""
    session = None
    for number, text in texts:
        if text.strip().startswith("Connections"):
            return
        for found in _HOLDS.finditer(text):
            if found["session"]:
                session = int(found["session"], 16)
                yield session, None, number
            elif session is not None:
                yield session, found["path"], number


def of_kafka(held: Sequence[tuple[int, str | None, int]], whole: LineSpan | None) -> Iterator[PastedZnode]:
    """Yield Kafka's znodes, each with its session; a complete output also has registered brokers, or no controller."""
    ids: dict[str, list[str]] = {}
    controllers: set[str] = set()
    for session, path, number in held:
        if path is None or (place := kafka_path(path)) is None:
            continue
        owner = Stat(ephemeralOwner=session - (1 << 64) if session >= 1 << 63 else session)
        yield PastedZnode(path, LineSpan(number, number), stat=owner)
        if place[1].startswith("/brokers/ids/"):
            ids.setdefault(place[0], []).append(path.rpartition("/")[2])
        elif place[1] == "/controller":
            controllers.add(place[0])
    for chroot, names in ids.items() if whole else ():
        yield PastedZnode(f"{chroot}/brokers/ids", whole, children=tuple(names))
        if chroot not in controllers:
            yield PastedZnode(f"{chroot}/controller", whole, there=False)
