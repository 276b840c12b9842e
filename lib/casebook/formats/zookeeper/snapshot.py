"""ZooKeeper's snapshot, ``snapshot.<zxid>``, of 3.4 to 3.9: sessions, znodes with stat and access rights, and checksums.

A snapshot is fuzzy: the server goes on while it is written. It holds all changes up to the zxid in its name, and of later ones
those that came before their znode was written. Only with the transactions behind that zxid it becomes a tree that once was
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
_XERIAL_HEAD = 16  # with the version that wrote it, and the oldest that can read it

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_SESSION = struct.Struct(">qi")
_ACL_AND_STAT = struct.Struct(">qqqqqiiiqq")
_DIGEST = struct.Struct(">qiq")
_SEAL = struct.Struct(">qi1s")

_END = "/"  # no znode is written under this name: the root's is empty
_OPEN_KEY = -1
_DIGEST_AND_SEAL = _DIGEST.size + _SEAL.size
_ZXID_AND_SEAL = _LONG.size + _SEAL.size


class Session(NamedTuple):
    """A session that was open, with its time-out in milliseconds."""

    id: int
    timeout: int


class StoredZnode(NamedTuple):
    """A znode as it is stored. Its fields are those of ``StatPersisted``; times are in epoch milliseconds.

    Args:
        path: Of the znode, ``/`` for the root.
        data: Its data; ``None`` for null.
        acl: Its access rights; ``None`` where the snapshot does not hold them, as they came while it was written.
        czxid: What created it.
        mzxid: What last changed its data.
        ctime: When it was created.
        mtime: When its data were last changed.
        version: Changes of its data.
        cversion: Children ever created. A client is told of another number, creations and deletions together.
        aversion: Changes of its access rights.
        ephemeral_owner: Its session, 0 for none; the least 64-bit integer for a container, ``0xff`` in front of a time to live.
        pzxid: What last created or deleted a child.
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
    """The tree's digest when all znodes were written, of 3.6 and later; zeros where the server knew none.

    Args:
        zxid: The last transaction applied by then. Up to it the snapshot is fuzzy.
        version: How the digest is made.
        digest: Of all znodes.
    """

    zxid: int
    version: int
    digest: int


class SnapshotEnd(NamedTuple):
    """The snapshot was read to its end.

    Args:
        sealed: Every checksum fits.
        digest: ``None`` where none was written.
        last_zxid: The last transaction applied when all znodes were written, of 3.9 and later; ``None`` where it was not
            written. Up to it the snapshot is fuzzy.
    """

    sealed: bool
    digest: ZxidDigest | None
    last_zxid: int | None


Row: TypeAlias = FileHead | Session | StoredZnode | SnapshotEnd | StreamDamage


def read(stream: BinaryIO, *, unsnap: Unsnap | None = None, most: int | None = None) -> Iterator[Row]:
    """Read a snapshot from its begin: as it is, or compressed with gzip or snappy, which is seen by its first bytes.

    At most one znode, or one piece of the stream, is held at a time, and the access rights that occur.

    Args:
        stream: Opened for reading bytes, at its begin.
        unsnap: Unpacks a block of snappy, given how long it gets, as ``pyarrow.Codec("snappy").decompress`` does. It may raise
            ``ValueError`` or ``OSError``. Without it a snapshot in snappy is a :class:`StreamDamage`.
        most: Bytes that are taken out of a pack; one that holds more is a :class:`StreamDamage`. Without it all are.

    Returns:
        The head, sessions, znodes from the root down, and a :class:`SnapshotEnd` as the last row; a snapshot that is torn or
        makes no sense ends in a :class:`StreamDamage`, of which the positions count from the begin of what was unpacked.

    Raises:
        OSError: The stream cannot be read.
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
    """The unpacked snapshot: what was read of it, and what comes.

    Attributes:
        at: Where in ``content`` the next value begins.
    """

    __slots__ = ("_sum_of_dropped", "at")

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__(pieces)
        self._sum_of_dropped, self.at = zlib.adler32(b""), 0

    @property
    def position(self) -> int:
        """Where in the stream the next value begins."""
        return self.start + self.at

    @property
    def checksum(self) -> int:
        """Adler-32 of all that was read."""
        return zlib.adler32(memoryview(self.content)[: self.at], self._sum_of_dropped)

    def drop(self, size: int) -> None:
        """Let the first ``size`` bytes go, into the checksum."""
        self._sum_of_dropped = zlib.adler32(memoryview(self.content)[:size], self._sum_of_dropped)
        super().drop(size)

    def left(self, limit: int) -> int:
        """Bytes that are yet to come, counted up to a limit."""
        self.at = self.reach(self.at, limit)
        return min(len(self.content) - self.at, limit)

    def read(self, reader: Callable[[bytes, int], tuple[_Value, int]]) -> _Value:
        """Read a value that may be of any length.

        Raises:
            EOFError: The stream ends within it.
            ValueError: It makes no sense.
        """
        while True:
            try:
                value, self.at = reader(self.content, self.at)
            except (EOFError, struct.error):
                self._extend()
            else:
                return value

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read values of a fixed layout; raises as :meth:`read` does."""
        return self.read(lambda content, at: (layout.unpack_from(content, at), at + layout.size))

    def _extend(self) -> None:
        """Have twice as much at hand, so that a long value is not begun too often."""
        held = len(self.content) - self.at
        if self.left(2 * held + 1) == held:
            raise EOFError


def _sessions(contents: _Contents) -> Iterator[Session]:
    for _ in range(contents.read(count)):
        yield Session._make(contents.unpack(_SESSION))


def _acl_cache(contents: _Contents) -> Mapping[int, Acls]:
    """Access rights by the key under which znodes name them."""
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
    """A znode as it stands there; ``None`` for the mark behind the last one."""
    path, at = text(content, at)
    if path == _END:
        return None, at
    if path and not path.startswith("/"):
        raise ValueError("has a path that does not begin with /")
    data, at = buffer(content, at)
    return (path, data, _ACL_AND_STAT.unpack_from(content, at)), at + _ACL_AND_STAT.size


def _end(contents: _Contents) -> Iterator[SnapshotEnd | StreamDamage]:
    """What stands behind the znodes, each under a seal of its own: nothing, a digest, the last zxid, or both."""
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
    """Blocks of snappy, each behind its length (``SnappyOutputStream.java@1.1.10.5`` of ``xerial/snappy-java``)."""
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
    """The number at the begin of a block: seven bits a byte, the lowest first."""
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
    """What was found, unless that is nothing: an empty piece means the end of a stream."""
    if found:
        yield found
