"""Known log messages, as data: each with its releases, source and sample.

They are in ``log_patterns.tsv``, whose head documents columns and kinds. The first match counts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TABLE = "log_patterns.tsv"
"""Next to this module."""

SCOPES = ("head", "full", "app", "inside", "line")
"""Where a message is searched; the head of the table documents each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern of one message.

    Args:
        id: Name.
        kind: Meaning.
        since: First release line with it, for instance ``0.9.0``, ``zk3.4`` or ``jdk8``.
        until: Last release line with it.
        scope: One of :data:`SCOPES`.
        loggers: Prefixes of its loggers; empty for any. In the table after an ``@``.
        is_named: Whether a line must name its logger: other programs print the same. In the table a ``!`` before them.
        literal: Substring of every match.
        regex: In the common dialect of Java and Python; with ``^`` it is only tried at the beginning.
        source: Source, ``path@tag``, several with ``;``.
        sample: A message that it matches.
        expects: Fields of the sample.
    """

    id: str
    kind: str
    since: str
    until: str
    scope: str
    loggers: tuple[str, ...]
    is_named: bool
    literal: str
    regex: str
    source: str
    sample: str
    expects: Mapping[str, str | int]


@cache
def patterns() -> tuple[Pattern, ...]:
    """Return every pattern, in matching order."""
    lines = files(__package__).joinpath(TABLE).read_text("utf-8").split("\n")
    return tuple(_pattern(line) for line in lines if line and not line.startswith("#"))


def head() -> str:
    """Return the table's documentation of columns and kinds, without comment signs."""
    lines = files(__package__).joinpath(TABLE).read_text("utf-8").split("\n")
    return "\n".join(line[1:].removeprefix(" ") for line in lines if line.startswith("#"))


def _pattern(line: str) -> Pattern:
    name, kind, since, until, scope, literal, regex, source, sample, expects = line.split("\t")
    scope, _, loggers = scope.partition("@")
    return Pattern(
        id=name,
        kind=kind,
        since=since,
        until=until,
        scope=scope,
        loggers=tuple(loggers.removeprefix("!").split("|")) if loggers else (),
        is_named=loggers.startswith("!"),
        literal=literal,
        regex=regex,
        source=source,
        sample=sample.replace("\\n", "\n").replace("\\t", "\t"),
        expects=json.loads(expects),
    )
