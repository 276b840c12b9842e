"""Every notebook keeps the anatomy that CONTRIBUTING.md promises."""

import ast
import itertools
import re

import nbformat
import pytest

from casebook.runs import notebooks, parameters

NOTEBOOKS = {notebook.stem: nbformat.read(notebook.path, as_version=4) for notebook in notebooks.every()}
COMMON = ["source", "out_dir", "kafka_version", "interactive", "timezone", "log_layout"]


def code_cells(stem):
    """Source of the code cells."""
    return [cell.source for cell in NOTEBOOKS[stem].cells if cell.cell_type == "code"]


@pytest.mark.parametrize("stem", NOTEBOOKS)
class TestAnatomy:
    """What a reader may rely on."""

    def test_it_is_committed_without_outputs(self, stem):
        """A committed notebook holds no run of anybody."""
        assert all(
            not cell.outputs and cell.execution_count is None for cell in NOTEBOOKS[stem].cells if cell.cell_type == "code"
        )
        assert NOTEBOOKS[stem].metadata.kernelspec.name == "python3"

    def test_it_is_short(self, stem):
        """At most 12 code cells of at most 10 lines; parameters have a line each, as many as there are."""
        assert len(code_cells(stem)) <= 12
        assert max(len(source.splitlines()) for source in code_cells(stem) if not source.startswith("source: str = ")) <= 10

    def test_it_holds_no_machinery(self, stem):
        """Neither definitions, nor loops, nor handlers, nor printing, nor shell commands."""
        banned = ast.FunctionDef | ast.ClassDef | ast.Try | ast.For | ast.While | ast.With | ast.Lambda
        for source in code_cells(stem):
            assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, banned)]
            assert not re.search(r"\bprint\(|^[!%]", source, re.MULTILINE)

    def test_it_begins_with_its_question_and_ends_with_its_conclusion(self, stem):
        """One heading of the first level, at the top; the last code cell finishes the book."""
        headings = [
            line
            for cell in NOTEBOOKS[stem].cells
            if cell.cell_type == "markdown"
            for line in cell.source.splitlines()
            if line.startswith("# ")
        ]
        assert headings == [NOTEBOOKS[stem].cells[0].source]
        assert code_cells(stem)[-1].startswith("book.finish(")

    def test_every_question_tells_its_pass_condition_before_the_code(self, stem):
        """A section that is followed by code says what a good answer looks like."""
        cells = NOTEBOOKS[stem].cells
        for cell, following in itertools.pairwise(cells):
            if (
                cell.cell_type == "markdown"
                and cell.source.startswith("## ")
                and following.cell_type == "code"
                and "summary" not in following.metadata.get("tags", ())
            ):
                assert "**Expected:**" in cell.source

    def test_its_parameters_are_annotated_literals_with_help(self, stem):
        """The common ones come first, and each has a type and a word of help."""
        found = parameters.of_notebook(next(n.path for n in notebooks.every() if n.stem == stem))
        assert [parameter.name for parameter in found][: len(COMMON)] == COMMON
        assert all(parameter.help and parameter.type in ("str", "int", "float", "bool") for parameter in found)

    def test_its_links_lead_to_files_that_are_there(self, stem):
        """No link of its text is dead."""
        for cell in NOTEBOOKS[stem].cells:
            for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", cell.source if cell.cell_type == "markdown" else ""):
                assert (notebooks.every()[0].path.parent / target).exists(), target
