"""ZooKeeper's snapshot, ``snapshot.<zxid>``, of 3.4 to 3.9: sessions, znodes with stat and ACL, and checksums.

A snapshot is fuzzy: the server continues while it is written. It contains all changes up to the zxid in its name, and those later
ones that happened before their znode was written. Only with the transactions after that zxid it becomes a consistent tree
(:mod:`casebook.formats.zookeeper.tree`). Sources: ``FileSnap.java``, ``SnapStream.java``, ``DataTree.java@3.8.4``.
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import BinaryIO, NamedTuple, TypeAlias, TypeVar

from casebook.formats.zookeeper.records import (
    LONGEST,
    OPEN,
    Acls,
    FileHead,
    StreamDamage,
    StreamWindow,
    acls,
    buffer,
    count,
    head,
    pieces,
    text,
)
from casebook.machine import packs

Unsnap: TypeAlias = Callable[[bytes, int], bytes]

_Value = TypeVar("_Value")

_MAGIC = b"ZKSN"
_GZIP = b"\x1f\x8b"
_XERIAL = b"\x82SNAPPY\0"
_XERIAL_HEAD = 16  # with the version of its writer, and the oldest compatible one

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_SESSION = struct.Struct(">qi")
_ACL_AND_STAT = struct.Struct(">qqqqqiiiqq")
_DIGEST = struct.Struct(">qiq")
_SEAL = struct.Struct(">qi1s")

_END = "/"  # no znode has this name: the root's is empty
_OPEN_KEY = -1
_DIGEST_AND_SEAL = _DIGEST.size + _SEAL.size
_ZXID_AND_SEAL = _LONG.size + _SEAL.size


class Session(NamedTuple):
    """An open session, with its timeout in milliseconds."""

    id: int
    timeout: int


class StoredZnode(NamedTuple):
    """A stored znode. Its fields are those of ``StatPersisted``; times are in epoch milliseconds.

    Args:
        path: Path of the znode, ``/`` for the root.
        data: Data; ``None`` for null.
        acl: ACL; ``None`` when not in the snapshot, as it was set during the write.
        czxid: Transaction that created it.
        mzxid: Last transaction that changed its data.
        ctime: Creation time.
        mtime: Time of the last change of its data.
        version: Number of changes of its data.
        cversion: Number of children ever created. Clients receive another number, creations and deletions together.
        aversion: Number of changes of its ACL.
        ephemeral_owner: Owning session, 0 for none; the least 64-bit integer for a container, ``0xff`` in front of a TTL.
        pzxid: Last transaction that created or deleted a child.
    """

    path: str
    data: bytes | None
    acl: Acls | None
    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    pzxid: int


class ZxidDigest(NamedTuple):
    """Digest of the tree after all znodes were written, in 3.6 and later; zeros when unknown to the server.

    Args:
        zxid: Last transaction applied by then. The snapshot is fuzzy up to it.
        version: Algorithm version of the digest.
        digest: Digest of all znodes.
    """

    zxid: int
    version: int
    digest: int


class SnapshotEnd(NamedTuple):
    """The snapshot was read to its end.

    Args:
        sealed: Every checksum is valid.
        digest: ``None`` when not written.
        last_zxid: Last transaction applied when all znodes were written, in 3.9 and later; ``None`` when not written. The
            snapshot is fuzzy up to it.
    """

    sealed: bool
    digest: ZxidDigest | None
    last_zxid: int | None


Row: TypeAlias = FileHead | Session | StoredZnode | SnapshotEnd | StreamDamage


def read(stream: BinaryIO, *, unsnap: Unsnap | None = None, most: int | None = None) -> Iterator[Row]:
    """Read a snapshot from its start: plain, or compressed with gzip or snappy, recognised by its first bytes.

    At most one znode, or one piece of the stream, is in memory, and the distinct ACLs.

    Args:
        stream: Binary stream, at its start.
        unsnap: Decompresses a block of snappy of a given unpacked size, like ``pyarrow.Codec("snappy").decompress``. It may raise
            ``ValueError`` or ``OSError``. Without it a snappy snapshot is a :class:`StreamDamage`.
        most: Maximum unpacked bytes; a larger pack is a :class:`StreamDamage`. Unlimited by default.

    Returns:
        The head, sessions, znodes from the root down, and a :class:`SnapshotEnd` as the last row; a snapshot that is torn or
        makes no sense ends in a :class:`StreamDamage`, of which the positions count from the start of the unpacked content.

    Raises:
        OSError: The stream is unreadable.
    """
    contents = _Contents(_unpacked(pieces(stream), unsnap, most))
    try:
        first = head(contents, _MAGIC)
        yield first
        if isinstance(first, FileHead):
            yield from _sessions(contents)
            yield from _znodes(contents, _acl_cache(contents))
            yield from _end(contents)
    except (EOFError, packs.CutError):
        yield StreamDamage(contents.position, None, "ends before it is complete")
    except ValueError as error:
        yield StreamDamage(contents.position, None, str(error))
    except packs.PackError:
        yield StreamDamage(contents.position, None, "has gzip that cannot be unpacked")


class _Contents(StreamWindow):
    """The unpacked snapshot, read sequentially.

    Attributes:
        at: Position in ``content`` of the next value.
    """

    __slots__ = ("_sum_of_dropped", "at")

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__(pieces)
        self._sum_of_dropped, self.at = zlib.adler32(b""), 0

    @property
    def position(self) -> int:
        """Position in the stream of the next value."""
        return self.start + self.at

    @property
    def checksum(self) -> int:
        """Adler-32 of everything read."""
        return zlib.adler32(memoryview(self.content)[: self.at], self._sum_of_dropped)

    def drop(self, size: int) -> None:
        """Drop the first ``size`` bytes, adding them to the checksum."""
        self._sum_of_dropped = zlib.adler32(memoryview(self.content)[:size], self._sum_of_dropped)
        super().drop(size)

    def left(self, limit: int) -> int:
        """Return the number of remaining bytes, up to a limit."""
        self.at = self.reach(self.at, limit)
        return min(len(self.content) - self.at, limit)

    def read(self, reader: Callable[[bytes, int], tuple[_Value, int]]) -> _Value:
        """Read a value of any length.

        Raises:
            EOFError: The stream ends within it.
            ValueError: It is invalid.
        """
        while True:
            try:
                value, self.at = reader(self.content, self.at)
            except (EOFError, struct.error):
                self._extend()
            else:
                return value

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read values of a fixed layout; raises like :meth:`read`."""
        return self.read(lambda content, at: (layout.unpack_from(content, at), at + layout.size))

    def _extend(self) -> None:
        """Double the bytes in memory, so that a long value is not restarted too often."""
        held = len(self.content) - self.at
        if self.left(2 * held + 1) == held:
            raise EOFError


def _sessions(contents: _Contents) -> Iterator[Session]:
    for _ in range(contents.read(count)):
        yield Session._make(contents.unpack(_SESSION))


def _acl_cache(contents: _Contents) -> Mapping[int, Acls]:
    """Return ACLs by the key that znodes refer to."""
    cached = {}
    for _ in range(contents.read(count)):
        (key,) = contents.unpack(_LONG)
        cached[key] = contents.read(acls)
    return {_OPEN_KEY: OPEN} | cached


def _znodes(contents: _Contents, cached: Mapping[int, Acls]) -> Iterator[StoredZnode]:
    while (found := contents.read(_znode)) is not None:
        path, data, (key, *stat) = found
        yield StoredZnode(path or "/", data, cached.get(key), *stat)


def _znode(content: bytes, at: int) -> tuple[tuple[str, bytes | None, tuple[int, ...]] | None, int]:
    """Return a znode; ``None`` for the mark after the last one."""
    path, at = text(content, at)
    if path == _END:
        return None, at
    if path and not path.startswith("/"):
        raise ValueError("has a path that does not begin with /")
    data, at = buffer(content, at)
    return (path, data, _ACL_AND_STAT.unpack_from(content, at)), at + _ACL_AND_STAT.size


def _end(contents: _Contents) -> Iterator[SnapshotEnd | StreamDamage]:
    """Yield the parts after the znodes, each with its own checksum: nothing, a digest, the last zxid, or both."""
    seals = [_seal_fits(contents)]
    left = contents.left(_DIGEST_AND_SEAL + _ZXID_AND_SEAL + 1)
    digest = last_zxid = None
    if left in (_DIGEST_AND_SEAL, _DIGEST_AND_SEAL + _ZXID_AND_SEAL):
        digest = ZxidDigest._make(contents.unpack(_DIGEST))
        seals.append(_seal_fits(contents))
    if left in (_ZXID_AND_SEAL, _DIGEST_AND_SEAL + _ZXID_AND_SEAL):
        (last_zxid,) = contents.unpack(_LONG)
        seals.append(_seal_fits(contents))
    if contents.left(1):
        yield StreamDamage(contents.position, None, "has unknown bytes after its end")
    yield SnapshotEnd(all(seals), digest, last_zxid)


def _seal_fits(contents: _Contents) -> bool:
    expected = contents.checksum
    return contents.unpack(_SEAL) == (expected, 1, _END.encode())


def _unpacked(packed: Iterator[bytes], unsnap: Unsnap | None, most: int | None) -> Iterator[bytes]:
    first = next(packed, b"")
    whole = chain((first,), packed)
    if first.startswith(_GZIP):
        return _at_most(packs.gunzipped(whole), most)
    if first.startswith(_XERIAL):
        return _at_most(_unsnapped(StreamWindow(whole), unsnap), most)
    return whole


def _at_most(unpacked: Iterator[bytes], most: int | None) -> Iterator[bytes]:
    size = 0
    for piece in unpacked:
        size += len(piece)
        if most is not None and size > most:
            raise ValueError(f"holds more than the {most / 1e6:,.0f} MB that are taken out of a pack of its size")
        yield piece


def _unsnapped(packed: StreamWindow, unsnap: Unsnap | None) -> Iterator[bytes]:
    """Yield blocks of snappy, each after its length (``SnappyOutputStream.java@1.1.10.5`` of ``xerial/snappy-java``)."""
    if unsnap is None:
        raise ValueError("is compressed with snappy, and no library here can unpack it")
    packed.reach(0, _XERIAL_HEAD)
    at = packed.reach(_XERIAL_HEAD, _INT.size)
    while len(packed.content) > at:
        block, at = _snappy_block(packed, at)
        try:
            yield from _some(bytes(unsnap(block, _unpacked_size(block))))
        except (ValueError, OSError):
            raise ValueError("has a block of snappy that cannot be unpacked") from None
        at = packed.reach(at, _INT.size)


def _snappy_block(packed: StreamWindow, at: int) -> tuple[bytes, int]:
    if len(packed.content) - at < _INT.size:
        raise EOFError
    (length,) = _INT.unpack_from(packed.content, at)
    if not 0 <= length <= LONGEST:
        raise ValueError(f"has a block of snappy that states a length of {length} bytes")
    at = packed.reach(at, _INT.size + length)
    found, end = buffer(packed.content, at)
    return found or b"", end


def _unpacked_size(block: bytes) -> int:
    """Return the number at the start of a block: seven bits per byte, lowest first."""
    size = shift = 0
    for byte in block:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > LONGEST:
        raise ValueError
    return size


def _some(found: bytes) -> Iterator[bytes]:
    """Yield a piece unless it is empty, which means the end of a stream."""
    if found:
        yield found
