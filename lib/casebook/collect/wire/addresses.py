"""Bootstrap addresses."""

import re
from typing import NamedTuple

from casebook.errors import UsageError

_ADDRESS = re.compile(r"(?:\[(?P<ipv6>[0-9a-fA-F:.%]+)\]|(?P<host>[^\s\[\]:@/]+)):(?P<port>\d{1,5})")


class Address(NamedTuple):
    """Host and port of a broker."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse(bootstrap: str) -> tuple[Address, ...]:
    """Parse ``host:port[,host:port]``.

    Raises:
        UsageError: It is invalid.
    """
    found = []
    for text in filter(None, map(str.strip, bootstrap.split(","))):
        text = text.rpartition("://")[2]
        match = _ADDRESS.fullmatch(text)
        if match is None or not 0 < int(match["port"]) < 2**16:
            raise UsageError(f"{text!r} is not HOST:PORT of a broker.", try_="For example --bootstrap kafka1:9092,kafka2:9092.")
        found.append(Address(match["ipv6"] or match["host"], int(match["port"])))
    if not found:
        raise UsageError("--bootstrap has no address.", try_="For example --bootstrap kafka1:9092,kafka2:9092.")
    return tuple(found)
