"""The matrix: kind of evidence x way of being unreadable x check, over notebooks and samples."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from casebook.findings import Finding, Status
from casebook.jars import JAVA_NEEDED
from tests.unreadable import lesser
from tests.unreadable.answers import CALLED, answers
from tests.unreadable.needs import lacks

SAMPLES = Path(__file__).parents[2] / "data_samples"
WITH_LEDGERS = ("acks1_loss", "commit_before_processing", "isr_shrunk_loss")
QUICK = tuple(sorted(folder.name for folder in SAMPLES.iterdir() if folder.name not in WITH_LEDGERS))
"""Samples of which every notebook answers within seconds."""
EQUAL, WEAKER, SUSPICIOUS, CONTRADICTION, FALSE_OK = "equal", "weaker", "not applicable", "contradiction", "false ok"


class Cell(NamedTuple):
    """What one notebook says to one check on one lesser case.

    Args:
        outcome: How that compares with the answer on the whole case.
        said: The answer, in short.
        whole: The answer on the whole case, in short.
        at: Where an ``ok`` was said.
    """

    sample: str
    kind: str
    way: str
    notebook: str
    check: str
    outcome: str
    said: str
    whole: str
    at: str = ""


class Unsaid(NamedTuple):
    """A lesser case of which no finding says that evidence could not be read."""

    sample: str
    kind: str
    way: str
    notebook: str


def cases(samples: Iterable[str]) -> list[tuple[str, str, str]]:
    """All lesser cases: sample, kind, way."""
    return [(sample, kind, way) for sample in samples for kind in lesser.KINDS for way in lesser.ways(kind)]


def compared(sample: str, kind: str, way: str, room: Path, whole: dict[str, dict[str, Finding]]) -> list[Cell]:
    """The cells of a lesser case; none where the sample has nothing of the kind."""
    target = room / "case"
    shutil.rmtree(target, ignore_errors=True)
    if lesser.make(SAMPLES / sample, target, kind, way) is None:
        return []
    found = answers(target, loss="70" in whole)
    return list(_cells(sample, kind, way, whole, found))


def _cells(sample: str, kind: str, way: str, whole: dict, found: dict) -> Iterator[Cell]:
    for notebook, findings in found.items():
        for check, finding in findings.items():
            before = whole[notebook].get(check)
            outcome = _outcome(before, finding, lacks(finding, kind, way))
            at = CALLED.get((check, finding.title), "") if finding.status is Status.OK else ""
            yield Cell(sample, kind, way, notebook, check, outcome, _short(finding), _short(before), at)


def _outcome(before: Finding | None, now: Finding, without: bool) -> str:
    """Rules, the worst first: ``ok`` without evidence; another answer; none where it still applies; less; the same."""
    was = before.status if before else None
    if now.status is Status.OK:
        if without:
            return FALSE_OK
        return EQUAL if was in (Status.OK, None) else CONTRADICTION
    if now.status is Status.FINDING and was is Status.OK and not now.check.startswith("evidence."):
        return CONTRADICTION
    if now.status is Status.NOT_APPLICABLE and was not in (None, Status.NOT_APPLICABLE):
        return SUSPICIOUS
    return EQUAL if now.status is was else WEAKER


def _short(finding: Finding | None) -> str:
    return f"{finding.status.value}: {finding.title}" if finding else ""


def old_java(folder: Path) -> Path:
    """A Java that is too old, for JAVA_HOME."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "release").write_text(f'JAVA_VERSION="{JAVA_NEEDED - 6}.0.2"\n')
    java = folder / "bin" / "java"
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    return folder
