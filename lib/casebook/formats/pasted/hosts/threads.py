"""Statements of a thread dump: the threads of a broker that clean, load groups and serve requests, and their locks.

Names of threads: ``LogCleaner.scala``, ``GroupMetadataManager.scala``, ``KafkaRequestHandler.scala``,
``SocketServer.scala@0.9.0.1, 2.8.2, 3.9.0``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from casebook.facts.pasted_hosts import HostSaid, LineSpan, ThreadDump
from casebook.formats.pasted.hosts import locks, thread_lines
from casebook.formats.pasted.hosts.thread_lines import PastedDump, Thread
from casebook.formats.pasted.text import PastedLine, one
from casebook.formats.zookeeper import znodes

_SPENT = re.compile(r"\b(?P<what>cpu|elapsed|nid)=(?P<amount>[\d.,]+m?s|0x[0-9a-f]+|\d+)\b")
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
_HANDLER = re.compile(r"(?:data-plane-)?kafka-request-handler-\d+")
_LOADER = re.compile(r"group-metadata-manager-\d+")
_LOADS = re.compile(r".*GroupMetadataManager\S*\.\S*(?:load\w*Group|loadGroups|doLoadGroups)\S*", re.IGNORECASE)
_GROUPS = (
    ("network threads were", re.compile(r"(?:data-plane-|control-plane-)?kafka-network-thread-.*")),
    ("fetchers of replicas were", re.compile(r"ReplicaFetcherThread-\d+-\d+")),
    ("threads of the controller were", re.compile(r"controller-event-thread|Controller-\d+-to-broker-\d+-send-thread")),
    ("threads that load groups were", _LOADER),
)
_SHOWN, _FEW, _MOST_NAMED = 8, 3, 24


def dumps(lines: Sequence[PastedLine]) -> Iterator[ThreadDump | HostSaid]:
    """Yield every dump; threads pasted alone form a cut one."""
    for dump, where in thread_lines.read(lines):
        yield from _said(dump, where)


def _said(dump: PastedDump, where: LineSpan) -> Iterator[ThreadDump | HostSaid]:
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


def _deadlock(dump: PastedDump, where: LineSpan, broker: int | None) -> HostSaid:
    """Return the deadlock as reported by Java."""
    names = ", ".join(dump.deadlocked[:_SHOWN]) or "threads that were not pasted"
    waits = "".join(
        f"; {name} waits for {dump.waits_for.get(name, 'what')}{', which' if name in dump.waits_for else ''} {holder} holds"
        for name, holder in list(dump.held_by.items())[:_SHOWN]
    )
    text = f"Java found a deadlock{f' ({dump.counted} in all)' if dump.counted else ''}: {names}{waits}"
    return HostSaid("thread dump", where, text, broker, bad=True, facts={"deadlock": dump.deadlocked})


def _of_groups(own: Sequence[Thread], broker: int | None) -> Iterator[HostSaid]:
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
        where = LineSpan(threads[0].line.number, threads[-1].line.number)
        yield HostSaid("thread dump", where, text, broker, facts={"threads": len(threads)})


def _awaited(thread: Thread) -> str:
    lock = f", waiting for lock {locks.named(thread.lock, thread.waits)}" if thread.lock else ""
    held = [locks.named(lock, what.removeprefix("a ")) for lock, what in thread.holds.items() if lock != thread.waits_on]
    lock += f", holding {', '.join(held[:_SHOWN])}" if held else ""
    return lock + (f", {thread.awaits}" if thread.awaits else "")


def _of_few(dump: PastedDump, where: LineSpan, broker: int | None) -> Iterator[HostSaid]:
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


def _of_another(dump: PastedDump, where: LineSpan) -> HostSaid:
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


def _broker(dump: PastedDump) -> int | None:
    """Return its broker: the id in its thread names, if consistent; else that of the heading."""
    told = [found for name in dump.names if (found := _ITS_BROKER.fullmatch(name))]
    ids = Counter(next(text for text in found.groups() if text) for found in told)
    return znodes.number(next(iter(ids))) if len(ids) == 1 else dump.broker if not ids else None


def _of_cleaner(dump: PastedDump, where: LineSpan, broker: int | None, cleaners: Sequence[str]) -> Iterator[HostSaid]:
    for thread in dump.threads:
        if thread.name in cleaners:
            text = f"{thread.name} lived: {thread.doing}"
            yield HostSaid("thread dump", _of(thread), text, broker, facts={"cleaner": thread.name})
    if not cleaners and dump.whole:
        sure = "" if dump.length is not None else "; this Java does not say how many threads it had"
        text = f"no kafka-log-cleaner-thread was in the whole dump: nothing is compacted{sure}"
        yield HostSaid("thread dump", where, text, broker, bad=True, facts={"cleaner": None})


def _of_handlers(dump: PastedDump, own: Sequence[Thread], broker: int | None) -> Iterator[HostSaid]:
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


def _of(thread: Thread) -> LineSpan:
    return one(thread.line)
