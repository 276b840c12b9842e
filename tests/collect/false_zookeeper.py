"""A ZooKeeper that behaves as badly as is wished: it answers from a few znodes, and then stalls, drips, or expires sessions."""

import socket
import struct
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

_STAT = struct.Struct("!qqqqiiiqiiq")
_PING, _CLOSE, _EXISTS, _GET = 11, -11, 3, 4
_NO_NODE = -101


class FalseZooKeeper:
    """Listens on the loopback until it is closed.

    Args:
        znodes: What it holds; parents are made.
        opens: Whether it opens sessions at all.
        answers: How many questions it answers in its life; then it says nothing more, also to who connects anew.
        pause: Seconds before each answer.
        drip: Seconds between two bytes of an answer; 0 sends it whole.
        expires_after: Questions after which it cuts the connection and expires the session; 0 for never.
        keeps: Milliseconds that it promises sessions to live.
    """

    def __init__(
        self, znodes: Mapping[str, bytes], *, opens: bool = True, answers: int = 1 << 30, pause: float = 0, drip: float = 0,
        expires_after: int = 0, keeps: int = 6000,
    ) -> None:  # fmt: skip
        self._data = {"/": b""} | {above: b"" for path in znodes for above in _above(path)} | dict(znodes)
        self._opens, self._left, self._pause, self._drip = opens, answers, pause, drip
        self._expires_after, self._keeps = expires_after, keeps
        self._sessions = 0
        self._held: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        """End it and all connections."""
        self._listening.close()
        for connection in self._held:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._held.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, struct.error):
            stream = client.makefile("rb")
            asked = _frame(stream)
            if not self._opens:
                return
            (old,) = struct.unpack_from("!q", asked, 16)
            expired = bool(old and self._expires_after)
            self._sessions += 1
            self._send(client, struct.pack("!iiqi16s?", 0, 0 if expired else self._keeps, self._sessions, 16, b"", False))
            for served in range(1, 1 << 30):
                question = _frame(stream)
                xid, operation = struct.unpack_from("!ii", question)
                if self._expires_after and served > self._expires_after:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                if operation in (_PING, _CLOSE) and self._left > 0:
                    self._send(client, struct.pack("!iqi", xid, 1, 0))
                elif self._left > 0:
                    self._left -= 1
                    time.sleep(self._pause)
                    (length,) = struct.unpack_from("!i", question, 8)
                    self._send(client, self._answer(xid, operation, question[12 : 12 + length].decode()))

    def _answer(self, xid: int, operation: int, path: str) -> bytes:
        data = self._data.get(path)
        if data is None:
            return struct.pack("!iqi", xid, 1, _NO_NODE)
        below = path.rstrip("/") + "/"
        children = [
            other[len(below) :] for other in self._data if other.startswith(below) and "/" not in other[len(below) :] != ""
        ]
        stat = _STAT.pack(1, 1, 1, 1, 0, 0, 0, 0, len(data), len(children), 1)
        body = stat
        if operation == _GET:
            body = struct.pack("!i", len(data)) + data + stat
        elif operation != _EXISTS:
            body = struct.pack("!i", len(children)) + b"".join(struct.pack("!i", len(name)) + name.encode() for name in children)
        return struct.pack("!iqi", xid, 1, 0) + body

    def _send(self, client: socket.socket, frame: bytes) -> None:
        whole = struct.pack("!i", len(frame)) + frame
        if not self._drip:
            client.sendall(whole)
            return
        for byte in whole:
            client.sendall(bytes([byte]))
            time.sleep(self._drip)


def _frame(stream: object) -> bytes:
    (length,) = struct.unpack("!i", stream.read(4))
    return stream.read(length)


def _above(path: str) -> list[str]:
    parts = path.split("/")[1:-1]
    return ["/" + "/".join(parts[: depth + 1]) for depth in range(len(parts))]
