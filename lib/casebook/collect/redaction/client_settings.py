"""Configuration of clients by an allow-list: only what ``clients.client_properties`` uses.

Line by line and node by node, so that all kept settings stay in place: a proof names its line.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from casebook.collect.redaction.marks import REDACTED
from casebook.formats import properties
from casebook.formats.clients import client_properties

_DEEPEST = 200
_MOST_NODES = 200_000

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_COMMENT = ("#", "!", ";", "//")
_SECTION = re.compile(r"\[{1,2}([\w.-]{1,80})\]{1,2}")
_ASSIGNS = re.compile(r"""(?:export\s+)?[\w."-]+\s*[=:](?!.*=$)""", re.DOTALL)
_EXPORT = re.compile(r"export\s+")
_ANCHOR = re.compile(r"(?:!\S*\s+)?(&[^\s,\[\]{}]+)")
_YAML_COMMENT = re.compile("#[^\n\x85\u2028\u2029]*")
_BLOCK_HEADER = re.compile("(?:[!&]\\S*[ \t]+)*[|>][^\n#]*(#[^\n]*)")
_Span = tuple[int, int]


class KeptSettings(NamedTuple):
    """Kept part of a file.

    Args:
        text: As many lines as before.
        dropped: Number of removed settings and comments.
    """

    text: str
    dropped: int


def kept(text: str, *, is_yaml: bool) -> KeptSettings:
    """Return the kept part of a settings file.

    Raises:
        ValueError: It is invalid YAML.
    """
    return _Yaml(text).kept() if is_yaml else _lines(text)


def all_assign(text: str) -> bool:
    """Whether there are settings and nothing else."""
    said = [line.strip() for line in _logical(text)]
    told = [line for line in said if line and not line.startswith(_COMMENT)]
    return bool(told) and all(_SECTION.fullmatch(line) or _ASSIGNS.match(line) for line in told)


def _lines(text: str) -> KeptSettings:
    pieces, dropped = list[str](), 0
    for logical in _logical(text):
        clean = _line(logical)
        dropped += clean is None
        pieces.append((clean or "# " + REDACTED if logical.strip() else "") + "\n" * logical.count("\n"))
    return KeptSettings("".join(pieces), dropped)


def _logical(text: str) -> Iterator[str]:
    """Yield the settings of a properties file with their continuation lines, its comments and empty lines."""
    setting = list[str]()
    for line in _LINE.findall(text):
        setting.append(line)
        body = line.rstrip("\n")
        goes_on = (len(body) - len(body.rstrip("\\"))) % 2 == 1
        if not goes_on or (len(setting) == 1 and line.lstrip().startswith(_COMMENT)):
            yield "".join(setting)
            setting = []
    if setting:
        yield "".join(setting)


def _line(logical: str) -> str | None:
    """Return a setting to keep, on one line; ``""`` for an empty line, ``None`` for a removed one."""
    said = logical.strip()
    if not said:
        return ""
    if said.startswith(_COMMENT):
        return None
    if _SECTION.fullmatch(said):
        return said if client_properties.essential((said,), "") is not None else None
    joined = "".join(part.rstrip("\n").removesuffix("\\").lstrip() for part in logical.splitlines(keepends=True))
    key, value, _ = next(properties.elements(joined), ("", "", 0))
    if key == "export":  # a shell's export
        key, value, _ = next(properties.elements(_EXPORT.sub("", joined, count=1)), ("", "", 0))
    stays = client_properties.essential((key,), value)
    return None if stays is None else f"{key}={stays}"


class _Yaml:
    """A YAML or JSON file, composed but never constructed: no tag can run code."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, _MOST_NODES
        self._stays: dict[_Span, str] = {}
        self._scalars: dict[_Span, yaml.ScalarNode] = {}
        self._keys: set[_Span] = set()
        for document in _composed(text):
            self._walk(document, ())

    def kept(self) -> KeptSettings:
        edits = {span: self._in_its_place(number, span) for number, span in enumerate(self._scalars) if span[0] < span[1]}
        edits = {span: put for span, put in edits.items() if put != self._text[slice(*span)]}
        dropped = sum(span not in self._stays and span not in self._keys for span in edits)
        comments = list(self._comments(edits))
        text = self._text
        for (begin, end), put in sorted([*edits.items(), *((span, "") for span in comments)], reverse=True):
            anchor = _ANCHOR.match(text, begin, end) if put else None  # others refer to it
            lines = "\n" * text.count("\n", begin, end) if put else ""
            text = f"{text[:begin]}{f'{anchor[1]} ' if anchor else ''}{put}{lines}{text[end:]}"
        _composed(text)
        return KeptSettings(text, dropped + len(comments))

    def _in_its_place(self, number: int, span: _Span) -> str:
        stays = self._stays.get(span)
        if stays is None:
            return f'"-{number}"' if span in self._keys else f'"{REDACTED}"'
        return self._text[slice(*span)] if self._scalars[span].value.strip() == stays else json.dumps(stays)

    def _comments(self, edits: dict[_Span, str]) -> Iterator[_Span]:
        """Yield text after ``#`` outside of scalars, also after ``|``."""
        at, whole = 0, len(self._text)
        for begin, end in [*sorted(self._scalars), (whole, whole)]:
            yield from (match.span() for match in _YAML_COMMENT.finditer(self._text, at, begin))
            header = _BLOCK_HEADER.match(self._text, begin, end)
            if header and (begin, end) not in edits:
                yield header.span(1)
            at = max(at, end)

    def _walk(self, node: yaml.Node, path: tuple[str, ...], depth: int = 0) -> bool:
        """Record what to keep of a node, and return whether it keeps anything; an aliased node is visited by each path."""
        self._left -= 1
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if self._left < 0:
            raise ValueError("is YAML that repeats itself too often")
        if isinstance(node, yaml.MappingNode):
            kept = [self._pair(key, value, path, depth) for key, value in node.value]  # all of them, not only up to the first
            return any(kept)
        if isinstance(node, yaml.SequenceNode):
            kept = [self._walk(child, (*path, str(at)), depth + 1) for at, child in enumerate(node.value)]
            return any(kept)
        return self._value(node, path)

    def _pair(self, key: yaml.Node, value: yaml.Node, path: tuple[str, ...], depth: int) -> bool:
        merges = key.tag.endswith(":merge")
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        stays = self._walk(value, path if merges else (*path, name), depth + 1)
        if not isinstance(key, yaml.ScalarNode):
            self._walk(key, (*path, "?"), depth + 1)
            return stays
        span = _span(key)
        self._scalars[span] = key
        self._keys.add(span)
        if merges or stays or client_properties.essential((*path, name), "") is not None:
            self._stays[span] = key.value.strip()
            return not merges or stays
        return False

    def _value(self, node: yaml.ScalarNode, path: tuple[str, ...]) -> bool:
        span = _span(node)
        self._scalars[span] = node
        stays = client_properties.essential(path, client_properties.scalar(node)) if path else None
        if stays is not None:
            self._stays[span] = stays
        return stays is not None


def _composed(text: str) -> list[yaml.Node]:
    try:
        return [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except (yaml.YAMLError, ValueError, OverflowError):  # \UFFFFFFFF is not a character
        raise ValueError("is not YAML: its settings cannot be separated from the rest, so it was not copied") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _span(node: yaml.Node) -> _Span:
    return node.start_mark.index, node.end_mark.index
