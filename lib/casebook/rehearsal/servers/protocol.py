"""The part of Kafka's wire protocol for group coordinators: requests pipelined over one connection.

Every request has a version that all releases from 0.9 to 3.9 support; ApiVersions is never sent, as it would harm a 0.9 broker.
Layouts: ``Protocol.java@0.9.0.1``, ``clients/src/main/resources/common/ message/*.json@3.9.0-rc3``.
"""

import socket
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import islice
from types import TracebackType
from typing import Self

from casebook.errors import RehearsalError

Address = tuple[str, int]
"""Host and port."""

_HEADER = struct.Struct(">hhi")
_LENGTH = struct.Struct(">i")
_INT16, _INT32, _INT64 = (struct.Struct(f) for f in (">h", ">i", ">q"))
_BURST = 32
"""Requests written at once; as many more are in flight meanwhile."""


class Api(IntEnum):
    """API keys of the requests."""

    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    DESCRIBE_GROUPS = 15
    DELETE_GROUPS = 42
    OFFSET_DELETE = 47


class Code(IntEnum):
    """Coordinators' error codes (``Errors.java@3.9.0-rc3``); others stay bare numbers."""

    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    ILLEGAL_GENERATION = 22
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69


def named(code: int) -> str:
    """``NOT_COORDINATOR (16)``, or the bare number."""
    return f"{Code(code).name} ({code})" if code in set(Code) else str(code)


class BrokerLink:
    """A connection to one broker.

    Args:
        address: Address of the broker.
        client: Client id, which brokers record for group members.
        patience: Seconds to wait for each response.
        source: Local address; the system's choice when ``None``.

    Raises:
        OSError: The connection is refused; from any method: the broker closed it or did not respond in time.
    """

    def __init__(self, address: Address, *, client: str = "rehearsal", patience: float = 30.0, source: str | None = None) -> None:
        self.address = address
        self._client = string(client)
        self._socket = socket.create_connection(address, timeout=patience, source_address=(source, 0) if source else None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._incoming = self._socket.makefile("rb", buffering=1 << 16)
        self._sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def source(self) -> str:
        """Local address as brokers see it, ``host:port``."""
        return "{}:{}".format(*self._socket.getsockname())

    def close(self) -> None:
        """Close the connection."""
        self._incoming.close()
        self._socket.close()

    def ask(self, api: Api, version: int, body: bytes) -> "ResponseReader":
        """Send one request and wait for its response."""
        return next(self.pipeline(api, version, [body]))

    def pipeline(self, api: Api, version: int, bodies: Iterable[bytes]) -> Iterator["ResponseReader"]:
        """Send many requests of a kind without waiting for each, and yield their responses in order."""
        bodies, waiting = iter(bodies), 0
        while burst := list(islice(bodies, _BURST)):
            self._send(api, version, burst)
            yield from self._answers(waiting)
            waiting = len(burst)
        yield from self._answers(waiting)

    def _send(self, api: Api, version: int, bodies: Iterable[bytes]) -> None:
        frames = []
        for body in bodies:
            request = _HEADER.pack(api, version, self._sent) + self._client + body
            frames += (_LENGTH.pack(len(request)), request)
            self._sent = (self._sent + 1) & 0x7FFFFFFF
        self._socket.sendall(b"".join(frames))

    def _answers(self, count: int) -> Iterator["ResponseReader"]:
        for _ in range(count):
            (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
            yield ResponseReader(self._exactly(length))

    def _exactly(self, count: int) -> bytes:
        if len(found := self._incoming.read(count)) < count:
            raise ConnectionResetError("The broker closed the connection.")
        return found


class ResponseReader:
    """Reads a response field by field, after its correlation id."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, _INT32.size

    def int16(self) -> int:
        """Return the next two bytes."""
        return self._number(_INT16)

    def int32(self) -> int:
        """Return the next four bytes."""
        return self._number(_INT32)

    def int64(self) -> int:
        """Return the next eight bytes."""
        return self._number(_INT64)

    def string(self) -> str | None:
        """Return a length-prefixed text."""
        if (length := self.int16()) < 0:
            return None
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _number(self, form: struct.Struct) -> int:
        (value,) = form.unpack_from(self._data, self._at)
        self._at += form.size
        return value


def string(text: str | None) -> bytes:
    """Encode a text, or none, with its length prefix."""
    if text is None:
        return _INT16.pack(-1)
    data = text.encode()
    return _INT16.pack(len(data)) + data


def array(elements: Iterable[bytes]) -> bytes:
    """Encode elements with their count."""
    elements = tuple(elements)
    return _INT32.pack(len(elements)) + b"".join(elements)


def int32(value: int) -> bytes:
    """Encode four bytes."""
    return _INT32.pack(value)


def addresses(bootstrap: str) -> tuple[Address, ...]:
    """Return the addresses in ``host:port,host:port``."""
    pairs = (one.rsplit(":", 1) for one in bootstrap.split(",") if one)
    return tuple((host, int(port)) for host, port in pairs)


def refused(what: str, code: int) -> RehearsalError:
    """Return the error for a response outside the script."""
    return RehearsalError(f"{what} was refused.", cause=f"The broker answered {named(code)}.")
