"""Clusters that live at another time, each broker in a time zone of its own: what libfaketime tells their servers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import Installation

_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1")


NOTICED = 1
"""Seconds within which a server notices that its clock was set."""


class OtherClocks(PlayedCluster):
    """A cluster whose servers take another time for now; how fast it goes by is as ever.

    Args:
        ahead: Seconds that their clocks are ahead, negative for the past.
        zones: Names of time zones by broker; UTC where none is named, as for ZooKeeper.
        of_zookeeper: More options of ZooKeeper's Java.
        more: Of :class:`PlayedCluster`.
    """

    def __init__(
        self, *, ahead: float = 0, zones: Mapping[int, str] | None = None, of_zookeeper: Sequence[str] = (), **more: object
    ) -> None:
        super().__init__(**more)
        self._options = {f"broker-{broker}": [f"-Duser.timezone={zone}"] for broker, zone in (zones or {}).items()}
        self._options["zookeeper"] = list(of_zookeeper)
        self._told = ahead

    def _command(self, place: Installation, options: Sequence[str] = ()) -> list[str]:
        self.set_clocks(self._told)
        faked = {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.home / "clock"),
            "FAKETIME_CACHE_DURATION": str(NOTICED),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # of an old glibc; with it a JVM waits for seconds where it means milliseconds
        }
        return [
            "env",
            *(f"{key}={value}" for key, value in faked.items()),
            *super()._command(place, [*options, *self._options.get(place.name, ())]),
        ]

    def set_clocks(self, ahead: float) -> None:
        """Set all clocks, also of servers that run, which notice it within :data:`NOTICED`."""
        self._told, partial = ahead, self.home / "clock.partial"
        partial.write_text(f"{ahead:+.3f}\n")
        partial.rename(self.home / "clock")  # whoever read half of it would take the time of the machine


def until(moment: str, now: datetime) -> float:
    """Seconds from a moment to another, as ISO 8601 with its offset: how far a clock is ahead that shows it."""
    return (datetime.fromisoformat(moment) - now).total_seconds()


def _library() -> Path:
    found = [path for pattern in _LIBRARIES for path in Path("/").glob(pattern.lstrip("/"))]
    if not found:
        raise RehearsalError("libfaketime is not installed.", try_="Debian has it in its package faketime.")
    return found[0]
