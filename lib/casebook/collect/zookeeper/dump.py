"""Read a znode dump as JSON lines: evidence from an unreachable network. docs/dump_znodes.md describes how to make one.

A dump counts as complete unless it says otherwise: an absent znode is *missing*, unless the ``numChildren`` of its parent, an
unreadable line, or the absence of all of its kind shows that it was only not dumped.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from casebook.collect.files import plain
from casebook.collect.zookeeper.ensemble import normal_chroot
from casebook.errors import CollectError
from casebook.facts.cluster import Problem
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import kafka_tree as tree
from casebook.formats.zookeeper import znode_lines

_LONGEST_LINE = 16 << 20
_SHOWN = 3
_KAFKA = re.compile(r"(.*?)/brokers/(?:ids|topics)(?:/.*)?")
_COUNTS = ("czxid", "mzxid", "pzxid", "ctime", "mtime", "dataLength", "numChildren")
"""Stat fields that are never negative in ZooKeeper; versions wrap around and sessions are signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """Evidence in a dump.

    Args:
        znodes: In order of path, below the chroot, each once.
        problems: Missing or unstated parts of the dump, with the reason.
    """

    znodes: tuple[Znode, ...]
    problems: tuple[Problem, ...]


def read_dump(path: Path, *, chroot: str = "") -> Dump:
    """Read a dump; ``.gz`` and ``.zst`` are unpacked. Unreadable lines are counted, never fatal.

    Args:
        path: One JSON object per line: ``path``, ``data`` or ``data_b64``, ``stat``; all but ``path`` are optional.
        chroot: Root of Kafka's znodes; ``""`` for none.

    Raises:
        UsageError: The chroot is not a path.
        CollectError: The file is unreadable, or nothing in it is below the chroot.
    """
    path, chroot = Path(path), normal_chroot(chroot)
    seen = _DumpLines(path, chroot)
    try:
        for number, line in enumerate(plain.lines(path, longest=_LONGEST_LINE), start=1):
            seen.add(number, line)
    except OSError as error:
        if not seen.znodes:
            raise CollectError(f"The dump {path} cannot be read: {error.strerror}.") from None
        seen.unreadable.add(f"after line {seen.lines} ({error.strerror})")
    if not seen.znodes:
        raise seen.nothing()
    return Dump(znodes=tuple(_in_order(seen)), problems=tuple(_problems(seen)))


class _Tally:
    """Number of a kind, and the first of them: a dump may have more bad lines than fit in memory."""

    def __init__(self, items: Iterable[str] = ()) -> None:
        self.count, self.first = 0, []
        for item in items:
            self.add(item)

    def add(self, item: str) -> None:
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(item)

    def words(self) -> str:
        return ", ".join(self.first) + (f", and {self.count - _SHOWN} more" if self.count > _SHOWN else "")


class _DumpLines:
    """Content of a dump's lines."""

    def __init__(self, file: Path, chroot: str) -> None:
        self.file = file
        self.chroot = chroot
        self.znodes: dict[str, Znode] = {}
        self.children: Counter[str] = Counter()
        self.claimed: dict[str, int] = {}
        self.paths: set[str] = set()
        self.counted: set[str] = set()
        self.chroots: set[str] = set()
        self.unreadable = _Tally()
        self.absurd = _Tally()
        self.lines = 0
        self.twice = _Tally()
        self.has_states = False

    def add(self, number: int, line: bytes) -> None:
        """Add one line."""
        self.lines = number
        if not line.strip():
            return
        try:
            znode = znode_lines.decode(line)
        except ValueError as error:
            self.unreadable.add(f"line {number} ({error})")
            return
        if match := _KAFKA.fullmatch(znode.path):
            self.chroots.add(match[1] or "/")
        if (below := self._below_chroot(znode.path)) is not None:
            self._keep(znode._replace(path=below, stat=self._checked(znode.stat, below, line)))

    def _below_chroot(self, path: str) -> str | None:
        path = path.rstrip("/")
        if path == self.chroot:
            return "/"
        return path[len(self.chroot) :] if path.startswith(self.chroot + "/") else None

    def _keep(self, znode: Znode) -> None:
        if znode.path in self.paths:
            self.twice.add(znode.path)
        self.paths.add(znode.path)
        self._count_as_child(znode.path)
        if znode.stat is not None and znode.stat.numChildren is not None:
            self.claimed[znode.path] = znode.stat.numChildren
        if tree.is_evidence(znode.path):
            self.znodes[znode.path] = znode._replace(data=None) if znode.path in tree.COUNTED else znode
            self.has_states = self.has_states or tree.topic_of_state(znode.path) is not None

    def _count_as_child(self, path: str) -> None:
        """Count a znode among its parent's children; a line also proves its ancestors, which may have no line."""
        while path != "/" and path not in self.counted:
            self.counted.add(path)
            self.children[parent(path)] += 1
            path = parent(path)

    def _checked(self, stat: Stat | None, path: str, line: bytes) -> Stat | None:
        """Return the stat without impossible values; the first of them is reported."""
        if stat is None:
            return None
        negative = [name for name in _COUNTS if (getattr(stat, name) or 0) < 0]
        unknown = [name for name in Stat._fields if getattr(stat, name) is None]
        given = json.loads(line)["stat"] if unknown else {}
        if absurd := sorted(negative + [name for name in unknown if given.get(name) is not None]):
            self.absurd.add(f"{path} ({', '.join(absurd)})")
        return stat._replace(**dict.fromkeys(negative)) if negative else stat

    def nothing(self) -> CollectError:
        """Return the error for a dump without evidence."""
        if not self.chroots:
            first = f" The first unreadable: {self.unreadable.first[0]}." if self.unreadable.count else ""
            return CollectError(
                f"{self.file} holds no Kafka znodes in {self.lines} lines.{first}",
                try_="docs/dump_znodes.md explains how to make a dump.",
            )
        return CollectError(
            f"{self.file} holds nothing below the chroot {self.chroot or '/'}.",
            cause=f"Kafka's znodes in it are below: {', '.join(sorted(self.chroots))}.",
            try_=f"--chroot {min(self.chroots)}",
        )


def parent(path: str) -> str:
    """Return the parent's path; that of the root is ``/``."""
    return path.rpartition("/")[0] or "/"


def _in_order(seen: _DumpLines) -> Iterator[Znode]:
    znodes = dict(seen.znodes)
    for path in (*tree.READ_WHOLE, *tree.COUNTED):
        if path not in znodes and seen.children[path]:
            znodes[path] = Znode(path=path)  # its children prove it
        elif path not in znodes and _is_missing(path, seen):
            znodes[path] = Znode(path=path, outcome=ReadOutcome.MISSING)
    for topic in [path for path in znodes if tree.is_topic(path)]:
        for state in tree.assigned_states(topic, znodes[topic].data):
            if state not in znodes:
                znodes[state] = Znode(path=state, outcome=_outcome_of_absent(state, seen))
    return (znodes[path] for path in sorted(znodes))


def _is_missing(path: str, seen: _DumpLines) -> bool:
    """Return whether a znode outside the dump is known not to exist."""
    above = parent(path)
    if seen.unreadable.count or _is_short(above, seen):
        return False
    beside = [root for root in tree.READ_WHOLE if parent(root) == above and root not in (tree.IDS, tree.TOPICS)]
    return above in seen.claimed or any(root in seen.znodes for root in beside)


def _is_short(path: str, seen: _DumpLines) -> bool:
    """Return whether the dump has fewer children of a znode than its stat counts."""
    return seen.claimed.get(path, 0) > seen.children[path]


def _outcome_of_absent(state: str, seen: _DumpLines) -> ReadOutcome:
    """Return the outcome for an assigned partition's state outside the dump: it does not exist, or was not dumped."""
    above = [parent(state), parent(parent(state)), tree.topic_of_state(state) or ""]
    merely_not_dumped = seen.unreadable.count or not seen.has_states or any(_is_short(path, seen) for path in above)
    return ReadOutcome.FAILED if merely_not_dumped else ReadOutcome.MISSING


def _problems(seen: _DumpLines) -> Iterator[Problem]:
    told = {
        "lines could not be read": seen.unreadable,
        "znodes have stat values that ZooKeeper cannot have": seen.absurd,
        "znodes come more than once, and the last counts": seen.twice,
    }
    for what, where in told.items():
        if where.count:
            yield Problem(path=seen.file.name, reason=f"{where.count} {what}: {where.words()}")
    short = sorted(path for path in seen.claimed if _is_short(path, seen) and _leads_to_evidence(path))
    of_topics = [path for path in short if path.startswith(tree.TOPICS + "/")]
    for path in sorted(set(short) - set(of_topics)):
        yield Problem(path=path, reason=f"the dump holds {seen.children[path]} of its {seen.claimed[path]} children")
    if of_topics:
        told = _Tally(of_topics)
        reason = f"for {told.count} znodes below it, the dump does not hold all children: {told.words()}"
        yield Problem(path=tree.TOPICS, reason=reason)


def _leads_to_evidence(path: str) -> bool:
    return path in ("/", "/brokers") or tree.root_of(path) in tree.READ_WHOLE
