"""The walkthrough headless: solved, failed, and left alone."""

import json
from pathlib import Path

import pytest

from casebook.findings.finding import Severity
from casebook.runs import notebooks, runner

KEYS = ("brokers", "leaderless", "why", "first", "healed", "unclean", "never")
SOLVED = {
    "answer_1": "2 and one",
    "answer_2": "payments 0, [payments,1]",
    "answer_3": "rule three",
    "answer_4": "broker 1",
    "answer_5": "none",
    "answer_6": "zero",
    "answer_7": "WIPE it",
}
"""Of the incident that it comes with, each in another form: tests/questions/quiz/test_quiz.py has where they come from."""
FAILED = {
    "answer_1": "1",
    "answer_2": "payments-2",
    "answer_3": "R4",
    "answer_4": "2",
    "answer_5": "4",
    "answer_6": "4",
    "answer_7": "start",
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
    given = {"source": "sample:leader_minus_one", "answer_1": "1, 5", "answer_4": "one"}
    ran = runner.run(notebooks.find("walkthrough"), given, runs_dir=tmp_path)
    assert (ran.failed, ran.exit_code) == (False, 0), ran.title
    found = findings(ran.folder)
    assert [found[f"walkthrough.{key}"]["status"] for key in ("brokers", "first")] == ["ok", "finding"]
    assert "-p at=" not in (ran.folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("incident", "given"),
    [
        ("coordinators", ("7", "2", "queued", "7", "C2", "1", "delete")),
        ("acks1", ("1", "05:22:23 to 05:22:26", "0, 1", "132", "312", "312", "min-isr")),
        ("isr_of_one", ("0, 1, 2", "05:25:47", "1", "topic", "60", "2", "min-isr")),
    ],
)
def test_other_incidents(incident, given, tmp_path):
    """Each on its own case, solved; where its answers come from is in tests/questions/quiz/test_incidents.py."""
    answers = {f"answer_{number}": answer for number, answer in enumerate(given, start=1)}
    ran = runner.run(notebooks.find("walkthrough"), {"incident": incident} | answers, runs_dir=tmp_path, fail_on=Severity.INFO)
    assert (ran.failed, ran.exit_code) == (False, 0), ran.title
    assert findings(ran.folder)["walkthrough.answers"]["title"] == "All 7 questions answered right"
    page = (ran.folder / "report.html").read_text()
    assert f"-p incident={incident} -p answer_1=" in page and "glossary.md" not in page
    assert {file.stem for file in (ran.folder / "tables").iterdir()} <= {"problems"}
