"""ZooKeeper's own files -> the history of Kafka's znodes: every change with its millisecond, and the last state.

A server keeps snapshots in its ``dataDir`` and transactions in its ``dataLogDir``, both below ``version-2``; they may be copies,
and those of a server that is down. A snapshot is fuzzy, so a history begins where the transactions behind it have passed all
that it holds. Where transactions are missing it begins anew with a later snapshot, or ends. A snapshot that no transactions
connect with the others is an observation: what was so at its moment, and nothing of what was before it or came after it.
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
_FIRST = (1, (1 << 32) + 1)  # a server alone, and an ensemble, begin with these


class _File(NamedTuple):
    """A file of ZooKeeper's, by the zxid in its name: of a log the first in it, of a snapshot the last before it."""

    zxid: int
    given: outside.Named

    @property
    def path(self) -> Path:
        """As people know it."""
        return self.given.path


class ZookeeperData:
    """The files of one server; :meth:`changes` reads them, and then the rest is known.

    Args:
        folders: ``dataDir`` and ``dataLogDir``, or their ``version-2``.
        chroot: Where Kafka's znodes begin; ``""`` for the root.

    Attributes:
        chroot: ``""`` for none.
        problems: What is missing or damaged, once the changes were read.
        last: Zxid and time of the last transaction that is part of the history; ``None`` before and without one.
        ends_with_snapshot: No transaction comes after the last snapshot.

    Raises:
        UsageError: The chroot is no path.
        CollectError: There is no file of ZooKeeper's.
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
        """The history, in the order of transactions; those that touch neither Kafka's znodes nor a session are left out.

        Raises:
            CollectError: There is no Kafka cluster below the chroot, at no time, or not one snapshot that is whole.
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
        """Kafka's znodes after the last change; missing ones included, by path."""
        return kafka_tree.with_missing({znode.path: znode for znode in self._evidence(self._tree.paths())})

    def _transactions(self) -> Iterator[Transaction]:
        """Of all logs, each once, from the first snapshot on; what cannot be read is told."""
        last = -1
        for file in self._logs:
            try:
                with outside.opened(file.given) as stream:
                    for row in log.read(stream):
                        if isinstance(row, StreamDamage):
                            self._tell(file, row)
                        elif isinstance(row, Transaction) and row.zxid > last:
                            last = row.zxid
                            yield row
            except OSError as error:
                self.problems.append(Problem(path=file.path.name, reason=f"cannot be read: {error.strerror}"))

    def _tell(self, file: _File, damage: StreamDamage) -> None:
        length = "" if damage.length is None else f"{damage.length} bytes "
        self.problems.append(Problem(path=file.path.name, reason=f"{length}from byte {damage.position}: {damage.reason}"))

    def _begin_before(self, zxid: int) -> int | None:
        """Begin with a whole snapshot that a transaction goes on from, or else the first that already holds it.

        Returns:
            The last zxid of which the snapshot may hold something; ``None`` when there is none, which is told.
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
        """The snapshots behind what is known that no transaction goes on from, each as an observation.

        One from before Kafka came tells nothing of it.

        Args:
            until: Zxid of the next transaction; ``None`` where none comes any more.
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
        """All that is missing of the past as one problem, however many snapshots lie between."""
        if not self._gaps:
            return
        after, zxid, consequence = self._gaps[0]
        reason = f"transactions between 0x{after:x} and 0x{zxid:x} are missing: {consequence}"
        if more := self._gaps[1:]:
            places = f"transactions are missing in {len(self._gaps)} places between 0x{after:x} and 0x{more[-1][1]:x}"
            reason = f"{places}: there, the snapshots show only the state at their own moments"
        self.problems.append(Problem(path=HOLES, reason=reason))

    def _read(self, file: _File) -> tuple[Tree, int] | None:
        """A snapshot's tree and the last zxid of which it may hold something; ``None`` unless it is whole."""
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
        """All of the evidence.

        Args:
            time: When it was so: that of the next transaction, as before it others may have been that left no trace.
        """
        self.last = self._tree.zxid, time
        return ZnodeChange(self._tree.zxid, time, None, BEGIN, None, tuple(self._of_past(self._tree.paths())))

    def _observation(self) -> ZnodeChange:
        """All of the evidence, of a tree behind which no transaction comes: as of its last change, as far as that is known."""
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
        """Those that belong into the history: not each commit of each group, which would be most of it."""
        return (znode for znode in self._evidence(paths) if not kafka_tree.is_group_offset(znode.path))

    def _evidence(self, paths: Iterable[str]) -> Iterator[Znode]:
        """Those of the paths that are Kafka's evidence, as they are now, below the chroot."""
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
        """A slip in the chroot must never look like an empty cluster."""
        if self._tree.get(self.chroot + _KAFKA) is not None:
            return
        there = [path.removesuffix(_KAFKA) or "/" for path in sorted(self._tree.paths()) if path.endswith(_KAFKA)]
        raise CollectError(
            f"ZooKeeper's files hold no Kafka cluster below {self.chroot or '/'}.",
            cause=f"A Kafka cluster is at: {', '.join(there)}." if there else "There is none in them.",
            try_=f"--chroot {there[0]}" if there else "Use the files of Kafka's ensemble.",
        )


def _files(folders: Sequence[Path], kind: str) -> list[_File]:
    """Files of a kind, by zxid."""
    there = [place for folder in map(Path, folders) for place in (folder, outside.Named(folder / _VERSION, folder))]
    named = ((file, _NAME.fullmatch(file.path.name)) for file in outside.files(there))
    return sorted(_File(int(match["zxid"], 16), file) for file, match in named if match and match["kind"] == kind)


def _follows(last: int, zxid: int) -> bool:
    """Whether no transaction can be between: a leader counts up by one, a new one begins with 1 (``ZxidUtils.java@3.4.6``)."""
    return zxid <= last + 1 or (zxid >> 32 > last >> 32 and zxid & _COUNTER == 1)


def _touched(tree: Tree, transaction: Transaction) -> set[str]:
    """The znodes that a transaction changes, parents of those that come and go included."""
    change = transaction.change
    parts = change.parts if isinstance(change, Multi) and not change.failed else (change,)
    changed = {part.path for part in parts if isinstance(part, Create | Delete | SetAcl | SetData)}
    moved = {part.path for part in parts if isinstance(part, Create | Delete)}
    if isinstance(change, CloseSession):
        moved = {*(change.paths or ()), *tree.ephemerals(transaction.session)}
    return changed | moved | {path.rpartition("/")[0] or "/" for path in moved}


def _fuzzy_until(tree: Tree, end: SnapshotEnd) -> int:
    """The last zxid of which a snapshot may hold something.

    3.6 and later say what had been applied when all znodes were written, with the digest, and 3.9 once more. They apply a
    transaction first and count it then, so it can be less than what is found (``DataTree.processTxn@3.8.4``). Without them it
    is what is found: a deletion leaves a trace on its parent alone, and none if that was written before.
    """
    found = (max(znode.stat.czxid, znode.stat.mzxid, znode.stat.pzxid) for znode in tree.znodes())
    return max(end.last_zxid or 0, end.digest.zxid if end.digest else 0, *found)


def _moment(tree: Tree) -> int:
    """When a snapshot's last change was written that is not of the time in which it was made itself.

    What changed meanwhile may be in it or not, so of a later moment it does not tell. All that it has was so then, or, where it
    was written later, at its own time.
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
