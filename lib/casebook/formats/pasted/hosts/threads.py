"""Thread dumps of a broker: ``jstack``, ``jcmd Thread.print``, ``kill -3``.

A thread missing in a complete dump did not exist: it starts with ``Full thread dump``, ends with ``JNI global refs``, without
interruption. From Java 10 on it also has the number of threads (``_java_thread_list ... length=56``). Source:
``src/hotspot/share/runtime/vmOperations.cpp`` and ``thread.cpp@jdk-17``. Names of threads: ``LogCleaner.scala``,
``GroupMetadataManager.scala``, ``KafkaRequestHandler.scala``, ``SocketServer.scala@0.9.0.1, 2.8.2, 3.9.0``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from casebook.facts.pasted_hosts import HostSaid, LineSpan, ThreadDump
from casebook.formats.pasted.hosts import locks
from casebook.formats.pasted.hosts.host import LONGEST, placed
from casebook.formats.pasted.text import PastedLine, one, spanned
from casebook.formats.zookeeper import znodes

_TAKEN = re.compile(r"\s*(?P<taken>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_BEGIN = re.compile(r"\s*Full thread dump (?P<java>.{1,200}?):?\s*")
_THREAD = re.compile(
    r'\s{0,8}"(?P<name>[^"]{1,300})"(?=.*(?:\btid=|\bnid=|\bprio=|\bos_prio=)|\s#\d+\s*$|\sId=\d+\s+[A-Z_]{3,20}\b).*'
)
_AT_HEAD = re.compile(
    r".*\bnid=\S+\s+(?P<state>[a-z][A-Za-z .()]*?)(?:\s+\[[^\]]*\]?)?\s*",
)
"""State on the first line of a thread; it may be missing on a cut one."""
_SPENT = re.compile(r"\b(?P<what>cpu|elapsed|nid)=(?P<amount>[\d.,]+m?s|0x[0-9a-f]+|\d+)\b")
_STATE = re.compile(r"\s*java\.lang\.Thread\.State: (?P<state>[A-Z_]{3,20})(?: \((?P<how>[^)]*)\))?\s*")
_FRAME = re.compile(r"\s*at (?P<frame>[\w.$<>/@-]+)\((?:.*?(?P<place>[\w$]+\.\w+:\d+)|.*)\)\s*")
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
_OF_BROKERS = re.compile(
    r"(?:data-plane-|control-plane-)?kafka-(?:request-handler|network-thread|socket-acceptor)-.*|kafka-log-cleaner-thread-\d+"
    r"|kafka-scheduler-\d+"
    r"|ReplicaFetcherThread-\d+-\d+|group-metadata-manager-\d+|LogDirFailureHandler|controller-event-thread"
    r"|ExpirationReaper-\d+-.*"
)
_ITS_BROKER = re.compile(
    r"ExpirationReaper-(?P<reaper>\d{1,9})-.*|broker-(?P<own>\d{1,9})-to-controller-.*"
    r"|(?:data-plane-|control-plane-)?kafka-network-thread-(?P<network>\d{1,9})-.*"
)
_CLEANER = re.compile(r"kafka-log-cleaner-thread-\d+")
_OWN_FRAME = re.compile(r"(?:org\.apache\.)?kafka\.(?!.*Lambda\$)")
_HANDLER = re.compile(r"(?:data-plane-)?kafka-request-handler-\d+")
_LOADER = re.compile(r"group-metadata-manager-\d+")
_LOADS = re.compile(r".*GroupMetadataManager\S*\.\S*(?:load\w*Group|loadGroups|doLoadGroups)\S*", re.IGNORECASE)
_GROUPS = (
    ("network threads were", re.compile(r"(?:data-plane-|control-plane-)?kafka-network-thread-.*")),
    ("fetchers of replicas were", re.compile(r"ReplicaFetcherThread-\d+-\d+")),
    ("threads of the controller were", re.compile(r"controller-event-thread|Controller-\d+-to-broker-\d+-send-thread")),
    ("threads that load groups were", _LOADER),
)
_NAMELESS = "a thread whose name was not pasted"
_SHOWN, _FEW, _MOST_CALLERS, _MOST_DUMPS, _MOST_NAMED = 8, 3, 6, 50, 24


@dataclass(slots=True)
class _Thread:
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
        own = [frame for frame in self.frames[1:] if _OWN_FRAME.match(frame)]
        where = f" in {self._placed(top)}" if top else ""
        callers = f", called by {', by '.join(map(self._placed, [*dict.fromkeys(own)][:_MOST_CALLERS]))}" if own else ""
        return f"{self.told or 'in no state that was pasted'}{where}{callers}"

    def _placed(self, frame: str) -> str:
        """A frame with its line in the source, if printed."""
        return f"{frame} ({self.places[frame]})" if frame in self.places else frame


@dataclass(slots=True)
class _Dump:
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
    threads: list[_Thread] = field(default_factory=list)
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


def dumps(lines: Sequence[PastedLine]) -> Iterator[ThreadDump | HostSaid]:
    """Yield every dump; threads pasted alone form a cut one."""
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
        dump = _Dump(at, whose.get(at), has_deadlock=is_deadlock is True)
        dump.threads += [_Thread(_NAMELESS, lines[at])] * is_headless
        if not begins and at and (taken := _TAKEN.fullmatch(lines[at - 1].text)):
            dump.begin, dump.taken = at - 1, taken["taken"]
        after = _read(lines, at, dump)
        if (dump.threads or dump.has_begin or dump.has_deadlock) and found < _MOST_DUMPS:
            found += 1
            yield from _said(dump, spanned(lines, dump.begin, after))
        at = max(after, at + 1)


def _is_part_of_deadlock(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line starts a part of a deadlock report without its first line: a name, and what it waits for."""
    following = lines[at + 1].text[:LONGEST] if at + 1 < len(lines) else ""
    text = lines[at].text
    is_name = '"' in text and len(text) < LONGEST and _PART_OF_DEADLOCK.fullmatch(text) is not None
    return is_name and _WAITS_FOR.fullmatch(following) is not None


def _read(lines: Sequence[PastedLine], at: int, dump: _Dump) -> int:
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
            return last + 1
        last = index
    return last + 1


def _begins_next(text: str, dump: _Dump) -> bool:
    is_second = dump.has_begin or bool(dump.threads)
    return bool((is_second and _BEGIN.fullmatch(text)) or (dump.has_end and _THREAD.fullmatch(text)))


def _takes(dump: _Dump, line: PastedLine) -> bool:
    """Return whether a line belongs to the dump, and add it."""
    text, thread = line.text, dump.threads[-1] if dump.threads else None
    if begin := _BEGIN.fullmatch(text):
        dump.has_begin, dump.java = True, begin["java"]
    elif found := _THREAD.fullmatch(text):
        head = _AT_HEAD.fullmatch(text)
        by_id = locks.BY_ID.fullmatch(text)
        dump.threads.append(_Thread(found["name"], line, at_head=head["state"].strip() if head else ""))
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
            dump.threads.append(thread := _Thread(_NAMELESS, line))
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


def _said(dump: _Dump, where: LineSpan) -> Iterator[ThreadDump | HostSaid]:
    """Yield the rows of a dump, each sentence with its lines."""
    own = [thread for thread in dump.threads if _OF_BROKERS.fullmatch(thread.name)]
    if not own:
        if dump.has_deadlock:
            yield _deadlock(dump, where, dump.broker)
            return
        yield _of_another(dump, where)
        yield from _of_few(dump, where, dump.broker)
        return
    broker = _broker(dump)
    cleaners = tuple(name for name in dump.names if _CLEANER.fullmatch(name))
    loaders = [thread for thread in own if _LOADER.fullmatch(thread.name) and any(map(_LOADS.match, thread.frames))]
    loading = tuple(thread.name for thread in loaders)
    counted = dump.length is not None and dump.length == dump.of_java
    yield ThreadDump(where, broker, dump.taken, dump.whole, counted, cleaners, loading)
    when = f", taken {dump.taken} without zone" if dump.taken else ""
    when += f", of {dump.java}" if dump.java else f", of Java {dump.release}" if dump.release else ""
    whole = "whole" if dump.whole else "cut: what is not in it may have been there"
    text = f"thread dump of a Kafka broker{when}, with {len(dump.threads)} threads; it is {whole}"
    yield HostSaid("thread dump", where, text, broker, facts={"whole": dump.whole, "threads": len(dump.threads)})
    yield from _of_cleaner(dump, where, broker, cleaners)
    for thread in loaders:
        text = f"{thread.name} was loading groups and offsets: {thread.doing}"
        yield HostSaid("thread dump", _of(thread), text, broker, facts={"loading": thread.name})
    yield from _of_few(dump, where, broker)
    yield from _of_handlers(dump, own, broker)
    yield from _of_groups(own, broker)
    if dump.has_deadlock:
        yield _deadlock(dump, where, broker)


def _deadlock(dump: _Dump, where: LineSpan, broker: int | None) -> HostSaid:
    """Return the deadlock as reported by Java."""
    names = ", ".join(dump.deadlocked[:_SHOWN]) or "threads that were not pasted"
    waits = "".join(
        f"; {name} waits for {dump.waits_for.get(name, 'what')}{', which' if name in dump.waits_for else ''} {holder} holds"
        for name, holder in list(dump.held_by.items())[:_SHOWN]
    )
    text = f"Java found a deadlock{f' ({dump.counted} in all)' if dump.counted else ''}: {names}{waits}"
    return HostSaid("thread dump", where, text, broker, bad=True, facts={"deadlock": dump.deadlocked})


def _of_groups(own: Sequence[_Thread], broker: int | None) -> Iterator[HostSaid]:
    """Yield the number of network threads, fetchers, controller and group loader threads by state and location."""
    for what, names in _GROUPS:
        threads = [thread for thread in own if names.fullmatch(thread.name)]
        if not threads:
            continue
        doing = Counter(f"{thread.doing}{_awaited(thread)}" for thread in threads)
        told = "; ".join(f"{count} {where}" for where, count in doing.most_common(_FEW))
        more = f"; and {len(doing) - _FEW} other ways" if len(doing) > _FEW else ""
        shown = ", ".join(thread.name for thread in threads[:_FEW]) + (" ..." if len(threads) > _FEW else "")
        text = f"{len(threads)} {what} pasted ({shown}): {told}{more}"
        span_of = LineSpan(threads[0].line.number, threads[-1].line.number)
        yield HostSaid("thread dump", span_of, text, broker, facts={"threads": len(threads)})


def _awaited(thread: _Thread) -> str:
    lock = f", waiting for lock {locks.named(thread.lock, thread.waits)}" if thread.lock else ""
    held = [locks.named(lock, what.removeprefix("a ")) for lock, what in thread.holds.items() if lock != thread.waits_on]
    lock += f", holding {', '.join(held[:_SHOWN])}" if held else ""
    return lock + (f", {thread.awaits}" if thread.awaits else "")


def _of_few(dump: _Dump, where: LineSpan, broker: int | None) -> Iterator[HostSaid]:
    """Yield every thread by name, when few were pasted."""
    if dump.whole or not dump.threads or len(dump.threads) > _MOST_NAMED:
        return
    named: dict[str, list[str]] = {}
    for thread in dump.threads:
        spent = ", ".join(f"{found['what']} {found['amount']}" for found in _SPENT.finditer(thread.line.text))
        where_it_is = thread.doing.partition(" in ")[2]
        at_work = f"in {where_it_is}{_awaited(thread)}" if where_it_is else _awaited(thread).lstrip(", ")
        number = f"Id {thread.number}" if thread.number else ""
        beside = ", ".join(filter(None, (number, "daemon" * (" daemon " in thread.line.text), spent, at_work)))
        named.setdefault(thread.told or "in a state that was not pasted", []).append(
            thread.name + (f" ({beside})" if beside else "")
        )
    text = "; ".join(f"{state}: {', '.join(names)}" for state, names in named.items())
    yield HostSaid("thread dump", where, f"threads by their state, {text}", broker)


def _counted(threads: int) -> str:
    return f"{threads} thread{'' if threads == 1 else 's'}"


def _of_another(dump: _Dump, where: LineSpan) -> HostSaid:
    java = f" ({dump.java})" if dump.java else f" (Java {dump.release})" if dump.release else ""
    kafka = next((frame for thread in dump.threads for frame in thread.frames if frame.startswith("kafka.")), None)
    some = "of a JVM that is not a broker" if dump.whole else "that shows no thread that brokers name"
    some = f"of a JVM that runs Kafka's server ({kafka}), without a thread that brokers name" if kafka else some
    named = ", ".join(dump.names[:3])
    text = f"thread dump {some}{java}: {_counted(len(dump.threads))}" + (f", such as {named}" if named else "")
    return HostSaid(
        "thread dump",
        where,
        text,
        None,
        settle="paste all that jstack prints of the broker's process (jps -l names it kafka.Kafka)",
    )


def _broker(dump: _Dump) -> int | None:
    """Return its broker: the id in its thread names, if consistent; else that of the heading."""
    told = [found for name in dump.names if (found := _ITS_BROKER.fullmatch(name))]
    ids = Counter(next(text for text in found.groups() if text) for found in told)
    return znodes.number(next(iter(ids))) if len(ids) == 1 else dump.broker if not ids else None


def _of_cleaner(dump: _Dump, where: LineSpan, broker: int | None, cleaners: Sequence[str]) -> Iterator[HostSaid]:
    for thread in dump.threads:
        if thread.name in cleaners:
            text = f"{thread.name} lived: {thread.doing}"
            yield HostSaid("thread dump", _of(thread), text, broker, facts={"cleaner": thread.name})
    if not cleaners and dump.whole:
        sure = "" if dump.length is not None else "; this Java does not say how many threads it had"
        text = f"no kafka-log-cleaner-thread was in the whole dump: nothing is compacted{sure}"
        yield HostSaid("thread dump", where, text, broker, bad=True, facts={"cleaner": None})


def _of_handlers(dump: _Dump, own: Sequence[_Thread], broker: int | None) -> Iterator[HostSaid]:
    """Yield what a broker's threads wait for, and the holder."""
    holders = {lock: thread for thread in dump.threads for lock in thread.holds}
    handlers = [thread for thread in own if _HANDLER.fullmatch(thread.name)]
    blocked = [thread for thread in own if thread.state == "BLOCKED"]
    for thread in blocked[:_SHOWN]:
        holder = holders.get(thread.lock)
        held = f", which {holder.name} held: {holder.doing}" if holder else ""
        lock = f", waiting for lock {locks.named(thread.lock, thread.waits)}" if thread.lock else ""
        text = f"{thread.name} was {thread.doing}{lock}{held}"
        yield HostSaid("thread dump", _of(thread), text, broker, facts={"blocked": thread.name})
    if handlers:
        states = Counter(thread.told or "unknown" for thread in handlers)
        shown = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        text = f"{len(handlers)} request handlers were pasted: {shown}"
        bad = dump.whole and states["BLOCKED"] == len(handlers)
        where = LineSpan(handlers[0].line.number, handlers[-1].line.number)
        yield HostSaid("thread dump", where, text, broker, bad=bad, facts={"handlers": dict(states)})


def _of(thread: _Thread) -> LineSpan:
    return one(thread.line)
