"""A large cluster costs a notebook no work twice, none that nobody looks at, and no page of its size; nothing here is timed."""

from collections import Counter
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.facts.cluster import Cluster
from casebook.formats.zookeeper import znode_lines
from casebook.kafka import partitions, release
from casebook.kafka.settings import Settings
from casebook.page.context import PanelContext
from casebook.questions.leadership.analysis import leadership
from casebook.questions.leadership.views import leadership as views
from casebook.questions.leadership.views import what_if
from casebook.questions.timeline.analysis import timeline
from casebook.questions.triage.analysis import plan
from tests.bench.large_case import PARTITIONS, write_dump
from tests.notebook_cells import execute

TOPICS, BROKERS = 100, 40
ALL = TOPICS * PARTITIONS
_PAGE = 400_000
"""Bytes of all tables and charts of notebook 20 together."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("large")
    write_dump(place / "dump.jsonl", TOPICS, BROKERS)
    collect_case(place / "case", zookeeper_dump=place / "dump.jsonl")
    return place / "case"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of the costly steps was taken."""
    counts: Counter[str] = Counter()

    def count(owner: object, name: str) -> None:
        original = getattr(owner, name)

        def counted(*args: object, **named: object) -> object:
            counts[name] += 1
            return original(*args, **named)

        monkeypatch.setattr(owner, name, counted)

    count(znode_lines, "decode")
    count(partitions._Judge, "verdict")
    count(timeline, "examine")
    count(plan, "make")
    count(Settings, "layers")
    return counts


def test_every_znode_is_decoded_once(folder, done, tmp_path):
    """Proofs are looked up among the lines, not decoded again; without logs nothing is laid out in time."""
    execute("20_partition_leadership", tmp_path, source=str(folder))
    cited = views.MOST_ROWS + 100
    assert done["decode"] <= sum(1 for _ in Case.open(folder).znodes()) + cited
    assert done["verdict"] == ALL
    assert done["examine"] == 0


@pytest.mark.parametrize("stem", ["10_triage", "30_broker_maintenance"])
def test_every_partition_is_judged_once(folder, done, tmp_path, stem):
    """One more time are those of the brokers that a panel stops: a small part."""
    execute(stem, tmp_path, source=str(folder))
    assert ALL <= done["verdict"] < 1.3 * ALL
    assert done["make"] == 1


def test_layers_of_settings_are_found_once_a_broker(folder, done, tmp_path):
    """Topics without overrides share them."""
    execute("80_durability_audit", tmp_path, source=str(folder))
    assert done["layers"] <= 60 * BROKERS


def test_live_brokers_are_gathered_once():
    """They are asked for at each partition."""
    cluster = Cluster()
    assert cluster.live is cluster.live


def test_a_page_does_not_grow_with_the_cluster(folder):
    """Rows beyond those that a person can look at are in the tables, and a command shows any topic."""
    cluster = Case.open(folder).cluster()
    lead = leadership.examine(cluster, release.release(cluster))
    context = PanelContext(source="case")
    shown = (
        views.whom_to_start(lead),
        views.costs(lead),
        views.who_holds_what(lead),
        views.verdict_table(lead, source="case"),
        what_if.tried(lead, context, alive="none", unclean="as_configured", ahead="none"),
    )
    assert sum(len(str(part)) for view in shown for part in view.parts) < _PAGE
    assert len(shown[3].tables["partitions"]) == ALL
    assert "casebook run partition_leadership --source case -p topic=topic-" in str(shown[3].parts[0])
