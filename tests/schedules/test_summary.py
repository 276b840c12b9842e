"""What alerting gets to see: the summary of a run in its four forms, and where it is published to."""

import json
import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from casebook.errors import CasebookError, UsageError
from casebook.findings.changes import ChangeKind
from casebook.findings.finding import Severity
from casebook.machine import places
from casebook.runs import execution, found, notebooks, publishing, runner, summary
from casebook.runs import folder as runs
from casebook.runs.publishing import PublishError
from tests.schedules.commands import casebook, told

DOCS = places.checkout() / "docs" / "schedules"
SECRET = "hunter2-Pl4nted"
FIELDS = {
    "schema", "run", "notebook", "source", "case", "collected_at", "started", "ended", "seconds", "exit_code", "completed", "verdict",
    "since", "first", "why", "error", "worst", "checks", "findings", "could_not_check", "changes", "report",
}  # fmt: skip


def finding(check: str, status: str, severity: str | None = None, title: str = "said", **facts: object) -> dict:
    told = {"since": None, "at_latest": False, "why": "", "next": []}
    return {"check": check, "status": status, "severity": severity, "title": title, "facts": facts, **told}


RECORD = {
    "notebook": "90_scheduled_report", "source": "live:prod", "case": "evidence", "collected_at": "2026-11-22T03:07:01Z",
    "started": "2026-11-22T03:07:00Z", "seconds": 42.0, "exit_code": 2, "error": None, "parameters": {"source": "live:prod"},
}  # fmt: skip
FOUND = {
    "worst": "critical",
    "completeness": {"ok": 7, "finding": 3, "could_not_check": 1, "not_applicable": 2},
    "findings": [
        finding("leadership.offline", "finding", "critical", "13 partitions have no leader"),
        finding("durability.exposure", "finding", "warning", "topic a"),
        finding("durability.exposure", "finding", "warning", "topic b"),
        finding("timeline.past", "could_not_check", title="no logs"),
    ],
}
FAILED = RECORD | {"exit_code": 3, "error": "No ZooKeeper server\nanswered.", "case": None, "collected_at": None}


def samples(document: dict) -> dict[tuple, float]:
    """What Prometheus' own parser reads, by name and the labels that are not those of all."""
    common = {"notebook": document["notebook"], "source": document["source"]}
    read = {}
    for family in text_string_to_metric_families(summary.prometheus(document)):
        assert family.type == "gauge"
        assert family.documentation
        for one in family.samples:
            assert common.items() <= one.labels.items()
            key = (one.name, *(value for name, value in sorted(one.labels.items()) if name not in common))
            assert key not in read
            read[key] = one.value
    return read


class TestForms:
    def test_a_run_with_findings(self):
        """Every number where the page says it is."""
        document = summary.summary(RECORD, FOUND, ["new", "worse", "new"], run="r")
        assert document.keys() == FIELDS
        assert document["ended"] == "2026-11-22T03:07:42Z"
        assert document["changes"] == {"new": 2, "worse": 1}
        assert [one["title"] for one in document["findings"]] == ["13 partitions have no leader", "topic a", "topic b"]
        assert document["could_not_check"] == [{"check": "timeline.past", "title": "no logs"}]
        assert summary.line(document) == (
            "CRITICAL: 13 partitions have no leader (1 could not be checked) | 90_scheduled_report live:prod | "
            "since the previous run: 2 new, 1 worse | 2026-11-22T03:07:00Z, 42 s"
        )

    def test_changes_are_told_as_in_the_report(self):
        """What is new or worse comes first, also where the file that holds the numbers is sorted by name."""
        document = summary.summary(RECORD, FOUND, ["better", "gone", "new", "worse"], run="r")
        assert "since the previous run: 1 new, 1 worse, 1 better, 1 gone |" in summary.line(document)

    def test_prometheus(self):
        """Read by Prometheus' own parser; 1795316820 is 2026-11-22 03:07 UTC."""
        read = samples(summary.summary(RECORD, FOUND, ["new"], run="r"))
        assert read["casebook_run_exit_code",] == 2
        assert read["casebook_run_completed",] == 1
        assert read["casebook_run_started_timestamp_seconds",] == read["casebook_report_timestamp_seconds",] == 1795316820
        assert read["casebook_findings", "critical"] == 1
        assert read["casebook_findings", "warning"] == 2
        assert read["casebook_findings", "info"] == 0
        assert read["casebook_finding", "durability.exposure", "warning"] == 2
        assert read["casebook_check_unanswered", "timeline.past"] == 1
        assert read["casebook_checks", "ok"] == 7
        assert read["casebook_changes", "new"] == 1

    def test_what_is_not_known_is_not_zero(self):
        """A run that failed found nothing, which is not to say that there is nothing."""
        document = summary.beside(summary.summary(FAILED, None, None, run="r"), None)
        assert {name for name, *_ in samples(document)} == {
            "casebook_run_exit_code", "casebook_run_completed", "casebook_run_started_timestamp_seconds",
            "casebook_run_ended_timestamp_seconds", "casebook_run_duration_seconds",
        }  # fmt: skip
        assert document["worst"] is document["checks"] is document["changes"] is None
        assert summary.line(document).startswith("COULD NOT COMPLETE: No ZooKeeper server answered. | ")
        assert summary.line(document).endswith(" | there is no report")

    def test_how_old_the_report_is(self):
        """From the start of its run to the end of the last one: a day and 42 s."""
        report = {"run": "earlier", "started": "2026-11-21T03:07:00Z"}
        document = summary.beside(summary.summary(FAILED, None, None, run="r"), report)
        assert document["report"]["age_seconds"] == 86_400 + 42
        assert "the report is of 2026-11-21T03:07:00Z, 24 h 1 min old" in summary.line(document)
        assert samples(document)["casebook_report_timestamp_seconds",] == 1795316820 - 86_400

    @pytest.mark.parametrize("odd", ['a"b', "a\\b", "a\nb", "a{b}", "ä\u202f", "\ud800"])
    def test_odd_names(self, odd: str):
        """Whatever a source is called, the parser reads it back."""
        document = summary.summary(RECORD | {"source": odd}, FOUND, None, run="r")
        text = summary.prometheus(document)
        read = {one.labels["source"] for family in text_string_to_metric_families(text) for one in family.samples}
        assert read == {odd.encode(errors="replace").decode()}
        assert "\n" not in summary.line(document)

    @pytest.mark.parametrize(
        ("record", "found", "status"),
        [
            (RECORD, FOUND, "critical"),
            (FAILED, None, "could_not_complete"),
            (RECORD, FOUND | {"worst": None, "findings": []}, "ok"),
            (RECORD, FOUND | {"worst": "info"}, "info"),
            (
                RECORD,
                FOUND | {"worst": "warning", "completeness": FOUND["completeness"] | {"could_not_check": 40}},
                "could_not_check",
            ),
        ],
    )
    def test_webhook(self, record: dict, found: dict | None, status: str):
        """One word to route by, one line for people, all for scripts."""
        document = summary.summary(record, found, None, run="r")
        body = json.loads(summary.webhook(document))
        assert body == {"text": summary.line(document), "status": status, "summary": document}

    @pytest.mark.parametrize(
        ("worst", "unchecked", "fail_on", "code"),
        [
            ("warning", 1, "warning", 1),
            ("warning", 40, "warning", 3),
            ("warning", 40, "critical", 3),
            ("warning", 1, "critical", 0),
            ("critical", 40, "warning", 2),
            (None, 40, "warning", 3),
            (None, 1, "warning", 0),
        ],
    )
    def test_exit_code(self, worst: str | None, unchecked: int, fail_on: str, code: int):
        """Where most was not answered that is what is told, but for something critical; code and word are never at odds."""
        found = FOUND | {"worst": worst, "completeness": FOUND["completeness"] | {"could_not_check": unchecked}}
        assert summary.exit_code(found, Severity(fail_on)) == code
        assert (code == 3) == (summary.kind(worst, found["completeness"]) == "could_not_check")

    def test_a_first_run_has_no_changes(self):
        """Nothing to compare with is not the same as nothing changed."""
        first = FOUND | {"findings": [*FOUND["findings"], finding("since.run_before", "not_applicable", run=None)]}
        later = FOUND | {"findings": [*FOUND["findings"], finding("since.run_before", "ok", run="r0")]}
        assert summary.summary(RECORD, first, [], run="r")["changes"] is None
        assert summary.summary(RECORD, later, [], run="r")["changes"] == {}


class TestPublishing:
    def document(self, run: str, *, completed: bool = True, source: str = "live:prod") -> dict:
        record = RECORD | {"source": source}
        return summary.summary(
            record if completed else record | FAILED | {"source": source}, FOUND if completed else None, None, run=run
        )

    def test_one_place_for_one_line_of_runs(self, tmp_path: Path):
        """The report of another cluster is never overwritten by mistake."""
        publishing.publish(publishing.place(str(tmp_path)), self.document("a", completed=False), None)
        with pytest.raises(UsageError, match="holds the reports of 90_scheduled_report on live:prod"):
            publishing.publish(publishing.place(str(tmp_path)), self.document("b", completed=False, source="live:test"), None)
        assert told(tmp_path, "summary.json")["run"] == "a"

    def test_readers_see_whole_files(self, tmp_path: Path):
        """A reader that looks all the time, while a file is replaced, never finds half of one, or none."""
        where, over, seen = publishing.place(str(tmp_path)), threading.Event(), []
        pages = [letter * (2 << 20) for letter in (b"a", b"b")]
        where.write("report.html", pages[0])

        def look() -> None:
            while not over.is_set():
                seen.append((tmp_path / "report.html").read_bytes() in pages)

        reader = threading.Thread(target=look)
        reader.start()
        for turn in range(40):
            where.write("report.html", pages[turn % 2])
        over.set()
        reader.join()
        assert len(seen) > 20
        assert all(seen)

    def test_its_links_lead_somewhere(self, run, tmp_path: Path):
        """Tables stay in the run's folder: the report alone does not point at them."""
        ran = run("10_triage", "sample:leader_minus_one")
        publishing.publish(publishing.place(str(tmp_path)), ran.summary, ran.folder)
        assert 'href="tables/' in (ran.folder / "report.html").read_text()
        assert 'href="tables/' not in (tmp_path / "report.html").read_text()

    def test_what_a_killed_writer_left_is_removed(self, tmp_path: Path):
        (tmp_path / ".report.html.1.partial").write_text("half")
        publishing.publish(publishing.place(str(tmp_path)), self.document("a", completed=False), None)
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "summary.json"]

    def test_a_disk_that_is_not_mounted(self, tmp_path: Path):
        """No folder is made where a disk should be."""
        with pytest.raises(PublishError, match="disk does not exist"):
            publishing.publish(publishing.place(str(tmp_path / "disk" / "place")), self.document("a"), None)
        assert not list(tmp_path.iterdir())

    def test_a_wrong_place_is_told_before_anything_runs(self, tmp_path: Path):
        """A folder below none, one that takes no file, one of other runs: nothing has run, and nothing is left there."""
        (tmp_path / "file").touch()
        other = tmp_path / "other"
        publishing.publish(publishing.place(str(other)), self.document("a", completed=False), None)
        before = sorted(path.name for path in other.iterdir())
        for place, said in (
            (tmp_path / "none/place", "none does not exist"),
            (tmp_path / "file", "it is a file"),
            (tmp_path / "file/x", "Not a directory"),
            (other, "holds the reports of"),
        ):
            with pytest.raises(CasebookError, match=said):
                runner.run(
                    notebooks.find("10"),
                    {"source": "sample:healthy"},
                    runs_dir=tmp_path / "runs",
                    publish=publishing.place(str(place)),
                )
        assert not (tmp_path / "runs").exists()
        assert sorted(path.name for path in other.iterdir()) == before

    def test_a_mistyped_profile_makes_no_place(self, tmp_path: Path):
        """Nobody waits for the report of a profile that nobody wrote."""
        with pytest.raises(CasebookError, match="There is no profile nope"):
            runner.run(
                notebooks.find("10"),
                {"source": "live:nope"},
                runs_dir=tmp_path / "runs",
                publish=publishing.place(str(tmp_path / "nope")),
            )
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("uri", ["hdfs://nn/reports", "http://h/reports", "ftp://h/x"])
    def test_places_that_show_half_files(self, uri: str):
        with pytest.raises(UsageError, match="cannot be replaced atomically: readers could see half"):
            publishing.place(uri)

    def test_a_run_that_was_overtaken(self, tmp_path: Path):
        """Of two at once the one that began later counts, whichever ends last; a time to come is a wrong clock's."""
        where, failed = publishing.place(str(tmp_path)), self.document("a", completed=False)
        publishing.publish(where, failed | {"run": "later", "started": "2026-11-22T04:07:00Z"}, None)
        with pytest.raises(publishing.OvertakenError, match="keeps the summary of later"):
            publishing.publish(where, failed | {"ended": "2026-11-22T05:07:00Z"}, None)
        assert told(tmp_path, "summary.json")["run"] == "later"
        (tmp_path / "summary.json").write_text(json.dumps(failed | {"run": "to come", "started": "2999-01-01T00:00:00Z"}))
        publishing.publish(where, failed, None)
        assert told(tmp_path, "summary.json")["run"] == "a"

    @pytest.mark.parametrize(
        "content", ['{"schema": 1}', '{"schema": 1, "notebook": "90_scheduled_report", "report": {"run": "x"}}']
    )
    def test_a_summary_that_is_none(self, content: str, tmp_path: Path):
        """It is said to be none, and the next run replaces it."""
        (tmp_path / "summary.json").write_text(content)
        where = publishing.place(str(tmp_path))
        with pytest.raises(PublishError, match="is not the summary of a run"):
            publishing.read(where)
        publishing.publish(where, self.document("a", completed=False), None)
        assert publishing.read(where)["run"] == "a"

    def test_the_newest_report_counts_by_itself(self, run, tmp_path: Path):
        """A run that was overtaken by one that failed brings the newest report; by one that completed, none."""
        ran, where = run("10_triage", "sample:leader_minus_one"), publishing.place(str(tmp_path))
        begun = "2026-01-01T00:00:00Z"
        shown = {"run": "earlier", "started": begun}
        earlier = dict(ran.summary) | shown | {"ended": "2026-01-01T09:00:00Z", "report": shown}
        later = {"run": "later", "started": "2026-01-01T01:00:00Z", "ended": "2026-01-01T02:00:00Z", "error": "killed"}
        publishing.publish(where, dict(ran.summary) | later | {"completed": False}, None)
        with pytest.raises(publishing.OvertakenError):
            publishing.publish(where, earlier, ran.folder)
        there = publishing.read(where)
        assert (there["run"], there["report"]) == ("later", shown | {"age_seconds": 7200})
        publishing.publish(where, ran.summary, ran.folder)
        newest = (tmp_path / "report.html").read_bytes()
        with pytest.raises(publishing.OvertakenError):
            publishing.publish(where, earlier, ran.folder)
        assert (tmp_path / "report.html").read_bytes() == newest
        assert publishing.read(where)["report"]["run"] == ran.folder.name

    def test_a_file_uri_is_unquoted(self, tmp_path: Path):
        """RFC 8089: %20 is a space; a host is another machine, whose folder is not this one's."""
        assert publishing.place(f"file://{tmp_path}/my%20reports").said == f"{tmp_path}/my reports"
        with pytest.raises(UsageError, match="names a folder of this machine"):
            publishing.place("file://srv/casebook")

    def test_a_file_uri(self, tmp_path: Path):
        publishing.publish(publishing.place(tmp_path.as_uri()), self.document("a", completed=False), None)
        assert told(tmp_path, "summary.json")["run"] == "a"


class TestObjectStore:
    """A real S3 client against a server that speaks S3."""

    @pytest.fixture(autouse=True)
    def keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def uri(self, bucket: str, folder: str) -> str:
        host = bucket.removeprefix("http://")
        return f"s3://reader:{SECRET}@reports/{folder}?scheme=http&endpoint_override={host}&region=eu-central-1"

    def test_a_failure_does_not_take_the_report_away(self, run, bucket: str):
        """As in a folder."""
        ran = run("10_triage", "sample:leader_minus_one")
        where = publishing.place(self.uri(bucket, "kept/prod"))
        publishing.publish(where, ran.summary, ran.folder)
        good = where.read("report.html")
        assert good.rstrip().endswith(b"</html>")
        assert ran.folder.name.encode() in good
        failed = dict(ran.summary) | {"run": "later", "completed": False, "error": "killed", "ended": "2099-01-01T00:00:00Z"}
        publishing.publish(where, failed, None)
        assert where.read("report.html") == good
        assert (publishing.read(where)["run"], publishing.read(where)["report"]["run"]) == ("later", ran.folder.name)

    def test_a_bucket_that_is_not_there(self, bucket: str):
        """Words, and no key in them."""
        uri = self.uri(bucket, "x").replace("@reports", "@nowhere")
        with pytest.raises(
            PublishError, match=r"Nothing could be published to s3://nowhere/x: .*NO_SUCH_BUCKET|does not exist"
        ) as error:
            publishing.publish(publishing.place(uri), TestPublishing().document("a", completed=False), None)
        assert SECRET not in str(error.value)

    def test_a_server_that_is_not_there(self, tmp_path: Path):
        """It is said with exit code 3, and nothing has run; no key stands anywhere."""
        uri = self.uri("http://127.0.0.1:9", "x")
        done = casebook("run", "10_triage", "--source", "sample:healthy", "--runs", tmp_path, "--publish", uri)
        assert done.returncode == 3
        assert "Nothing could be published to s3://reports/x" in done.stderr
        assert "Nothing has run yet" in done.stderr
        assert SECRET not in done.stdout + done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_a_run_leaves_no_key(self, bucket: str, tmp_path: Path):
        """Published with keys in the URI, which stand nowhere afterwards."""
        uri = self.uri(bucket, "keys")
        done = casebook("run", "10_triage", "--source", "sample:healthy", "--runs", tmp_path, "--publish", uri)
        assert done.returncode == 0, done.stderr
        folder = Path(done.stdout.splitlines()[-1])
        assert publishing.read(publishing.place(uri))["run"] == folder.name
        assert SECRET not in done.stdout + done.stderr
        assert not [path for path in folder.rglob("*.*") if SECRET.encode() in path.read_bytes()]

    @pytest.mark.parametrize("uri", [f"s3://k:{SECRET}@", f"s3://k:{SECRET}@b/x?nonsense=1"])
    def test_a_uri_that_is_none(self, uri: str):
        with pytest.raises(UsageError, match="cannot be understood") as error:
            publishing.publish(publishing.place(uri), TestPublishing().document("a"), None)
        assert SECRET not in str(error.value)

    @pytest.mark.parametrize("keys", [f"AKIAX:{SECRET}/def", f"AKIAX:1/{SECRET}", f"AKIAX:{SECRET}?x", f"AKIAX:{SECRET}#/x"])
    def test_keys_that_a_uri_ends_in(self, keys: str):
        """Amazon's secrets hold slashes: one that is not quoted is refused, and is not taken for a part of the place."""
        with pytest.raises(UsageError, match="s3://bucket/p cannot be understood") as error:
            publishing.place(f"s3://{keys}@bucket/p")
        assert SECRET not in str(error.value)

    @pytest.mark.parametrize(
        ("uri", "said"),
        [("s3://bucket/a@b?region=x", "s3://b"), ("s3://k:s%2Fs@bucket/a", "s3://bucket/a"), ("gs://b/p", "gs://b/p")],
    )
    def test_what_is_said_of_a_place(self, uri: str, said: str):
        """Never what stands before an @."""
        assert publishing.place(uri).said == said


class TestRunFolder:
    """A run that was ended while it wrote, and neighbours whose records hold anything."""

    def folder(self, runs: Path, record: str, found: dict | None = FOUND) -> Path:
        folder = runs / f"2026-11-22T03-07-00_90_scheduled_report_{len(list(runs.iterdir())):04x}"
        (folder / "tables").mkdir(parents=True)
        (folder / "tables" / "changes.parquet").write_bytes(b"PAR1")
        (folder / "run.json").write_text(record)
        if found is not None:
            (folder / "findings.json").write_text(json.dumps(found))
        return folder

    @pytest.mark.parametrize(("record", "found"), [(FAILED, None), (RECORD, FOUND)])
    def test_half_a_table_of_changes(self, record: dict, found: dict | None, tmp_path: Path):
        """What changed is then not known; the rest is told."""
        document = summary.of_folder(self.folder(tmp_path, json.dumps(record), found))
        assert (document["completed"], document["changes"]) == (found is not None, None)

    @pytest.mark.parametrize("seconds", ["NaN", "1e999", "-1", "9" * 400])
    def test_a_neighbour_does_not_break_the_index(self, seconds: str, tmp_path: Path):
        """Durations that are none are not shown."""
        odd = self.folder(tmp_path, f'{{"seconds": {seconds}}}')
        good = self.folder(tmp_path, json.dumps(RECORD))
        runs.refresh_index(tmp_path)
        assert all(path.name in (tmp_path / "index.html").read_text() for path in (odd, good))
        assert {one.seconds for one in found.newest(tmp_path)[0]} == {None, 42.0}

    def test_a_fault_of_ours_is_published(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        """Whoever waits for the report is told, whatever went wrong."""

        def fault(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(execution, "execute", fault)
        where = publishing.place(str(tmp_path / "place"))
        asked = (notebooks.find("10_triage"), {"source": "sample:healthy"})
        with pytest.raises(ZeroDivisionError):
            runner.run(*asked, runs_dir=tmp_path / "runs", publish=where)
        assert "ZeroDivisionError" in publishing.read(where)["error"]

    @pytest.mark.parametrize(
        ("record", "found"),
        [
            ({"seconds": "long"}, {}), ({"seconds": 1e300}, {}), ({"started": "yesterday"}, {}), ({"started": 7}, {}),
            ({"exit_code": "two"}, {}), ({"parameters": 7, "source": None}, {}), ({"seconds": float("nan")}, {}),
            ({}, {"findings": 7}), ({}, {"findings": [7]}), ({}, {"completeness": {"ok": "all"}}), ({}, {"completeness": None}),
            ({}, {"worst": "dreadful"}), ({}, {"findings": [{"status": "finding"}]}),
        ],
    )  # fmt: skip
    def test_a_record_that_no_run_writes(self, record: dict, found: dict, tmp_path: Path):
        """Said in words: a fault of somebody's file is none of ours."""
        folder = self.folder(tmp_path, json.dumps(RECORD | record), FOUND | found)
        with pytest.raises(CasebookError, match="has a record or findings that casebook did not write"):
            summary.of_folder(folder)

    @pytest.mark.parametrize("name", ["run.json", "findings.json"])
    def test_a_file_that_is_nested_too_deep(self, name: str, tmp_path: Path):
        """The command ends with 3 and no traceback; without findings the run did not complete."""
        folder = self.folder(tmp_path, json.dumps(RECORD))
        (folder / name).write_text("[" * 100_000)
        done = casebook("summary", folder)
        assert (done.returncode, "Traceback" in done.stderr) == (3 if name == "run.json" else 0, False)
        assert "has no record of a run" in done.stderr or done.stdout.startswith(
            "COULD NOT COMPLETE: it did not reach its last cell"
        )

    @pytest.mark.parametrize("form", ["line", "webhook"])
    def test_half_a_surrogate_pair(self, form: str, tmp_path: Path):
        """A name in hostile evidence breaks no alert."""
        odd = FOUND | {"findings": [finding("a.b", "finding", "critical", "broker \ud800 is away")]}
        done = casebook("summary", self.folder(tmp_path, json.dumps(RECORD), odd), "--format", form)
        assert (done.returncode, done.stderr) == (0, "")
        assert "broker ? is away" in done.stdout


class TestCommand:
    def test_every_form_into_a_file(self, run, tmp_path: Path):
        """`casebook summary RUN --out FILE`, whole; the mode lets others read it."""
        folder = run("10_triage", "sample:leader_minus_one").folder
        out = tmp_path / "casebook.prom"
        done = casebook("summary", folder, "--format", "prometheus", "--out", out)
        assert (done.returncode, done.stdout) == (0, "")
        assert list(text_string_to_metric_families(out.read_text()))
        assert out.stat().st_mode & 0o044 == 0o044
        assert [path.name for path in tmp_path.iterdir()] == [out.name]
        assert casebook("summary", folder, "--format", "json").stdout == (folder / "summary.json").read_text()

    @pytest.mark.parametrize("form", ["line", "webhook", "json", "prometheus"])
    def test_a_run_that_is_too_old(self, form: str, tmp_path: Path):
        """A killed run leaves the summary of the one before, which must not pass for this morning's."""
        ended = datetime.now(UTC) - timedelta(hours=21)
        document = summary.summary(RECORD | {"started": f"{ended:%Y-%m-%dT%H:%M:%SZ}"}, FOUND, None, run="r")
        summary.write(tmp_path, document)
        young = casebook("summary", tmp_path, "--format", form, "--max-age", "22h")
        old = casebook("summary", tmp_path, "--format", form, "--max-age", "20h")
        assert (young.returncode, old.returncode) == (0, 3)
        said = f"NO RUN SINCE {document['ended']}: {document['verdict']}"
        if form == "line":
            assert old.stdout.startswith(said)
        elif form == "webhook":
            body = json.loads(old.stdout)
            assert (body["status"], body["text"].startswith(said), body["summary"]) == ("missing", True, document)
        else:
            assert old.stdout == young.stdout

    @pytest.mark.parametrize("what", ["/nowhere", "."])
    def test_no_run(self, what: str):
        done = casebook("summary", what)
        assert done.returncode == 3
        assert "There is no summary.json in" in done.stderr


def test_alert_rules_ask_for_what_there_is():
    """Every metric and label of alerts.yml is one that a summary has; a word that is left over would be a misspelt one."""
    document = summary.summary(RECORD, FOUND, ["new", "worse", "no_longer_checked"], run="r")
    families = {family.name: family for family in text_string_to_metric_families(summary.prometheus(document))}
    rules = [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        for name, _, labels in re.findall(r"\b(casebook_\w+)(\{([^}]*)\})?", rule["expr"]):
            assert set(re.findall(r"(\w+)=", labels)) <= families[name].samples[0].labels.keys()
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= {"source", "notebook", "check"}
    checks = {check for rule in rules for check in re.findall(r'check=~?"([^"]+)"', rule["expr"])}
    checks = {check for named in checks for check in named.split("|")}
    known = json.loads((places.samples_dir() / "offsets_bloat" / "expected.json").read_text())["findings"]
    assert checks <= known.keys()
    hows = {how for rule in rules for found in re.findall(r'how=~?"([^"]+)"', rule["expr"]) for how in found.split("|")}
    assert hows <= {how.value for how in ChangeKind}


def test_the_page_names_every_field_and_metric():
    """docs/schedules/README.md has what a summary has."""
    page = (DOCS / "README.md").read_text()
    assert {field for field in FIELDS if f"`{field}`" not in page} == set()
    document = summary.summary(RECORD, FOUND, ["new"], run="r")
    emitted = {family.name for family in text_string_to_metric_families(summary.prometheus(document))}
    assert emitted == set(re.findall(r"`(casebook_\w+)`", page))
