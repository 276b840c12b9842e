"""Lines of a broker's ``server.properties``: the owner is in ``broker.id`` or ``node.id``, else in a heading above.

A paste is an excerpt: the rest of the file is unknown, and text after ``#`` is ignored.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted import BrokerSettings, ToolStatement
from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.facts.quotes import cut
from casebook.formats import properties
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.hosts.host import LONGEST, placed
from casebook.formats.pasted.remarks import is_masked
from casebook.formats.pasted.text import PastedLine, one, spanned
from casebook.formats.zookeeper import znodes

_SETTING = re.compile(
    r"\s*+(?!.*\bsensitive=(?:true|false))(?!kafka\.|java\.)(?P<key>[a-z][a-z0-9_]*(?:[.-][A-Za-z0-9_]+)+|listeners|port)\s*(?P<sign>[=:])\s*(?P<value>.*)"
)
_UPPER = re.compile(r"\s*[A-Z][A-Z0-9_.]*=.*")
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
"""Prefixes of broker settings (``KafkaConfig.scala@2.8.2``)."""
_IDS = ("node.id", "broker.id")
_META = frozenset({"version", "broker.id", "node.id", "cluster.id", "directory.id"})
_BEHIND = re.compile(r"\s+#\s.*")
"""A person's remark after a value: Java itself treats it as a part of the value."""
_WRAPPED = re.compile(r"\s*[\w.:/@-]+(?:,[\w.:/@-]+)*,?\s*")
_PRINTED = re.compile(r"\s+[a-z][a-z0-9._]* = .*")
_UNSET = re.compile(r".* = (?:null|\[.*\]|class \S+)\s*|.* = ")
_HEADING = re.compile(r".*Config values:.*|.*\b[Cc]onfigs for .*")
"""Headings of settings outside files: a broker's start, an output of kafka-configs."""
_SHOWS = re.compile(
    r".*\b(?:cat|e?grep|sed|awk|head|tail|less|more|type|findstr|Select-String)\s.*\b(?:server|broker|kafka|controller)\.properties\b.*"
)
_MOST, _MOST_COMMENTS, _SHOWN, _LONGEST_SHOWN = 2000, 40, 80, 8000


def settings(lines: Sequence[PastedLine]) -> Iterator[BrokerSettings | HostSaid | ToolStatement | CutOutput]:
    """Yield every run of broker settings, including comments."""
    whose = {here.at: here.broker for here in placed(lines)}
    at = 0
    while at < len(lines):
        if not _SETTING.fullmatch(lines[at].text[:LONGEST]):
            at += 1
            continue
        after = _end(lines, at)
        texts = _as_in_file([line.text for line in lines[at:after]])
        found = parsed(texts)
        if lines[at].number == 1 and (name := _cut_name(lines[at].text)):
            texts[0] = ""
            found.pop(name, None)
            yield CutOutput(one(lines[at]), f"begins within a name: {cut(lines[at].text.strip(), _MOST_COMMENTS)}")
        is_headed = at > 0 and _HEADING.fullmatch(lines[at - 1].text[:LONGEST]) is not None
        if after > at and (_is_of_broker(found, texts) or (_is_asked(lines, at) and _has_known(found))):
            if not _is_printed(texts):
                for begin, own in _by_id(texts):
                    span = spanned(lines, at + begin, at + begin + len(own))
                    yield from _said(span, own, found if len(own) == len(texts) else parsed(own), whose.get(at))
                yield from _remarks(lines[at:after])
            elif not is_headed:
                yield _of_start(spanned(lines, at, after), found, whose.get(at))
        at = max(after, at + 1)


def _as_in_file(texts: Sequence[str]) -> list[str]:
    """Return the lines as in a file: without remarks after a value, and folded like properties."""
    found = []
    for at, text in enumerate(texts):
        own = _BEHIND.sub("", text) if not _COMMENT.fullmatch(text) else text
        wraps = own.endswith(",") and at + 1 < len(texts) and _is_rest(own, texts[at + 1])
        found.append(f"{own}\\" if wraps else own)
    return found


def _remarks(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    for line in lines:
        if not _COMMENT.fullmatch(line.text) and (behind := _BEHIND.search(line.text)):
            yield ToolStatement("a remark", one(line), f"a remark next to line {line.number}: {behind[0].strip()}")


def _is_rest(text: str, after: str) -> bool:
    """Return whether the next line continues a value that ends in a comma, folded by a mail or a chat."""
    return (
        text.endswith(",") and bool(after.strip()) and _WRAPPED.fullmatch(after) is not None and not _SETTING.fullmatch(after)
    ) or (text.endswith(",") and re.match(r"\s*[A-Z_]+://|\s*[\w.-]+:\d+(?:/\S*)?\s*$", after) is not None)


def _is_printed(texts: Sequence[str]) -> bool:
    """Return whether a broker printed it at start: every setting, unset ones as ``null`` or default, indented."""
    own = [text for text in texts if text.strip()]
    return all(_PRINTED.fullmatch(text) for text in own) and any(_UNSET.fullmatch(text) for text in own)


def _of_start(where: LineSpan, found: dict[str, str], broker: int | None) -> HostSaid:
    shown = ", ".join(f"{key}={value}" for key, value in found.items())
    text = f"{len(found)} settings as a broker printed them at its start, defaults among them: {cut(shown, _LONGEST_SHOWN)}"
    return HostSaid("KafkaConfig values", where, text, broker, facts={"settings": dict(found)})


def _end(lines: Sequence[PastedLine], at: int) -> int:
    """Return the end of a run: at a line that is neither a setting nor a comment, nor a continuation of a complete one."""
    after, begun, is_printed = at, None, _PRINTED.fullmatch(lines[at].text[:LONGEST]) is not None
    for index in range(at, min(len(lines), at + _MOST)):
        text = lines[index].text
        if index > at and not lines[index - 1].text and bool(_PRINTED.fullmatch(text[:LONGEST])) != is_printed and text:
            break
        if begun is not None or (len(text) <= LONGEST and _SETTING.fullmatch(text)):
            goes_on = text.endswith("\\")
            begun = (index if begun is None else begun) if goes_on else None
            after = index + 1 if begun is None else begun
        elif index == after and index > at and text and _continues(lines, index):
            after = index + 1
        elif (text and not _COMMENT.fullmatch(text)) or index - after > _MOST_COMMENTS:
            break
    return after


def _continues(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line that is no setting of Kafka's form belongs to the file of the line above.

    It is the rest of a folded value, or has a name in capitals, which Kafka ignores, with settings below it.
    """
    if _is_rest(_BEHIND.sub("", lines[at - 1].text), lines[at].text):
        return True
    if not _UPPER.fullmatch(lines[at].text[:LONGEST]):
        return False
    below = itertools.dropwhile(_UPPER.fullmatch, (line.text[:LONGEST] for line in lines[at : at + _MOST_COMMENTS]))
    return (found := _SETTING.fullmatch(next(below, ""))) is not None and found["sign"] == "="


def _is_of_broker(found: dict[str, str], texts: Sequence[str]) -> bool:
    known = {key for key in found if _has_known({key: ""})}
    if found.keys() <= _META or any(_OTHERS.fullmatch(key) for key in found):
        return False
    with_sign = sum("=" in text for text in texts if _SETTING.fullmatch(text))
    has_id = any(name in found for name in _IDS) and len(found) > 1
    return with_sign > 0 and bool(known) and (has_id or len(known) > 1)


def _is_asked(lines: Sequence[PastedLine], at: int) -> bool:
    """Whether the line above shows a broker's file, or greps in it: a single setting is then its. A loop shows several."""
    above = next((line.text for line in reversed(lines[max(0, at - 2) : at]) if line.text), "")
    return _SHOWS.fullmatch(above[:LONGEST]) is not None and "$" not in above.lstrip("$ ")


def _cut_name(text: str) -> str:
    """Return the name on the first line of a paste, if only names of the broker that are longer end like it."""
    name = text.partition("=")[0].strip()
    is_end = any(known.endswith(name) for known in properties.OF_BROKERS)
    return name if is_end and name not in properties.OF_BROKERS and name not in _META else ""


def _has_known(found: dict[str, str]) -> bool:
    return any(key in properties.OF_BROKERS or _OF_SERVER.fullmatch(key) for key in found)


def _commented_out(texts: Sequence[str]) -> str:
    """Return commented settings, which have no effect."""
    rows = [text.strip().lstrip("#! ") for text in texts if _COMMENT.fullmatch(text)]
    rows = [row for row in rows if _SETTING.fullmatch(row) and "=" in row]
    return f"; commented out: {', '.join(rows[:_SHOWN])}" if rows else ""


def _said_twice(texts: Sequence[str]) -> str:
    """Return settings on several lines, with the value of each: the last one counts."""
    told: dict[str, list[str]] = {}
    for text in texts:
        if setting := _SETTING.fullmatch(text[:LONGEST]):
            told.setdefault(setting["key"], []).append(setting["value"].strip())
    rows = [f"{key} ({', then '.join(values)})" for key, values in told.items() if len(set(values)) > 1]
    return f"; set more than once: {', '.join(rows[:_SHOWN])}" if rows else ""


def parsed(texts: Sequence[str]) -> dict[str, str]:
    """Return the settings in the lines of a file."""
    return properties.parse("\n".join(texts))


def compared(where: LineSpan, rows: Sequence[tuple[str, str]]) -> Iterator[BrokerSettings | HostSaid]:
    """Yield the settings of both brokers in a comparison of their files, if each has an id of its own.

    Args:
        where: Its lines.
        rows: Each line as either file has it; ``""`` for a file without it.
    """
    sides = list(zip(*rows, strict=True))
    files = [parsed(side) for side in sides]
    ids = [next((file[name] for name in _IDS if name in file), "") for file in files]
    if all(ids) and ids[0] != ids[1] and all(_is_of_broker(file, side) for file, side in zip(files, sides, strict=True)):
        for side, file in zip(sides, files, strict=True):
            yield from _said(where, side, file, None)


def _by_id(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each broker's part of a run, and where it begins, if the run has several ids.

    A part begins at the last empty line or comment above its id, else at the first setting that the part before has already.
    """
    keys = [found["key"] if (found := _SETTING.fullmatch(text[:LONGEST])) else "" for text in texts]
    begins = [0]
    for at in range(1, len(texts)):
        same = [index for index in range(begins[-1], at) if keys[at] in _IDS and keys[index] == keys[at]]
        if same and texts[same[-1]] != texts[at]:
            first = same[-1] + 1
            gap = next((index for index in range(at, first, -1) if _parts_files(texts[index - 1])), at)
            again = next((index for index in range(first, at + 1) if keys[index] and keys[index] in keys[begins[-1] : index]), at)
            begins.append(min(gap, again))
    for begin, after in zip(begins, [*begins[1:], len(texts)], strict=True):
        yield begin, texts[begin:after]


def _settle(found: Mapping[str, str]) -> str:
    """Return how to show the broker that they belong to: ZooKeeper generates an id of -1 (``KafkaServer.scala@2.8.2``)."""
    how = 'write a line such as "broker 3:" above these settings'
    is_generated = any(found.get(name) == "-1" for name in _IDS)
    return f"its id is generated: {how}" if is_generated else f"{how}, or paste broker.id with them"


def _parts_files(text: str) -> bool:
    return not text.strip() or _COMMENT.fullmatch(text) is not None


def _said(
    where: LineSpan, texts: Sequence[str], found: dict[str, str], heading: int | None
) -> Iterator[BrokerSettings | HostSaid]:
    ids = {own for name in _IDS if (own := znodes.number(found.get(name, ""))) is not None}
    broker = next(iter(ids)) if len(ids) == 1 else heading if not ids else None
    found = {key: value for key, value in found.items() if not is_masked(value)}
    yield BrokerSettings(where, broker, tuple(texts))
    shown = ", ".join(f"{key}={value}" for key, value in list(found.items())[:_SHOWN])
    settle = "" if broker is not None else _settle(found)
    more = "" if len(found) <= _SHOWN else f", and {len(found) - _SHOWN} more"
    text = f"{len(found)} broker settings: {shown}{more}{_said_twice(texts)}{_commented_out(texts)}"
    yield HostSaid("server.properties", where, text, broker, settle=settle, facts={"settings": dict(found)})
