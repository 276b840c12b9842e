"""A lane for bulk requests next to kazoo's own, on kazoo's connection, that lets no write through.

kazoo handles the hard parts: servers, sessions, reconnecting, authentication, pings. But it cannot do 100,000 requests well: for
every request it wakes another thread and sets up a new selector for each read and each write, with ``get_async`` too. It takes
its sockets and its ``select`` from a replaceable handler (``kazoo.interfaces.IHandler``). This one inserts its own frames into
the connection whenever kazoo waits, a batch at a time, and takes the responses out of the stream before kazoo sees it, by their
xid. tests/bench/collect.py measures the gain.

kazoo's ``read_only=True`` does not forbid writes (it admits servers without a quorum), so the socket itself checks the operation
of every frame, kazoo's own included, and refuses any that is not a read.
"""

import logging
import queue
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kazoo.exceptions import ConnectionLoss
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import (
    SASL,
    Auth,
    Close,
    Exists,
    GetChildren,
    GetData,
    Ping,
    int_int_struct,
    int_struct,
    reply_header_struct,
)

READ_OPERATIONS = frozenset(request.type for request in (Exists, GetData, GetChildren, Ping, Auth, SASL, Close))
LARGEST_ANSWER = 64 << 20
"""Bytes. A longer response breaks the connection: lists grow with ``jute.maxbuffer``, which is never set that high."""

_FIRST_XID = 1 << 30  # kazoo counts from 1 on every connection and never gets that far
_LAST_XID = (1 << 31) - 1
_OPERATION_AT = 8  # in a frame: after its length and xid
_CHUNK = 256 << 10
_STALLED = 10.0  # seconds

SILENT = logging.Logger("casebook.collect.kazoo")
"""Silences kazoo's log of requests, which contains credentials."""
SILENT.disabled = True


class WriteRefusedError(Exception):
    """A request that is not a read was about to be sent."""


class WireAnswer(NamedTuple):
    """Response to one request.

    Attributes:
        token: As given with the request.
        zxid: Last transaction that the server had applied; 0 when the connection was lost.
        error: ZooKeeper's error code; 0 for none.
        body: Response body, to be deserialized by the request's kind.
    """

    token: Any
    zxid: int
    error: int
    body: bytes


class LaneHandler(SequentialThreadingHandler):
    """Runs kazoo's connection with a lane of bulk requests.

    Attributes:
        answers: Batches of responses, in request order as long as the connection lasts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: queue.SimpleQueue[list[WireAnswer]] = queue.SimpleQueue()
        self.questions: deque[tuple[Any, int, bytes]] = deque()  # its append and popleft are atomic
        self._connection: SharedConnection | None = None
        self._hung_up = False
        self._bell = Doorbell()

    def ask(self, questions: Sequence[tuple[Any, int, bytes]]) -> None:
        """Send requests as soon as there is a connection: for each a token, the operation and its serialized body."""
        self.questions.extend(questions)
        self._bell.ring()

    def create_connection(self, *args: Any, **kwargs: Any) -> "SharedConnection":
        """Create a connection to a server."""
        if self._hung_up:
            raise ConnectionAbortedError("nobody wants it any more")
        self._connection = SharedConnection(super().create_connection(*args, **kwargs), self)
        return self._connection

    def hang_up(self) -> None:
        """End the connection from another thread, and prevent new ones, so that kazoo's thread waits for nothing any more."""
        self._hung_up = True
        if self._connection is not None:
            self._connection.shut_down()

    def create_socket_pair(self) -> "tuple[Doorbell, Doorbell]":
        """Return both ends of the pair that wakes kazoo's thread for pending requests."""
        return self._bell, self._bell

    def select(
        self, readers: Sequence[Any], writers: Sequence[Any], _errors: Sequence[Any], timeout: float | None = None
    ) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Wait for kazoo, and serve the lane meanwhile.

        kazoo listens to its doorbell only during a session: that is when the lane may be used.
        """
        if writers:
            return [], writers, []
        lane_is_open = any(isinstance(reader, Doorbell) for reader in readers)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            self._bell.listen()
            if ready := [reader for reader in readers if reader.pending()]:
                return ready, [], []
            for reader in readers:
                reader.before_waiting(lane_is_open=lane_is_open)
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return [], [], []
            for reader in _wait(readers, left):
                reader.after_waiting()

    def spawn(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Start a thread; on failure it closes the connection instead of printing a traceback."""

        def quietly() -> None:
            try:
                func(*args, **kwargs)
            except Exception:
                SILENT.exception("a kazoo thread ended")

        return super().spawn(quietly)


def _wait(readers: Sequence[Any], timeout: float | None) -> list[Any]:
    poll = select.poll()
    by_descriptor = {reader.fileno(): reader for reader in readers}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)]


class SharedConnection:
    """A connection that kazoo uses as its socket, shared with the lane.

    kazoo sends one whole frame per call. Its first one opens the session and has no operation.
    """

    def __init__(self, connection: socket.socket, handler: LaneHandler) -> None:
        self._connection = connection
        self._handler = handler
        self._asked: deque[tuple[int, Any]] = deque()
        self._xid = _FIRST_XID
        self._unsent = bytearray()
        self._received = bytearray()
        self._for_kazoo = bytearray()
        self._ended = False
        self._session_asked_for = False

    # kazoo's side: a socket

    def send(self, frame: bytes) -> int:
        """Keep a frame until kazoo waits.

        Raises:
            WriteRefusedError: It is not a read.
        """
        if self._session_asked_for:
            _refuse_write(int_struct.unpack_from(frame, _OPERATION_AT)[0])
        self._session_asked_for = True
        self._unsent += frame
        return len(frame)

    def recv(self, size: int) -> bytes:
        """Return at most ``size`` bytes of kazoo's frames; empty at the end of the connection."""
        taken = bytes(self._for_kazoo[:size])
        del self._for_kazoo[:size]
        return taken

    def pending(self) -> int:
        """Return whether kazoo need not wait; it asks TLS sockets the same."""
        return len(self._for_kazoo) or self._ended

    def fileno(self) -> int:
        """As for a socket."""
        return self._connection.fileno()

    def setblocking(self, flag: bool) -> None:
        """As for a socket."""
        self._connection.setblocking(flag)

    def close(self) -> None:
        """As for a socket; unanswered requests are lost."""
        self._connection.close()
        lost = [token for _, token in self._asked]
        while self._handler.questions:
            lost.append(self._handler.questions.popleft()[0])
        self._asked.clear()
        if lost:
            self._handler.answers.put([WireAnswer(token, 0, ConnectionLoss.code, b"") for token in lost])

    def shut_down(self) -> None:
        """Shut it down for all waiting threads."""
        with suppress(OSError):  # it has already ended
            self._connection.shutdown(socket.SHUT_RDWR)

    # The lane's side

    def before_waiting(self, *, lane_is_open: bool) -> None:
        """Send everything pending.

        Raises:
            OSError: The connection broke or is stalled.
        """
        if lane_is_open:
            self._add_questions()
        while self._unsent:
            try:
                del self._unsent[: self._connection.send(self._unsent)]
            except BlockingIOError:
                readable, writable, _ = select.select([self], [self], [], _STALLED)
                if readable:
                    return  # responses first: a server that cannot deliver them stops accepting requests
                if not writable:
                    raise TimeoutError("the server takes no requests") from None

    def _add_questions(self) -> None:
        while self._handler.questions:
            token, operation, rest = self._handler.questions.popleft()
            _refuse_write(operation)
            self._unsent += int_struct.pack(8 + len(rest)) + int_int_struct.pack(self._xid, operation) + rest
            self._asked.append((self._xid, token))
            self._xid = self._xid + 1 if self._xid < _LAST_XID else _FIRST_XID

    def after_waiting(self) -> None:
        """Receive what has arrived: responses to the lane, everything else to kazoo.

        Raises:
            OSError: The connection broke, or a server announces an absurd length.
        """
        chunk = self._connection.recv(_CHUNK)
        self._ended = not chunk
        self._received += chunk
        answers = []
        for xid, frame in self._frames():
            if xid >= _FIRST_XID:
                answers.append(self._answer(frame))
            else:
                self._for_kazoo += frame
        if answers:
            self._handler.answers.put(answers)

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield the complete frames, each with its first number, which is the xid once a session is open."""
        start, end = 0, len(self._received)
        while start + 8 <= end:
            length, xid = int_int_struct.unpack_from(self._received, start)
            if not 4 <= length <= LARGEST_ANSWER:
                raise OSError(f"an answer of {length} bytes is announced")
            if start + 4 + length > end:
                break
            yield xid, bytes(self._received[start : start + 4 + length])
            start += 4 + length
        del self._received[:start]

    def _answer(self, frame: bytes) -> WireAnswer:
        xid, zxid, error = reply_header_struct.unpack_from(frame, 4)
        if not self._asked or self._asked[0][0] != xid:
            raise OSError(f"an answer to {xid}, which is not what was asked")
        return WireAnswer(self._asked.popleft()[1], zxid, error, frame[4 + reply_header_struct.size :])


def _refuse_write(operation: int) -> None:
    if operation not in READ_OPERATIONS:
        raise WriteRefusedError(f"operation {operation} is not a read")


class Doorbell:
    """Replaces kazoo's pair of sockets: a byte for each of its requests. It only rings for a sleeper."""

    def __init__(self) -> None:
        self._hears, self._rings = socket.socketpair()
        self._announced: deque[bytes] = deque()
        self._asleep = False

    def send(self, byte: bytes) -> int:
        """Announce one of kazoo's requests."""
        self._announced.append(byte)
        self.ring()
        return 1

    def listen(self) -> None:
        """Require a ring from here on. Earlier announcements are seen by the current check."""
        self._asleep = True

    def ring(self) -> None:
        """Wake the waiting thread, if any."""
        if self._asleep:
            self._asleep = False
            self._rings.send(b"\0")

    def recv(self, size: int) -> bytes:  # noqa: ARG002  a socket's signature
        """Take one announcement."""
        return self._announced.popleft()

    def pending(self) -> int:
        """Return the number of announced requests."""
        return len(self._announced)

    def before_waiting(self, *, lane_is_open: bool) -> None:
        """Do nothing."""

    def after_waiting(self) -> None:
        """Clear the rings."""
        self._hears.recv(_CHUNK)

    def fileno(self) -> int:
        """As for a socket."""
        return self._hears.fileno()

    def close(self) -> None:
        """As for a socket."""
        self._hears.close()
        self._rings.close()
