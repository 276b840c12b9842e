"""The report: whole without scripts or network, every link alive, and a failed run never looks good."""

import itertools
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from casebook.errors import CasebookError
from casebook.page.view import View, _bundle, style
from casebook.questions.leadership.views import leadership
from casebook.questions.triage.views import triage
from casebook.runs import report
from tests.page.incident import HOSTILE, Page, finding, lead, words_of

RECORD = {
    "notebook": "20_partition_leadership",
    "case": HOSTILE,
    "collected_at": "2026-11-20T03:06:58Z",
    "parameters": {"source": HOSTILE, "size": "@@SIZE@@"},
}


def cell(*views: View, tags: tuple[str, ...] = (), more: tuple = ()) -> nbformat.NotebookNode:
    """An executed cell that shows views, as a notebook holds it after JSON."""
    bundles = [_bundle(part) for view in views for part in view.parts]
    outputs = [new_output("display_data", data=json.loads(json.dumps(bundle))) for bundle in bundles]
    return new_code_cell("secret_code()", outputs=[*outputs, *more], metadata={"tags": list(tags)})


def notebook(*cells: nbformat.NotebookNode, title: str = "# Which & why") -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(title), *cells])


def page_of(*cells: nbformat.NotebookNode, record: dict | None = None, folder: Path | None = None) -> tuple[str, Page]:
    html = report.report(notebook(*cells), record=RECORD | (record or {}), run_id="run-1", folder=folder)
    return html, Page.read(html)


@pytest.fixture(scope="module")
def whole() -> tuple[str, Page]:
    """A report with everything in it."""
    found = lead()
    return page_of(
        cell(style()),
        new_markdown_cell("## Whom", metadata={"tags": ["half"]}),
        cell(leadership.whom_to_start(found), leadership.costs(found), tags=("half",)),
        new_markdown_cell("## Who", metadata={"tags": ["half"]}),
        cell(leadership.who_holds_what(found), tags=("half",)),
        new_markdown_cell("## Verdict\n\nSee [the glossary](../docs/glossary.md)."),
        cell(leadership.verdict_table(found), triage.findings([finding()])),
        cell(triage.tally([finding()]), tags=("rail",)),
        cell(triage.looked_at([finding()]), tags=("report-skip",)),
    )


class TestPage:
    def test_one_heading_in_order(self, whole):
        """One H1, no level skipped."""
        levels = [int(tag[1]) for tag, _ in whole[1].elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))

    def test_it_says_what_it_is(self, whole):
        """Language, title, and the run on the first page."""
        html, page = whole
        assert page.all("html")[0]["lang"] == "en"
        assert "<title>Which &amp; why – &lt;/script&gt;" in html
        assert "read-only; run run-1" in words_of(html)

    def test_no_code_no_prompts(self, whole):
        assert "secret_code" not in whole[0]

    def test_skipped_cells_are_not_there(self, whole):
        assert 'id="looked-at"' not in whole[0]

    def test_columns(self, whole):
        """Halves stand in pairs, the rail beside."""
        classes = [attributes.get("class") for _, attributes in whole[1].elements]
        assert classes.count("cb-halves") == 1
        assert len(whole[1].all("section")) == 2
        assert classes.count("cb-rail") == 1

    def test_a_count_stands_beside_its_heading(self):
        """Below it in a notebook, beside it here; a heading without one stays alone."""
        two = [finding(), finding("a.b")]
        below = new_markdown_cell("## What next\n\nWait.")
        html, _ = page_of(new_markdown_cell("## Findings\n\n**Expected:** none."), cell(triage.findings(two)), below)
        assert re.search(r'<h2 [^>]*>Findings<.*? <span class="cb-count">2, worst first</span></h2>', html)
        assert html.count("worst first") == 1
        html, _ = page_of(new_markdown_cell("## Findings"), cell(triage.findings([])))
        assert '<span class="cb-count">' not in html

    def test_ids_are_one_each(self, whole):
        """No target is ambiguous."""
        ids = [attributes["id"] for _, attributes in whole[1].elements if "id" in attributes]
        assert len(ids) == len(set(ids))


class TestSelfContained:
    def test_nothing_is_loaded(self, whole):
        """No element fetches anything, and the policy would not let it."""
        _html, page = whole
        assert not [a for tag, a in page.elements if "src" in a or (tag == "link" and "href" in a)]
        policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
        assert policy.startswith("default-src 'none';")

    def test_plotly_comes_once_and_only_with_a_chart(self, whole):
        """Five megabytes are carried when there is something to draw."""
        assert whole[0].count("plotly.js v") == 1
        assert len(page_of(cell(triage.tally([finding()])))[0]) < 100_000

    def test_the_upload_button_is_off(self, whole):
        figures = re.findall(r'data-cb-figure="figure-\d+">(.*?)</script>', whole[0])
        assert figures
        assert all(json.loads(figure)["config"]["showSendToCloud"] is False for figure in figures)

    def test_evidence_ends_no_script(self):
        """A chart whose every text is hostile stays one JSON value."""
        figure = {"data": [{"type": "bar", "x": [HOSTILE]}], "layout": {"title": HOSTILE}, "config": {}}
        html, _ = page_of(
            new_code_cell(
                outputs=[new_output("display_data", data={"application/vnd.plotly.v1+json": figure, "text/plain": HOSTILE})]
            )
        )
        held = re.search(r'data-cb-figure="figure-1">(.*?)</script>', html)[1]
        assert json.loads(held) == figure

    def test_the_size_is_its_own(self, whole):
        """Within a hundredth; a parameter that looks like a placeholder stays what it is."""
        said = re.search(r"Report ([\d.]+)\u202f(KiB|MiB)", whole[0])
        assert abs(float(said[1]) - len(whole[0].encode()) / (1 << 20)) < 0.06
        assert "size=@@SIZE@@" in whole[0]

    def test_half_a_surrogate_pair_can_be_written(self, tmp_path):
        """JSON evidence may hold one, UTF-8 may not."""
        nbformat.write(notebook(new_markdown_cell("x")), tmp_path / "notebook.ipynb")
        (tmp_path / "run.json").write_text(json.dumps(RECORD | {"case": "\ud800"}))
        assert report.write_run_report(tmp_path, run_id="r").exists()

    @pytest.mark.parametrize(
        "content",
        [
            b'{"cells": [{"cell_type": "mark', b'{"cells": 3}', b"[1]", b"null", b"\xff\xfe", b"",
            b'{"cells": [{}], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
            b'{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": 3}], "nbformat": 4, "metadata": {}}',
        ],
    )  # fmt: skip
    def test_a_damaged_notebook(self, tmp_path, content):
        """Said in words, whatever is left of it; a report that was there stays."""
        (tmp_path / "notebook.ipynb").write_bytes(content)
        (tmp_path / "run.json").write_text(json.dumps(RECORD))
        (tmp_path / "report.html").write_text("before")
        with pytest.raises(CasebookError, match=r"notebook\.ipynb is damaged"):
            report.write_run_report(tmp_path, run_id="r")
        assert (tmp_path / "report.html").read_text() == "before"


class TestLinks:
    def test_every_target_is_there(self, whole):
        """Links within the page lead somewhere; what has no target is plain text."""
        ids = {attributes["id"] for _, attributes in whole[1].elements if "id" in attributes}
        assert {link["href"][1:] for link in whole[1].all("a") if link["href"].startswith("#")} <= ids

    def test_files_that_are_not_there(self, tmp_path):
        """A table that was not written, or a document outside the run, is named and not linked."""
        (tmp_path / "tables").mkdir()
        (tmp_path / "tables" / "partitions.parquet").touch()
        cells = (
            new_markdown_cell("[glossary](../docs/g.md) [Kafka](https://kafka.apache.org) [what if](tables/what_if.parquet)"),
            cell(triage.findings([finding()])),
        )
        html, page = page_of(*cells, folder=tmp_path)
        assert {link["href"] for link in page.all("a")} == {"https://kafka.apache.org", "tables/partitions.parquet"}
        assert "glossary Kafka what if" in words_of(html)


class TestFailed:
    """A run that did not complete says so before anything else."""

    ERROR = new_output("error", ename="CaseError", evalue=HOSTILE, traceback=[HOSTILE])

    def test_error_of_a_cell(self):
        """The error stands above; what was never run is not there."""
        html, page = page_of(
            cell(triage.opening(_CASE, lead().cluster, lead().version)),
            new_code_cell(outputs=[self.ERROR]),
            new_markdown_cell("## Never"),
        )
        assert page.open == []
        assert "COULD NOT COMPLETE This run did not complete" in words_of(html)
        assert "for the verdict" not in words_of(html)
        assert "Never" not in words_of(html)

    def test_error_in_a_cell_that_is_not_shown(self):
        """A tag hides no error."""
        html, _ = page_of(new_code_cell(outputs=[self.ERROR], metadata={"tags": ["report-skip"]}))
        assert "This run did not complete" in words_of(html)

    def test_error_outside_of_every_cell(self):
        """A kernel that was killed leaves a notebook that looks whole."""
        html, _ = page_of(cell(triage.tally([finding()])), record={"error": "DeadKernelError: Kernel died"})
        assert "This run did not complete" in words_of(html)
        assert "Kernel died" in words_of(html)

    def test_a_run_that_learned_nothing(self):
        """No title, no case, no parameters: still a page with a heading."""
        html = report.report(new_notebook(cells=[]), record={"error": "x"}, run_id="run-1")
        assert "<h1>run-1</h1>" in html


class TestWidgets:
    def test_they_are_dropped(self):
        """A widget's script-only form needs a server: it is left out."""
        widget = new_output(
            "display_data",
            data={"application/vnd.jupyter.widget-view+json": {"model_id": "x"}, "text/plain": "VBox(children=())"},
        )
        assert "VBox" not in page_of(new_code_cell(outputs=[widget]))[0]


class _Case:
    name, collected_at = "case", None


_CASE = _Case()
