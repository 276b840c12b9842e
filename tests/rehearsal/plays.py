"""Incidents played once in a test session, for whoever wants to look at what they leave behind."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from casebook.rehearsal import play


def offsets_bloat(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``offsets-bloat``: a case for each phase, and ``truth.json``."""
    return played("offsets-bloat", kafka)


def coordinators_loading(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``coordinators-loading``."""
    return played("coordinators-loading", kafka)


@cache
def played(incident: str, kafka: str) -> Path:
    """The folder of a play, the same at each call; it goes when the session ends."""
    folder = Path(tempfile.mkdtemp(prefix="casebook-played-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return play(incident, kafka=kafka, out=folder / "out")
