"""Notebooks link their terms to the glossary, and nothing of that is left dead in a report."""

import re

import nbformat
import pytest

from casebook.machine import places
from casebook.runs import notebooks

GLOSSARY = (places.checkout() / "docs" / "glossary.md").read_text()
TERMS = re.findall(r"^### (.*)$", GLOSSARY, re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\(\.\./docs/glossary\.md(?:#([^)]*))?\)")
NOTEBOOKS = {
    notebook.stem: [cell.source for cell in nbformat.read(notebook.path, as_version=4).cells if cell.cell_type == "markdown"]
    for notebook in notebooks.every()
}


def _anchor(heading: str) -> str:
    """As GitHub makes one."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


class TestGlossary:
    """The page itself."""

    def test_each_term_stands_once(self):
        """So that a link to it is clear."""
        assert len({_anchor(term) for term in TERMS}) == len(TERMS)

    def test_each_term_is_explained(self):
        """No heading without a sentence."""
        assert [part for part in re.split(r"^#+ ", GLOSSARY, flags=re.MULTILINE)[1:] if _is_empty_term(part)] == []


def _is_empty_term(part: str) -> bool:
    heading, _, text = part.partition("\n")
    return heading in TERMS and not text.strip().endswith(".")


@pytest.mark.parametrize("stem", NOTEBOOKS)
class TestLinks:
    """What a reader of a notebook may click."""

    def test_there_is_one(self, stem):
        """No notebook leaves a newcomer alone, or at the top of a long page."""
        assert any(match[2] for source in NOTEBOOKS[stem] for match in LINK.finditer(source))

    def test_they_lead_to_a_term(self, stem):
        """To one that the glossary has."""
        anchors = {match[2] for source in NOTEBOOKS[stem] for match in LINK.finditer(source) if match[2]}
        assert anchors <= {_anchor(term) for term in TERMS}

    def test_the_first_use_is_the_one_that_links(self, stem):
        """A term is not used in prose before the place that explains it."""
        prose = "\n".join(line for source in NOTEBOOKS[stem] for line in source.splitlines() if not line.startswith("#"))
        for match in LINK.finditer(prose):
            if match[2]:
                assert not re.search(
                    rf"(?<![\w*`]){re.escape(match[1])}(?![\w`])", re.sub(r"`[^`]*`", "", prose[: match.start()])
                ), match[1]


def test_links_of_lessons():
    """The walkthrough's lessons lead to terms of the glossary, too."""
    lessons = sorted((places.checkout() / "lib/casebook/questions/quiz/views/templates").glob("lesson_*.j2"))
    linked = {anchor for lesson in lessons for anchor in re.findall(r'href="../docs/glossary.md#([^"]*)"', lesson.read_text())}
    assert len(linked) > 10 and linked <= {_anchor(term) for term in TERMS}


def test_a_report_has_no_dead_link_to_the_docs(run):
    """Reports are sent around without the docs beside them: such links become plain words."""
    html = run("20_partition_leadership", "sample:leader_minus_one").report.read_text()
    assert "glossary.md" not in html
    assert "has the controller epoch that last wrote it" in html
