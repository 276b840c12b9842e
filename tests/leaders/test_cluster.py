"""A real cluster on loopback: it comes up, does what it is told, and speaks as a real one does."""

import re

import pytest

from casebook.errors import RehearsalError
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import produce
from tests.rehearsal import plays

LAYOUT = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) .* \([\w.$]+\)$")


class TestLogs:
    @pytest.mark.parametrize("name", ["server.log", "controller.log", "state-change.log", "log-cleaner.log"])
    def test_kafkas_own_files_and_layout(self, leaders_lost, name):
        """Each file is written, in Kafka's default layout; messages of many lines have only their ends in it."""
        log = plays.logged(leaders_lost.out / "during", 3, name)
        assert any(LAYOUT.match(line) for line in log.splitlines())

    def test_state_changes_are_traced_in_0_9(self, leaders_lost):
        """TRACE by default in 0.9, INFO in the later ones."""
        text = plays.logged(leaders_lost.out / "during", 3, "state-change.log")
        assert (" TRACE " in text) == (leaders_lost.kafka == "0.9.0.1")


class TestCluster:
    def test_only_loopback(self, small_cluster):
        """Nothing else of this machine, or of any other, is reached."""
        assert all(address.startswith("127.0.0.1:") for address in [small_cluster.zookeeper, *small_cluster.bootstrap.split(",")])
        assert "listeners=PLAINTEXT://127.0.0.1:" in small_cluster.server_properties(1).read_text()

    def test_frozen_broker_is_given_up_and_comes_back(self, small_cluster):
        """A pause longer than the session costs the registration, not the process."""
        small_cluster.freeze(2)
        small_cluster.wait_gone(2)
        assert small_cluster.running(2)
        small_cluster.thaw(2)
        small_cluster.wait_registered(2)

    def test_stopped_broker_is_gone_at_once(self, small_cluster):
        """SIGTERM ends the session with the broker."""
        small_cluster.stop(2)
        assert small_cluster.registered() == {1}
        small_cluster.start(2)

    def test_zookeeper_returns_with_what_it_knew(self, small_cluster):
        """Killed and started, it still has the topics, and the brokers find it again."""
        small_cluster.create_topic("kept", {0: (1, 2)})
        small_cluster.kill_zookeeper()
        small_cluster.start_zookeeper()
        small_cluster.wait_registered(1, 2)
        assert "kept" in small_cluster.topic_names()

    def test_records_that_nobody_acknowledges(self, small_cluster):
        """Too few in-sync replicas: an error, not a truth that is none."""
        small_cluster.create_topic("refused", {0: (1,)}, {"min.insync.replicas": "2"})
        with pytest.raises(RehearsalError, match="1 of 1 records"):
            produce({("refused", 0): 1}, bootstrap=small_cluster.bootstrap, kafka=small_cluster.kafka, patience=3)

    def test_broker_that_cannot_start(self):
        """Its last words are in the error."""
        with (
            pytest.raises(RehearsalError, match="broker-1 ended while it was starting"),
            PlayedCluster(brokers=1, settings={"log.retention.hours": "never"}),
        ):
            pass

    def test_folder_of_somebody_else(self, tmp_path):
        """A home that holds something is refused: it would be removed at the end."""
        (tmp_path / "mine").write_text("")
        with pytest.raises(RehearsalError, match="not empty"), PlayedCluster(brokers=0, home=tmp_path):
            pass
        assert (tmp_path / "mine").exists()
