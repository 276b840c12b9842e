"""The settings that a Java client prints when it starts (``ProducerConfig values:``), read as its file would be.

Source: ``clients/src/main/java/org/apache/kafka/common/config/AbstractConfig.java@0.9.0.1`` (``logAll``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from casebook.clients import CONSUMER, PRODUCER, ClientFile
from casebook.formats import client_properties

_HEAD = re.compile(r"\b(Producer|Consumer)Config values:\s*$")
_SETTING = re.compile(r"\s+([a-z][a-z0-9._]*) = (.*)")
_KINDS = {"Producer": PRODUCER, "Consumer": CONSUMER}
_MARK = "Config values:"
_MOST_SETTINGS = 500


def parse(lines: Iterable[str], *, client: str, file: str) -> tuple[ClientFile, ...]:
    """The producer and the consumer whose settings a log prints, each as it was printed last.

    Args:
        lines: Of the log.
        client: Name of the client.
        file: Path in the case.
    """
    last: dict[str, tuple[int, list[str]]] = {}
    for kind, number, settings in _blocks(lines):
        last[kind] = number, settings
    found = (_read(kind, number, settings, client, file) for kind, (number, settings) in sorted(last.items()))
    return tuple(one for one in found if one is not None)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[str, int, list[str]]]:
    kind, begin, block = "", 0, list[str]()
    for number, line in enumerate(lines, 1):
        if kind and len(block) < _MOST_SETTINGS and _SETTING.fullmatch(line.rstrip("\r\n")):
            block.append(line)
            continue
        if kind and block:
            yield kind, begin, block
        head = _HEAD.search(line.rstrip()) if _MARK in line else None
        kind, begin, block = (_KINDS[head[1]], number, []) if head else ("", 0, [])
    if kind and block:
        yield kind, begin, block


def _read(kind: str, number: int, block: list[str], client: str, file: str) -> ClientFile | None:
    """As a properties file of the same lines; what is null was not set."""
    text = "\n".join(_line(line) for line in block) + "\n"
    for one in client_properties.parse(text, client=client, file=f"{kind}.properties"):
        if one.kind == kind:
            given: Mapping = {key: setting._replace(line=setting.line + number) for key, setting in one.given.items()}
            return replace(one, file=file, given=given)
    return None


def _line(line: str) -> str:
    match = _SETTING.fullmatch(line.rstrip("\r\n"))
    name, value = match[1], match[2].strip()
    if value in ("null", "[]", ""):
        return ""
    return f"{name}={value[1:-1] if value.startswith('[') and value.endswith(']') else value}"
