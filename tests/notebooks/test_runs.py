"""What a headless run leaves behind, on the shipped cases."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import papermill
import pyarrow.parquet as pq
import pytest
from bs4 import BeautifulSoup

from casebook.collect import sources
from casebook.errors import CasebookError, UsageError
from casebook.findings import changes
from casebook.findings.declared import questions
from casebook.findings.finding import Status
from casebook.findings.past_runs import outcomes
from casebook.machine import places
from casebook.questions.quiz.incidents import INCIDENTS
from casebook.runs import notebooks, parameters, runner, summary
from tests.page.incident import words_of
from tests.test_shown_words import avoided, long_ones

SAMPLES = [f"sample:{name}" for name in sources.samples()]
STEMS = [notebook.stem for notebook in notebooks.every()]
HEADLESS = {notebook.stem: str(parameters.of_notebook(notebook.path)[0].default) for notebook in notebooks.every()}
"""Each notebook with the sample that it comes with."""
ANSWERED_BY = {area.name: question.notebook for question in questions() for area in question.areas}
"""Notebooks by the first word of their checks."""


BLOCKS = ("p", "td", "th", "li", "dd", "dt", "h1", "h2", "h3", "summary", "figcaption")
"""Elements of a page that hold one text each."""

WITHOUT_NUMBER = {"offsets_topic.compacted", "leadership.controller"}
"""Their numbers are offsets, ids and epochs."""


def findings(folder: Path) -> dict[str, dict]:
    """Findings of a run by check."""
    return {finding["check"]: finding for finding in json.loads((folder / "findings.json").read_text())["findings"]}


@pytest.mark.parametrize(("stem", "source"), HEADLESS.items())
class TestRunFolder:
    """Every notebook, as a scheduler runs it."""

    def test_it_is_whole(self, run, stem, source):
        """Notebook, report, findings, record and tables are there, under the final name."""
        ran = run(stem, source)
        assert not ran.failed, ran.title
        assert {"notebook.ipynb", "report.html", "findings.json", "run.json", "run.log", "tables"} <= {
            p.name for p in ran.folder.iterdir()
        }
        record = json.loads((ran.folder / "run.json").read_text())
        assert record["exit_code"] == ran.exit_code
        assert record["source"] == (source or next(iter(INCIDENTS.values())).source)  # of 05, which asks for no source
        assert not list(ran.folder.parent.glob(".*.partial"))

    def test_its_headline_is_the_same_everywhere(self, run, stem, source):
        """In the terminal, in the summary, in the page's head and in the index: all of its lines, word for word."""
        ran = run(stem, source)
        told = [told for name in ("since", "first", "why") if (told := ran.summary[name])]
        assert (ran.title, list(ran.below.values())) == (ran.summary["verdict"], told)
        if stem != "05_walkthrough":  # its head is the reader's own score
            page = (ran.folder / "report.html").read_text()
            head = words_of(page.partition('<div class="cb-verdict ')[2].partition("</div>\n</div>")[0])
            assert [line for line in told if line not in head] == []
        index = words_of((ran.folder.parent / "index.html").read_text())
        assert [line for line in told if line != ran.summary["why"] and line not in index] == []

    def test_its_report_loads_nothing_from_anywhere(self, run, stem, source):
        """The report is one file: no address is fetched."""
        html = (run(stem, source).folder / "report.html").read_text()
        assert not [attribute for attribute in ('src="http', "src='http", 'href="//', "@import", "url(http") if attribute in html]

    def test_its_words(self, run, stem, source):
        """As rendered: no word of the list anywhere, and no long sentence but in lines of the evidence."""
        page = BeautifulSoup((run(stem, source).folder / "report.html").read_text(), "html.parser")
        for part in page.select("script, style, pre, svg, code, .cb-story, [data-cb-table=events], #cited"):
            part.replace_with("`x`")
        blocks = [block for block in page.find_all(BLOCKS) if not block.find(BLOCKS)]
        texts = [part for block in blocks for part in re.split(r"\n\s*", block.get_text("\n")) if part]
        assert len(texts) > 50
        assert avoided(texts) == []
        assert long_ones(texts) == []

    def test_it_names_no_secret_and_no_place_of_its_maker(self, run, stem, source):
        """Nothing of the machine that ran it stands in findings or tables."""
        text = (run(stem, source).folder / "findings.json").read_text()
        assert str(places.checkout()) not in text


@pytest.mark.parametrize("source", SAMPLES)
@pytest.mark.parametrize("stem", STEMS)
class TestEverySample:
    """Every notebook on every sample: whatever it shows, it can show of any case."""

    def test_it_comes_to_its_end(self, cells, stem, source):
        """Findings and tables are there, and name nothing of the machine that ran it."""
        folder = cells(stem, source)
        text = (folder / "findings.json").read_text()
        assert json.loads(text)["source"] == source
        assert str(places.checkout()) not in text
        assert list(folder.glob("tables/*.parquet"))


@pytest.mark.parametrize("source", SAMPLES)
def test_every_finding_with_numbers_says_which_is_its_own(cells, source):
    """Else a change of that number would be none; findings with several numbers of which none counts what was found are named."""
    found = outcomes(json.loads((cells("90_scheduled_report", source) / "findings.json").read_text())["findings"]).values()
    numbered = [one for one in found if one.status is Status.FINDING and any(type(value) is int for value in one.facts.values())]
    assert [one.check for one in numbered if changes.number(one) is None and one.check not in WITHOUT_NUMBER] == []


class TestSamples:
    """The shipped cases get the answers that were written down when they were made."""

    @pytest.mark.parametrize("name", sources.samples())
    @pytest.mark.parametrize(("area", "stem"), ANSWERED_BY.items())
    def test_expected_findings(self, cells, area, stem, name):
        """Each expected finding is there, with the status, severity and facts that follow from what was done to the cluster."""
        expected = json.loads((places.samples_dir() / name / "expected.json").read_text())["findings"]
        asked = {check: wanted for check, wanted in expected.items() if check.startswith(f"{area}.")}
        found = findings(cells(stem, f"sample:{name}")) if asked else {}
        for check, wanted in asked.items():
            got = found[check]
            assert {key: got[key] for key in wanted if key != "facts"} == {
                key: value for key, value in wanted.items() if key != "facts"
            }, check
            facts = wanted.get("facts", {})
            assert {key: got["facts"][key] for key in facts} == facts, check

    @pytest.mark.parametrize("name", sources.samples())
    def test_expected_partitions(self, cells, name):
        """Each partition is in the state that was caused, and every other one is online."""
        expected = json.loads((places.samples_dir() / name / "expected.json").read_text())
        folder = cells("20_partition_leadership", f"sample:{name}")
        rows = pq.read_table(folder / "tables" / "partitions.parquet").to_pylist()
        not_online = {f"{row['topic']}-{row['partition']}": row["state"] for row in rows if row["state"] != "online"}
        assert not_online == expected["not_online"]

    def test_exit_codes(self, run):
        """Critical is 2, nothing found is 0."""
        assert run("partition_leadership", "sample:leader_minus_one").exit_code == 2
        assert run("partition_leadership", "sample:healthy").exit_code == 0

    def test_never_zero_over_what_could_not_be_read(self, run):
        """Nothing else is found: then what was given and not read decides; a finding decides by itself."""
        found = json.loads((run("partition_leadership", "sample:healthy").folder / "findings.json").read_text())
        (complete,) = (one for one in found["findings"] if one["check"] == "evidence.complete")
        complete |= {"status": "could_not_check", "facts": complete["facts"] | {"unreadable": ["brokers/1/logs/server.log"]}}
        found["completeness"]["unreadable"] = 1
        assert (summary.exit_code(found), summary.exit_code(found | {"worst": "critical"})) == (3, 2)


class TestSameAgain:
    """The same case with the same parameters gives the same bytes."""

    def test_findings_and_tables(self, run, tmp_path):
        """Two runs differ in run.json, notebook and report only."""
        first = run("partition_leadership", "sample:leader_minus_one").folder
        second = runner.run(
            notebooks.find("partition_leadership"), {"source": "sample:leader_minus_one"}, runs_dir=tmp_path
        ).folder
        names = sorted(path.relative_to(first) for path in [first / "findings.json", *first.glob("tables/*")])
        assert names == sorted(path.relative_to(second) for path in [second / "findings.json", *second.glob("tables/*")])
        assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


class TestParameters:
    """Parameters arrive as given, or not at all."""

    @pytest.mark.parametrize("name", ["kafka_versoin", "topics"])
    def test_a_misspelt_one_is_an_error(self, tmp_path, name):
        """Nothing runs, and the nearest name is offered."""
        with pytest.raises(UsageError, match="Did you mean (kafka_version|topic)"):
            runner.run(notebooks.find("20_partition_leadership"), {name: "x"}, runs_dir=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_the_what_if_can_be_had_headless(self, run):
        """The panel's parameters give its answer in the run's table."""
        ran = run("partition_leadership", "sample:leader_minus_one", alive="1,2,3,4,5")
        rows = pq.read_table(ran.folder / "tables" / "what_if.parquet").to_pylist()
        assert rows
        assert not [row for row in rows if row["offline"]]


class TestFailures:
    """A run that cannot complete says so, and is kept."""

    @pytest.mark.parametrize(
        ("source", "said"),
        [("sample:leader_minus_on", "Did you mean leader_minus_one"), ("/nowhere/at/all", "There is no case at")],
    )
    def test_no_such_source(self, tmp_path, source, said):
        """Told before anything runs: no run is kept of a name that was mistyped."""
        with pytest.raises(CasebookError) as told:
            runner.run(notebooks.find("partition_leadership"), {"source": source}, runs_dir=tmp_path)
        assert said in str(told.value)
        assert not [path for path in tmp_path.iterdir() if path.name != "index.html"]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"source": "sample:healthy", "kafka_version": "nine"}, "is not a Kafka version"),
            ({"source": "sample:healthy", "alive": "1,77"}, "is not a broker of this case"),
            ({"source": "sample:healthy", "topic": "None"}, "is not in this case"),
        ],
    )
    def test_bad_values_end_in_3_with_words(self, tmp_path, given, said):
        """The title says what is wrong; the kept notebook shows no traceback of ours."""
        ran = runner.run(notebooks.find("partition_leadership"), given, runs_dir=tmp_path)
        assert (ran.exit_code, ran.failed) == (3, True)
        assert said in ran.title
        assert (ran.folder / "report.html").exists()
        assert said in (ran.folder / "report.html").read_text().replace("&#39;", "'")
        errors = [
            o
            for c in nbformat.read(ran.folder / "notebook.ipynb", as_version=4).cells
            for o in c.get("outputs", ())
            if o.output_type == "error"
        ]
        assert errors and not any("File " in line for o in errors for line in o.traceback)


class TestPlainPapermill:
    """`papermill notebook out.ipynb` works as people expect."""

    def test_without_the_runner(self, tmp_path, monkeypatch):
        """It writes findings and tables into the folder given."""
        monkeypatch.chdir(tmp_path)
        papermill.execute_notebook(
            str(notebooks.find("20_partition_leadership").path),
            "out.ipynb",
            {"source": "sample:healthy", "out_dir": "here"},
            progress_bar=False,
        )
        assert findings(tmp_path / "here")["leadership.offline"]["status"] == "ok"


class TestInconclusive:
    """Evidence that answers hardly anything is never called well."""

    def test_a_truncated_case_ends_in_3(self, tmp_path):
        """Half of the znodes' file: the verdict, the exit code and the page all say that it could not be checked."""
        case = tmp_path / "case"
        shutil.copytree(places.samples_dir() / "healthy", case)
        packed = case / "zookeeper" / "znodes.jsonl.zst"
        packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
        ran = runner.run(notebooks.find("20"), {"source": str(case)}, runs_dir=tmp_path / "runs")
        assert (ran.exit_code, ran.failed) == (3, False)
        assert ran.title.startswith("COULD NOT CHECK")
        assert "Nothing to start" not in (ran.folder / "report.html").read_text()
