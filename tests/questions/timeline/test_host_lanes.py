"""Notebook 60's lanes of what hosts measured, and the table of what stood out."""

import re

import pytest

from casebook.page.render import anchor
from tests.page.incident import words_of
from tests.questions.timeline.minute import measured, minute
from tests.questions.timeline.test_desk import desk, figure_of, shown, written


@pytest.fixture(scope="module")
def found():
    return minute(hosts=measured())


def levels(view):
    """The trace of levels of a picture."""
    return next(trace for trace in figure_of(view).data if trace.get("name") == "levels")


class TestLanes:
    def test_below_its_broker(self, found):
        """A lane with network, disks and CPU, what each was at most, and what it is as a rule; none of who was not lost."""
        texts = written(figure_of(desk(found).lanes()))
        assert texts.index("Broker 57") < texts.index("Host of 57")
        assert "Host of 56" not in texts
        assert "every 1\u202fmin 0\u202fs" in texts
        whole = [one for one in texts if " here, median " in one]
        assert whole == [
            "Traffic received by eth0: up to 934\u202fMbit/s here, median 77.8\u202fMbit/s",
            "Use of sda: up to 11.3\u202f% here, median 12\u202f%",
            "Use of all CPUs: up to 34.2\u202f% here, median 30\u202f%",
        ]

    def test_hidden_without_samples(self):
        """Nothing of hosts in the picture, its caption and below the roots."""
        view = desk(minute()).lanes()
        assert not any(text.startswith("Host of") for text in written(figure_of(view)))
        assert list(levels(view)["x"]) == []
        assert "Hosts:" not in words_of(shown(view))
        assert "stood out" not in words_of(shown(desk(minute()).roots()))

    def test_levels(self, found):
        """The highest is as high as the row allows, 12 times the usual; another colour, and words with the unit."""
        trace = levels(desk(found).lanes())
        heights = dict(zip(trace["hovertext"], trace["width"], strict=True))
        assert max(heights.values()) == heights["Traffic received by eth0: 934\u202fMbit/s"] == 18
        assert heights["Use of sda: 11.3\u202f%"] == pytest.approx(0.113 * 18, abs=0.05)
        striking = {
            text for text, token in zip(trace["hovertext"], trace["meta"]["marker.color"], strict=True) if token == "warning-fill"
        }
        assert striking == {"Traffic received by eth0: 934\u202fMbit/s"}

    def test_a_click_leads_to_what_stood_out(self, found):
        """And nowhere else: other samples are in the table of the run."""
        clues = {f"#{anchor(clue.proof)}" for clue in found.hosts.clues}
        targets = {one for one in levels(desk(found).lanes())["customdata"] if one}
        assert targets and targets <= clues

    def test_without_scripts(self, found):
        """The static picture has the same bars, as far as it is shown."""
        drawn = re.findall(
            r"<title>([^<]*)</title><rect[^>]*style=.fill: var\(--cb-(?:edge|warning-fill)\)", shown(desk(found).lanes())
        )
        assert "Traffic received by eth0: 934\u202fMbit/s" in drawn
        of_hosts = {one for one in drawn if one.startswith(("Traffic", "Use"))}
        assert of_hosts <= set(levels(desk(found).lanes())["hovertext"])
        assert shown(desk(found).lanes()).count('class="usual"') == 3

    def test_caption(self, found):
        """What orange and the dotted line are."""
        assert "Hosts: the dotted line is the median, orange marks anomalies." in words_of(shown(desk(found).lanes()))


class TestTable:
    def test_rows(self, found):
        """What, how much, against what, from when to when, during what, with the proof, which is cited."""
        view = desk(found).roots()
        words = words_of(shown(view))
        assert "2 anomalies on hosts meanwhile: cause or consequence." in words
        row = "broker 57 Traffic received by eth0 above its range 934\u202fMbit/s 77.8\u202fMbit/s 11:02:00 – 11:03:00 11:06:00 Broker 57 lost its session"
        assert row in words
        assert {clue.proof for clue in found.hosts.clues} <= set(view.cites)

    def test_of_another_broker(self, found):
        """Who looks at broker 56 is told nothing of the host of 57."""
        assert "No host showed anomalies" in words_of(shown(desk(found, broker="56").roots()))

    def test_what_could_not_be_used(self, found):
        """Is said where nothing else is."""
        hosts = found.hosts
        none = minute(hosts=type(hosts)(told=hosts.told._replace(problems=("brokers/57/metrics/x: it has no time.",))))
        assert "brokers/57/metrics/x: it has no time." in words_of(shown(desk(none).roots()))
