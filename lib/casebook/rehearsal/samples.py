"""Shipped cases: captured from real brokers, with the expected findings.

``python -m casebook.rehearsal.samples`` regenerates all of them, or those named; all samples of an incident are of one play.
Expected findings come from the truth that the incident's script recorded, not from the analysis.
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
    "overnight_before": Sample(incident="overnight", phase="evening", notebook="90"),
    "overnight": Sample(incident="overnight", phase="morning", notebook="90"),
}


def told(name: str) -> str:
    """Describe a shipped case in one line: release, notebook, and problem, if any."""
    sample = SAMPLES[name]
    story = INCIDENTS[sample.incident].story
    if sample.phase == "before":
        story = f"Taken before, when nothing was broken yet. Then {uncapitalised(story)}"
    if sample.phase == "evening":
        story = f"The evening before sample:{name.removesuffix('_before')}, of the same cluster."
    return f"Kafka {_KAFKA}, notebook {sample.notebook}: {story}"


def make_sample(name: str, *, progress: Progress = lambda _: None) -> None:
    """Play the incident of a sample and replace its case, and those of its other phases.

    Raises:
        RehearsalError: The sample does not exist, or the rehearsal failed; the old sample stays.
    """
    if name not in SAMPLES:
        raise RehearsalError(f"There is no sample {name!r}.", try_=f"Choose one of {', '.join(SAMPLES)}.")
    incident = SAMPLES[name].incident
    with guarded_folder() as scratch:
        played = play(incident, kafka=_KAFKA, out=scratch / "played", home=_HOME, progress=progress)
        truth = json.loads((played / "truth.json").read_text())
        for one, sample in SAMPLES.items():
            if sample.incident == incident:
                _replace(places.samples_dir() / one, played / sample.phase, expected(truth, sample.phase))


def _replace(place: Path, case: Path, expectations: Mapping[str, object]) -> None:
    (case / "expected.json").write_text(json.dumps(expectations, indent=1) + "\n")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(case, place)


if __name__ == "__main__":
    for each in sys.argv[1:] or {sample.incident: name for name, sample in SAMPLES.items()}.values():
        make_sample(each, progress=lambda text: sys.stderr.write(text + "\n"))
