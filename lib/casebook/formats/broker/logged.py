"""Facts in single lines of brokers' logs, in any zone: releases, registrations, epochs, ended sessions."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from casebook.facts.logged import Logged, LoggedEpoch, LoggedExpiry, LoggedRegistration, StatedVersion

_VERSION = re.compile(r" INFO Kafka version ?: (\d+(?:\.\d+){2,3}\S*)")
_REGISTERED = re.compile(r"Registered broker (\d+) at path (?:.*czxid \(broker epoch\): (\d+))?")
_EPOCH = re.compile(r"\[Controller id=\d+ epoch=(\d+)\]|\bController \d+ epoch (\d+)\b")
_EXPIRING = re.compile(r"\bExpiring session 0x([0-9a-f]+), timeout of ")
"""``ZooKeeperServer.java@release-3.4.6, release-3.8.4``."""
_PRINTED = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")


class LogLine(NamedTuple):
    """A line of a broker's log, by path and number."""

    broker: int
    path: str
    number: int
    text: str

    @property
    def proof(self) -> str:
        """``path:line``."""
        return f"{self.path}:{self.number}"


def versions(lines: Iterable[LogLine]) -> tuple[StatedVersion, ...]:
    """Return the release that each broker logged at its last start in each log."""
    stated: dict[tuple[int, str], StatedVersion] = {}
    for line in lines:
        if match := _VERSION.search(line.text):
            stated[line.broker, line.path] = StatedVersion(broker=line.broker, text=match[1], proof=line.proof)
    return tuple(stated.values())


def told(lines: Iterable[LogLine]) -> Iterator[Logged]:
    """Yield facts that znodes also have: registrations, controller epochs, each once, and ended sessions.

    The registration of another broker shows a log given for the wrong one.
    """
    epochs: set[str] = set()
    for line in lines:
        if match := _EPOCH.search(line.text):
            epoch = match[1] or match[2]
            if epoch not in epochs:
                epochs.add(epoch)
                yield LoggedEpoch(int(epoch), _printed(line.text), line.proof)
        elif match := _REGISTERED.search(line.text):
            if int(match[1]) == line.broker:
                zxid = None if match[2] is None else int(match[2])
                yield LoggedRegistration(line.broker, zxid, _printed(line.text), line.proof)
        elif match := _EXPIRING.search(line.text):
            yield LoggedExpiry(int(match[1], 16), line.proof)


def _printed(text: str) -> int | None:
    match = _PRINTED.match(text)
    return match and round(datetime.fromisoformat(f"{match[1]}.{match[2]}+00:00").timestamp() * 1000)
