"""Former log dirs of a broker: their content is older than its last start."""

import re
from collections.abc import Sequence

from casebook.facts.disks import log_dirs_of
from casebook.formats.broker.config_dumps import Printed

_SEPARATORS = re.compile(r"[/\\]")


def instead(place: str, starts: Sequence[Printed]) -> tuple[str, ...]:
    """Return the log dirs of a broker's last start, if a folder was one before and is none now; else nothing.

    Folders are compared by name only, as a copy is elsewhere.

    Args:
        place: Folder.
        starts: Settings logged at the broker's starts.
    """
    dated = sorted((start.at, log_dirs_of(start.settings)) for start in starts)
    named = [dirs for at, dirs in dated if at and dirs]
    if len(named) < len(starts) or not named or _name(place) in map(_name, named[-1]):
        return ()
    return named[-1] if any(_name(place) in map(_name, dirs) for dirs in named[:-1]) else ()


def _name(place: str) -> str:
    return next(filter(None, reversed(_SEPARATORS.split(place.strip()))), "")
