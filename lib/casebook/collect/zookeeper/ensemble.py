"""Address and credentials of a ZooKeeper ensemble."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

from casebook.collect import outside
from casebook.errors import CollectError, UsageError

_DEFAULT_PORT = 2181
_LARGEST_CREDENTIALS = 64 << 10
_SHAPE = "Use host:port[,host:port]... and, once at the very end, the chroot: h1:2181,h2:2181/kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """Servers and chroot of a connect string.

    Args:
        servers: ``host:port`` each; an IPv6 address is in brackets.
        chroot: ``""`` for none, else with a leading and without a trailing ``/``.
    """

    servers: tuple[str, ...]
    chroot: str = ""

    @classmethod
    def parse(cls, connect: str) -> "Ensemble":
        """Parse ``h1:2181,[::1]:2182/kafka/prod``.

        Raises:
            UsageError: It is invalid; a chroot after each server is the usual mistake.
        """
        servers, slash, chroot = connect.strip().partition("/")
        if "," in chroot:
            raise UsageError(f"{connect!r} has a chroot before the end.", cause="It applies to all servers.", try_=_SHAPE)
        named = tuple(_server(part.strip(), connect) for part in servers.split(","))
        return cls(servers=named, chroot=normal_chroot(slash + chroot))

    def __str__(self) -> str:
        return ",".join(self.servers) + self.chroot


def normal_chroot(chroot: str) -> str:
    """Return ``""``, or the path with one leading and no trailing slash.

    Raises:
        UsageError: A part of the path is empty, ``.`` or ``..``.
    """
    parts = [part for part in chroot.strip("/").split("/") if chroot.strip("/")]
    if any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{chroot!r} is not the path of a znode.", try_=_SHAPE)
    return "".join("/" + part for part in parts)


def _server(text: str, connect: str) -> str:
    if "@" in text:
        raise UsageError(
            "A server of the connect string has something before an @: ZooKeeper accepts no user there.",
            cause="It may be a password, so it is not repeated here.",
            try_=f"Set a user with --credentials. {_SHAPE}",
        )
    match = re.fullmatch(r"(?:\[(?P<ipv6>[0-9a-fA-F:.%]+)\]|(?P<host>[^\s\[\]:@]+))(?::(?P<port>\d{1,5}))?", text)
    if not match or not 0 < int(match["port"] or _DEFAULT_PORT) < 2**16 or not _is_ipv6_or_none(match["ipv6"]):
        raise UsageError(f"{text!r} in {connect!r} is not host:port.", try_=_SHAPE)
    host = f"[{match['ipv6']}]" if match["ipv6"] else match["host"]
    return f"{host}:{match['port'] or _DEFAULT_PORT}"


def _is_ipv6_or_none(text: str | None) -> bool:
    try:
        return text is None or ipaddress.ip_address(text).version == 6
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Credentials for ZooKeeper; never printed.

    Args:
        scheme: ``digest`` (``addauth``) or ``sasl``.
        username: User name.
        password: Password.
        mechanism: SASL mechanism.
    """

    scheme: str
    username: str
    password: str = field(repr=False)
    mechanism: str = "DIGEST-MD5"

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """Read a properties file: ``username``, ``password``, ``scheme`` (digest when absent), ``mechanism`` for SASL.

        Raises:
            CollectError: The file is unreadable or incomplete; the message never quotes it.
        """
        values = outside.properties_of(path, "The credentials", most=_LARGEST_CREDENTIALS)
        if not values.get("username") or "password" not in values or values.get("scheme", "digest") not in ("digest", "sasl"):
            raise CollectError(
                f"{path} gives no usable credentials.",
                try_="Write the lines username=..., password=... and, for SASL, scheme=sasl into it.",
            )
        return cls(
            scheme=values.get("scheme", "digest"),
            username=values["username"],
            password=values["password"],
            mechanism=values.get("mechanism", "DIGEST-MD5"),
        )
