"""Lines of thread dumps: ``jstack``, ``jcmd Thread.print``, ``kill -3``.

A thread missing in a complete dump did not exist: it starts with ``Full thread dump``, ends with ``JNI global refs``, without
interruption. From Java 10 on it also has the number of threads (``_java_thread_list ... length=56``). Source:
``src/hotspot/share/runtime/vmOperations.cpp`` and ``thread.cpp@jdk-17``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.hosts import locks
from casebook.formats.pasted.hosts.host import LONGEST, placed
from casebook.formats.pasted.text import PastedLine, spanned

_TAKEN = re.compile(r"\s*(?P<taken>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_BEGIN = re.compile(r"\s*Full thread dump (?P<java>.{1,200}?):?\s*")
_THREAD = re.compile(
    r'\s{0,8}"?(?P<name>[^"]{1,300})"(?=.*(?:\btid=|\bnid=|\bprio=|\bos_prio=)|\s#\d+\s*$|\sId=\d+\s+[A-Z_]{3,20}\b).*'
)
_AT_HEAD = re.compile(
    r".*\bnid=\S+\s+(?P<state>[a-z][A-Za-z .()]*?)(?:\s+\[[^\]]*\]?)?\s*",
)
"""State on the first line of a thread; it may be missing on a cut one."""
_STATE = re.compile(r"\s*java\.lang\.Thread\.State: (?P<state>[A-Z_]{3,20})(?: \((?P<how>[^)]*)\))?\s*")
_FRAME = re.compile(r"\s*at (?P<frame>[\w.$<>/@-]+)\((?:.*?(?P<place>[\w$]+\.\w+:\d+)|.*)\)\s*")
_CUT_FRAME = re.compile(r"\s*at (?P<frame>[\w.$<>/@-]+)(?:\([^)]*)?")
_RELEASE = re.compile(r"\(java\.base@(?P<release>[\d.]+)/")
_WITHIN = re.compile(
    r"\s*(?:- +(?:blocked on|waiting on) [\w.$]+@[0-9a-f]+(?: +at \S+\(.*\))?|Number of locked synchronizers = \d+"
    r"|- (?:waiting to re-lock|eliminated|<0x[0-9a-f]+>|None|locked).*"
    r"|Locked ownable synchronizers:"
    r"|No compile task|Compiling: .*|Threads class SMR info:|_java_thread_list=.*|0x[0-9a-f]+(?:, 0x[0-9a-f]+)*,?|\}"
    r"|_to_delete_list=.*|next-> .*|JVMTI .*|Carrying virtual thread .*|\d{1,8}:|Mounted virtual thread .*)\s*"
)
_LENGTH = re.compile(r"_java_thread_list=0x[0-9a-f]+, length=(?P<length>\d{1,6}), .*")
_OF_JAVA = re.compile(r'\s{0,8}"[^"]*" #\d+ .*')
_END = re.compile(r"\s*JNI global ref(?:s|erences): \d+.*")
_PART_OF_DEADLOCK = re.compile(r'\s{0,8}"[^"]{1,300}":\s*')
_WAITS_FOR = re.compile(
    r"\s*waiting (?:to lock monitor|for ownable synchronizer|for) (?P<lock>0x[0-9a-f]+),?(?: \("
    r"(?P<what>[^)]*)\))?.*"
)
_DEADLOCK = re.compile(r"\s*Found (?:one Java-level deadlock:|(?P<found>\d+) deadlocks?\.)\s*")
_OF_DEADLOCK = re.compile(
    r'\s*(?:=+|"(?P<name>[^"]+)":|waiting (?:to lock|for) .*|(?:in JNI, )?which is held by (?:"(?P<holder>[^"]+)")?.*'
    r"|Java stack information for the threads listed above:)\s*"
)
_HEAP = re.compile(
    r"\s*Heap\s*|\s+(?:[\w ()-]+\s+total \d+K|region size|eden|from|to|object space|class space|Metaspace|the space|PSYoungGen).*"
)
_OWN_FRAME = re.compile(r"(?:org\.apache\.)?kafka\.(?!.*Lambda\$)")
_NAMELESS = "a thread whose name was not pasted"
_MOST_CALLERS, _MOST_DUMPS = 6, 50


@dataclass(slots=True)
class Thread:
    """A thread in a dump, as far as printed.

    Args:
        name: Its name.
        line: Its first line.
        state: Of its second line, e.g. ``BLOCKED``.
        frames: Its stack, the innermost first.
        places: File and line of a frame.
        waits: What the lock is that it waits for, and its owner.
        lock: The lock that it waits for.
        awaits: What it is parked on, in a sentence.
        waits_on: The object that it is parked on.
        holds: Locks that it holds, with what they are.
        at_head: State on its first line.
        number: Its id, in the form of ``ThreadInfo``.
    """

    name: str
    line: PastedLine
    state: str = ""
    frames: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    waits: str = ""
    lock: str = ""
    awaits: str = ""
    waits_on: str = ""
    holds: dict[str, str] = field(default_factory=dict)
    at_head: str = ""
    number: str = ""

    @property
    def told(self) -> str:
        """State as printed: below its first line, or on it."""
        return self.state or self.at_head

    @property
    def doing(self) -> str:
        """State, and location."""
        top = self.frames[0] if self.frames else ""
        own = [*dict.fromkeys(frame for frame in self.frames[1:] if _OWN_FRAME.match(frame))][:_MOST_CALLERS]
        is_next = own[:1] == self.frames[1:2]
        where = f" in {self._placed(top)}" if top else ""
        callers = f", {'' if is_next else 'further up '}called by {', by '.join(map(self._placed, own))}" if own else ""
        return f"{self.told or 'in no state that was pasted'}{where}{callers}"

    def _placed(self, frame: str) -> str:
        """A frame with its line in the source, if printed."""
        return f"{frame} ({self.places[frame]})" if frame in self.places else frame


@dataclass(slots=True)
class PastedDump:
    """A thread dump, as far as printed.

    Args:
        begin: Index of its first line.
        broker: Broker of the heading above.
        taken: Time as printed.
        java: Release of Java, of its first line.
        release: Release of Java, of a frame.
        has_begin: It has its first line.
        has_end: It has its last line.
        holed: Lines are missing within.
        length: Stated number of threads.
        of_java: Number of Java's threads in it.
        threads: Its threads, in order.
        deadlocked: Threads of a deadlock.
        has_deadlock: It reports a deadlock.
        counted: Reported number of deadlocks.
        waits_last: The thread of a deadlock that was read last.
        held_by: Holder of what a thread of a deadlock waits for.
        waits_for: What a thread of a deadlock waits for.
    """

    begin: int
    broker: int | None
    taken: str = ""
    java: str = ""
    release: str = ""
    has_begin: bool = False
    has_end: bool = False
    holed: bool = False
    length: int | None = None
    of_java: int = 0
    threads: list[Thread] = field(default_factory=list)
    deadlocked: list[str] = field(default_factory=list)
    has_deadlock: bool = False
    counted: str = ""
    waits_last: str = ""
    held_by: dict[str, str] = field(default_factory=dict)
    waits_for: dict[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether a missing thread did not exist."""
        return self.has_begin and self.has_end and not self.holed and self.length in (None, self.of_java)

    @property
    def names(self) -> list[str]:
        """Names of its threads."""
        return [thread.name for thread in self.threads]


def read(lines: Sequence[PastedLine]) -> Iterator[tuple[PastedDump, LineSpan]]:
    """Yield every dump with its lines; threads pasted alone form a cut one."""
    at, found = 0, 0
    whose = {here.at: here.broker for here in placed(lines)}
    while at < len(lines):
        text = lines[at].text[:LONGEST]
        begins = '"' in text and _THREAD.fullmatch(text)
        is_deadlock = _DEADLOCK.fullmatch(text) or _is_part_of_deadlock(lines, at)
        is_headless = "Thread.State" in text and _STATE.fullmatch(text) is not None
        if not (begins or is_deadlock or is_headless or ("Full thread dump" in text and _BEGIN.fullmatch(text))):
            at += 1
            continue
        dump = PastedDump(at, whose.get(at), has_deadlock=is_deadlock is True)
        dump.threads += [Thread(_NAMELESS, lines[at])] * is_headless
        if not begins and at and (taken := _TAKEN.fullmatch(lines[at - 1].text)):
            dump.begin, dump.taken = at - 1, taken["taken"]
        after = _read(lines, at, dump)
        if (dump.threads or dump.has_begin or dump.has_deadlock) and found < _MOST_DUMPS:
            found += 1
            yield dump, spanned(lines, dump.begin, after)
        at = max(after, at + 1)


def _is_part_of_deadlock(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line starts a part of a deadlock report without its first line: a name, and what it waits for."""
    following = lines[at + 1].text[:LONGEST] if at + 1 < len(lines) else ""
    text = lines[at].text
    is_name = '"' in text and len(text) < LONGEST and _PART_OF_DEADLOCK.fullmatch(text) is not None
    return is_name and _WAITS_FOR.fullmatch(following) is not None


def _read(lines: Sequence[PastedLine], at: int, dump: PastedDump) -> int:
    """Add the lines of a dump; return its end."""
    last = at
    for index in range(at, len(lines)):
        text = lines[index].text
        if not text or text == "--":
            dump.holed |= bool(text)  # grep's, where it has left lines out
            continue
        if len(text) > LONGEST or (index > at and _begins_next(text, dump)):
            return last + 1
        if not _takes(dump, lines[index]):
            dump.holed |= not dump.has_end
            return index + 1 if _is_cut_frame(dump, lines, index) else last + 1
        last = index
    return last + 1


def _is_cut_frame(dump: PastedDump, lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line is the cut frame at the end of a paste, and add it."""
    found = _CUT_FRAME.fullmatch(lines[at].text)
    if found is None or not dump.threads or any(line.text for line in lines[at + 1 :]):
        return False
    dump.threads[-1].frames.append(f"{found['frame']} (cut off there)")
    return True


def _begins_next(text: str, dump: PastedDump) -> bool:
    is_second = dump.has_begin or bool(dump.threads)
    return bool((is_second and _BEGIN.fullmatch(text)) or (dump.has_end and _THREAD.fullmatch(text)))


def _takes(dump: PastedDump, line: PastedLine) -> bool:
    """Return whether a line belongs to the dump, and add it."""
    text, thread = line.text, dump.threads[-1] if dump.threads else None
    if begin := _BEGIN.fullmatch(text):
        dump.has_begin, dump.java = True, begin["java"]
    elif found := _THREAD.fullmatch(text):
        head = _AT_HEAD.fullmatch(text)
        by_id = locks.BY_ID.fullmatch(text)
        dump.threads.append(Thread(found["name"], line, at_head=head["state"].strip() if head else ""))
        if by_id:
            dump.threads[-1].state = by_id["state"]
            dump.threads[-1].lock = by_id["lock"] or ""
            dump.threads[-1].waits = f"owned by {by_id['owner']}, Id {by_id['by']}" if by_id["owner"] else ""
            dump.threads[-1].number = by_id["id"]
        dump.of_java += _OF_JAVA.fullmatch(text) is not None
    elif _END.fullmatch(text):
        dump.has_end = True
    elif deadlock := _DEADLOCK.fullmatch(text):
        dump.has_deadlock, dump.counted = True, deadlock["found"] or dump.counted
    elif (dump.has_deadlock or dump.has_end) and (of := _OF_DEADLOCK.fullmatch(text)):
        if of["name"]:
            dump.waits_last = of["name"]
            dump.deadlocked += [of["name"]] if of["name"] not in dump.deadlocked else []
        elif of["holder"] and dump.waits_last:
            dump.held_by[dump.waits_last] = of["holder"]
        elif dump.waits_last and (waits := _WAITS_FOR.fullmatch(text)):
            dump.waits_for[dump.waits_last] = f"{waits['lock']} ({waits['what']})" if waits["what"] else waits["lock"]
    elif dump.has_end:
        return _HEAP.match(text) is not None or _FRAME.fullmatch(text) is not None or _is_lock(text)
    elif thread is not None and (state := _STATE.fullmatch(text)):
        if thread.frames or thread.state:
            dump.threads.append(thread := Thread(_NAMELESS, line))
        thread.state = state["state"]
    elif thread is not None and (frame := _FRAME.fullmatch(text)):
        dump.release = dump.release or ((release := _RELEASE.search(text)) is not None and release["release"]) or ""
        thread.frames.append(name := frame["frame"].rpartition("/")[2])
        if frame["place"]:
            thread.places.setdefault(name, frame["place"])
    elif thread is not None and (waits := locks.WAITS.fullmatch(text)):
        thread.lock, thread.waits = waits["lock"] or waits["object"], waits["what"] or ""
        thread.waits += f", owned by {waits['owner']}" if waits["owner"] else ""
    elif thread is not None and (awaits := locks.AWAITS.fullmatch(text)):
        thread.waits_on = awaits["lock"]
        thread.awaits = f"{awaits['how']} {awaits['lock']}" + (f" ({awaits['what']})" if awaits["what"] else "")
    elif thread is not None and (holds := locks.HOLDS.fullmatch(text)):
        thread.holds[holds["lock"] or holds["object"]] = holds["what"] or ""
    elif length := _LENGTH.fullmatch(text.strip()):
        dump.length = int(length["length"])
    else:
        return _WITHIN.fullmatch(text) is not None or (
            dump.has_deadlock and (_FRAME.fullmatch(text) is not None or _is_lock(text))
        )
    return True


def _is_lock(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in (locks.WAITS, locks.AWAITS, locks.HOLDS, _WITHIN))
