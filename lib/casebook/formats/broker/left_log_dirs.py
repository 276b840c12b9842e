"""Folders that were log dirs of a broker, and are none any more: what they hold is of the time before its last start."""

import re
from collections.abc import Sequence

from casebook.facts.disks import log_dirs_of
from casebook.formats.broker.config_dumps import Printed

_SEPARATORS = re.compile(r"[/\\]")


def instead(place: str, starts: Sequence[Printed]) -> tuple[str, ...]:
    """The log dirs that a broker was last started with, where a folder is none of them but was one before; else nothing.

    Folders are told by their names alone, as a copy lies elsewhere.

    Args:
        place: The folder.
        starts: What the broker printed at its starts.
    """
    dated = sorted((start.at, log_dirs_of(start.settings)) for start in starts)
    named = [dirs for at, dirs in dated if at and dirs]
    if len(named) < len(starts) or not named or _name(place) in map(_name, named[-1]):
        return ()
    return named[-1] if any(_name(place) in map(_name, dirs) for dirs in named[:-1]) else ()


def _name(place: str) -> str:
    return next(filter(None, reversed(_SEPARATORS.split(place.strip()))), "")
