"""Configuration files of clients, copied without their secrets: properties line by line, YAML node by node.

A YAML file that cannot be read is not copied: where a secret ends in it, nobody can tell.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from casebook.case import CaseWriter
from casebook.collect import redaction
from casebook.formats import client_properties, properties

_YAML = (".yaml", ".yml", ".json")
_VARIABLE = re.compile(r"\$\{([^}:]+)")
_ANCHOR = re.compile(r"(?:!\S*\s+)?(&[^\s,\[\]{}]+)")
_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)
_DEEPEST = 200


def copy_client_files(case: CaseWriter, client: str, paths: Sequence[Path]) -> None:
    """Copy properties and YAML files of a client, folders with all their files; what could not be copied is recorded."""
    taken: set[str] = set()
    for path in _files(paths):
        name = _NO_NAME.sub("_", path.name)
        name = f"{_NO_NAME.sub('_', path.parent.name)}-{name}" if name in taken else name
        taken.add(name)
        _copy(case, path, f"clients/{client}/config/{name}")


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(child for child in path.iterdir() if child.is_file()) if path.is_dir() else (path,)


def _copy(case: CaseWriter, path: Path, item: str) -> None:
    try:
        with path.open("rb") as file:
            raw = file.read(client_properties.LONGEST + 1)
    except OSError as error:
        case.could_not_collect(item, f"{path} cannot be opened: {error.strerror or error}")
        return
    if len(raw) > client_properties.LONGEST:
        case.could_not_collect(item, f"{path} is larger than {client_properties.LONGEST // 1024} KiB: no client's configuration")
        return
    text = raw.decode(errors="replace")
    try:
        clean = without_secrets(text, is_yaml=path.suffix.lower() in _YAML)
    except ValueError as error:
        case.could_not_collect(item, f"{path} {error}: its secrets cannot be told from the rest, so it was not copied")
        return
    case.file(item, iter(clean.encode().splitlines(keepends=True)))
    if redacted := clean.count(redaction.REDACTED):
        case.redacted(f"{redacted} settings of {item}")


def without_secrets(text: str, *, is_yaml: bool) -> str:
    """The text with a mark in place of each secret, also of one that a setting takes from a variable of the same file.

    Raises:
        ValueError: It is YAML that cannot be read.
    """
    if is_yaml:
        return _yaml_without_secrets(text)
    named = {
        variable
        for key, value, _ in properties.elements(text)
        if redaction.is_sensitive(key)
        for variable in _VARIABLE.findall(value)
    }
    hidden = {line for key, _, line in properties.elements(text) if key in named}
    kept = [
        re.sub(r"[=:].*", f"={redaction.REDACTED}", line.rstrip("\r\n").rstrip("\\"), count=1) + "\n" if at in hidden else line
        for at, line in enumerate(text.splitlines(keepends=True), start=1)
    ]
    return b"".join(redaction.redact_properties(line.encode() for line in kept)).decode()


def _yaml_without_secrets(text: str) -> str:
    spans = _secret_spans(text)
    for begin, end in sorted(spans, reverse=True):
        lines = "\n" * text.count("\n", begin, end)
        anchor = _ANCHOR.match(text, begin, end)  # others refer to it
        named = f"{anchor[1]} " if anchor else ""
        text = f'{text[:begin]}{named}"{redaction.REDACTED}"{lines}{text[end:]}'
    return "\n".join(redaction.redact_text(line.encode()).decode() if "#" in line else line for line in text.split("\n"))


def _secret_spans(text: str) -> set[tuple[int, int]]:
    try:
        documents = [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except yaml.YAMLError:
        raise ValueError("is no YAML") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    scalars = [scalar for node in documents for scalar in _Scalars().of(node)]
    named = {name for path, node in scalars if redaction.is_sensitive(path) for name in _VARIABLE.findall(node.value)}
    return {
        (node.start_mark.index, node.end_mark.index)
        for path, node in scalars
        if path in named or redaction.is_sensitive(path) or _holds_secret(node.value)
    }


def _holds_secret(value: str) -> bool:
    raw = value.encode(errors="replace")
    return redaction.redact_text(raw) != raw or "PRIVATE KEY" in value


class _Scalars:
    """Every value of a document, with a path it is reached by; what aliases lead to by several, where that makes it a "
    "secret, too."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, bool]] = set()

    def of(self, node: yaml.Node, path: str = "", depth: int = 0) -> Iterator[tuple[str, yaml.ScalarNode]]:
        """(path, value) of all; a part that was seen is gone through again only where it has become a secret."""
        secret = redaction.is_sensitive(path)
        if (id(node), secret) in self._seen and not isinstance(node, yaml.ScalarNode):
            return
        self._seen.add((id(node), secret))
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                name = key.value if isinstance(key, yaml.ScalarNode) else "?"
                yield from self.of(value, f"{path}.{name}" if path else name, depth + 1)
        elif isinstance(node, yaml.SequenceNode):
            for child in node.value:
                yield from self.of(child, path, depth + 1)
        else:
            yield path, node
