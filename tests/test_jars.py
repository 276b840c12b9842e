"""Jars from the cache are what was locked, at each use."""

import os
import shutil
from pathlib import Path

import pytest

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.spark import jvm

NO_NETWORK = "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=9 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, with Kafka's reader and the compiled sources; Ivy's is not in it."""
    (jar, *kafka) = jvm.source_jars()
    for folder in (jar.parent, kafka[0].parent):
        shutil.copytree(folder, tmp_path / "cache" / folder.parent.name / folder.name)
    monkeypatch.setenv("CASEBOOK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def changed(jar: Path, how: str) -> None:
    """One byte of it, with size and time as they were; its end; all of it."""
    there = jar.stat()
    content = bytearray(jar.read_bytes())
    content[len(content) // 2] ^= 1
    if how == "gone":
        jar.unlink()
    else:
        jar.write_bytes(content if how == "one bit" else content[:-1])
        os.utime(jar, ns=(there.st_atime_ns, there.st_mtime_ns))


@pytest.mark.parametrize("how", ["one bit", "cut", "gone"])
def test_a_changed_jar_is_not_used(how, cache, monkeypatch):
    """It is named and fetched again; where that cannot be done, nothing starts with it."""
    jar = jvm.kafka_jars()[0]
    changed(jar, how)
    assert [name for name in jvm.lacking().fetched if jars.jar_name(name) == jar.name]
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", NO_NETWORK)
    told: list[str] = []
    with pytest.raises(ScanError) as caught:
        jvm.source_jars(progress=told.append)
    assert jar.name in told[0] and jar.name in caught.value.what
    assert str(jar.parent) in told[0]


def test_a_changed_jar_is_fetched_again(cache, monkeypatch):
    """From Ivy's cache, or from Maven Central; the folder has all of them then, as locked."""
    jar = jvm.kafka_jars()[0]
    sound = jar.read_bytes()
    changed(jar, "one bit")

    def retrieved(_ivy_file, into, _error, **_options):
        into.mkdir()
        for other in jar.parent.iterdir():
            (into / other.name).write_bytes(sound if other.name == jar.name else other.read_bytes())

    monkeypatch.setattr(jars, "_retrieve", retrieved)
    assert jvm.kafka_jars()[0].read_bytes() == sound
    assert [path.name for path in jar.parent.parent.iterdir() if path.name.startswith(".casebook")] == []


def test_changed_classes_of_ours_are_compiled_again(cache):
    """What javac wrote is held against its hash."""
    jar = jvm.source_jars()[0]
    changed(jar, "one bit")
    assert jvm.lacking().compiled
    told: list[str] = []
    assert jvm.source_jars(progress=told.append)[0] == jar
    assert told and not jvm.lacking().compiled
