"""The server jars: locked, verified, cached."""

import pytest

from casebook.errors import RehearsalError
from casebook.machine import jars
from casebook.rehearsal.servers import jars as servers


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("CASEBOOK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class TestJars:
    def test_versions(self):
        """Of each mode, oldest first."""
        assert servers.versions() == ("0.9.0.1", "0.11.0.3", "1.1.1", "2.8.2", "3.9.2")
        assert servers.kraft_versions() == ("3.9.2", "4.4.0")

    @pytest.mark.parametrize("kafka", sorted({*servers.versions(), *servers.kraft_versions()}))
    def test_cached(self, kafka):
        """Each jar that is locked is there, and Kafka itself is among them."""
        found = servers.jars(kafka)
        assert all(jar.is_file() for jar in found)
        assert any(jar.name.startswith("org.apache.kafka-kafka_") for jar in found)

    def test_unknown_version(self):
        """The error names those that are known."""
        with pytest.raises(RehearsalError, match=r"0\.9\.0\.1, .*, 3\.9\.2"):
            servers.jars("4.0.0")

    @pytest.mark.parametrize(("kafka", "among"), [("4.4.0", servers.versions()), ("2.8.2", servers.kraft_versions())])
    def test_other_mode(self, kafka, among):
        """A version that is known, but not for this mode, is refused before anything is fetched."""
        with pytest.raises(RehearsalError, match=r"not known here.*3\.9\.2"):
            servers.jars(kafka, among=among)

    def test_replaced_jar_is_refused(self, own_cache, monkeypatch):
        """A jar with another sha256 never gets into the cache."""

        def serve_something_else(ivy_file, into, error):
            into.mkdir()
            for jar in servers.jar_names("0.9.0.1"):
                (into / jar).write_bytes(b"something else")

        monkeypatch.setattr(jars, "_retrieve", serve_something_else)
        with pytest.raises(RehearsalError, match="is not the jar that was locked"):
            servers.jars("0.9.0.1")
        assert not (own_cache / "servers" / "0.9.0.1").exists()

    def test_no_network(self, own_cache, monkeypatch):
        """Said in words, with what to do; what the resolver said is in a file."""
        monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1")
        with pytest.raises(RehearsalError, match="could not be fetched") as caught:
            servers.jars("0.9.0.1")
        assert "no network" in caught.value.cause
        assert (own_cache / "fetch-0.9.0.1.log").exists()
        assert not (own_cache / "servers" / "0.9.0.1").exists()

    def test_no_java(self, monkeypatch):
        """Said in words."""
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("JAVA_HOME", raising=False)
        with pytest.raises(RehearsalError, match="no java"):
            servers.java()
