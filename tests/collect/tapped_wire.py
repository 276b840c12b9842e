"""A wire to a ZooKeeper that can be watched and cut."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress


class Wire:
    """A proxy before a ZooKeeper: sees every operation, acts when a path passes by, and cuts what is too long.

    Attributes:
        operations: Of every frame from a client, but the first of each connection.
        cut_answers_over: Bytes; a longer answer is not delivered, the connection is cut.
        session: Id and password of the session opened last.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._actions: dict[bytes, Callable[[], None]] = {}
        self._connections: list[socket.socket] = []
        self.operations: list[int] = []
        self.cut_answers_over = 1 << 40
        self.session = (0, b"")
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """``host:port`` for clients."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def when(self, path: str, act: Callable[[], None], *, operation: int = 4) -> None:
        """Do something once, just before the first request of this kind for exactly this path is passed on."""
        encoded = path.encode()
        self._actions[struct.pack("!ii", operation, len(encoded)) + encoded] = act

    def cut(self) -> None:
        """Cut every connection."""
        while self._connections:
            _end(self._connections.pop())

    def close(self) -> None:
        """Stop listening and cut everything."""
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._connections += [client, server]
            threading.Thread(target=self._questions, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answers, args=(client, server), daemon=True).start()

    def _questions(self, client: socket.socket, server: socket.socket) -> None:
        frames = _frames(client)
        try:
            server.sendall(next(frames))
            for frame in frames:
                self.operations.append(struct.unpack_from("!i", frame, 8)[0])
                for wanted in [wanted for wanted in self._actions if wanted in frame]:
                    self._actions.pop(wanted)()
                server.sendall(frame)
        except (OSError, StopIteration):
            pass
        _end(client), _end(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        frames = _frames(server)
        try:
            opened = next(frames)
            self.session = struct.unpack_from("!q", opened, 12)[0], opened[24:40]
            client.sendall(opened)
            for frame in frames:
                if len(frame) > self.cut_answers_over:
                    break
                client.sendall(frame)
        except (OSError, StopIteration):
            pass
        _end(client), _end(server)


def _frames(connection: socket.socket) -> Iterator[bytes]:
    file = connection.makefile("rb")
    while len(head := file.read(4)) == 4:
        yield head + file.read(struct.unpack("!i", head)[0])


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
