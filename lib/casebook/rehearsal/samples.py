"""Shipped cases: captured from real brokers, with the expected findings.

``python -m casebook.rehearsal.samples`` regenerates all of them, or those named. Expected findings come from the truth that the
incident's script recorded, not from the analysis.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.findings.words import uncapitalised
from casebook.machine import places
from casebook.rehearsal.expected import expected
from casebook.rehearsal.incidents import INCIDENTS, play
from casebook.rehearsal.servers.jars import Progress
from casebook.rehearsal.servers.processes import guarded_folder

_KAFKA = "0.9.0.1"
_HOME = Path("/var/tmp/kafka")  # its name appears in properties and logs: it must not reveal the author


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Phase and incident of a sample; always on Kafka 0.9.0.1.

    Args:
        notebook: Number of the main notebook for it.
    """

    incident: str
    phase: str
    notebook: str


SAMPLES: Mapping[str, Sample] = {
    "healthy": Sample(incident="healthy", phase="now", notebook="10"),
    "leader_minus_one": Sample(incident="leader-minus-one", phase="during", notebook="20"),
    "kill_before_drain": Sample(incident="kill-before-drain", phase="before", notebook="30"),
    "offsets_bloat": Sample(incident="offsets-bloat", phase="during", notebook="40"),
    "coordinators_loading": Sample(incident="coordinators-loading", phase="during", notebook="50"),
    "acks1_loss": Sample(incident="acks1-loss", phase="after", notebook="70"),
    "isr_shrunk_loss": Sample(incident="isr-shrunk-loss", phase="after", notebook="80"),
    "commit_before_processing": Sample(incident="commit-before-processing", phase="after", notebook="70"),
    "restart_all_coordinators": Sample(incident="restart-all-coordinators", phase="before", notebook="30"),
    "api_versions_storm": Sample(incident="api-versions-storm", phase="after", notebook="60"),
}


def told(name: str) -> str:
    """Describe a shipped case in one line: release, notebook, and problem, if any."""
    sample = SAMPLES[name]
    story = INCIDENTS[sample.incident].story
    if sample.phase == "before":
        story = f"Taken before, when nothing was broken yet. Then {uncapitalised(story)}"
    return f"Kafka {_KAFKA}, notebook {sample.notebook}: {story}"


def make_sample(name: str, *, progress: Progress = lambda _: None) -> Path:
    """Play the incident of a sample and replace its case.

    Raises:
        RehearsalError: The sample does not exist, or the rehearsal failed; the old sample stays.
    """
    if name not in SAMPLES:
        raise RehearsalError(f"There is no sample {name!r}.", try_=f"Choose one of {', '.join(SAMPLES)}.")
    sample = SAMPLES[name]
    with guarded_folder() as scratch:
        played = play(sample.incident, kafka=_KAFKA, out=scratch / "played", home=_HOME, progress=progress)
        case = played / sample.phase
        truth = json.loads((played / "truth.json").read_text())
        (case / "expected.json").write_text(json.dumps(expected(truth, sample.phase), indent=1) + "\n")
        place = places.samples_dir() / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(case, place)
    return place


if __name__ == "__main__":
    for each in sys.argv[1:] or SAMPLES:
        make_sample(each, progress=lambda text: sys.stderr.write(text + "\n"))
