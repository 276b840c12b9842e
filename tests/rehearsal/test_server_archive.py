"""The archive of a release's classes: servers take it, and start without one, or with one of other jars."""

import subprocess

import pytest

from casebook.rehearsal.servers import archiving, class_archive, jars
from casebook.rehearsal.servers.installation import Installation, command

KAFKA = "0.9.0.1"


@pytest.fixture(scope="module")
def archive():
    """Of the oldest release, whose is made soonest."""
    return archiving.make(KAFKA)


def loaded_from(folder, server_jars):
    """Where a server's Java takes the server's main class from; without arguments it ends at once and says how it is used."""
    folder.mkdir()
    log, place = folder / "classes", Installation(name="broker-1", home=folder, port=1)
    server = command(place, jars=server_jars, options=[f"-Xlog:class+load:file={log}"], main="kafka.Kafka")
    said = subprocess.run(server, capture_output=True, text=True, check=False)
    assert "USAGE" in said.stdout + said.stderr
    assert "cds" not in said.stdout + said.stderr
    return next(line.partition(" source: ")[2] for line in log.read_text().splitlines() if " kafka.Kafka source: " in line)


def test_servers_take_it(archive, tmp_path):
    """Java says of each class which file it comes from."""
    assert loaded_from(tmp_path / "home", jars.jars(KAFKA)) == "shared objects file (top)"


def test_a_second_time_nothing_is_made(archive):
    """It stays as it is."""
    before = archive.stat()
    assert archiving.make(KAFKA) == archive
    assert archive.stat().st_mtime_ns == before.st_mtime_ns


def test_of_other_jars(archive, tmp_path, monkeypatch):
    """Java does not take it, and nothing is said of it: classes come from the jars."""
    monkeypatch.setattr(class_archive, "path", lambda _: archive)
    assert loaded_from(tmp_path / "home", jars.jars(KAFKA)[::-1]).startswith("file:")


def test_without(tmp_path, monkeypatch):
    """As before there was any."""
    monkeypatch.setattr(class_archive, "path", lambda _: tmp_path / "none.jsa")
    assert loaded_from(tmp_path / "home", jars.jars(KAFKA)).startswith("file:")
