"""The shipped cases: captured from real brokers, with what must be found in them.

``python -m casebook.rehearsal.samples`` makes all of them again, or those named. What is expected comes from the truth that
the script of the incident wrote down while it acted, not from the analysis.
"""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from casebook import places
from casebook.errors import RehearsalError
from casebook.rehearsal.incidents import play
from casebook.rehearsal.processes import guarded_folder
from casebook.rehearsal.servers import Progress

_HOME = Path("/var/tmp/kafka")  # its name stands in properties and logs: it must tell nothing of who made the sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which phase of which incident a sample is; always on Kafka 0.9.0.1."""

    incident: str
    phase: str


SAMPLES: Mapping[str, Sample] = {
    "healthy": Sample(incident="healthy", phase="now"),
    "leader_minus_one": Sample(incident="leader-minus-one", phase="during"),
    "offsets_bloat": Sample(incident="offsets-bloat", phase="during"),
    "coordinators_loading": Sample(incident="coordinators-loading", phase="during"),
}


def make_sample(name: str, *, progress: Progress = lambda _: None) -> Path:
    """Play the incident of a sample and put its case in the place of the old one.

    Raises:
        RehearsalError: No such sample, or the rehearsal failed; the old sample stays.
    """
    if name not in SAMPLES:
        raise RehearsalError(f"There is no sample {name!r}.", try_=f"Choose one of {', '.join(SAMPLES)}.")
    sample = SAMPLES[name]
    with guarded_folder() as scratch:
        played = play(sample.incident, kafka="0.9.0.1", out=scratch / "played", home=_HOME, progress=progress)
        case = played / sample.phase
        truth = json.loads((played / "truth.json").read_text())
        (case / "expected.json").write_text(json.dumps(_expected(truth, sample.phase), indent=1) + "\n")
        place = places.samples_dir() / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(case, place)
    return place


def _expected(truth: Mapping, phase: str) -> dict[str, object]:
    """What was done, how every partition must stand after it, and what the checks must say."""
    left = truth["phases"][phase]
    until = next(number for number, action in enumerate(truth["actions"], start=1) if phase in action["did"])
    return {
        "schema": truth["schema"],
        "kafka": truth["kafka"],
        "incident": truth["incident"],
        "phase": phase,
        "actions": truth["actions"][:until],
        "not_online": {
            f"{row['topic']}-{row['partition']}": row["state"] for row in left["partitions"] if row["state"] != "online"
        },
        "partitions": left["partitions"],
        "start_first": left["start_first"],
        "start_first_verified_by_starting": truth["start_first_verified_by_starting"],
        "findings": _findings(left),
    } | ({"facts": truth["facts"]} if "facts" in truth else {})


def _findings(left: Mapping) -> dict[str, object]:
    """Checks by name, each with the status and the facts that follow from how the script left the cluster."""
    rows: Sequence[Mapping] = left["partitions"]
    online = [row for row in rows if row["state"] == "online"]
    offline = [row for row in rows if row["state"] in ("leaderless", "leader_dead")]
    deleting = [row for row in rows if row["state"] == "deleting"]
    under_min_isr = [row for row in online if row["under_min_isr"]]
    at_min_isr = [row for row in online if row["at_min_isr"] and row["under_replicated"]]
    lagging = [row for row in online if row["under_replicated"]]
    chosen = [step for step in left["start_first"] if step["chosen"]]
    return {
        "leadership.offline": _found(
            offline,
            severity="critical",
            partitions=len(rows),
            offline=len(offline),
            leaderless=sum(row["state"] == "leaderless" for row in offline),
            topics=_topics(offline),
            start_first=[step["broker"] for step in chosen],
            heals=[step["heals"] for step in chosen],
        ),
        "leadership.under_min_isr": _found(under_min_isr, under_min_isr=len(under_min_isr), topics=_topics(under_min_isr)),
        "leadership.at_min_isr": _found(at_min_isr, at_min_isr=len(at_min_isr), topics=_topics(at_min_isr)),
        "leadership.under_replicated": _found(
            lagging,
            under_replicated=len(lagging),
            missing_brokers=sorted({broker for row in lagging for broker in row["replicas"] if broker not in row["isr"]}),
        ),
        "leadership.deleting": _found(
            deleting,
            topics=_topics(deleting),
            waits_for=sorted({broker for row in deleting for broker in row["replicas"] if broker in left["dead"]}),
        ),
        "leadership.brokers": _found(left["dead"], registered=left["live"], dead=left["dead"]),
        "leadership.controller": {"status": "ok", "facts": {"broker": left["controller"]}},
    }


def _found(hits: Sequence, *, severity: str | None = None, **facts: object) -> dict[str, object]:
    status = {"status": "finding" if hits else "ok"}
    return status | ({"severity": severity} if hits and severity else {}) | {"facts": facts}


def _topics(rows: Sequence[Mapping]) -> list[str]:
    return sorted({row["topic"] for row in rows})


if __name__ == "__main__":
    for each in sys.argv[1:] or SAMPLES:
        make_sample(each, progress=lambda text: sys.stderr.write(text + "\n"))
