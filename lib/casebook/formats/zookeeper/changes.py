"""The changes that a transaction makes of ZooKeeper's tree and its sessions, and how they stand in a record."""

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from casebook.formats.zookeeper.records import INT, Acls, acls, buffer, count, named_buffer, read_int, text, texts

_CREATED = struct.Struct(">?i")
_CREATED_WITH_TTL = struct.Struct(">iq")
_PART = struct.Struct(">ii")
_HEADS = struct.Struct(">iii")  # of a multi and its first part; also of a part and the path that it begins with
_LAST_OF_LENGTH = _HEADS.size - 1  # all of the first part's length, as far as it is below 256
_BESIDE_CHECK = _HEADS.size + _PART.size  # what is before a setData, without the check's own bytes
_LEAST_SET_DATA = 3 * INT
_LAYOUTS, _CHECKS = 4096, 4  # remembered at most
_SET_DATA, _CHECK = 5, 13
_NOT_LOGGED = -1

_TOO_SHORT = (EOFError, IndexError, struct.error)
NOT_UNDERSTOOD = (KeyError, ValueError, *_TOO_SHORT)
"""What the reading of a change that is not understood ends in."""

_row = tuple.__new__  # what a named tuple's own constructor does, at half its price


class Create(NamedTuple):
    """A znode comes to be.

    Args:
        operation: ``create``, ``create2``, ``createContainer`` or ``createTTL``.
        path: Of the znode.
        data: Its data; ``None`` for null.
        acl: Its access rights.
        ephemeral: It belongs to the session.
        parent_cversion: The parent's number of creations with this one; -1 where 3.3 did not log it.
        ttl: Milliseconds of ``createTTL``.
    """

    operation: str
    path: str
    data: bytes | None
    acl: Acls
    ephemeral: bool
    parent_cversion: int
    ttl: int | None


class Delete(NamedTuple):
    """A znode goes; ``operation`` is ``delete`` or ``deleteContainer``."""

    operation: str
    path: str


class SetData(NamedTuple):
    """A znode's data change.

    Args:
        operation: ``setData`` or ``reconfig``.
        path: Of the znode.
        data: The new data; ``None`` for null.
        version: The new version of the data.
    """

    operation: str
    path: str
    data: bytes | None
    version: int


class SetAcl(NamedTuple):
    """A znode's access rights change; ``version`` is the new version of them."""

    operation: str
    path: str
    acl: Acls
    version: int


class Check(NamedTuple):
    """Part of a multi that changes nothing: ``version`` is the one after that which was asked for."""

    operation: str
    path: str
    version: int


class CreateSession(NamedTuple):
    """A session begins; its time-out is in milliseconds."""

    operation: str
    timeout: int


class CloseSession(NamedTuple):
    """A session was closed or expired.

    Args:
        operation: ``closeSession``.
        paths: The znodes that go with it; ``None`` up to 3.5, which did not log them.
    """

    operation: str
    paths: tuple[str, ...] | None


class Failed(NamedTuple):
    """What was refused, and got a zxid all the same.

    Args:
        operation: ``error``.
        code: Of ``KeeperException.Code``; in a multi 0 for the parts before the one that failed.
    """

    operation: str
    code: int


class Unknown(NamedTuple):
    """A change with a checksum that fits and nonetheless not understood.

    Args:
        operation: ``unknown``.
        type: Its number in ``ZooDefs.OpCode``.
        content: Its bytes, with whatever follows them in the record.
        reason: What is wrong with it.
    """

    operation: str
    type: int
    content: bytes
    reason: str


class Multi(NamedTuple):
    """Changes that were made together, or not at all: see ``failed``."""

    operation: str
    parts: tuple["Change", ...]

    @property
    def failed(self) -> bool:
        """One of its parts was refused, so none of them happened."""
        return any(isinstance(part, Failed) for part in self.parts)


Change: TypeAlias = Create | Delete | SetData | SetAcl | Check | CreateSession | CloseSession | Failed | Multi | Unknown
_Reader: TypeAlias = Callable[[bytes, int, str], tuple[Change, int]]
_SetDataLayout: TypeAlias = Callable[[bytes, int], tuple[bytes, int, bytes, int]]


def _part(kind: int, content: bytes) -> Change:
    """A change that is part of a multi, where it has bytes of its own."""
    try:
        operation, reader = _PARTS[kind]
        change, end = reader(content, 0, operation)
        if end != len(content):
            raise too_late(content, end)
    except NOT_UNDERSTOOD as error:
        return unknown(kind, content, error)
    return change


def unknown(kind: int, content: bytes, error: Exception) -> Unknown:
    """What stands for a change of which the reading ended in an error."""
    if isinstance(error, KeyError):
        return Unknown("unknown", kind, content, "is of a type that is not known")
    return Unknown("unknown", kind, content, "ends too early" if isinstance(error, _TOO_SHORT) else str(error))


def too_late(body: bytes, end: int) -> ValueError:
    """What is wrong with a change behind which there are bytes that nothing accounts for."""
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
        if stated == len(data):  # neither null nor with a digest behind it
            return _row(SetData, (operation, path.decode(), data, version)), at + size
    path, data, at = named_buffer(body, at)
    (version,) = read_int(body, at)
    return _row(SetData, (operation, path, data, version)), at + INT


@lru_cache(_LAYOUTS)
def _set_data_at(path: int, size: int) -> _SetDataLayout:
    """What takes path, length of the data, data and version out of ``size`` bytes; a controller writes few lengths of them."""
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
        return CloseSession(operation, None), at  # closeSessionTxn.enabled=false: what follows is a digest, or is told as unread
    return CloseSession(operation, paths), end


def _failed(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (code,) = read_int(body, at)
    return Failed(operation, code), at + INT


def _multi(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    """Nearly all are a check and a setData, which are read at once; what differs in anything is read part by part."""
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
    """How a multi goes on: few begin in a way of their own, as Kafka's controller has its epoch checked with all it writes.

    Args:
        head: Up to the path's length in the second part, where the first is a check; at most 279 bytes of anything else.

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
            _, at = buffer(body, begin - INT)  # null, or it says what is wrong
        part = body[begin:at]
        parts.append(_check_again(part) if kind == _CHECK else _part(kind, part))
    return _row(Multi, (operation, tuple(parts))), at


@lru_cache(_CHECKS)
def _check_again(part: bytes) -> Change:
    """Most are the one before: Kafka's controller has its epoch checked with whatever it writes (KAFKA-6082)."""
    return _part(_CHECK, part)


# By the numbers of ZooDefs.OpCode@3.8.4.
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
