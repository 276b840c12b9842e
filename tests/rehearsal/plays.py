"""Incidents played once in a test session, for whoever wants to look at what they leave behind."""

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from casebook.case.case import Case
from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.loss.consumer_evidence import Consumed, ConsumerEvidence
from casebook.questions.loss.evidence import LossEvidence, LossParameters
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.scans import logs
from casebook.rehearsal import INCIDENTS
from casebook.rehearsal.incidents import capture
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Truth

Played = TypeVar("Played")

_KEPT = []
_CHANCES = 3
_TOO_BUSY = (RehearsalError, subprocess.TimeoutExpired, TimeoutError)
"""A moment was missed, a server did not end when it was asked to, or a broker did not answer, all within a minute or so."""


def offsets_bloat(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``offsets-bloat``: a case for each phase, and ``truth.json``."""
    return played("offsets-bloat", kafka)


def coordinators_loading(kafka: str = "0.9.0.1") -> Path:
    """The folder of a play of ``coordinators-loading``."""
    return played("coordinators-loading", kafka)


def logged(case: Path, broker: int, name: str = "server.log") -> str:
    """A broker's log, as a case that a play left behind has it, with what was rolled away at full hours, oldest first."""
    files = (case / "brokers" / str(broker) / "logs").glob(f"{name}*")
    return "".join(file.read_text() for file in sorted(files, key=lambda file: (file.name == name, file.name)))


def memory(out: Path) -> Path:
    """The data of all servers that a play remembered, to be started again on copies; of the folder of that play."""
    return out.parent / "memory"


def evidence(case: Path, *, scan: bool = False) -> OffsetsEvidence:
    """What notebooks 40 and 50 conclude from a case that a play left behind."""
    opened = Case.open(case)
    cluster = opened.cluster()
    version = release.release(cluster, logged=opened.logged_versions(), configured=opened.configured_versions())
    return OffsetsEvidence(opened, cluster, version, logs=logs.read(opened), scan=scan)


def losses(case: Path, **asked: str) -> LossEvidence:
    """What notebook 70 concludes from a case that a play left behind."""
    opened = Case.open(case)
    cluster = opened.cluster()
    version = release.release(cluster, logged=opened.logged_versions(), configured=opened.configured_versions())
    told = logs.read(opened)
    happened = timeline.examine(
        cluster, version, events=told.events(), files=told.files, history=history_facts.read(opened.history())
    )
    return LossEvidence(opened, cluster, version, LossParameters(**asked), timeline=happened)


def consumed(case: Path, *, processed: str = "", group: str = "", **asked: str) -> Consumed:
    """What notebook 70 concludes of consumers from such a case."""
    opened, produced = Case.open(case), losses(case, **asked)
    cluster = opened.cluster()
    partitions = sum(partition.topic == OFFSETS_TOPIC for partition in cluster.partitions)
    looked = ConsumerEvidence(
        opened, produced, processed=processed, group=group, offsets=evidence(case), partitions=partitions, moves={}
    ).examined()
    _KEPT.append(produced)  # the folder of what was found goes with it
    return looked


def played(incident: str, kafka: str) -> Path:
    """The folder of a play, the same at each call; it goes when the session ends."""
    return played_by(INCIDENTS[incident].script, incident, kafka, INCIDENTS[incident].story)


@cache
def played_by(script: Callable[[Stage], None], incident: str, kafka: str, story: str) -> Path:
    """The same of a script that nobody is offered."""
    return until_it_succeeds(lambda: _play(script, incident, kafka, story))


def on_each(script: Callable[[Stage], None], incident: str, releases: Sequence[str]) -> object:
    """A fixture of a module: the folder of the play on each release; all are played at once, as most of the time is waiting."""

    @pytest.fixture(scope="module", params=releases)
    def out(request: pytest.FixtureRequest) -> Path:
        with ThreadPoolExecutor() as pool:
            played = pool.map(lambda kafka: played_by(script, incident, kafka, "A test."), releases)
            return dict(zip(releases, played, strict=True))[request.param]

    return out


def captured(
    stage: Stage, cluster: PlayedCluster, name: str = "after", *, logs: Mapping[int | str, Sequence[Path]] | None = None
) -> Path:
    """A case of ZooKeeper's state and history, and of all that the brokers printed, or of other logs; no data of theirs."""
    _at_rest(cluster)
    own = {broker: (*cluster.log_files(broker), *cluster.printed(broker)) for broker in cluster.ids}
    stage.capture(
        stage.out / name,
        zookeeper=cluster.zookeeper,
        properties={broker: cluster.server_properties(broker) for broker in cluster.ids},
        logs=own if logs is None else logs,
        ledgers={},
        log_dirs=[],
        copy_segments=(),
        zookeeper_data=[cluster.zookeeper_data],
    )
    return stage.out / name


def _at_rest(cluster: PlayedCluster) -> None:
    """Wait until no state has changed for a moment: ZooKeeper is walked before its files are copied; both are to tell the same."""
    last: list[object] = [None]

    def is_unchanged() -> bool:
        before, last[0] = last[0], cluster.states()
        return before == last[0]

    cluster.wait_until(is_unchanged, what="states that no longer change", steady=1.0)


def until_it_succeeds(play: Callable[[], Played]) -> Played:
    """What a play leaves behind.

    On a busy machine a play may miss the moment that it is about, or wait for a server in vain. It says so itself, and is played
    again.
    """
    for _ in range(_CHANCES - 1):
        try:
            return play()
        except _TOO_BUSY as missed:
            print(missed)
    return play()


def _play(script: Callable[[Stage], None], incident: str, kafka: str, story: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="casebook-played-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    out = folder / "out"
    truth = Truth(incident=incident, kafka=kafka, story=story)
    script(Stage(truth=truth, out=out, capture=capture, progress=print, memory=memory(out)))
    truth.write(out / "truth.json")
    return out
