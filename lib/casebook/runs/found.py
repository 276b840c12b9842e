"""Runs of a folder in any condition: everything there is listed, readable or not."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from casebook.case.case import LIVE
from casebook.findings import words
from casebook.findings.headline import headline
from casebook.findings.past_runs import CheckOutcome, outcomes

NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)_(\w+)_[0-9a-f]{4}")
INCOMPLETE = "could_not_complete"
_ENDLESS = 1e12
"""Seconds beyond any real run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder, for the index.

    Args:
        name: Folder name.
        link: Link target: the report, else the folder.
        notebook: ``None`` when unknown, as are ``case``, ``started`` (ISO-8601 UTC) and ``seconds``.
        kind: As :class:`casebook.findings.headline.Headline`; ``could_not_complete`` for an incomplete or unreadable run.
        says: Title of its headline, or the error.
        below: The lines below it, by their first word.
        checked: ``25 of 29``.
        checks: Outcome of each by name; empty when the findings are unreadable.
    """

    name: str
    link: str
    notebook: str | None
    case: str | None
    started: str | None
    seconds: float | None
    kind: str
    says: str
    below: Mapping[str, str] = field(default_factory=dict)
    checked: str = "?"
    checks: Mapping[str, CheckOutcome] = field(default_factory=dict)

    @property
    def line(self) -> tuple[str | None, str | None]:
        """Key of a line of runs, each continuing the one before: case and notebook."""
        return self.case, self.notebook


def newest(runs: Path, most: int | None = None) -> tuple[Sequence[Run], int]:
    """Return the newest runs of a folder, newest first, and how many there are beyond ``most``."""
    folders = sorted((folder for folder in runs.iterdir() if _is_run(folder)), key=lambda folder: folder.name, reverse=True)
    found = sorted(map(_read, folders[:most]), key=lambda run: (run.started or "", run.name), reverse=True)
    return found, len(folders) - len(found)


def _is_run(folder: Path) -> bool:
    if folder.name.startswith(".") or not folder.is_dir():
        return False
    return bool(NAME.fullmatch(folder.name)) or any(
        (folder / name).exists() for name in ("run.json", "findings.json", "notebook.ipynb")
    )


def _read(folder: Path) -> Run:
    record, named = _json(folder / "run.json"), NAME.fullmatch(folder.name)
    started = _text(record.get("started"))
    common = {
        "name": folder.name,
        "link": quote(os.fsencode(folder.name)) + ("/report.html" if (folder / "report.html").exists() else "/"),
        "notebook": _text(record.get("notebook")) or (named and named[5]),
        "case": _case(record),
        "started": started or (named and f"{named[1]}T{named[2]}:{named[3]}:{named[4]}Z"),
        "seconds": _seconds(record.get("seconds")),
    }
    if error := record.get("error"):
        return Run(**common, kind=INCOMPLETE, says=str(error))
    try:
        return Run(**common, **_outcome(_json(folder / "findings.json")))
    except (KeyError, TypeError, ValueError, AttributeError):
        return Run(**common, kind=INCOMPLETE, says="its findings cannot be read")


def _seconds(value: object) -> float | None:
    """Return a duration; any other value, such as Python's JSON NaN and 1e999, is none."""
    return value if isinstance(value, int | float) and 0 <= value < _ENDLESS else None


def _case(record: Mapping) -> str | None:
    """Return the subject of a run.

    For a live cluster, or a run that failed before opening its case, the source; else the case.
    """
    parameters = record.get("parameters")
    source = _text(record.get("source")) or _text(isinstance(parameters, dict) and parameters.get("source"))
    if source and source.startswith(LIVE):
        return source
    return _text(record.get("case")) or (source and (source.removeprefix("sample:").rstrip("/").rpartition("/")[2] or source))


def _outcome(document: Mapping) -> dict[str, object]:
    """Read the outcome from the findings; fails somehow on anything but a ``findings.json``."""
    findings, counts = document["findings"], document["completeness"]
    ok, unchecked = int(counts["ok"]), int(counts["could_not_check"])
    asked = ok + unchecked + int(counts["finding"])
    first = headline(document)
    return {
        "kind": first.kind,
        "says": first.said,
        "below": first.below,
        "checked": f"{words.count(asked - unchecked)} of {words.count(asked)}",
        "checks": outcomes(findings),
    }


def _json(path: Path) -> Mapping:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
