"""Practice of the walkthrough's incidents, healed on real servers; tests/rehearsal/test_practice.py heals a leaderless partition."""

import pytest

from casebook.questions.quiz.incidents import INCIDENTS as WALKTHROUGH
from casebook.rehearsal import INCIDENTS, health
from casebook.rehearsal.plays import isr_shrunk_loss, offsets_bloat
from tests.rehearsal.test_practice import Practice, practising


def set_topic(practice: Practice, topic: str, setting: str) -> None:
    """With Kafka's own tool."""
    where = ("--zookeeper", practice.zookeeper, "--entity-type", "topics", "--entity-name", topic)
    practice.run("kafka-configs.sh", *where, "--alter", "--add-config", setting)


@pytest.mark.parametrize("name", WALKTHROUGH)
def test_each_incident_can_be_practised(name):
    """With checks of the workbook that say when it is healed."""
    practice = INCIDENTS[WALKTHROUGH[name].practice].practice
    assert practice is not None and {*practice.healed} <= health.CHECKS


def test_isr_of_one(tmp_path):
    """The last member of the ISR starts first, so nothing is lost; it is healed once settings protect the next time."""
    with practising(tmp_path / "out", "isr-shrunk-loss") as practice:
        said = "".join(practice.said)
        assert "4 partitions without leader (audit 1, invoices 1, payments 2)" in said
        assert "a replica that lacks acknowledged records can become leader (invoices, payments)" in said
        for broker in (isr_shrunk_loss.LEADER, isr_shrunk_loss.FOLLOWER):
            assert f"Broker {broker} is registered." in practice.run("start-broker", str(broker))
        practice.until("not healed: records acknowledged with acks=all can be lost while one replica is in sync")
        for topic in ("payments", "invoices"):
            set_topic(practice, topic, "unclean.leader.election.enable=false")
        assert "HEALED" not in "".join(practice.said)
        for topic in ("audit", "clicks", "payments", "views"):
            set_topic(practice, topic, "min.insync.replicas=2")
        written = len(isr_shrunk_loss.WRITTEN) + len(isr_shrunk_loss.LOSING) + 1
        kept = f"All {isr_shrunk_loss.RECORDS * written} records that had been acknowledged are still stored."
        assert kept in practice.until("HEALED")


def test_acks1(tmp_path):
    """The loss stays; it is healed when neither the application nor the topic can lose records in this way again."""
    with practising(tmp_path / "out", "acks1-loss") as practice:
        assert "an application can lose acknowledged records" in "".join(practice.said)
        settings = practice.folder / "clients" / "billing" / "producer.properties"
        settings.write_text(settings.read_text().replace("acks=1", "acks=all"))
        practice.until("not healed: records acknowledged with acks=all can be lost while one replica is in sync (payments)")
        set_topic(practice, "payments", "min.insync.replicas=2")
        practice.until("HEALED")


def test_coordinators(tmp_path):
    """A dead cleaner is started again with a larger buffer, and its coordinators answer."""
    with practising(tmp_path / "out", "offsets-bloat") as practice:
        assert "a copy of __consumer_offsets is not compacted" in "".join(practice.said)
        broker = str(offsets_bloat.BLOATED)
        properties = practice.folder / f"broker-{broker}" / "server.properties"
        ((key, value),) = offsets_bloat.ROOMY.items()
        lines = [line for line in properties.read_text().splitlines() if not line.startswith(f"{key}=")]
        properties.write_text("\n".join([*lines, f"{key}={value}"]) + "\n")
        practice.run("stop-broker", broker)
        practice.run("start-broker", broker)
        practice.until("HEALED")
