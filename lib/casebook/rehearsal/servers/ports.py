"""Ports on loopback."""

import random
import socket
import sys

HOST = "127.0.0.1"
_PORTS = range(20_000, 32_000)  # below the systems' ports for outgoing connections
_TAKEN = "\0casebook-rehearsal-port-{}"
"""An abstract socket name, which ends with the process that has bound it (``unix(7)``)."""


def free_port() -> int:
    """Return a port that is free now, and reserved from other rehearsals while this process lives.

    A server binds it seconds later: until then another rehearsal would find it free, too, and use the first one's server.
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
    """Reserve a port, if the system has such names."""
    if sys.platform != "linux":
        return True
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(_TAKEN.format(port))
    except OSError:
        name.close()
        return False
    name.detach()  # it is closed with the process
    return True


def listens(port: int) -> bool:
    """Return whether a port accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
