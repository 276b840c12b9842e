"""Read ZooKeeper's own files into the history of Kafka's znodes: every change with its millisecond, and the last state.

A server keeps snapshots in its ``dataDir`` and transactions in its ``dataLogDir``, both below ``version-2``; copies, and files of
a stopped server, are allowed. A snapshot is fuzzy, so a history starts where the transactions have passed everything in it. After
missing transactions it starts again with a later snapshot, or ends. A snapshot without connecting transactions is an observation:
the state at its moment, and nothing before or after.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from casebook.collect import bounds, outside
from casebook.collect.files import plain
from casebook.collect.zookeeper.ensemble import normal_chroot
from casebook.errors import CollectError
from casebook.facts.cluster import Problem
from casebook.facts.history import HOLES
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.formats.zookeeper import kafka_tree, log, snapshot
from casebook.formats.zookeeper.changes import CloseSession, Create, CreateSession, Delete, Multi, SetAcl, SetData
from casebook.formats.zookeeper.history_lines import BEGIN
from casebook.formats.zookeeper.log import Transaction
from casebook.formats.zookeeper.records import StreamDamage
from casebook.formats.zookeeper.snapshot import SnapshotEnd
from casebook.formats.zookeeper.tree import NEW, Tree

_VERSION = "version-2"
_NAME = re.compile(r"(?P<kind>log|snapshot)\.(?P<zxid>[0-9a-f]{1,16})(?:\.gz|\.snappy)?")
_KAFKA = "/brokers/topics"
_TRANSACTIONS = "ZooKeeper's transaction logs"
_COUNTER = 0xFFFFFFFF  # of a zxid; the upper half is the leader's epoch
_FIRST = (1, (1 << 32) + 1)  # first transactions of a standalone server, and of an ensemble


class _File(NamedTuple):
    """A file of ZooKeeper, by the zxid in its name: for a log its first, for a snapshot the last before it."""

    zxid: int
    given: outside.Named

    @property
    def path(self) -> Path:
        """Path for people."""
        return self.given.path


class ZookeeperData:
    """Files of one server; read :meth:`changes` first, which sets the other attributes.

    Args:
        folders: ``dataDir`` and ``dataLogDir``, or their ``version-2``.
        chroot: Root of Kafka's znodes; ``""`` for none.

    Attributes:
        chroot: ``""`` for none.
        problems: Missing or damaged files, after reading the changes.
        last: Zxid and time of the last transaction in the history; ``None`` before and without one.
        ends_with_snapshot: No transaction follows the last snapshot.

    Raises:
        UsageError: The chroot is not a path.
        CollectError: There is no ZooKeeper file.
    """

    def __init__(self, folders: Sequence[Path], *, chroot: str = "") -> None:
        self.problems: list[Problem] = []
        self.last: tuple[int, int] | None = None
        self.ends_with_snapshot = False
        self.chroot = normal_chroot(chroot)
        self._logs, self._snapshots = _files(folders, "log"), _files(folders, "snapshot")
        self._tree: Tree | None = None
        self._gaps: list[tuple[int, int, str]] = []
        self._torn: set[_File] = set()
        if not self._logs and not self._snapshots:
            raise CollectError(
                f"There is neither a snapshot nor a transaction log of ZooKeeper in {', '.join(map(str, folders))}.",
                try_="Use the dataDir of zoo.cfg, and also the dataLogDir if it differs.",
            )

    def changes(self) -> Iterator[ZnodeChange]:
        """Yield the history in the order of transactions, without those on neither Kafka's znodes nor a session.

        Raises:
            CollectError: There never was a Kafka cluster below the chroot, or no snapshot is complete.
        """
        begun, settled = False, -1
        for transaction in self._transactions():
            if self._tree is None or not _follows(self._tree.zxid, transaction.zxid):
                if self._tree is not None and not begun:
                    yield self._observation()
                yield from self._alone(transaction.zxid)
                if (settled := self._begin_before(transaction.zxid)) is None:
                    begun = True
                    break
                begun = False
            if transaction.zxid <= self._tree.zxid:
                continue
            if not begun and self._tree.zxid >= settled:
                yield self._beginning(transaction.time)
                begun = True
            touched = _touched(self._tree, transaction)
            if not self._apply(transaction):
                break
            if begun and (change := self._change(transaction, touched)):
                yield change
        if self._tree is not None and not begun:
            yield self._observation()
        yield from self._alone(None)
        if self._tree is None:
            raise self._nothing("No snapshot of ZooKeeper is complete.")
        self._tell_gaps()
        self._check()

    def znodes(self) -> Iterator[Znode]:
        """Yield Kafka's znodes after the last change, including missing ones, by path."""
        return kafka_tree.with_missing({znode.path: znode for znode in self._evidence(self._tree.paths())})

    def _transactions(self) -> Iterator[Transaction]:
        """Yield transactions of all logs, each once, from the first snapshot on; unreadable ones are reported."""
        last = -1
        for file in self._logs:
            try:
                with outside.opened(file.given) as stream:
                    for row in log.read(stream):
                        if isinstance(row, StreamDamage):
                            self._report_damage(file, row)
                        elif isinstance(row, Transaction) and row.zxid > last:
                            last = row.zxid
                            yield row
            except OSError as error:
                self.problems.append(Problem(path=file.path.name, reason=f"cannot be read: {error.strerror}"))

    def _report_damage(self, file: _File, damage: StreamDamage) -> None:
        length = "" if damage.length is None else f"{damage.length} bytes "
        self.problems.append(Problem(path=file.path.name, reason=f"{length}from byte {damage.position}: {damage.reason}"))

    def _begin_before(self, zxid: int) -> int | None:
        """Start with a complete snapshot that transactions continue, or else the first that already contains it.

        Returns:
            The last zxid of which the snapshot may hold something; ``None`` when there is none, which is reported.
        """
        after = -1 if self._tree is None else self._tree.zxid
        below = [file for file in self._snapshots if after < file.zxid < zxid]
        if self._tree is None and zxid in _FIRST and not below:
            self._tree = Tree(NEW, zxid=0)
            return 0
        behind = [file for file in below[-1:] if _follows(file.zxid, zxid)]
        for file in (*behind, *(file for file in self._snapshots if file.zxid >= zxid)):
            if found := self._read(file):
                if self._tree is not None:
                    self._missing(after, zxid, f"the history continues at 0x{file.zxid:x} with {file.path.name}")
                self._tree, settled = found
                return settled
        if self._tree is None:
            raise self._nothing(f"No complete snapshot fits the transactions from 0x{zxid:x} on.")
        ends = f"transactions between 0x{after:x} and 0x{zxid:x} are missing: the history ends at 0x{after:x}"
        self.problems.append(Problem(path=_TRANSACTIONS, reason=ends))
        return None

    def _alone(self, until: int | None) -> Iterator[ZnodeChange]:
        """Yield later snapshots without following transactions, each as an observation.

        A snapshot from before Kafka's start is skipped.

        Args:
            until: Zxid of the next transaction; ``None`` without one.
        """
        after = -1 if self._tree is None else self._tree.zxid
        own = [file for file in self._snapshots if after < file.zxid and (until is None or file.zxid < until)]
        if until is not None and own and _follows(own[-1].zxid, until):
            own.pop()
        empty: Tree | None = None
        for file in own:
            if (self._tree is not None and file.zxid == self._tree.zxid) or not (found := self._read(file)):
                continue
            if self._tree is None and found[0].get(self.chroot + _KAFKA) is None:
                empty = found[0]
                continue
            if self._tree is not None:
                which = "last" if until is None else "next"
                self._missing(self._tree.zxid, file.zxid, f"the {which} state is that of {file.path.name}")
            self._tree = found[0]
            yield self._observation()
        if until is None and self._tree is None:
            self._tree = empty

    def _nothing(self, what: str) -> CollectError:
        said = "; ".join(f"{problem.path} {problem.reason}" for problem in self.problems[:2])
        return CollectError(
            what, cause=f"{said}." if said else None, try_="Add the snapshots of the same server, older ones too."
        )

    def _missing(self, after: int, zxid: int, consequence: str) -> None:
        self._gaps.append((after, zxid, consequence))

    def _tell_gaps(self) -> None:
        """Report all missing history as one problem, however many snapshots lie between."""
        if not self._gaps:
            return
        after, zxid, consequence = self._gaps[0]
        reason = f"transactions between 0x{after:x} and 0x{zxid:x} are missing: {consequence}"
        if more := self._gaps[1:]:
            places = f"transactions are missing in {len(self._gaps)} places between 0x{after:x} and 0x{more[-1][1]:x}"
            reason = f"{places}: there, the snapshots show only the state at their own moments"
        self.problems.append(Problem(path=HOLES, reason=reason))

    def _read(self, file: _File) -> tuple[Tree, int] | None:
        """Return a snapshot's tree and the last zxid that it may contain; ``None`` unless it is complete."""
        if file in self._torn:
            return None
        end: SnapshotEnd | None = None
        reason = "is not whole"

        def rows(stream: BinaryIO) -> Iterator[snapshot.Row]:
            nonlocal end, reason
            most = plain.most_unpacked(os.fstat(stream.fileno()).st_size)
            for row in snapshot.read(stream, unsnap=_unsnap, most=most):
                bounds.check()
                if isinstance(row, StreamDamage):
                    reason = row.reason
                end = row if isinstance(row, SnapshotEnd) else end
                yield row

        try:
            with outside.opened(file.given) as stream:
                tree = Tree(rows(stream), zxid=file.zxid)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        if end is None or not end.sealed:
            self._torn.add(file)
            self.problems.append(Problem(path=file.path.name, reason=reason if end is None else "its checksum does not fit"))
            return None
        return tree, _fuzzy_until(tree, end)

    def _apply(self, transaction: Transaction) -> bool:
        try:
            self._tree.apply(transaction)
        except ValueError as error:
            self.problems.append(Problem(path=_TRANSACTIONS, reason=f"{error} The history ends before it."))
            return False
        self.last = transaction.zxid, transaction.time
        self.ends_with_snapshot = False
        return True

    def _beginning(self, time: int) -> ZnodeChange:
        """Return all evidence as the start of a history.

        Args:
            time: Time of this state: that of the next transaction, as earlier ones may have left no trace.
        """
        self.last = self._tree.zxid, time
        return ZnodeChange(self._tree.zxid, time, None, BEGIN, None, tuple(self._of_past(self._tree.paths())))

    def _observation(self) -> ZnodeChange:
        """Return all evidence of a tree without following transactions, as of its last change, if known."""
        zxid, time = self.last or (-1, 0)
        self.ends_with_snapshot = zxid != self._tree.zxid
        return self._beginning(time if zxid == self._tree.zxid else max(time, _moment(self._tree)))

    def _change(self, transaction: Transaction, touched: Iterable[str]) -> ZnodeChange | None:
        change = transaction.change
        znodes = tuple(self._of_past(touched))
        if not znodes and not isinstance(change, CreateSession | CloseSession):
            return None
        timeout = change.timeout if isinstance(change, CreateSession) else None
        return ZnodeChange(transaction.zxid, transaction.time, transaction.session, change.operation, timeout, znodes)

    def _of_past(self, paths: Iterable[str]) -> Iterator[Znode]:
        """Yield the znodes for the history: not each commit of each group, which would dominate it."""
        return (znode for znode in self._evidence(paths) if not kafka_tree.is_group_offset(znode.path))

    def _evidence(self, paths: Iterable[str]) -> Iterator[Znode]:
        """Yield the evidence among these paths, in its current state, below the chroot."""
        for path in sorted(paths):
            below = self._below(path)
            if below is None or not kafka_tree.is_evidence(below):
                continue
            znode = self._tree.get(path)
            if znode is None:
                yield Znode(path=below, outcome=ReadOutcome.MISSING)
            else:
                yield Znode(path=below, data=None if below in kafka_tree.COUNTED else znode.data, stat=znode.stat)

    def _below(self, path: str) -> str | None:
        if path == self.chroot:
            return "/"
        return path[len(self.chroot) :] if path.startswith(self.chroot + "/") else None

    def _check(self) -> None:
        """Check the chroot: a wrong one must never look like an empty cluster."""
        if self._tree.get(self.chroot + _KAFKA) is not None:
            return
        there = [path.removesuffix(_KAFKA) or "/" for path in sorted(self._tree.paths()) if path.endswith(_KAFKA)]
        raise CollectError(
            f"ZooKeeper's files hold no Kafka cluster below {self.chroot or '/'}.",
            cause=f"A Kafka cluster is at: {', '.join(there)}." if there else "There is none in them.",
            try_=f"--chroot {there[0]}" if there else "Use the files of Kafka's ensemble.",
        )


def _files(folders: Sequence[Path], kind: str) -> list[_File]:
    """Return the files of a kind, by zxid."""
    there = [place for folder in map(Path, folders) for place in (folder, outside.Named(folder / _VERSION, folder))]
    named = ((file, _NAME.fullmatch(file.path.name)) for file in outside.files(there))
    return sorted(_File(int(match["zxid"], 16), file) for file, match in named if match and match["kind"] == kind)


def _follows(last: int, zxid: int) -> bool:
    """Return whether no transaction can be between.

    A leader increments by one, a new one starts with 1 (``ZxidUtils.java@3.4.6``).
    """
    return zxid <= last + 1 or (zxid >> 32 > last >> 32 and zxid & _COUNTER == 1)


def _touched(tree: Tree, transaction: Transaction) -> set[str]:
    """Return the znodes that a transaction changes, including parents of created and deleted ones."""
    change = transaction.change
    parts = change.parts if isinstance(change, Multi) and not change.failed else (change,)
    changed = {part.path for part in parts if isinstance(part, Create | Delete | SetAcl | SetData)}
    moved = {part.path for part in parts if isinstance(part, Create | Delete)}
    if isinstance(change, CloseSession):
        moved = {*(change.paths or ()), *tree.ephemerals(transaction.session)}
    return changed | moved | {path.rpartition("/")[0] or "/" for path in moved}


def _fuzzy_until(tree: Tree, end: SnapshotEnd) -> int:
    """Return the last zxid that a snapshot may contain.

    3.6 and later record the last applied zxid after writing all znodes, with the digest, and 3.9 once more. They apply a
    transaction before counting it, so the record can be lower than the content (``DataTree.processTxn@3.8.4``). Without a record
    it is the content: a deletion leaves a trace only in its parent, and none if that was written before.
    """
    found = (max(znode.stat.czxid, znode.stat.mzxid, znode.stat.pzxid) for znode in tree.znodes())
    return max(end.last_zxid or 0, end.digest.zxid if end.digest else 0, *found)


def _moment(tree: Tree) -> int:
    """Return the time of a snapshot's last change before it was being written.

    Changes during the write may be missing, so it does not represent a later moment. All its content existed then, or from its
    own later time.
    """
    times = [
        (zxid, time)
        for znode in tree.znodes()
        for zxid, time in ((znode.stat.czxid, znode.stat.ctime), (znode.stat.mzxid, znode.stat.mtime))
        if time
    ]
    return max((time for zxid, time in times if zxid <= tree.zxid), default=min((time for _, time in times), default=0))


def _unsnap(block: bytes, size: int) -> bytes:
    import pyarrow as pa

    return pa.Codec("snappy").decompress(block, size).to_pybytes()
