"""Two shipped cases of one cluster: the scheduled report on the morning says what has changed since the evening."""

import json

import pyarrow.parquet as pq
import pytest

from casebook.collect import sources
from casebook.machine import places
from casebook.notebook import workbook
from casebook.questions.morning.analysis import trends

EVENING, MORNING = "overnight_before", "overnight"


def expected(name: str) -> dict:
    """What the script of the play knew at that moment."""
    return json.loads((places.samples_dir() / name / "expected.json").read_text())


def found(name: str) -> set[str]:
    """Checks with a finding, by the script."""
    return {check for check, answer in expected(name)["findings"].items() if answer["status"] == "finding"}


def test_what_has_changed_by_the_script(cells):
    """A finding of the morning alone is new, and one of the evening alone is gone."""
    evening, morning = (expected(name)["findings"].keys() for name in (EVENING, MORNING))
    wanted = {("new", check) for check in (found(MORNING) & evening) - found(EVENING)}
    wanted |= {("gone", check) for check in (found(EVENING) & morning) - found(MORNING)}
    assert {"new offsets_topic.compacted", "gone leadership.brokers"} <= {" ".join(one) for one in wanted}
    rows = pq.read_table(cells("90_scheduled_report", f"sample:{MORNING}") / "tables" / "changes.parquet").to_pylist()
    assert {(row["how"], row["check"]) for row in rows if row["check"] in evening & morning} == wanted


def test_trends_have_two_points(tmp_path, cells):
    """Of the values that the script knew; one moment is one point, however often it was kept."""
    kept = tmp_path / "2026-11-27T21-05-00_90_scheduled_report_abcd"
    kept.symlink_to(cells("90_scheduled_report", f"sample:{EVENING}"))
    book = workbook.open("90_scheduled_report", source=f"sample:{MORNING}", out_dir=str(tmp_path / "out"), interactive="no")
    shown = {trend.name: trend for trend in trends.whole(book.ask.since((), runs=tmp_path))}
    values = {name: tuple(value for _, value in trend.points) for name, trend in shown.items()}
    truth = {name: expected(name) for name in (EVENING, MORNING)}
    assert values["under_replicated"] == tuple(
        sum(bool(p["under_replicated"]) for p in one["partitions"]) for one in truth.values()
    )
    sizes = truth[MORNING]["facts"]["overnight"]["sizes"]
    assert values["offsets_bytes"] == tuple(sum(sizes[moment]["1"].values()) for moment in ("evening", "morning"))
    assert values["controller_epoch"] == (1, 2)
    assert values["isr_changes"][0] is None and values["isr_changes"][1] > 0


@pytest.mark.parametrize(
    ("source", "before"),
    [
        (f"sample:{MORNING}", f"sample:{EVENING}"),
        (f"sample:{EVENING}", ""),
        ("sample:healthy", ""),
        ("live:prod", ""),
        ("case", ""),
    ],
)
def test_the_earlier_moment_of_a_source(source, before):
    """Only a sample has one."""
    assert sources.earlier_moment(source) == before
