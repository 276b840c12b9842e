"""Ports on the loopback."""

import random
import socket
import sys

HOST = "127.0.0.1"
_PORTS = range(20_000, 32_000)  # below those that systems give to outgoing connections
_TAKEN = "\0casebook-rehearsal-port-{}"
"""An abstract name, which goes with the process that has bound it (``unix(7)``)."""


def free_port() -> int:
    """A port that nobody listens on at this moment, and that no other rehearsal is given while this process lives.

    A server binds it seconds later: until then another would find it free, too, and take the server of the first for its own.
    """
    while True:
        port = random.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            if _is_ours(port):
                return port


def _is_ours(port: int) -> bool:
    """Keep others from a port, where the system has such names."""
    if sys.platform != "linux":
        return True
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(_TAKEN.format(port))
    except OSError:
        name.close()
        return False
    name.detach()  # it is closed when the process ends
    return True


def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
