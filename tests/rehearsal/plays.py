"""Incidents played once in a test session, for whoever wants to look at what they leave behind."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from casebook.analysis import release
from casebook.case import Case
from casebook.offsets_evidence import OffsetsEvidence
from casebook.rehearsal import INCIDENTS
from casebook.rehearsal.incidents import capture
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Truth
from casebook.scans import logs


def offsets_bloat(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``offsets-bloat``: a case for each phase, and ``truth.json``."""
    return played("offsets-bloat", kafka)


def coordinators_loading(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``coordinators-loading``."""
    return played("coordinators-loading", kafka)


def memory(out: Path) -> Path:
    """The data of all servers that a play remembered, to be started again on copies; of the folder of that play."""
    return out.parent / "memory"


def evidence(case: Path, *, scan: bool = False) -> OffsetsEvidence:
    """What notebooks 40 and 50 conclude from a case that a play left behind."""
    opened = Case.open(case)
    cluster = opened.cluster()
    version = release.release(cluster, logged=opened.logged_versions(), configured=opened.configured_versions())
    return OffsetsEvidence(opened, cluster, version, logs=logs.read(opened), scan=scan)


@cache
def played(incident: str, kafka: str) -> Path:
    """The folder of a play, the same at each call; it goes when the session ends."""
    folder = Path(tempfile.mkdtemp(prefix="casebook-played-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    out = folder / "out"
    truth = Truth(incident=incident, kafka=kafka, story=INCIDENTS[incident].story)
    stage = Stage(truth=truth, out=out, capture=capture, progress=print, memory=memory(out))
    INCIDENTS[incident].script(stage)
    truth.write(out / "truth.json")
    return out
