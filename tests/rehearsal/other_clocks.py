"""Clusters that live at another time, each broker in a time zone of its own: what libfaketime tells their servers."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.rehearsal.cluster import Cluster
from casebook.rehearsal.installation import Installation, command

_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1")


class OtherClocks(Cluster):
    """A cluster whose servers take another time for now; how fast it goes by is as ever.

    Args:
        ahead: Seconds that their clocks are ahead, negative for the past.
        zones: Names of time zones by broker; UTC where none is named, as for ZooKeeper.
        more: Of :class:`Cluster`.
    """

    def __init__(self, *, ahead: float = 0, zones: Mapping[int, str] | None = None, **more: object) -> None:
        super().__init__(**more)
        self._zones = {f"broker-{broker}": zone for broker, zone in (zones or {}).items()}
        self._told = ahead

    def _command(self, place: Installation) -> list[str]:
        options = [f"-Duser.timezone={self._zones[place.name]}"] if place.name in self._zones else []
        self.set_clocks(self._told)
        faked = {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.home / "clock"),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # of an old glibc; with it a JVM waits for seconds where it means milliseconds
        }
        return ["env", *(f"{key}={value}" for key, value in faked.items()), *command(place, jars=self._jars, options=options)]

    def set_clocks(self, ahead: float) -> None:
        """Set all clocks, also of servers that run, which notice it within a second."""
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
