"""The wordings of log entries that are understood, as data: each with its releases, its source and a sample.

They stand in ``log_patterns.tsv``, whose head tells its columns and the kinds. The first that matches counts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TABLE = "log_patterns.tsv"
"""Beside this module."""

SCOPES = ("head", "full", "app", "inside", "line")
"""Where a wording is looked for: the head of the table tells each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One wording of one message.

    Args:
        id: Its name.
        kind: What it means.
        since: First release line that prints it, for instance ``0.9.0``, ``zk3.4`` or ``jdk8``.
        until: Last release line seen with it.
        scope: One of :data:`SCOPES`.
        loggers: How the name of a logger begins that prints it; empty where any may. In the table after an ``@``.
        is_named: Whether a line has to name its logger: other programs say the same. In the table a ``!`` before them.
        literal: Text that every match contains.
        regex: In the dialect that Java and Python have in common; one that begins with ``^`` is tried at the beginning only.
        source: Where it was read, ``path@tag``, several with ``;``.
        sample: A message that it matches.
        expects: The fields that the sample gives.
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
    """Every wording, in the order in which they are tried."""
    lines = files(__package__).joinpath(TABLE).read_text("utf-8").split("\n")
    return tuple(_pattern(line) for line in lines if line and not line.startswith("#"))


def head() -> str:
    """What the table says of its columns and kinds, without the signs of a comment."""
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
