"""What every notebook answers to a case, in this process."""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import casebook.findings.finding
from casebook.case.case import Case
from casebook.errors import CasebookError
from casebook.findings.finding import Finding, Question, Status
from casebook.kafka import release
from casebook.notebook.examination import Examination

ALL = ("10", "20", "30", "40", "50", "60", "70", "80", "90")
CALLED: dict[tuple[str, str], str] = {}
"""Where an ``ok`` was said, ``file:line``, by check and title."""


@contextmanager
def watched() -> Iterator[None]:
    """Notes where each ``ok`` is said."""
    said = Question._answer

    def answer(self: Question, status: Status, title: str, **more: object) -> Finding:
        if status is Status.OK:
            frame = sys._getframe(1)
            while frame.f_code.co_filename == casebook.findings.finding.__file__:
                frame = frame.f_back
            CALLED[self.check, title] = f"{Path(frame.f_code.co_filename).stem}.py:{frame.f_lineno}"
        return said(self, status, title, **more)

    with mock.patch.object(Question, "_answer", answer):
        yield


def _examination(folder: Path) -> Examination:
    case = Case.open(folder)
    cluster = case.cluster()
    version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
    return Examination(case=case, cluster=cluster, version=version, at=None, progress=lambda *_, **__: lambda *_: None)


def _triage(book: Examination) -> tuple[Finding, ...]:
    """As notebook 10 puts it together."""
    lead = book.leadership()
    findings = book.evidence + lead.findings + book.maintenance_in_short(lead) + book.groups() + book.happened()
    return book.together(findings + book.durability_in_short())


def answers(folder: Path, notebooks: Collection[str] = ALL) -> dict[str, dict[str, Finding]]:
    """The findings of each notebook, by check; with a ledger, 70 and 90 take Spark some ten seconds each."""
    triage, book = _examination(folder), _examination(folder)
    asked = {
        "10": lambda: _triage(triage),
        "20": lambda: book.advised(book.evidence + book.leadership().findings),
        "30": lambda: book.advised(book.evidence + book.maintenance().findings),
        "40": lambda: book.advised(book.evidence + book.offsets_topic().findings),
        "50": lambda: book.advised(book.evidence + book.coordinators().findings),
        "60": lambda: book.advised(book.evidence + book.timeline().findings),
        "80": lambda: book.advised(book.evidence + book.durability().findings),
        "70": lambda: book.advised(book.evidence + book.message_loss()[0].findings),
        "90": book.everything,
    }
    return {notebook: _said(asked[notebook]) for notebook in notebooks}


def _said(ask) -> dict[str, Finding]:
    """A notebook that ends with an error says nothing, and its run ends with exit code 3."""
    try:
        return {finding.check: finding for finding in ask()}
    except CasebookError:
        return {}
