"""What the documentation takes from the code is what the code says."""

import re

import pytest

from casebook.findings.declared import questions
from casebook.runs import notebooks
from tests import made_docs


@pytest.mark.parametrize("page", made_docs.PAGES, ids=lambda page: page.name)
def test_it_is_in_step(page):
    """`make docs` writes it anew."""
    assert page.read_text(encoding="utf-8") == made_docs.made(page)


def test_everything_that_can_be_made_is():
    """A question that declares rules has a place for them."""
    assert sorted(mark for page in made_docs.PAGES for mark in made_docs.marks(page)) == sorted(made_docs.MAKERS)


def test_a_page_keeps_the_rest(tmp_path):
    """What stands outside the marks is left as it is, and what stood between them is gone."""
    page = tmp_path / "page.md"
    page.write_text("# Before\n\n<!-- made: notebooks -->\nold\n<!-- end -->\n\nAfter\n")
    made = made_docs.made(page)
    assert made.startswith("# Before\n\n<!-- made: notebooks -->\n\n| notebook |")
    assert made.endswith("|\n\n<!-- end -->\n\nAfter\n")
    assert "old" not in made


def test_questions_do_not_overlap():
    """An area belongs to one question, and so do a table and a notebook."""
    asked = questions()
    areas = [area.name for question in asked for area in question.areas]
    for names in (areas, [name for question in asked for name in question.tables], [question.notebook for question in asked]):
        assert len(set(names)) == len(names)


def test_every_question_has_a_notebook():
    """But for the first, which asks nothing of a case."""
    assert [question.notebook for question in questions()] == [notebook.stem for notebook in notebooks.every()[1:]]


def test_what_is_declared_of_checks_is_of_its_own():
    """Numbers, drifting and past of a check are declared where its area is."""
    for question in questions():
        own = tuple(f"{area.name}." for area in question.areas)
        told = [*question.numbers, *question.past, *question.drifting]
        assert [check for check in told if not check.startswith(own)] == []
        assert re.match(r"\d\d_\w+$", question.notebook)
