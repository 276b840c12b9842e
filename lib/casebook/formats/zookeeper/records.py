"""Common parts of ZooKeeper's transaction logs and snapshots: header, jute's primitives, a stream read in pieces.

Any input is safe. A length is only trusted as far as bytes follow (``BinaryInputArchive.java@3.8.4``).
"""

import struct
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

PIECE = 1 << 20
LONGEST = 64 << 20  # of one record or value; ZooKeeper's limit, jute.maxbuffer, is 1 MiB by default

_HEAD = struct.Struct(">4siq")
_VERSION = 2
_INT = struct.Struct(">i")
INT, read_int = _INT.size, _INT.unpack_from  # looked up once: used a million times
_NULL = -1


class FileHead(NamedTuple):
    """Header of a log or snapshot (``FileHeader`` in ``zookeeper.jute@3.8.4``).

    Args:
        version: Format version: 2 from 3.0 to 3.9.
        dbid: 0 in logs and -1 in snapshots of all known releases.
    """

    version: int
    dbid: int


class StreamDamage(NamedTuple):
    """Undecodable bytes.

    Args:
        position: Position of the first of them, in the file, or in its unpacked content.
        length: Number of bytes; ``None`` for all the rest, as reading stopped there.
        reason: Reason, to follow the file's name.
    """

    position: int
    length: int | None
    reason: str


class Acl(NamedTuple):
    """An entry of a znode's ACL.

    Args:
        perms: Sum of read 1, write 2, create 4, delete 8, admin 16.
        scheme: E.g. ``world``.
        id: E.g. ``anyone``.
    """

    perms: int
    scheme: str
    id: str


Acls = tuple[Acl, ...]

OPEN: Acls = (Acl(31, "world", "anyone"),)
_OPEN_IN_BYTES = b"\0\0\0\1" + b"\0\0\0\x1f" + b"\0\0\0\5world" + b"\0\0\0\6anyone"


class StreamWindow:
    """The current part of a stream; earlier parts are dropped.

    Attributes:
        content: Bytes in memory.
        start: Position of ``content`` in the stream.
        used: Position after the last nonzero byte read.
    """

    __slots__ = ("_pieces", "content", "start", "used")

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.content, self.start, self.used = b"", 0, 0

    def drop(self, size: int) -> None:
        """Drop the first ``size`` bytes."""
        self.content = self.content[size:]
        self.start += size

    def reach(self, at: int, size: int) -> int:
        """Load ``size`` bytes from ``at`` on, or as many as there are.

        Returns:
            Where in ``content`` now is what was at ``at``; bytes before it may be gone.
        """
        if at + size <= len(self.content):
            return at
        self.drop(at)
        parts, held = [self.content], len(self.content)
        while held < size and (piece := next(self._pieces, b"")):
            parts.append(piece)
            if in_use := len(piece.rstrip(b"\0")):
                self.used = self.start + held + in_use
            held += len(piece)
        self.content = b"".join(parts)
        return 0


def pieces(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a stream in pieces of at most ``PIECE`` bytes."""
    return iter(partial(stream.read, PIECE), b"")


def head(window: StreamWindow, magic: bytes) -> FileHead | StreamDamage:
    """Read the header of a log (``ZKLG``) or a snapshot (``ZKSN``) and advance past it."""
    window.reach(0, _HEAD.size)
    content = window.content[: _HEAD.size]
    window.drop(len(content))
    if len(content) < _HEAD.size:
        return StreamDamage(0, len(content), "ends within its head" if content else "is empty")
    found, version, dbid = _HEAD.unpack(content)
    if found != magic:
        return StreamDamage(0, _HEAD.size, f"does not begin with {magic.decode()}")
    if version != _VERSION:
        return StreamDamage(0, _HEAD.size, f"is of version {version}, which is not known")
    return FileHead(version, dbid)


def count(content: bytes, at: int) -> tuple[int, int]:
    """Return the number of elements at ``at``, 0 for null, and the position of the first one.

    Raises:
        ValueError: Not a number of elements.
        struct.error: The content ends before.
    """
    (number,) = read_int(content, at)
    if number < _NULL:
        raise ValueError(f"states a number of {number}")
    return (0 if number == _NULL else number), at + INT


def buffer(content: bytes, at: int) -> tuple[bytes | None, int]:
    """Return the bytes at ``at``, ``None`` for null, and their end.

    Raises:
        EOFError: The content ends before.
        ValueError: A length that cannot be.
        struct.error: The content ends before.
    """
    (length,) = _INT.unpack_from(content, at)
    begin = at + _INT.size
    if length == _NULL:
        return None, begin
    end = begin + length
    if not begin <= end <= len(content):
        raise _does_not_fit(length)
    return content[begin:end], end


def _does_not_fit(length: int) -> Exception:
    """Return the error for a length beyond the content: it may become valid with more bytes, or never."""
    return EOFError() if 0 <= length <= LONGEST else ValueError(f"states a length of {length} bytes")


def text(content: bytes, at: int) -> tuple[str, int]:
    """Return the text at ``at`` and its end.

    Raises:
        EOFError: The content ends before.
        ValueError: No text: null, a length that cannot be, or bytes that are not UTF-8.
        struct.error: The content ends before.
    """
    (length,) = _INT.unpack_from(content, at)
    begin = at + _INT.size
    end = begin + length
    if not begin <= end <= len(content):
        raise _does_not_fit(length)
    return content[begin:end].decode(), end


def named_buffer(content: bytes, at: int) -> tuple[str, bytes | None, int]:
    """Return a text, the bytes after it, and their end: like :func:`text` and :func:`buffer`, at half the cost.

    Something must follow them: the stated number of bytes is not checked twice.

    Raises:
        ValueError: As those two do.
        struct.error: The content ends before.
    """
    (length,) = read_int(content, at)
    if not 0 <= length <= LONGEST:
        raise _does_not_fit(length)
    begin = at + INT
    end = begin + length
    (length,) = read_int(content, end)
    name = content[begin:end].decode()
    begin = end + INT
    if length == _NULL:
        return name, None, begin
    if not 0 <= length <= LONGEST:
        raise _does_not_fit(length)
    end = begin + length
    return name, content[begin:end], end


def texts(content: bytes, at: int) -> tuple[tuple[str, ...], int]:
    """Return the texts at ``at`` and their end; raises like :func:`text`."""
    number, at = count(content, at)
    found = []
    for _ in range(number):
        one, at = text(content, at)
        found.append(one)
    return tuple(found), at


def acls(content: bytes, at: int) -> tuple[Acls, int]:
    """Return the ACL at ``at`` and its end; raises like :func:`text`."""
    if content.startswith(_OPEN_IN_BYTES, at):  # nearly always, so worth a shortcut
        return OPEN, at + len(_OPEN_IN_BYTES)
    number, at = count(content, at)
    found = []
    for _ in range(number):
        (perms,) = _INT.unpack_from(content, at)
        scheme, at = text(content, at + _INT.size)
        name, at = text(content, at)
        found.append(Acl(perms, scheme, name))
    return tuple(found), at
