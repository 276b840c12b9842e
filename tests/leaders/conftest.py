"""Each incident is played once a version, and every test looks at the same play."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.incidents import capture
from casebook.rehearsal.plays import controller_dies, leader_minus_one
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Truth
from tests.leaders.predicting import PredictingStage
from tests.rehearsal import plays

VERSIONS = ("0.9.0.1", "2.8.2", "3.9.2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One play and what it left behind."""

    kafka: str
    out: Path
    truth: Truth
    stage: PredictingStage


def _play(script: Callable[[Stage], None], kafka: str, folder: Path, *, verify: bool) -> Played:
    truth = Truth(incident=script.__module__, kafka=kafka, story="A test.")
    stage = PredictingStage(
        truth=truth,
        out=folder / "played",
        capture=capture,
        progress=print,
        memory=folder / "memory",
        home=folder / "home",
        verify=verify,
    )
    script(stage)
    return Played(kafka=kafka, out=stage.out, truth=truth, stage=stage)


@pytest.fixture(scope="session", params=VERSIONS)
def leaders_lost(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The incident leader-minus-one."""
    play = lambda: _play(leader_minus_one.play, request.param, tmp_path_factory.mktemp("leaders-lost"), verify=True)  # noqa: E731
    return plays.until_it_succeeds(play)


@pytest.fixture(scope="session", params=VERSIONS)
def controller_lost(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The incident controller-dies."""
    play = lambda: _play(controller_dies.play, request.param, tmp_path_factory.mktemp("controller-lost"), verify=False)  # noqa: E731
    return plays.until_it_succeeds(play)


@pytest.fixture(scope="module")
def small_cluster() -> PlayedCluster:
    """Two brokers of 0.9.0.1, for tests that leave them as they were."""
    with PlayedCluster(brokers=2, controller=1) as cluster:
        yield cluster
