"""The matrix: kind of evidence x way of being unreadable x check, over notebooks and samples."""

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from casebook.findings.finding import Finding, Status
from casebook.machine.jars import JAVA_NEEDED
from casebook.runs import folder as runs
from casebook.runs import summary
from tests.unreadable import lesser
from tests.unreadable.answers import ALL, CALLED, answers
from tests.unreadable.needs import is_reported, lacks, prints_settings

SAMPLES = Path(__file__).parents[2] / "data_samples"
_WITH_LEDGERS = ("acks1_loss", "commit_before_processing", "isr_shrunk_loss")
QUICK = tuple(sorted(folder.name for folder in SAMPLES.iterdir() if folder.name not in _WITH_LEDGERS))
"""Samples of which every notebook answers within seconds."""
EQUAL, WEAKER, SUSPICIOUS, CONTRADICTION, FALSE_OK = "equal", "weaker", "not applicable", "contradiction", "false ok"
EXIT_0 = "exit 0"
_CLIENTS = ("producer", "consumer", "client")
_ABOUT_DAMAGE = ("evidence.", "offsets_topic.damage", "loss.ledger")
"""Checks that find what a lesser case is made with."""


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


class Whole(NamedTuple):
    """A sample that nothing was taken from, and the files of a client beside it.

    Args:
        answers: What each notebook says to it, by check.
    """

    folder: Path
    answers: dict[str, dict[str, Finding]]


def whole(sample: str, room: Path, notebooks: Collection[str] = ALL) -> Whole:
    """A whole case in a folder of its own: results of scans of it are not kept in the sample."""
    folder = lesser.with_client(SAMPLES / sample, room / sample)
    return Whole(folder, answers(folder, notebooks))


def compared(whole: Whole, kind: str, way: str, room: Path) -> list[Cell]:
    """The cells of a lesser case; none where the sample has nothing of the kind."""
    target = room / "lesser"
    shutil.rmtree(target, ignore_errors=True)
    if lesser.make(whole.folder, target, kind, way) is None:
        return []
    java = {"JAVA_HOME": str(old_java(room / "java"))} if way == lesser.JAVA else {}
    with mock.patch.dict(os.environ, java):
        found = answers(target, tuple(whole.answers))
    return list(_cells(whole.folder.name, kind, way, whole.answers, found, printed=prints_settings(target)))


def _cells(sample: str, kind: str, way: str, whole: dict, found: dict, *, printed: bool) -> Iterator[Cell]:
    for notebook, findings in found.items():
        for check, finding in findings.items():
            before = whole[notebook].get(check)
            outcome = _outcome(before, finding, lacks(finding, kind, way, printed=printed), way)
            at = CALLED.get((check, finding.title), "") if finding.status is Status.OK else ""
            yield Cell(sample, kind, way, notebook, check, outcome, _short(finding), _short(before), at)
        if is_reported(kind, way, whole[notebook].values()) and findings and exit_code(findings.values()) == 0:
            yield Cell(sample, kind, way, notebook, "exit code", EXIT_0, "0", str(exit_code(whole[notebook].values())))


def exit_code(findings: Iterable[Finding]) -> int:
    """With which exit code a run ends that has these findings."""
    with tempfile.TemporaryDirectory() as folder:
        runs.write_findings(Path(folder), notebook="", source="", kafka_versions={}, findings=findings)
        return summary.exit_code(json.loads(Path(folder, "findings.json").read_text()))


def _outcome(before: Finding | None, now: Finding, without: bool, way: str) -> str:
    """Rules, the worst first: ``ok`` without evidence; another answer; none where it still applies; less; the same.

    Of whom nothing was given, nothing is said: an answer may be ``ok`` of the fewer clients that it counts.
    """
    was = before.status if before else None
    if now.status is Status.OK:
        if without:
            return FALSE_OK
        if before and way == "left out" and now.coverage.what in _CLIENTS and now.coverage.of < before.coverage.of:
            return WEAKER
        return EQUAL if was in (Status.OK, None) else CONTRADICTION
    if now.status is Status.FINDING and was is Status.OK and not now.check.startswith(_ABOUT_DAMAGE):
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
