"""Static pictures of charts, alone and inside a page."""

import re
from xml.etree import ElementTree

import pytest

from casebook.page import bars, drawing
from casebook.page.view import PLOTLY, SVG, Figure, _bundle
from casebook.questions.leadership.views import leadership
from tests.page.incident import figures_of, lead


@pytest.fixture(scope="module")
def figure() -> Figure:
    return figures_of(leadership.whom_to_start(lead()))[0]


def test_every_output_of_a_chart_has_one(figure: Figure):
    """nbconvert, GitHub, mail and VS Code draw no Plotly chart."""
    assert set(_bundle(figure)) == {PLOTLY, SVG, "text/plain"}


def test_alone_it_is_whole(figure: Figure):
    """It is XML, and each of its colours and fonts is defined inside."""
    alone = drawing.alone(figure.picture)
    root = ElementTree.fromstring(alone)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert set(re.findall(r"var\((--[a-z-]+)\)", alone)) <= set(re.findall(r"(--cb-[a-z-]+): ", alone))
    assert "light-dark" not in alone


def test_hostile_names_leave_it_whole():
    """XML has no control characters, and no half of a surrogate pair."""
    hostile = "</svg>\x00\x1b\ufffe\ud800<script>"
    figure = bars.figure([bars.Bar(label=hostile, left=3)], axis="x", alternative=hostile)
    assert ElementTree.fromstring(drawing.alone(figure.picture)).tag.endswith("svg")


def test_in_a_page_it_takes_the_page_s_style(figure: Figure):
    """Its colours follow the reader's scheme there."""
    inside = drawing.of_page(drawing.alone(figure.picture))
    assert "<style>" not in inside
    assert "#FFFFFF" not in inside
    assert ElementTree.fromstring(inside).attrib == ElementTree.fromstring(figure.picture).attrib
