"""The index of runs: who needs someone, what changed, and nothing that lies in the folder can break it."""

import json
import os
import zlib
from pathlib import Path

import pytest

from casebook.runs import index
from casebook.runs.found import newest
from tests.page.incident import HOSTILE, Page, words_of


def run(
    folder: Path, when: str, found: dict[str, object] | None, *, notebook: str = "10_triage", case: str = "prod", **record: object
) -> Path:
    """A run folder.

    Args:
        found: Count of each check that found something, ``0`` for ok, ``None`` for could not check, else its status.
    """
    path = folder / f"{when.replace(':', '-').rstrip('Z')}_{notebook}_{zlib.crc32(case.encode()) & 0xFFFF:04x}"
    path.mkdir(parents=True)
    (path / "report.html").touch()
    (path / "run.json").write_text(
        json.dumps({"notebook": notebook, "case": case, "started": when, "seconds": 9.4, "exit_code": 0} | record)
    )
    if found is not None:
        (path / "findings.json").write_text(json.dumps(findings(found)))
    return path


def findings(found: dict[str, object]) -> dict[str, object]:
    status = {
        check: count if isinstance(count, str) else "could_not_check" if count is None else "finding" if count else "ok"
        for check, count in found.items()
    }
    rows = [
        {
            "check": check,
            "status": how,
            "severity": "critical" if how == "finding" else None,
            "title": f"{found[check]} partitions",
            "since": None,
            "why": "",
            "next": [],
            "facts": {check.split(".")[1]: found[check]},
        }
        for check, how in status.items()
    ]
    counts = {how: list(status.values()).count(how) for how in ("ok", "finding", "could_not_check", "not_applicable")}
    return {
        "schema": 1,
        "worst": "critical" if counts["finding"] else None,
        "completeness": counts,
        "findings": sorted(rows, key=lambda row: row["status"] != "finding"),
    }


def rows(folder: Path) -> list[str]:
    """What each row of the written index says, newest first."""
    html = index.write_index(folder).read_text()
    page = Page.read(html)
    assert page.open == []
    assert not [svg for svg in page.all("svg") if not (svg.get("aria-hidden") or svg.get("aria-label"))]
    body = html.partition("<tbody")[2].partition("</tbody>")[0]
    return [words_of(f"<p>{row.partition('>')[2].replace('</tr>', '')}</p>") for row in body.split("<tr")[1:]]


class TestSince:
    """Changes against the run before of the same case and notebook, in words."""

    @pytest.mark.parametrize(
        ("before", "now", "said"),
        [
            ({"l.offline": 0}, {"l.offline": 13}, "1 new: offline 13"),
            ({"l.offline": 3}, {"l.offline": 13}, "1 worse: offline 3 → 13"),
            ({"l.offline": 13}, {"l.offline": 3}, "1 better: offline 13 → 3"),
            ({"l.offline": 13}, {"l.offline": 0}, "1 gone: offline"),
            ({"l.offline": 13}, {"l.offline": "not_applicable"}, "1 no longer applies: offline"),
            ({"l.offline": 13}, {"l.offline": 13}, "nothing"),
            ({"l.offline": 13}, {"l.offline": None}, "1 no longer checked: offline"),
            ({"l.offline": 0, "l.b": 0}, {"l.b": 0}, "1 no longer checked: offline"),
            ({"l.offline": None}, {"l.offline": 0}, "1 checked again: offline"),
            ({"l.offline": None}, {"l.offline": None}, "nothing"),
            ({}, {"l.a": 1, "l.b": 1, "l.c": 1, "l.d": 1}, "4 new: a 1, b 1 and 2 more"),
        ],
    )
    def test_in_words(self, tmp_path, before, now, said):
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.x": 0} | before)
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.x": 0} | now)
        newest, first = rows(tmp_path)
        assert said in newest
        assert "first run" in first

    def test_only_of_the_same_case_and_notebook(self, tmp_path):
        """Another cluster's run is no run before."""
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.a": 1}, case="other")
        run(tmp_path, "2026-11-19T07:00:00Z", {"l.a": 1}, notebook="90_scheduled_report")
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1})
        assert all("first run" in row for row in rows(tmp_path))

    def test_a_run_that_failed_is_stepped_over(self, tmp_path):
        """What can be read is compared with what could be read before."""
        run(tmp_path, "2026-11-18T06:00:00Z", {"l.a": 1})
        run(tmp_path, "2026-11-19T06:00:00Z", None, error="ZooKeeper unreachable")
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 2})
        newest, failed, _ = rows(tmp_path)
        assert "1 worse: a 1 → 2" in newest
        assert "COULD NOT COMPLETE ZooKeeper unreachable cannot be compared" in failed


class TestWhoNeedsSomeone:
    def test_the_newest_of_each_case_counts(self, tmp_path):
        """An old critical run of a case that is well again needs nobody."""
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.a": 1}, case="healed")
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 0}, case="healed")
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1}, case="ill")
        said = words_of(index.write_index(tmp_path).read_text())
        assert "1 case needs attention: ill CRITICAL . healed OK ." in said

    def test_no_runs(self, tmp_path):
        assert "Nothing has run yet." in words_of(index.write_index(tmp_path).read_text())

    def test_nothing_checked_is_not_ok(self, tmp_path):
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": None})
        assert "1 of 1 question could not be answered" in rows(tmp_path)[0]

    def test_mostly_unchecked_is_not_ok(self, tmp_path):
        """One answer of three, or a note beside two open questions; a critical finding holds whatever else is unknown."""
        run(tmp_path, "2026-11-18T06:00:00Z", {"l.a": 0, "l.b": None, "l.c": None})
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.a": 1, "l.b": None, "l.c": None})
        critical, mostly_open = newest(tmp_path)[0]
        assert (mostly_open.kind, mostly_open.says) == ("could_not_check", "2 of 3 questions could not be answered")
        assert critical.kind == "critical"


class TestSparkline:
    def test_unknown_is_no_zero(self, tmp_path):
        """A run that did not check is dashed and said, never a point on the ground."""
        for day, count in enumerate((0, 5, None, 13), start=10):
            run(tmp_path, f"2026-11-{day}T06:00:00Z", {"l.x": 0, "l.a": count})
        html = index.write_index(tmp_path).read_text()
        assert 'aria-label="l.a, last 4 runs: 0, 5, not checked, 13"' in html
        newest = html.partition("<tbody")[2].partition("</tr>")[0]
        assert newest.count('class="unchecked"') == 1
        assert newest.count("<polyline") == 1

    def test_of_the_check_that_the_row_speaks_of(self, tmp_path):
        """Not of another that is as bad; it is named, also for who points at it."""
        for day, (first, second) in enumerate(((0, 4), (2, 6)), start=10):
            path = run(tmp_path, f"2026-11-{day}T06:00:00Z", {"l.a": first, "l.b": second})
            document = json.loads((path / "findings.json").read_text())
            document["findings"].sort(key=lambda row: row["check"], reverse=True)
            (path / "findings.json").write_text(json.dumps(document))
        newest = rows(tmp_path)[0]
        html = (tmp_path / "index.html").read_text().partition("<tbody")[2].partition("</tr>")[0]
        assert "6 partitions" in newest
        assert 'title="l.b, last 2 runs: 4, 6"' in html and 'aria-label="l.b, last 2 runs: 4, 6"' in html

    def test_fourteen_runs(self, tmp_path):
        for day in range(1, 21):
            run(tmp_path, f"2026-11-{day:02}T06:00:00Z", {"l.a": day})
        assert (
            'aria-label="l.a, last 14 runs: 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20"'
            in index.write_index(tmp_path).read_text()
        )


class TestCheckByCheck:
    """Below the runs: each check over all that are kept."""

    def sparks(self, folder: Path) -> dict[str, str]:
        """By check, what its line says; in the order of the page."""
        html = index.write_index(folder).read_text().partition("<h2>Check by check</h2>")[2]
        return {words_of(f"<p>{row.partition('</th>')[0].partition('>')[2]}</p>"): row.partition('aria-label="')[2].partition('"')[0]
                for row in html.split('<tr role="row"><th scope="row"')[1:]}  # fmt: skip

    def test_every_run_that_is_kept(self, tmp_path):
        """Also more than the fourteen of the row; a run that failed has not checked it."""
        for day in range(1, 21):
            run(tmp_path, f"2026-11-{day:02}T06:00:00Z", {"l.a": day} if day != 5 else None, error=None if day != 5 else "x")
        said = ", ".join("not checked" if day == 5 else str(day) for day in range(1, 21))
        assert self.sparks(tmp_path) == {"l.a": f"last 20 runs: {said}"}
        assert "prod, 10 triage: 1 check in 20 runs" in words_of((tmp_path / "index.html").read_text())

    def test_the_worst_first_and_the_well_only_counted(self, tmp_path):
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.gone": 2, "l.worse": 0, "l.well": 0, "l.unknown": 1})
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.gone": 0, "l.worse": 3, "l.well": 0, "l.unknown": None})
        assert self.sparks(tmp_path) == {
            "l.worse": "last 2 runs: 0, 3",
            "l.unknown": "last 2 runs: 1, not checked",
            "l.gone": "last 2 runs: 2, 0",
        }
        assert "1 more check of the last run was well" in words_of((tmp_path / "index.html").read_text())

    def test_a_finding_without_a_number(self, tmp_path):
        """Is 1 where it was found, and not unknown."""
        for day, found in enumerate((0, 1, 0, 1), start=1):
            path = run(tmp_path, f"2026-11-{day:02}T06:00:00Z", {"l.a": found})
            document = json.loads((path / "findings.json").read_text())
            document["findings"][0]["facts"] = {"a": "words"}
            (path / "findings.json").write_text(json.dumps(document))
        assert self.sparks(tmp_path) == {"l.a": "last 4 runs: 0, 1, 0, 1"}

    def test_nothing_to_show(self, tmp_path):
        """Where all was well, there is no section."""
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 0})
        assert "Check by check" not in index.write_index(tmp_path).read_text()

    def test_live_clusters_are_lines_of_their_own(self, tmp_path):
        """Each run collects a case of its own, always of the same name: the profile tells them apart."""
        run(tmp_path, "2026-11-19T06:00:00Z", {"l.a": 1}, case="evidence", source="live:prod")
        run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 9}, case="evidence", source="live:test")
        newest, oldest = rows(tmp_path)
        assert "live:test" in newest
        assert "first run" in newest
        assert "live:prod" in oldest


class TestForeignFolders:
    """Whatever lies there is listed or left alone, and never an error."""

    @pytest.mark.parametrize(
        "document",
        ["", "{", "[]", "null", "1", '"x"', "[" * 100_000, '{"findings": 1}', '{"findings": [1], "completeness": {}, "worst": null}',
         '{"findings": [{"check": [], "status": "finding", "severity": "x", "facts": []}], "completeness": {"ok": "a"}, "worst": "weird"}',
         '{"findings": [], "completeness": {"ok": 1, "could_not_check": 0, "finding": 0}, "worst": "weird"}',
         '{"findings": [{"check": "a.b", "status": "finding", "severity": "critical", "facts": [], "title": 1}], "completeness": {"ok": 1, "could_not_check": 0, "finding": 1}, "worst": "critical"}'],
    )  # fmt: skip
    def test_findings_that_are_none(self, tmp_path, document):
        """The run is listed as one that cannot be read."""
        path = run(tmp_path, "2026-11-20T06:00:00Z", None)
        (path / "findings.json").write_text(document)
        assert "COULD NOT COMPLETE its findings cannot be read" in rows(tmp_path)[0]

    @pytest.mark.parametrize(
        "document", [b"", b"\xff\xfe", b"[]", b'{"started": 5, "seconds": "x", "case": [], "notebook": {}, "parameters": 3}']
    )
    def test_a_record_that_is_none(self, tmp_path, document):
        """Name and time come from the folder's name."""
        path = run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1})
        (path / "run.json").write_bytes(document)
        assert rows(tmp_path)[0].startswith("20 Nov, 06:00 10 triage ? unknown CRITICAL 1 partitions first run")

    def test_a_run_folder_without_anything(self, tmp_path):
        (tmp_path / "2026-11-20T06-00-00_10_triage_beef").mkdir()
        assert "its findings cannot be read" in rows(tmp_path)[0]

    def test_what_is_no_run(self, tmp_path):
        """Hidden, foreign and plain files are left alone."""
        (tmp_path / ".x.partial").mkdir()
        (tmp_path / "holiday pictures").mkdir()
        (tmp_path / "notes.txt").touch()
        assert rows(tmp_path) == []

    def test_hostile_names(self, tmp_path):
        """Names of folders, cases and findings stay text, in links too."""
        path = run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1}, case=HOSTILE, error=HOSTILE)
        odd = tmp_path / os.fsdecode(b'x"><img src=x onerror=alert(1)>\xff')
        path.rename(odd)
        html = index.write_index(tmp_path).read_text()
        page = Page.read(html)
        assert not page.all("img")
        assert [link["href"] for link in page.all("a")] == ["x%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%FF/report.html"]

    def test_half_a_surrogate_pair(self, tmp_path):
        path = run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1})
        (path / "run.json").write_text('{"case": "\\ud800"}')
        assert len(rows(tmp_path)) == 1


class TestPage:
    def test_same_again(self, tmp_path):
        """The same folder gives the same bytes."""
        for day in range(1, 9):
            run(tmp_path, f"2026-11-{day:02}T06:00:00Z", {"l.a": day % 3, "l.b": 1})
        assert index.write_index(tmp_path).read_bytes() == index.write_index(tmp_path).read_bytes()

    def test_a_run_without_report(self, tmp_path):
        """Made inside JupyterLab: the link opens its folder."""
        path = run(tmp_path, "2026-11-20T06:00:00Z", {"l.a": 1})
        (path / "report.html").unlink()
        links = Page.read(index.write_index(tmp_path).read_text()).all("a")
        assert [link["href"] for link in links] == [f"{path.name}/"]

    def test_years(self, tmp_path):
        """The year is told where it is not the same."""
        run(tmp_path, "2025-12-31T06:00:00Z", {"l.a": 1})
        run(tmp_path, "2026-01-01T06:00:00Z", {"l.a": 1})
        assert rows(tmp_path)[0].startswith("1 Jan 2026, 06:00")
        assert "2 runs , 31 Dec 2025 to 1 Jan 2026, UTC" in words_of(index.write_index(tmp_path).read_text()).replace(
            "runs,", "runs ,"
        )

    def test_older_ones_are_counted(self, tmp_path, monkeypatch):
        monkeypatch.setattr(index, "MOST_RUNS", 2)
        for day in range(1, 6):
            run(tmp_path, f"2026-11-{day:02}T06:00:00Z", {"l.a": day})
        assert len(rows(tmp_path)) == 2
        assert "3 older ones are in the folder and not listed." in words_of(index.write_index(tmp_path).read_text())

    def test_it_is_written_whole(self, tmp_path):
        """No half index is left beside it."""
        index.write_index(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
