"""Lines of a broker's ``server.properties``: whose they are says ``broker.id`` or ``node.id``, else a heading above them.

A paste is an excerpt: what a file says beside the lines that were pasted is unknown, a line behind ``#`` says nothing.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.formats import properties, znodes
from casebook.formats.pasted_host import LONGEST, placed, span
from casebook.formats.pasted_text import Line
from casebook.pasted import BrokerSettings, HostSaid

_SETTING = re.compile(
    r"(?!kafka\.|java\.)(?P<key>[a-z][a-z0-9_]*(?:[.-][A-Za-z0-9_]+)+|listeners|port)\s*(?P<sign>[=:])\s*(?P<value>.*)"
)
_COMMENT = re.compile(r"\s*[#!].*")
_OTHERS = re.compile(
    r"bootstrap\.servers|group\.id|key\.(?:de)?serializer|key\.converter|dataDir|clientPort|plugin\.path|config\.storage\.topic"
    r"|offset\.storage\.topic|consumer\..*|producer\..*"
)
"""Settings that no broker has: the file is a client's, a worker's, or ZooKeeper's."""
_OF_SERVER = re.compile(
    r"(?:advertised|listener|inter\.broker|security\.inter|num|socket|log|offsets|transaction\.state|replica|group\.initial|controller"
    r"|controlled|zookeeper|auto|background|default\.replication|unclean|min\.insync|super\.users|authorizer|queued|leader\.imbalance"
    r"|broker|node|process)\..*|unclean\.leader\.election\.enable|listeners"
)
"""What settings of brokers begin with (``KafkaConfig.scala@2.8.2``)."""
_IDS = ("node.id", "broker.id")
_META = frozenset({"version", "broker.id", "node.id", "cluster.id", "directory.id"})
_MOST, _MOST_COMMENTS, _SHOWN = 2000, 40, 20


def settings(lines: Sequence[Line]) -> Iterator[BrokerSettings | HostSaid]:
    """Every run of settings, comments within it included, that are a broker's."""
    whose = {here.at: here.broker for here in placed(lines)}
    at = 0
    while at < len(lines):
        if not _SETTING.fullmatch(lines[at].text[:LONGEST]):
            at += 1
            continue
        after = _end(lines, at)
        found = properties.parse("\n".join(line.text for line in lines[at:after]))
        if after > at and _is_of_broker(found, [line.text for line in lines[at:after]]):
            yield from _said(lines, at, after, found, whose.get(at))
        at = max(after, at + 1)


def _end(lines: Sequence[Line], at: int) -> int:
    """Where a run ends: at something that is neither a setting nor a comment, nor goes on with one that was pasted to its end."""
    after, begun = at, None
    for index in range(at, min(len(lines), at + _MOST)):
        text = lines[index].text
        if begun is not None or (len(text) <= LONGEST and _SETTING.fullmatch(text)):
            goes_on = text.endswith("\\")
            begun = (index if begun is None else begun) if goes_on else None
            after = index + 1 if begun is None else begun
        elif (text and not _COMMENT.fullmatch(text)) or index - after > _MOST_COMMENTS:
            break
    return after


def _is_of_broker(found: dict[str, str], texts: Sequence[str]) -> bool:
    known = {key for key in found if key in properties.OF_BROKERS or _OF_SERVER.fullmatch(key)}
    if found.keys() <= _META or any(_OTHERS.fullmatch(key) for key in found):
        return False
    with_sign = sum("=" in text for text in texts if _SETTING.fullmatch(text))
    has_id = any(name in found for name in _IDS) and len(found) > 1
    return with_sign > 0 and bool(known) and (has_id or len(known) > 1)


def _said(
    lines: Sequence[Line], at: int, after: int, found: dict[str, str], heading: int | None
) -> Iterator[BrokerSettings | HostSaid]:
    ids = {own for name in _IDS if (own := znodes.number(found.get(name, ""))) is not None}
    broker = next(iter(ids)) if len(ids) == 1 else heading if not ids else None
    where = span(lines, at, after)
    yield BrokerSettings(where, broker, tuple(line.text for line in lines[at:after]))
    shown = ", ".join(f"{key}={value}" for key, value in list(found.items())[:_SHOWN])
    settle = "" if broker is not None else 'write a line such as "broker 3:" above these settings, or paste broker.id with them'
    more = "" if len(found) <= _SHOWN else f", and {len(found) - _SHOWN} more"
    text = f"{len(found)} settings of a server.properties: {shown}{more}"
    yield HostSaid("server.properties", where, text, broker, settle=settle, facts={"settings": dict(found)})
