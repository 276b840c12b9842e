"""An old leader that was silent when another was elected: up to when, and when its log does not tell; what came first."""

import re

import pytest

from tests.questions.timeline.scenes import T0, History, event, examined, finding, incident, log, windows

ELECTED, CUT = 4000, 9000
PLACE = {"topic": "t", "partition": 0}
CUTS = event("truncated", CUT, 1, **PLACE)


def near(after):
    """As near as the clock of a log is known."""
    return pytest.approx(after, abs=10)


def silent(*events):
    """Up to when broker 1, lost and replaced at 4 s, printed nothing; its log tells these events, and that it truncates at 9 s."""
    told = History()
    told.register(1, -50_000, 0xA)
    told.register(2, -50_000, 0xB)
    told.write("t", 0, 1, (1, 2), 0, -40_000)
    told.lose(1, 3000, 0xA)
    told.write("t", 0, 2, (2,), 1, ELECTED)
    begun = [event("broker_starting", -50_000, 1)]
    begun += [event("fetch_failed", after, 1, leader=2) for after in range(-49_500, 500, 500)]
    lines = sorted((*begun, *events, CUTS), key=lambda one: one.time)
    lines = [one._replace(line=number) for number, one in enumerate(lines, start=1)]
    (window,) = windows(examined(*lines, told=told, covered=[log(1)]), "two_leaders")
    return window.silent and window.silent - T0


class TestSilent:
    def test_up_to_its_next_line(self):
        """A line of any meaning shows that the process runs again."""
        assert silent(event("scheduler_failed", 7000, 1)) == near(7000)

    def test_up_to_the_cut(self):
        """Its first line is that it truncates: it may have stood still in all of the window, and never longer."""
        assert silent() == near(CUT)

    @pytest.mark.parametrize("apart", [200, 900])
    def test_one_that_went_on_printing_was_not(self, apart):
        """Lines less than a second apart."""
        assert silent(*(event("fetch_failed", after, 1, leader=2) for after in range(0, CUT, apart))) is None

    def test_one_that_is_often_as_silent_does_not_tell(self):
        """Four times as long before: to be silent is its habit."""
        quiet = [event("isr_expanded", -50_000 - 10_000 * n, 1, topic="u", partition=0, old="1", new="1,2") for n in range(5)]
        assert silent(*quiet) is None

    def test_a_pause_that_it_reports_is_part_of_it(self):
        """Its line bears the time of its end, or of its begin in a log of JDK 8: behind its end it ran."""
        assert silent(event("gc_pause", 6000, 1, file="kafkaServer-gc.log", ms=1500)) == near(6000)
        assert silent(event("gc_pause", 6000, 1, file="kafkaServer-gc.log", secs="1.5")) == near(7500)


class TestInOneSentence:
    def test_what_came_first_comes_first(self):
        """The finding begins with the chain: its first cause, the session's end, the election, the cut, by time."""
        why = finding(incident(), "two_leaders").why
        story, _, _ = why.partition(". ")
        assert story.startswith("First broker 57 ")
        places = [
            story.index(word) for word in ("ZooKeeper", "the session of broker 57", "24 leaders move to 55", "truncates 24")
        ]
        assert places == sorted(places)
        times = re.findall(r"\d\d:\d\d:\d\d\.\d{3}", story)
        assert times == sorted(times) and len(times) == 4
