"""Brokers whose machine does not rename what is open, as Windows (KAFKA-1194): a topic's deletion takes their log dirs away."""

import subprocess
from pathlib import Path

import pytest

from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.truth import Phase, well
from tests.incidents.test_timeline import examined
from tests.rehearsal import plays
from tests.unreadable.answers import answers

pytestmark = pytest.mark.alone

KAFKA = ("2.8.2", "3.9.2")
"""Releases that rename a partition's folder before they delete it."""
SOURCES = Path(__file__).with_name("jvm")
HELD = (2, 3)
"""Brokers with a replica of what is deleted."""
SETTINGS = {"zookeeper.session.timeout.ms": "4000", "offsets.topic.num.partitions": "1"}
KEPT = {"kept-0": (1, 2), "kept-1": (3, 1)}
DELETED = {"deleted-0": HELD}


class LikeWindows(PlayedCluster):
    """A cluster whose brokers cannot rename files that they have open."""

    def _command(self, place):
        classes = self.home / "classes"
        if not classes.exists():
            javac = Path(jars.java()).with_name("javac")
            sources = map(str, SOURCES.rglob("*.java"))
            subprocess.run([javac, "--patch-module", f"java.base={SOURCES}", "-d", classes, *sources], check=True)
        return super()._command(place, () if place == self._zookeeper_place else ["--patch-module", f"java.base={classes}"])


def play(stage):
    """A topic is deleted."""
    rows = tuple(well(name, replicas) for name, replicas in (KEPT | DELETED).items())
    with LikeWindows(kafka=stage.truth.kafka, brokers=3, settings=SETTINGS, controller=1, progress=stage.progress) as cluster:
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=(1, 2, 3), controller=1, partitions=rows))
        stage.act("Delete topic deleted.", lambda: cluster.delete_topic("deleted"))
        stage.gone(cluster, *HELD)
        plays.captured(stage, cluster)


out = plays.on_each(play, "windows", KAFKA)


@pytest.fixture(scope="module")
def case(out):
    """The case of that release."""
    return out / "after"


@pytest.fixture(scope="module")
def found(case):
    """The timeline of that case."""
    return examined(case)


def test_it_is_not_the_disk(found):
    """Of the log dirs that failed, and of the brokers that were lost with them: nobody killed them."""
    first = {}
    for root in found.roots:
        first.setdefault((found.chains[root.chain].kind, root.broker), root)
    kinds = {place: root.kind for place, root in first.items()}
    assert kinds == {(chain, broker): "file_held" for chain in ("disk_failed", "broker_lost") for broker in HELD}
    assert all("KAFKA-1194" in root.name for root in first.values())


def test_a_start_alone_is_no_cure(case):
    """The deletion would take the log dirs away again."""
    steps = answers(case, ["10"])["10"]["leadership.brokers"].next
    starts = [step.text for step in steps if step.starts]
    assert starts and all("Before that, fix what ended" in text and "again: Windows" in text for text in starts)
