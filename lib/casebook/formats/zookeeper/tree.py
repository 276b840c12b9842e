"""ZooKeeper's tree at a zxid: a snapshot, with later transactions applied like in ``DataTree``.

A snapshot is fuzzy, so a transaction may find its own effect, or that of later ones. ZooKeeper's handling of that changed twice:
:class:`Rules`. From a consistent snapshot, all of them lead to the same tree.

Two things are neither in the files nor here: ZooKeeper's counts in ``zookeeper_stats`` below ``/zookeeper/quota``, and a server's
own writes to ``/zookeeper/config``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from casebook.facts.znodes import Stat, Znode
from casebook.formats.zookeeper import changes, log, snapshot
from casebook.formats.zookeeper.log import Transaction
from casebook.formats.zookeeper.records import OPEN, Acls

_ROOT = "/"
_NOT_LOGGED = -1
_NO_OWNER = 0
_CONTAINER_OWNER = -(2**63)  # EphemeralType.java@3.8.4
_TTL_OWNERS = range(-(2**56), -(2**56) + 2**40)  # 0xff0000 before the milliseconds

NEW = tuple(
    snapshot.StoredZnode(
        path, b"", OPEN, czxid=0, mzxid=0, ctime=0, mtime=0, version=0, cversion=0, aversion=0, ephemeral_owner=0, pzxid=0
    )
    for path in ("/", "/zookeeper", "/zookeeper/quota")
)
"""Initial state of a server at zxid 0. From 3.5 on it writes that to ``snapshot.0``; 3.4 leaves only its first log."""


class Rules(Enum):
    """Handling of a fuzzy snapshot (``DataTree.java@3.4.6``, ``@3.5.9``, ``@3.8.4``).

    Attributes:
        V3_4: A creation sets the parent's cversion and pzxid, a deletion its pzxid, even to lower ones. Deleting an absent znode
            does not affect the parent.
        V3_5: A deletion only raises the parent's pzxid, even for an absent znode (ZOOKEEPER-3125).
        V3_6: A creation also only raises the parent's cversion, and pzxid with it (ZOOKEEPER-3249); 3.6 to 3.9.
    """

    V3_4 = (False, False)
    V3_5 = (True, False)
    V3_6 = (True, True)

    def __init__(self, deletion_raises: bool, creation_raises: bool) -> None:
        self.deletion_raises = deletion_raises
        self.creation_raises = creation_raises


@dataclass(slots=True, kw_only=True)
class _Node:
    """A znode as in ``DataNode``: ``cversion`` counts creations of children; ``ephemeral_owner`` is a session or 0."""

    data: bytes | None
    acl: Acls | None
    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int = 0
    cversion: int = 0
    aversion: int = 0
    ephemeral_owner: int = _NO_OWNER
    pzxid: int
    children: set[str] = field(default_factory=set)

    def stat(self) -> Stat:
        """Return the stat for clients: every creation and every deletion of a child counts (``DataNode.copyStat``)."""
        return Stat(
            czxid=self.czxid,
            mzxid=self.mzxid,
            pzxid=self.pzxid,
            ctime=self.ctime,
            mtime=self.mtime,
            version=self.version,
            cversion=2 * self.cversion - len(self.children),
            aversion=self.aversion,
            ephemeralOwner=self.ephemeral_owner,
            dataLength=len(self.data or b""),
            numChildren=len(self.children),
        )


class Tree:
    """A tree of znodes with open sessions, changed by one transaction after the other.

    Attributes:
        zxid: Last applied transaction; initially that of the snapshot.
        sessions: Timeouts in milliseconds by session.
    """

    def __init__(self, rows: Iterable[snapshot.Row], *, zxid: int, rules: Rules = Rules.V3_6) -> None:
        """Load a snapshot's rows.

        Args:
            rows: Result of :func:`casebook.formats.zookeeper.snapshot.read`; the caller checks that it is complete.
            zxid: Zxid in the snapshot's name.
            rules: Rules of a release; the newest come closest to the servers that wrote the log.
        """
        self.zxid, self.sessions = zxid, {}
        self._rules = rules
        self._nodes: dict[str, _Node] = {}
        self._ephemerals: dict[int, set[str]] = {}
        for row in rows:
            self._take(row)

    def apply(self, transaction: Transaction) -> None:
        """Apply a transaction; one that is already in the tree is skipped.

        Raises:
            ValueError: The transaction, or a part of it, is undecodable. The tree is unchanged.
        """
        if transaction.zxid <= self.zxid:
            return
        change = transaction.change
        parts = change.parts if isinstance(change, changes.Multi) else (change,)
        if unknown := next((part for part in parts if isinstance(part, changes.Unknown)), None):
            raise ValueError(f"Transaction 0x{transaction.zxid:x}, of type {unknown.type}, {unknown.reason}.")
        if not (isinstance(change, changes.Multi) and change.failed):
            for part in parts:
                self._apply(transaction, part)
        self.zxid = transaction.zxid

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, path: str) -> Znode | None:
        """Return a znode with the stat for clients; ``None`` when it does not exist."""
        node = self._nodes.get(path)
        return node and Znode(path=path, data=node.data, stat=node.stat())

    def acl(self, path: str) -> Acls | None:
        """Return the ACL of a znode; ``None`` when it does not exist, or is in neither snapshot nor log."""
        node = self._nodes.get(path)
        return node and node.acl

    def children(self, path: str) -> frozenset[str]:
        """Return the names of a znode's children; empty when it does not exist."""
        node = self._nodes.get(path)
        return frozenset(node.children) if node else frozenset()

    def ephemerals(self, session: int) -> frozenset[str]:
        """Return the paths of the znodes deleted with a session."""
        return frozenset(self._ephemerals.get(session, ()))

    def paths(self) -> Iterable[str]:
        """Return the paths of all znodes."""
        return self._nodes.keys()

    def znodes(self) -> Iterator[Znode]:
        """Yield all znodes, by path."""
        for path in sorted(self._nodes):
            yield Znode(path=path, data=self._nodes[path].data, stat=self._nodes[path].stat())

    def _take(self, row: snapshot.Row) -> None:
        match row:
            case snapshot.Session(id=session, timeout=timeout):
                self.sessions[session] = timeout
            case snapshot.StoredZnode():
                fields = row._asdict() | {"ephemeral_owner": _session(row.ephemeral_owner)}
                self._put(fields.pop("path"), _Node(**fields))

    def _put(self, path: str, node: _Node) -> None:
        self._nodes[path] = node
        parent, name = _split(path)
        if path != _ROOT and parent in self._nodes:
            self._nodes[parent].children.add(name)
        if node.ephemeral_owner != _NO_OWNER:
            self._ephemerals.setdefault(node.ephemeral_owner, set()).add(path)

    def _apply(self, transaction: Transaction, change: changes.Change) -> None:
        match change:
            case changes.Create():
                self._create(transaction, change)
            case changes.Delete(path=path):
                self._delete(transaction.zxid, path)
            case changes.SetData(path=path) if node := self._nodes.get(path):
                node.data, node.version = change.data, change.version
                node.mzxid, node.mtime = transaction.zxid, transaction.time
            case changes.SetAcl(path=path) if node := self._nodes.get(path):
                node.acl, node.aversion = change.acl, change.version
            case changes.CreateSession(timeout=timeout):
                self.sessions[transaction.session] = timeout
            case changes.CloseSession(paths=paths):
                self._close(transaction, paths or ())

    def _create(self, transaction: Transaction, change: changes.Create) -> None:
        parent, there = self._nodes.get(_split(change.path)[0]), self._nodes.get(change.path)
        if parent is None:
            return
        if there is None:
            self._put(change.path, _created(transaction, change))
        elif there.acl is None:
            there.acl = change.acl
        cversion = parent.cversion + 1 if change.parent_cversion == _NOT_LOGGED else change.parent_cversion
        # The parent of an existing znode may have been written before its creation. ZooKeeper handles that for ``create`` only.
        catches_up = cversion > parent.cversion and (there is None or change.operation == "create")
        if catches_up or (there is None and not self._rules.creation_raises):
            parent.cversion, parent.pzxid = cversion, transaction.zxid

    def _delete(self, zxid: int, path: str) -> None:
        above, name = _split(path)
        parent = self._nodes.get(above)
        if self._rules.deletion_raises and parent is not None:
            parent.pzxid = max(zxid, parent.pzxid)
        node = self._nodes.get(path)
        if node is None or parent is None:
            return
        del self._nodes[path]
        parent.children.discard(name)
        if not self._rules.deletion_raises:
            parent.pzxid = zxid
        self._ephemerals.get(node.ephemeral_owner, set()).discard(path)

    def _close(self, transaction: Transaction, logged: Iterable[str]) -> None:
        """Delete the logged znodes and those of the session: in a fuzzy snapshot they may differ."""
        self.sessions.pop(transaction.session, None)
        own = self._ephemerals.pop(transaction.session, set())
        for path in {*logged, *own}:
            self._delete(transaction.zxid, path)


def replay(
    rows: Iterable[snapshot.Row],
    transactions: Iterable[log.Row],
    *,
    zxid: int,
    until: int | None = None,
    rules: Rules = Rules.V3_6,
) -> Tree:
    """Return the tree after a snapshot and logs.

    Args:
        rows: Rows of the snapshot, or :data:`NEW`.
        transactions: Rows of the following logs, in order; other rows are skipped, so the caller must first decide which are safe
            (``Transaction.after_damage``).
        zxid: Zxid in the snapshot's name. Transactions up to it are skipped.
        until: Last zxid to apply; ``None`` for all. The result is consistent only if the snapshot was complete by then: stopped
            earlier, it shows some changes after ``until`` that the snapshot already contained.
        rules: As in :class:`Tree`.

    Raises:
        ValueError: As in :meth:`Tree.apply`.
    """
    tree = Tree(rows, zxid=zxid, rules=rules)
    for row in transactions:
        if isinstance(row, Transaction) and (until is None or row.zxid <= until):
            tree.apply(row)
    return tree


def _split(path: str) -> tuple[str, str]:
    """Return a path's parent and name."""
    parent, _, name = path.rpartition("/")
    return parent or _ROOT, name


def _created(transaction: Transaction, change: changes.Create) -> _Node:
    return _Node(
        data=change.data,
        acl=change.acl,
        czxid=transaction.zxid,
        mzxid=transaction.zxid,
        ctime=transaction.time,
        mtime=transaction.time,
        ephemeral_owner=transaction.session if change.ephemeral else _NO_OWNER,
        pzxid=transaction.zxid,
    )


def _session(owner: int) -> int:
    """Return the session that owns a znode; the mark of a container or a TTL is none, and clients do not receive it."""
    return _NO_OWNER if owner == _CONTAINER_OWNER or owner in _TTL_OWNERS else owner
