"""Changes of a transaction to ZooKeeper's tree and sessions, and their encoding in a record."""

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from casebook.formats.zookeeper.records import INT, Acls, acls, buffer, count, named_buffer, read_int, text, texts

_CREATED = struct.Struct(">?i")
_CREATED_WITH_TTL = struct.Struct(">iq")
_PART = struct.Struct(">ii")
_HEADS = struct.Struct(">iii")  # of a multi and its first part; also of a part and the start of its path
_LAST_OF_LENGTH = _HEADS.size - 1  # the whole length of the first part, below 256
_BESIDE_CHECK = _HEADS.size + _PART.size  # bytes before a setData, without the check's own
_LEAST_SET_DATA = 3 * INT
_LAYOUTS, _CHECKS = 4096, 4  # maximum cached
_SET_DATA, _CHECK = 5, 13
_NOT_LOGGED = -1

_TOO_SHORT = (EOFError, IndexError, struct.error)
NOT_UNDERSTOOD = (KeyError, ValueError, *_TOO_SHORT)
"""Errors on reading an unknown change."""

_row = tuple.__new__  # like a named tuple's own constructor, at half its cost


class Create(NamedTuple):
    """Creation of a znode.

    Args:
        operation: ``create``, ``create2``, ``createContainer`` or ``createTTL``.
        path: Path of the znode.
        data: Its data; ``None`` for null.
        acl: ACL.
        ephemeral: It belongs to the session.
        parent_cversion: Parent's number of creations including this one; -1 when not logged (3.3).
        ttl: TTL of ``createTTL``, milliseconds.
    """

    operation: str
    path: str
    data: bytes | None
    acl: Acls
    ephemeral: bool
    parent_cversion: int
    ttl: int | None


class Delete(NamedTuple):
    """Deletion of a znode; ``operation`` is ``delete`` or ``deleteContainer``."""

    operation: str
    path: str


class SetData(NamedTuple):
    """Change of a znode's data.

    Args:
        operation: ``setData`` or ``reconfig``.
        path: Path of the znode.
        data: The new data; ``None`` for null.
        version: The new version of the data.
    """

    operation: str
    path: str
    data: bytes | None
    version: int


class SetAcl(NamedTuple):
    """Change of a znode's ACL; ``version`` is its new version."""

    operation: str
    path: str
    acl: Acls
    version: int


class Check(NamedTuple):
    """Part of a multi that changes nothing: ``version`` is the one after the expected one."""

    operation: str
    path: str
    version: int


class CreateSession(NamedTuple):
    """Start of a session, with its timeout in milliseconds."""

    operation: str
    timeout: int


class CloseSession(NamedTuple):
    """End of a session, closed or expired.

    Args:
        operation: ``closeSession``.
        paths: Znodes deleted with it; ``None`` up to 3.5, which did not log them.
    """

    operation: str
    paths: tuple[str, ...] | None


class Failed(NamedTuple):
    """A rejected request with a zxid.

    Args:
        operation: ``error``.
        code: Code of ``KeeperException.Code``; in a multi 0 for the parts before the failed one.
    """

    operation: str
    code: int


class Unknown(NamedTuple):
    """A change with a valid checksum that could not be decoded.

    Args:
        operation: ``unknown``.
        type: Its number in ``ZooDefs.OpCode``.
        content: Its bytes, with the rest of the record.
        reason: Reason.
    """

    operation: str
    type: int
    content: bytes
    reason: str


class Multi(NamedTuple):
    """Changes made together, or not at all: see ``failed``."""

    operation: str
    parts: tuple["Change", ...]

    @property
    def failed(self) -> bool:
        """One of its parts was rejected, so none of them happened."""
        return any(isinstance(part, Failed) for part in self.parts)


Change: TypeAlias = Create | Delete | SetData | SetAcl | Check | CreateSession | CloseSession | Failed | Multi | Unknown
_Reader: TypeAlias = Callable[[bytes, int, str], tuple[Change, int]]
_SetDataLayout: TypeAlias = Callable[[bytes, int], tuple[bytes, int, bytes, int]]


def _part(kind: int, content: bytes) -> Change:
    """Return a change that is part of a multi, from its own bytes."""
    try:
        operation, reader = _PARTS[kind]
        change, end = reader(content, 0, operation)
        if end != len(content):
            raise too_late(content, end)
    except NOT_UNDERSTOOD as error:
        return unknown(kind, content, error)
    return change


def unknown(kind: int, content: bytes, error: Exception) -> Unknown:
    """Return the placeholder for an undecodable change."""
    if isinstance(error, KeyError):
        return Unknown("unknown", kind, content, "is of a type that is not known")
    return Unknown("unknown", kind, content, "ends too early" if isinstance(error, _TOO_SHORT) else str(error))


def too_late(body: bytes, end: int) -> ValueError:
    """Return the error for a change with extra bytes after it."""
    return ValueError(f"ends {len(body) - end} bytes too late")


def _create(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    if at + 1 == len(body):  # CreateTxnV0, of 3.3
        return Create(operation, path, data, acl, body[at] != 0, _NOT_LOGGED, None), at + 1
    ephemeral, parent_cversion = _CREATED.unpack_from(body, at)
    return _row(Create, (operation, path, data, acl, ephemeral, parent_cversion, None)), at + _CREATED.size


def _create_container(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    (parent_cversion,) = read_int(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, None), at + INT


def _create_ttl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    parent_cversion, ttl = _CREATED_WITH_TTL.unpack_from(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, ttl), at + _CREATED_WITH_TTL.size


def _delete(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    return _row(Delete, (operation, path)), at


def _set_data(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (length,) = read_int(body, at)
    size = len(body) - at
    if 0 <= length <= size - _LEAST_SET_DATA:
        path, stated, data, version = _set_data_at(length, size)(body, at)
        if stated == len(data):  # neither null nor followed by a digest
            return _row(SetData, (operation, path.decode(), data, version)), at + size
    path, data, at = named_buffer(body, at)
    (version,) = read_int(body, at)
    return _row(SetData, (operation, path, data, version)), at + INT


@lru_cache(_LAYOUTS)
def _set_data_at(path: int, size: int) -> _SetDataLayout:
    """Return the layout of path, data length, data and version in ``size`` bytes; a controller writes few different lengths."""
    return struct.Struct(f">4x{path}si{size - path - _LEAST_SET_DATA}si").unpack_from


def _set_acl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    acl, at = acls(body, at)
    (version,) = read_int(body, at)
    return SetAcl(operation, path, acl, version), at + INT


def _check(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    (version,) = read_int(body, at)
    return _row(Check, (operation, path, version)), at + INT


def _create_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (timeout,) = read_int(body, at)
    return CreateSession(operation, timeout), at + INT


def _close_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    if at == len(body):
        return CloseSession(operation, None), at
    try:
        paths, end = texts(body, at)
    except (ValueError, *_TOO_SHORT):
        return CloseSession(operation, None), at  # closeSessionTxn.enabled=false: a digest follows, or a reported rest
    return CloseSession(operation, paths), end


def _failed(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (code,) = read_int(body, at)
    return Failed(operation, code), at + INT


def _multi(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    """Nearly all are a check and a setData, which are read at once; any other is read part by part."""
    try:
        begin = at + _BESIDE_CHECK + body[at + _LAST_OF_LENGTH]
        fence = _fence(body[at : begin + INT])
        if fence:
            check, size, set_data = fence
            path, stated, data, version = set_data(body, begin)
            if stated == len(data):
                change = _row(SetData, ("setData", path.decode(), data, version))
                return _row(Multi, (operation, (check, change))), begin + size
    except NOT_UNDERSTOOD:
        pass
    return _part_by_part(body, at, operation)


@lru_cache(_LAYOUTS)
def _fence(head: bytes) -> tuple[Change, int, _SetDataLayout] | None:
    """Return how a multi continues: few have a unique start, as Kafka's controller adds a check of its epoch to all writes.

    Args:
        head: Bytes up to the path length in the second part, when the first is a check; at most 279 bytes of anything else.

    Returns:
        The check, and of the setData behind it the size and what reads it; ``None`` where there is anything else.

    Raises:
        struct.error: The path does not fit into the size.
    """
    first, content, second = head[: _HEADS.size], head[_HEADS.size : -_HEADS.size], head[-_HEADS.size :]
    if first != _HEADS.pack(2, _CHECK, len(content)):
        return None
    kind, size, path = _HEADS.unpack(second)
    return (_check_again(content), size, _set_data_at(path, size)) if kind == _SET_DATA else None


def _part_by_part(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    number, at = count(body, at)
    parts = []
    for _ in range(number):
        kind, length = _PART.unpack_from(body, at)
        begin = at + _PART.size
        at = begin + length
        if not begin <= at <= len(body):
            _, at = buffer(body, begin - INT)  # null, or an error with the reason
        part = body[begin:at]
        parts.append(_check_again(part) if kind == _CHECK else _part(kind, part))
    return _row(Multi, (operation, tuple(parts))), at


@lru_cache(_CHECKS)
def _check_again(part: bytes) -> Change:
    """Most equal the one before: Kafka's controller checks its epoch on each write (KAFKA-6082)."""
    return _part(_CHECK, part)


# Numbers of ZooDefs.OpCode@3.8.4.
_PARTS: Mapping[int, tuple[str, _Reader]] = {
    1: ("create", _create),
    2: ("delete", _delete),
    _SET_DATA: ("setData", _set_data),
    7: ("setACL", _set_acl),
    _CHECK: ("check", _check),
    15: ("create2", _create),
    16: ("reconfig", _set_data),
    19: ("createContainer", _create_container),
    20: ("deleteContainer", _delete),
    21: ("createTTL", _create_ttl),
    -1: ("error", _failed),
    -10: ("createSession", _create_session),
    -11: ("closeSession", _close_session),
}
OPERATIONS: Mapping[int, tuple[str, _Reader]] = {**_PARTS, 14: ("multi", _multi)}
