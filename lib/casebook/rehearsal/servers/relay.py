"""A relay on loopback that gives a client its own address, and knows each of its connections."""

import socket
from contextlib import suppress
from datetime import UTC, datetime
from threading import Thread
from types import TracebackType
from typing import Self

from casebook.rehearsal.servers.ports import HOST
from casebook.rehearsal.servers.protocol import Address

_ENOUGH = 1 << 16


class Relay:
    """Relays bytes between its clients and a broker, while its block lasts.

    Args:
        broker: Target.
        source: Address that the broker sees, one of 127.0.0.0/8.

    Attributes:
        connections: Time and source address of connections to the broker.
    """

    def __init__(self, broker: Address, *, source: str) -> None:
        self.connections: list[dict[str, str]] = []
        self._broker, self._source = broker, source
        self._listening = socket.create_server((HOST, 0))
        self._open: list[socket.socket] = [self._listening]
        Thread(target=self._accept, name="relay", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each in self._open:
            _end(each)

    @property
    def bootstrap(self) -> str:
        """``bootstrap.servers`` of its clients."""
        return "{}:{}".format(*self._listening.getsockname())

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:  # the block has ended
                return
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            broker = socket.create_connection(self._broker, source_address=(self._source, 0))
            self.connections.append({"at": at, "from": "{}:{}".format(*broker.getsockname())})
            self._open += (client, broker)
            for pair in ((client, broker), (broker, client)):
                Thread(target=_hand_on, args=pair, name="relay", daemon=True).start()


def _hand_on(giver: socket.socket, taker: socket.socket) -> None:
    with suppress(OSError):  # one of them has closed, so close the other
        while data := giver.recv(_ENOUGH):
            taker.sendall(data)
    _end(giver)
    _end(taker)


def _end(each: socket.socket) -> None:
    with suppress(OSError):  # it has already ended
        each.shutdown(socket.SHUT_RDWR)
    each.close()
