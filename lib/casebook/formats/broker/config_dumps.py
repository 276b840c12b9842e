"""Settings that a broker or a Java client logs at start (``KafkaConfig values:``), read like its file.

Source: ``clients/src/main/java/org/apache/kafka/common/config/AbstractConfig.java@0.9.0.1`` (``logAll``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from casebook.facts.clients import CONSUMER, PRODUCER, ClientFile
from casebook.formats import properties
from casebook.formats.clients import client_properties
from casebook.formats.zookeeper import znodes

OF_BROKERS = b"KafkaConfig values:"
"""Text of a log that contains a broker's settings."""

_HEAD = re.compile(r"\b(Producer|Consumer|Kafka)Config values:\s*$")
_SETTING = re.compile(r"\s+([a-z][a-z0-9._]*) = (.*)")
_BROKER = "broker"
_KINDS = {"Producer": PRODUCER, "Consumer": CONSUMER, "Kafka": _BROKER}
_MARK = "Config values:"
_MOST_SETTINGS = 500
_PRINTED = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")


class Printed(NamedTuple):
    """All startup settings of a broker, including defaults of its release.

    Args:
        broker: Broker id; ``None`` when none is set, as one is generated.
        at: Time as printed; ``""`` without one.
        line: Number of the line before the settings.
        settings: Settings that analyses use; nulls are left out.
    """

    broker: int | None
    at: str
    line: int
    settings: Mapping[str, str]


def of_brokers(lines: Iterable[str]) -> Iterator[Printed]:
    """Yield the settings logged at each start, in order, except a block cut by the end of the log."""
    for block in _blocks(lines):
        if block.kind == _BROKER and block.whole:
            settings = properties.parse("\n".join(map(_line, block.lines)))
            own = (znodes.number(settings.get(name, "")) for name in ("node.id", "broker.id"))
            told = _PRINTED.match(block.head)
            known = {key: value for key, value in settings.items() if key in properties.OF_BROKERS}
            yield Printed(next((one for one in own if one is not None), None), told[1] if told else "", block.begin, known)


def parse(lines: Iterable[str], *, client: str, file: str) -> tuple[ClientFile, ...]:
    """Return the producer and the consumer with settings in a log, each from its last start.

    Args:
        lines: Lines of the log.
        client: Name of the client.
        file: Path in the case.
    """
    last = {block.kind: block for block in _blocks(lines) if block.kind != _BROKER}
    found = (_read(block, client, file) for _, block in sorted(last.items()))
    return tuple(one for one in found if one is not None)


@dataclass(slots=True)
class _Block:
    """Lines of settings, with the number of the line before them.

    Args:
        head: That line.
        whole: Another line follows: at the end of a log, or before zeros, the rest is unknown.
    """

    kind: str
    begin: int
    head: str
    lines: list[str] = field(default_factory=list)
    whole: bool = False


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    block = None
    for number, line in enumerate(lines, 1):
        ended = line.endswith("\n")
        if block is not None and ended and len(block.lines) < _MOST_SETTINGS and _SETTING.fullmatch(line.rstrip("\r\n")):
            block.lines.append(line)
            continue
        if block is not None and block.lines:
            block.whole = ended and "\0" not in line
            yield block
        head = _HEAD.search(line.rstrip()) if _MARK in line else None
        block = _Block(_KINDS[head[1]], number, line) if head else None
    if block is not None and block.lines:
        yield block


def _read(block: _Block, client: str, file: str) -> ClientFile | None:
    """Parse it like a properties file of the same lines; null means not set."""
    text = "\n".join(_line(line) for line in block.lines) + "\n"
    for one in client_properties.parse(text, client=client, file=f"{block.kind}.properties"):
        if one.kind == block.kind:
            given: Mapping = {key: setting._replace(line=setting.line + block.begin) for key, setting in one.given.items()}
            cut = () if block.whole else (f"{file} ends within the settings that {client} prints",)
            return replace(one, file=file, given=given, whole=one.whole and block.whole, problems=(*one.problems, *cut))
    return None


def _line(line: str) -> str:
    match = _SETTING.fullmatch(line.rstrip("\r\n"))
    name, value = match[1], match[2].strip()
    if value in ("null", "[]", ""):
        return ""
    value = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    return f"{name}={value}".replace("\\", "\\\\")
