"""What every notebook answers to a case, in this process."""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import casebook.findings.finding
from casebook.case.case import Case
from casebook.errors import CasebookError
from casebook.findings.declared import questions
from casebook.findings.finding import Finding, Question, Status
from casebook.kafka import release
from casebook.notebook.examination import Examination

_ASKED = {question.notebook.partition("_")[0]: question.answers for question in questions() if question.answers}
"""What each notebook asks of an examination; another beside them is put together in its cells."""
ALL = ("10", *_ASKED)
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


def _answered(book: Examination, method: str) -> tuple[Finding, ...]:
    """As its notebook puts it together; who asks for everything is told of the evidence, too."""
    found = getattr(book, method)()
    first, *_ = found if isinstance(found, tuple) else (found,)
    if isinstance(first, Finding):
        return found
    findings = book.evidence + first.findings
    return book.advised(findings, book.plan(findings))


def answers(folder: Path, notebooks: Collection[str] = ALL) -> dict[str, dict[str, Finding]]:
    """The findings of each notebook, by check; with a ledger, 70 and 90 take Spark some ten seconds each."""
    triage, book = _examination(folder), _examination(folder)
    asked = {number: partial(_answered, book, method) for number, method in _ASKED.items()}
    asked["10"] = partial(_triage, triage)
    return {notebook: _said(asked[notebook]) for notebook in notebooks}


def _said(ask) -> dict[str, Finding]:
    """A notebook that ends with an error says nothing, and its run ends with exit code 3."""
    try:
        return {finding.check: finding for finding in ask()}
    except CasebookError:
        return {}
