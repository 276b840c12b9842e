"""Notebooks 10 and 20 of a moment of the past, from nothing but ZooKeeper's own files."""

import json

import pytest

from casebook.collect.collection import collect_case
from casebook.facts.cluster import instant
from casebook.runs import notebooks, runner
from tests.collect.zookeeper_files import DIED, life, time_of, write_log

NOTEBOOKS = ("10_triage", "20_partition_leadership")


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Broker 2 dies, and a second later its partition has no leader."""
    folder = tmp_path_factory.mktemp("zookeeper")
    write_log(folder, list(life()))
    return collect_case(tmp_path_factory.mktemp("cases") / "case", zookeeper_data=[folder])


def ran(notebook, case, runs_dir, **parameters):
    """A run, and its findings by check."""
    done = runner.run(notebooks.find(notebook), {"source": str(case)} | parameters, runs_dir=runs_dir)
    path = done.folder / "findings.json"
    return done, {f["check"]: f for f in json.loads(path.read_text())["findings"]} if path.exists() else {}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_before_and_after(notebook, case, runs_dir):
    """Well as long as the session lived; critical from the transaction on that took the leader away."""
    before, _ = ran(notebook, case, runs_dir, at=instant(time_of(DIED) - 1))
    after, found = ran(notebook, case, runs_dir, at=instant(time_of(DIED + 1)))
    assert (before.exit_code, after.exit_code) == (0, 2)
    assert found["leadership.offline"]["status"] == "finding"
    said = after.report.read_text()
    assert "As of " in said
    assert notebook == NOTEBOOKS[0] or f"-p at={instant(time_of(DIED + 1))} -p alive=" in said


@pytest.mark.parametrize(("at", "said"), [("2019-10-12T11:03:42", "is not a valid time"), ("1999-01-01T00:00:00Z", "begins at")])
def test_no_such_moment(case, runs_dir, at, said):
    """It is said what is wrong with it."""
    done, _ = ran(NOTEBOOKS[1], case, runs_dir, at=at)
    assert done.exit_code == 3
    assert said in done.title
