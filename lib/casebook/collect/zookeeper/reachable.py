"""Check whether servers accept connections, without a Kafka request: unknown ones can break a 0.9 broker's connection."""

import errno
import os
import re
import socket
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 1.5
"""Seconds to wait for a connection."""

_AT_ONCE = 32
_ENOUGH = 4096
_AGAIN = 0.5
"""Seconds before a server is tried again."""

_NO_NAME = "its name does not resolve"
_ANSWERS = (_NO_NAME, os.strerror(errno.ECONNREFUSED).lower())
_ZOOKEEPER_VERSION = re.compile(r"^Zookeeper version: ([0-9][^\s,-]*)", re.MULTILINE)


def why_not(servers: Iterable[str]) -> Mapping[str, str | None]:
    """Return why each server refuses connections, in a few words; ``None`` for one that accepts them.

    Args:
        servers: ``host:port`` each, an IPv6 address in brackets.
    """
    servers = list(dict.fromkeys(servers))
    with ThreadPoolExecutor(_AT_ONCE) as many:
        return dict(zip(servers, many.map(_why_not, servers), strict=True))


def nobody(servers: Iterable[str]) -> Mapping[str, str] | None:
    """Return why each server is certainly down; ``None`` when one may be up: it accepts connections, or times out.

    A refusal is an answer, and so is an unknown host name; both are tried twice, as a server may be starting.
    """
    servers = tuple(servers)
    for pause in (0.0, _AGAIN):
        time.sleep(pause)
        told = why_not(servers)
        if not all(told[server] in _ANSWERS for server in servers):
            return None
    return told


def zookeeper_version(server: str) -> str | None:
    """Return a ZooKeeper server's release from its read-only command ``srvr``; ``None`` without an answer."""
    try:
        with socket.create_connection(_address(server), timeout=PATIENCE) as connection:
            connection.sendall(b"srvr")
            said = _received(connection).decode(errors="replace")
    except (OSError, ValueError, OverflowError):
        return None
    found = _ZOOKEEPER_VERSION.search(said)
    return found[1] if found else None


def _received(connection: socket.socket) -> bytes:
    """Return all data until the end, the size limit, or the timeout."""
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
    except (ValueError, OverflowError):  # empty or overlong labels, invalid ports
        return "not a valid host and port"
    return None


def _address(server: str) -> tuple[str, int]:
    host, _, port = server.rpartition(":")
    return host.strip("[]"), int(port)
