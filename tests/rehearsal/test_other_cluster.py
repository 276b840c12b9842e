"""A broker whose log dirs are of another cluster: Kafka refuses it, and the case joins them with no znode."""

import re
import shutil

import pytest

from casebook.collect.collection import collect_case
from casebook.errors import RehearsalError
from casebook.facts.observed import Source
from casebook.findings.finding import Status
from casebook.rehearsal import PlayedCluster
from tests.unreadable.answers import answers

KAFKA = ("2.8.2", "3.9.2")
"""Those before 2.4 do not write whose log dirs they are."""

REFUSES = r"(?:The Cluster ID|Expected) (\S+?),? (?:but read |doesn't match stored clusterId Some\()([\w-]+)"


@pytest.fixture(scope="module", params=KAFKA)
def told(request, tmp_path_factory):
    """Every answer of the scheduled report, and the broker's logs when it is started on those log dirs."""
    folder = tmp_path_factory.mktemp("clusters")
    with PlayedCluster(kafka=request.param, brokers=1) as cluster:
        cluster.create_topic("theirs", {0: (1,)})
        cluster.stop(1)
        shutil.copytree(cluster.log_dir(1), folder / "theirs")
    with PlayedCluster(kafka=request.param, brokers=1) as cluster:
        cluster.create_topic("ours", {0: (1,)})
        collect_case(folder / "case", zookeeper=cluster.zookeeper, log_dirs=[(1, str(folder / "theirs"))])
        cluster.stop(1)
        shutil.rmtree(cluster.log_dir(1))
        shutil.copytree(folder / "theirs", cluster.log_dir(1))
        with pytest.raises(RehearsalError):
            cluster.start(1)
        refused = "".join(log.read_text() for log in cluster.log_files(1))
    return answers(folder / "case", ["90"])["90"], refused


def test_kafka_refuses_it(told):
    """By the ids that the case names."""
    answered, refused = told
    ours, theirs = re.search(REFUSES, refused).groups()
    why = answered["evidence.moments"].why
    assert f"names cluster {theirs}, /cluster/id names {ours}." in why


def test_it_is_joined_nowhere(told):
    """The case is complete, all of it of one minute."""
    answered, _ = told
    both = [one for one in answered.values() if {Source.ZNODES, Source.LOG_DIRS} <= set(one.coverage.by)]
    assert len(both) > 1
    assert {one.status for one in both} <= {Status.COULD_NOT_CHECK, Status.NOT_APPLICABLE}
    assert answered["evidence.moments"].title == "The log dirs of broker 1 are of another cluster than the znodes"
