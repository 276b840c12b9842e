"""Kind of a listener that gives a client no answer, by requests that harm no release of Kafka. No credential is sent."""

import socket
import ssl
import struct
from contextlib import closing, suppress
from enum import StrEnum
from typing import NamedTuple

from casebook.collect.wire.addresses import Address

_PATIENCE = 2.0
"""Seconds to wait for a connection, and for each answer."""
_CLIENT = b"kafka-casebook"
_METADATA, _API_VERSIONS = 3, 18
_NO_TOPICS = struct.pack(">i", 0)
_LARGEST = 1 << 20


class Speech(StrEnum):
    """Reaction of a listener to requests of Kafka."""

    ANSWERS = "answers"
    SASL = "sasl"  # it answers only requests that come before an authentication
    SILENT = "silent"
    CLOSES = "closes"


class Listener(NamedTuple):
    """Kind of a listener.

    Args:
        unreachable: Why there is no connection, in words; ``""`` with one.
        tls: Whether it uses TLS.
        certificate: Whether it refuses a client without a certificate.
        speech: Reaction to requests of Kafka.
    """

    unreachable: str = ""
    tls: bool = False
    certificate: bool = False
    speech: Speech = Speech.CLOSES


def listener_at(address: Address) -> Listener:
    """Return the kind of the listener at an address, by some new connections; at most 4 s for one that is silent."""
    if unreachable := why_not_connected(address):
        return Listener(unreachable=unreachable)
    try:
        with closing(_connected(address, tls=True)) as connection, suppress(TimeoutError):  # it waits for a request
            if not connection.recv(1):
                return Listener(tls=True)
    except TimeoutError:
        return Listener(speech=Speech.SILENT)
    except ssl.SSLError as error:
        if "ALERT" in (error.reason or ""):
            return Listener(tls=True, certificate="CERTIFICATE" in error.reason)
    except OSError:
        pass
    else:
        return Listener(tls=True, speech=_speech(address, tls=True))
    return Listener(speech=_speech(address, tls=False))


def why_not_connected(address: Address) -> str:
    """Return in words why there is no connection, by trying one; ``""`` if there is."""
    try:
        socket.create_connection(address, timeout=_PATIENCE).close()
    except socket.gaierror:
        return f"The host {address.host} is not known."
    except TimeoutError:
        return "It does not answer: a firewall, another network, or the host is down."
    except ConnectionRefusedError:
        return "The connection is refused: no process listens on this port."
    except OSError as error:
        return f"{error.strerror or error}."
    return ""


def _speech(address: Address, *, tls: bool) -> Speech:
    """Ask as Kafka 0.10 does; ApiVersions harms 0.9, but only where this first request has an answer."""
    first = _reaction(address, _METADATA, 1, _NO_TOPICS, tls=tls)
    if first != Speech.CLOSES:
        return first
    return Speech.SASL if _reaction(address, _API_VERSIONS, 0, b"", tls=tls) == Speech.ANSWERS else Speech.CLOSES


def _reaction(address: Address, api: int, version: int, body: bytes, *, tls: bool) -> Speech:
    header = struct.pack(">hhih", api, version, 1, len(_CLIENT)) + _CLIENT
    request = header + body
    try:
        with closing(_connected(address, tls=tls)) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            with connection.makefile("rb") as answer:
                size, correlation = struct.unpack(">ii", answer.read(8))
    except TimeoutError:
        return Speech.SILENT
    except (OSError, struct.error):
        return Speech.CLOSES
    return Speech.ANSWERS if correlation == 1 and 4 < size < _LARGEST else Speech.CLOSES


def _connected(address: Address, *, tls: bool) -> socket.socket:
    connection = socket.create_connection(address, timeout=_PATIENCE)
    if not tls:
        return connection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing secret is sent, and no answer is kept
    try:
        return context.wrap_socket(connection, server_hostname=address.host)
    except BaseException:
        connection.close()
        raise
