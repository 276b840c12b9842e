"""A Java that was killed, is old or is missing says so; the next scan has another."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from casebook.errors import ScanError
from casebook.machine import jars
from tests.conftest import QUICK_JAVA

KILLED = """
import os, signal, threading
from casebook.errors import ScanError
from casebook.spark.session import session, watched

def died(action):
    try:
        action()
    except ScanError as error:
        print(error)

spark = session()
java = spark.sparkContext._gateway.proc.pid
endless = spark.range(10**14).selectExpr("sum(id % 7)")
threading.Timer(1, os.kill, (java, signal.SIGKILL)).start()
died(lambda: watched(spark, endless.collect, what="a long scan"))
died(lambda: spark.range(3).count())
died(endless.toArrow)
print(session().range(7).count(), session().sparkContext._gateway.proc.pid != java)
"""

DYING = """
import os, signal, subprocess, time
from casebook.errors import ScanError
from casebook.spark.session import session

spark = session()
java = spark.sparkContext._gateway.proc
gone, wait = time.monotonic() + 5, java.wait

def late(timeout):
    time.sleep(max(0, min(gone - time.monotonic(), timeout)))
    if time.monotonic() < gone:
        raise subprocess.TimeoutExpired("java", timeout)
    return wait(timeout)

java.wait = late
os.kill(java.pid, signal.SIGKILL)
try:
    spark.range(3).count()
except ScanError as error:
    print(error)
"""


def scans(program: str, **environment: str) -> subprocess.CompletedProcess:
    """A program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True, timeout=400, check=False
    )


def test_java_is_killed_under_a_scan(tmp_path):
    """Each call that meets its end says so, with cause and advice and without a traceback; then a new one starts."""
    done = scans(KILLED, JDK_JAVA_OPTIONS=QUICK_JAVA, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    *said, last = done.stdout.splitlines()
    assert last == "7 True"
    assert len(said) == 3
    for one in said:
        assert one.startswith("The Java process of a scan ended: killed by SIGKILL.")
        assert "memory" in one and "Run the notebook again" in one
    assert "Traceback" not in done.stderr and "Py4J" not in done.stderr
    assert list(tmp_path.glob("casebook-*")) == []  # what the killed one left has gone with the process that had started it


def test_java_takes_its_time_to_end(tmp_path):
    """On a busy machine its sockets are closed seconds before the system tells of its end."""
    done = scans(DYING, JDK_JAVA_OPTIONS=QUICK_JAVA, TMPDIR=str(tmp_path))
    assert done.stdout.startswith("The Java process of a scan ended: killed by SIGKILL."), done.stderr


@pytest.fixture
def old_java(tmp_path: Path):
    """Make a ``java`` that says what a release of it says."""

    def make(said: str) -> Path:
        home = tmp_path / "old"
        (home / "bin").mkdir(parents=True)
        command = home / "bin" / "java"
        command.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        return home

    return make


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('java version "1.8.0_402"', "Java 1.8.0_402"),
        ('openjdk version "11.0.22" 2024-01-16', "Java 11.0.22"),
        ("The operation couldn\u2019t be completed. Unable to locate a Java Runtime.", "of unknown release"),
    ],
)
@pytest.mark.parametrize("where", ["JAVA_HOME", "PATH"])
def test_an_old_java(said, told, where, old_java, monkeypatch):
    """What was found, where, and what to install."""
    home = old_java(said)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv(where, str(home) if where == "JAVA_HOME" else f"{home / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(ScanError) as caught:
        jars.java(ScanError)
    assert caught.value.what == f"Java 17 or newer is needed; {home / 'bin' / 'java'} is {told}."
    assert where in caught.value.cause
    assert "Install a JDK 17 or newer" in caught.value.try_


def test_spark_is_not_started_with_an_old_java(old_java):
    """It is said before Spark could end without a word."""
    program = "from casebook.spark.session import session; session()"
    done = scans(program, JAVA_HOME=str(old_java('java version "1.8.0_402"')))
    assert done.returncode == 1
    assert "ScanError: Java 17 or newer is needed" in done.stderr.splitlines()[-1]


def test_no_java(monkeypatch, tmp_path):
    """Neither where JAVA_HOME says, which is where Spark looks alone, nor on the PATH."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ScanError, match=f"JAVA_HOME is {tmp_path}, and there is no bin/java in it") as caught:
        jars.java(ScanError)
    assert "unset JAVA_HOME" in caught.value.try_
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ScanError, match="There is no java command, neither in JAVA_HOME nor on the PATH") as caught:
        jars.java(ScanError)
    assert "Install a JDK 17" in caught.value.try_


@pytest.mark.parametrize(
    ("code", "said", "memory", "driver"),
    [
        (-signal.SIGKILL, "killed by SIGKILL", True, "lower spark.driver.memory"),
        (-signal.SIGTERM, "killed by SIGTERM", False, "lower spark.driver.memory"),
        (52, "exit code 52", True, "raise spark.driver.memory"),
        (3, "exit code 3", False, "lower spark.driver.memory"),
    ],
)
def test_how_it_ended(code, said, memory, driver):
    """A signal by its name; the one that the system uses, and Spark's own code, are taken for a lack of memory."""
    from casebook.spark.java_process import ended

    error = ended(code)
    assert said in error.what
    assert ("ran out of memory" in error.cause) == memory
    assert driver in error.try_


def test_the_reader_of_small_logs_is_killed(tmp_path, monkeypatch):
    """It is another Java process, and says the same, though it is in the midst of a row."""
    from casebook.questions.timeline.scans import logs

    (tmp_path / "server.log").write_text("[2026-01-01 00:00:00,000] INFO one (kafka.server.KafkaServer)\n")
    command = tmp_path / "bin" / "java"
    command.parent.mkdir()
    command.write_text(
        '#!/bin/sh\necho \'openjdk version "17.0.1"\' >&2\n[ "$1" = -version ] || { printf \'["file", 0\'; kill -9 $$; }\n'
    )
    command.chmod(0o700)
    logs.classpath()  # by the Java that is there
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ScanError, match="The Java process of a scan ended: killed by SIGKILL"):
        list(logs.typed([(tmp_path / "server.log", "UTC")]))
