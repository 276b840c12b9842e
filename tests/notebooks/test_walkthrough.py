"""The walkthrough headless: solved, failed, and left alone."""

import json
from pathlib import Path

import pytest

from casebook.findings.finding import Severity
from casebook.runs import notebooks, runner

KEYS = ("brokers", "leaderless", "why", "first", "healed", "unclean", "never")
SOLVED = {
    "answer_brokers": "2 and one",
    "answer_leaderless": "payments 0, [payments,1]",
    "answer_why": "rule three",
    "answer_first": "broker 1",
    "answer_healed": "none",
    "answer_unclean": "zero",
    "answer_never": "WIPE it",
}
"""Of the incident that it comes with, each in another form: tests/questions/quiz/test_quiz.py has where they come from."""
FAILED = {
    "answer_brokers": "1",
    "answer_leaderless": "payments-2",
    "answer_why": "R4",
    "answer_first": "2",
    "answer_healed": "4",
    "answer_unclean": "4",
    "answer_never": "start",
}


def findings(folder: Path) -> dict[str, dict]:
    """Findings of a run by check."""
    return {finding["check"]: finding for finding in json.loads((folder / "findings.json").read_text())["findings"]}


@pytest.mark.parametrize(
    ("answers", "code", "status", "said"),
    [
        (SOLVED, 0, "ok", "All 7 questions answered right"),
        (FAILED, 1, "finding", "0 of 7 questions answered right, 7 wrong"),
        (dict.fromkeys(SOLVED, "?"), 1, "finding", "0 of 7 questions answered right, 7 given up"),
        ({}, 1, "not_applicable", "0 of 7 questions answered"),
    ],
    ids=["solved", "failed", "given up", "left alone"],
)
def test_how_it_went(answers, code, status, said, tmp_path):
    """Findings, page and exit code say so; nobody is alarmed by a wrong answer unless --fail-on info asks for it."""
    ran = runner.run(notebooks.find("walkthrough"), answers, runs_dir=tmp_path, fail_on=Severity.INFO)
    assert not ran.failed, ran.title
    assert ran.exit_code == code
    found = findings(ran.folder)
    assert {found[f"walkthrough.{key}"]["status"] for key in KEYS} == {status}
    assert found["walkthrough.answers"]["title"] == said
    page = (ran.folder / "report.html").read_text()
    assert "-p at=2026-11-22T05:2" in page  # the command says of when
    assert said in page
    explained = "audit-0 has broker 1 alone in its ISR" in page
    assert ("This is the trap" in page) == explained
    assert ran.title.startswith("OK: ") == (status == "ok"), ran.title
    assert explained == (status == "ok" or "?" in answers.values())


def test_the_larger_one(tmp_path):
    """The second incident that the text names: it has no history, so it is the case as it was collected."""
    given = {"source": "sample:leader_minus_one", "answer_brokers": "1, 5", "answer_first": "one"}
    ran = runner.run(notebooks.find("walkthrough"), given, runs_dir=tmp_path)
    assert (ran.failed, ran.exit_code) == (False, 0), ran.title
    found = findings(ran.folder)
    assert [found[f"walkthrough.{key}"]["status"] for key in ("brokers", "first")] == ["ok", "finding"]
    assert "-p at=" not in (ran.folder / "report.html").read_text()
