"""Headlines: what a run says first, wherever it is read."""

from itertools import product

import pytest

from casebook.facts.observed import Source
from casebook.findings.declared import questions
from casebook.findings.finding import Coverage, Finding, Severity, Status, Step, as_document, worst_first
from casebook.findings.headline import headline

SINCE = "2026-11-21T13:28:02.929Z"
NOW = ("leadership.offline", "leadership.under_min_isr", "coordinators.waiting", "coordinators.failed")
RISKS = (
    "coordinators.alone",
    "offsets_topic.compacted",
    "leadership.unclean_allowed",
    "durability.single_copy",
    "maintenance.restart_one",
)


def found(check, severity=Severity.WARNING, status=Status.FINDING, **more) -> Finding:
    seen = Coverage.counted(1, 1, "partition", Source.ZNODES)
    severity = severity if status is Status.FINDING else None
    return Finding(
        **{"check": check, "question": "?", "status": status, "severity": severity, "title": check, "coverage": seen} | more
    )


def said(*findings):
    return headline(as_document(findings))


class TestOrder:
    @pytest.mark.parametrize(("now", "risk"), list(product(NOW, RISKS)))
    @pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.WARNING])
    def test_trouble_comes_before_what_could_happen(self, now, risk, severity):
        """Also where the risk is worse: it is named beside the headline."""
        first = said(found(risk, severity), found(now))
        assert (first.title, first.kind, first.worse) == (now, "warning", int(severity is Severity.CRITICAL))

    def test_a_worse_loss_of_the_past_comes_first(self):
        """Lost records are a fact; they are no risk."""
        assert said(found("loss.lost", Severity.CRITICAL), found("leadership.under_min_isr")).title == "loss.lost"

    def test_lost_records_come_before_an_outage_that_is_over(self):
        """Of equal severity: a loss lasts."""
        first = said(found("timeline.leaderless"), found("timeline.two_leaders"), found("timeline.unclean_elections"))
        assert first.title == "timeline.unclean_elections"

    def test_first_checks_of_an_area_are_its_own(self):
        """A name that no check has would rank nothing."""
        for area in (area for question in questions() for area in question.areas):
            own = {check for question in questions() for check in question.numbers if check.startswith(f"{area.name}.")}
            assert set(area.first) <= own

    def test_for_information_comes_last(self):
        """Whatever it is about."""
        checks = [
            one.check for one in worst_first([found("leadership.deleting", Severity.INFO), found("durability.single_copy")])
        ]
        assert checks == ["durability.single_copy", "leadership.deleting"]

    def test_risks_are_declared_of_checks_that_exist(self):
        """A name that no check has would rank nothing."""
        declared = {prefix for question in questions() for prefix in question.risks}
        assert declared < set(RISKS) | {"leadership.at_min_isr"}


class TestLines:
    def test_all_of_it(self):
        """Title, since when, the first step, the reason; and what could not be checked."""
        steps = (Step(kind="first", text="Start broker 5."), Step(kind="then", text="Start broker 1."))
        first = said(
            found("leadership.offline", Severity.CRITICAL, title="11 have no leader", since=SINCE, next=steps, why="R3."),
            found("leadership.brokers", status=Status.COULD_NOT_CHECK),
        )
        assert first.line == "CRITICAL: 11 have no leader (1 could not be checked)"
        assert first.below == {"since": "21 Nov 2026, 13:28:02 UTC", "first": "Start broker 5.", "why": "R3."}

    @pytest.mark.parametrize(
        ("more", "since"),
        [({"since": SINCE, "at_latest": True}, "21 Nov 2026, 13:28:02 UTC at the latest"), ({}, None),
         ({"since": SINCE, "title": "died at 2026-11-21 13:28:02 UTC"}, None)],
        ids=["at the latest", "unknown", "in the title"],
    )  # fmt: skip
    def test_since(self, more, since):
        """It is said once, and not when it is unknown."""
        assert said(found("leadership.offline", **more)).below.get("since") == since

    def test_the_root_of_what_happened(self):
        """The timeline's root comes before the reason of its window; of the root's own finding it is not repeated."""
        root = found("timeline.root", title="Likeliest root: broker 1 was paused", why="It was silent.")
        window = found("timeline.two_leaders", Severity.CRITICAL, why="Its records are truncated.")
        assert said(root, window).why == "Likeliest root: broker 1 was paused. Its records are truncated."
        assert said(root).why == "It was silent."
        assert said(root, found("leadership.offline", Severity.CRITICAL, why="R3.")).why == "R3."


class TestUndecided:
    def test_mostly_unchecked(self):
        """No finding is the headline then; the worst is known so far."""
        unchecked = [found(f"a.{name}", status=Status.COULD_NOT_CHECK) for name in "bcd"]
        first = said(*unchecked, found("durability.single_copy"))
        assert first.line == "COULD NOT CHECK: 3 of 4 questions could not be answered; known so far: durability.single_copy"
        assert first.below == {}

    def test_what_to_paste_is_the_first_step(self):
        """Also where nothing else is known."""
        unchecked = [found(f"a.{name}", status=Status.COULD_NOT_CHECK) for name in "bcd"]
        first = said(*unchecked, found("evidence.next", Severity.INFO, facts={"command": "ls /brokers/ids"}))
        assert (first.known, first.first) == ("", "Paste the output of ls /brokers/ids")

    def test_nothing_asked(self):
        """It is not ok."""
        assert said().kind == "could_not_check"

    def test_nothing_found(self):
        """With the number of checks."""
        assert said(found("leadership.offline", status=Status.OK)).line == "OK: Nothing found in 1 check"
