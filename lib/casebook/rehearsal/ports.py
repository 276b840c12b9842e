"""Ports on the loopback."""

import random
import socket

HOST = "127.0.0.1"
_PORTS = range(20_000, 32_000)  # below those that systems give to outgoing connections


def free_port() -> int:
    """A port that nobody listens on at this moment; somebody may before it is used."""
    while True:
        port = random.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port


def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
