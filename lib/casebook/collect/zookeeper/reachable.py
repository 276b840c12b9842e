"""Whether servers take connections, without asking Kafka anything: a broker of 0.9 is lost to a client that asks it for more."""

import errno
import os
import re
import socket
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 1.5
"""Seconds for a connection."""

_AT_ONCE = 32
_ENOUGH = 4096
_AGAIN = 0.5
"""Seconds before a server is asked again."""

_NO_NAME = "its name does not resolve"
_ANSWERS = (_NO_NAME, os.strerror(errno.ECONNREFUSED).lower())
_ZOOKEEPER_VERSION = re.compile(r"^Zookeeper version: ([0-9][^\s,-]*)", re.MULTILINE)


def why_not(servers: Iterable[str]) -> Mapping[str, str | None]:
    """Why each server takes no connection, in a few words; ``None`` for one that does.

    Args:
        servers: ``host:port`` each, an IPv6 address in brackets.
    """
    servers = list(dict.fromkeys(servers))
    with ThreadPoolExecutor(_AT_ONCE) as many:
        return dict(zip(servers, many.map(_why_not, servers), strict=True))


def nobody(servers: Iterable[str]) -> Mapping[str, str] | None:
    """Why no server can be there, for each; ``None`` when one might: it takes connections, or does not answer in time.

    A refusal is an answer, and so is a name that nobody has; both are asked for twice, as a server may be starting this moment.
    """
    servers = tuple(servers)
    for pause in (0.0, _AGAIN):
        time.sleep(pause)
        told = why_not(servers)
        if not all(told[server] in _ANSWERS for server in servers):
            return None
    return told


def zookeeper_version(server: str) -> str | None:
    """Release of a ZooKeeper server by its word ``srvr``, which only reads; ``None`` where it is not answered."""
    try:
        with socket.create_connection(_address(server), timeout=PATIENCE) as connection:
            connection.sendall(b"srvr")
            said = _all_said(connection).decode(errors="replace")
    except (OSError, ValueError, OverflowError):
        return None
    found = _ZOOKEEPER_VERSION.search(said)
    return found[1] if found else None


def _all_said(connection: socket.socket) -> bytes:
    """What comes until the end, or until there is enough of it, or no more patience."""
    end, said = time.monotonic() + PATIENCE, b""
    while len(said) < _ENOUGH and (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        if not (piece := connection.recv(_ENOUGH)):
            break
        said += piece
    return said


def _why_not(server: str) -> str | None:
    try:
        socket.create_connection(_address(server), timeout=PATIENCE).close()
    except socket.gaierror as error:
        return "its name cannot be looked up now" if error.errno == socket.EAI_AGAIN else _NO_NAME
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    except (ValueError, OverflowError):  # labels that are empty or too long, ports that are no number or too high
        return "not a valid host and port"
    return None


def _address(server: str) -> tuple[str, int]:
    host, _, port = server.rpartition(":")
    return host.strip("[]"), int(port)
