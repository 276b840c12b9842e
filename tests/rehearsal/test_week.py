"""A real week: what happened in a night is in the report of the morning after as what it is, and nothing else is."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.rehearsal import plays, week

SEEN_IN_LOGS = ("timeline.", "loss.")
"""What the logs tell of a night; checked for the nights in which nobody touched a broker, and the one of the cleaner."""

EXPECTED = {
    "quiet": set(),
    "cleaner": {  # it dies of a segment of a topic of broker 1 alone
        "new offsets_topic.compacted",
        "new offsets_topic.cleaner_map",
        "new timeline.root",
    },
    "grown": {"new since.offsets_growth"},
    "single": {  # a topic whose only replica is on broker 2; and what grew the night before is still not compacted
        "worse durability.single_copy",
        "worse durability.acknowledged",
        "worse durability.exposure",
        "worse maintenance.restart_one",
        "new since.cleaner_point",
    },
    "flapping": {"new since.isr_flapping"},
    "removed": {  # broker 3, a third replica of three partitions
        "new leadership.brokers",
        "new leadership.under_replicated",
        "new maintenance.unregistered_replicas",
        "gone since.isr_flapping",
    },
    "healed": {  # broker 3 is back, broker 1 has a cleaner with a larger map, the topic with a single replica is deleted
        "gone leadership.brokers",
        "gone leadership.under_replicated",
        "gone maintenance.unregistered_replicas",
        "gone offsets_topic.compacted",
        "gone offsets_topic.cleaner_map",
        "gone since.cleaner_point",
        "better durability.single_copy",
        "better durability.acknowledged",
        "better durability.exposure",
        "better maintenance.restart_one",
    },
    "still": set(),
}
NAMED = {
    ("single", "durability.single_copy"): ([week.SINGLE], []),
    ("single", "maintenance.restart_one"): (["broker 2"], []),
    ("healed", "durability.single_copy"): ([], [week.SINGLE]),
}


@pytest.fixture(scope="module")
def mornings(tmp_path_factory) -> dict[str, Path]:
    """The cases, by night."""
    return plays.until_it_succeeds(lambda: week.play(tmp_path_factory.mktemp("week")))


@pytest.fixture(scope="module")
def reports(mornings, tmp_path_factory, quick_java) -> dict[str, Path]:
    """The run folders, by night."""
    runs = tmp_path_factory.mktemp("runs")
    return {night: week.report(case, runs, night=night) for night, case in mornings.items()}


def changes(run: Path) -> list[dict]:
    """What a report says has changed."""
    return pq.read_table(run / "tables" / "changes.parquet").to_pylist()


def findings(run: Path) -> dict[str, dict]:
    """The answers of a report by check."""
    return {one["check"]: one for one in json.loads((run / "findings.json").read_text())["findings"]}


@pytest.mark.parametrize("night", EXPECTED)
def test_all_was_collected(reports, night):
    """Else the next report tells that, too."""
    complete = findings(reports[night])["evidence.complete"]
    assert (complete["status"], complete["why"]) == ("ok", "")


@pytest.mark.parametrize("night", EXPECTED)
def test_every_change_is_in_the_next_report_and_nothing_else(reports, night):
    """By the state of the cluster; what the logs alone tell is another matter."""
    told = {f"{row['how']} {row['check']}" for row in changes(reports[night])}
    assert {one for one in told | EXPECTED[night] if not one.partition(" ")[2].startswith(SEEN_IN_LOGS)} == {
        one for one in EXPECTED[night] if not one.partition(" ")[2].startswith(SEEN_IN_LOGS)
    }
    assert EXPECTED[night] <= told


@pytest.mark.parametrize("night", ["quiet", "cleaner", "grown", "single", "still"])
def test_where_no_broker_was_touched_the_logs_tell_no_more(reports, night):
    """Nothing happened to leaders and sessions."""
    told = {f"{row['how']} {row['check']}" for row in changes(reports[night]) if row["check"].startswith(SEEN_IN_LOGS)}
    assert told == {one for one in EXPECTED[night] if one.partition(" ")[2].startswith(SEEN_IN_LOGS)}


@pytest.mark.parametrize(("night", "check"), NAMED)
def test_what_came_and_went_is_named(reports, night, check):
    """By topic and broker."""
    (row,) = [row for row in changes(reports[night]) if row["check"] == check]
    assert (row["came"], row["went"]) == NAMED[night, check]


def test_the_first_report_compares_with_nothing(reports):
    """And says so."""
    assert changes(reports["first"]) == []
    assert findings(reports["first"])["since.run_before"]["status"] == "not_applicable"
    assert findings(reports["quiet"])["since.run_before"]["facts"]["run"] == reports["first"].name


def test_the_same_again_is_the_same_bytes(mornings, reports, tmp_path):
    """Also once later runs are there: it is held against the one before its evidence."""
    runs = reports["single"].parent
    again = week.report(mornings["single"], runs, night="twice")
    shutil.move(again, tmp_path / "again")
    names = sorted(path.relative_to(reports["single"]) for path in reports["single"].glob("tables/*"))
    for name in [Path("findings.json"), *names]:
        assert (tmp_path / "again" / name).read_bytes() == (reports["single"] / name).read_bytes(), name
