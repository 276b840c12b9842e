"""What a job of Spark tells while it runs, and that it ends with whoever asked for it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from casebook.machine import places
from casebook.spark import watched
from casebook.spark.jvm import kafka_jars
from casebook.spark.session import _own_interrupts
from tests.conftest import QUICK_JAVA


@pytest.fixture
def as_in_a_kernel():
    """SIGINT as ipykernel sets it before every cell, in place of Spark's own handler, which would cancel every job there is."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


SOON, MANY = 60, 2000
"""Seconds, and naps that take five times as long on two processors."""


def naps(spark, count):
    """Tasks that take 0.3 s each."""
    return spark.range(0, count, 1, count).selectExpr("java_method('java.lang.Thread', 'sleep', 300L) AS nap")


def running(spark):
    """How many tasks executors are at, whatever became of their jobs."""
    return sum(executor.numRunningTasks() for executor in spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos())


def test_an_interrupt_ends_the_job(spark, as_in_a_kernel):
    """Soon no task of it runs; all of them would take minutes."""
    counts = []

    def interrupt(done, total):
        if done and not counts:
            counts.append(running(spark))
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        watched(spark, naps(spark, MANY).collect, what="naps", progress=interrupt)
    deadline = time.monotonic() + SOON
    while running(spark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert counts[0] and not running(spark)


def test_progress_is_told(spark):
    """Tasks done and known, never fewer than before, in the end all of them."""
    told = []
    watched(spark, naps(spark, 32).collect, what="naps", progress=lambda *progress: told.append(progress))
    assert told[-1] == (32, 32)
    assert sorted(told) == told and len(set(told)) > 2


def test_jars_of_the_user_go_along():
    """What --jars names wins over what a session is built with; it must not cost the session our own."""
    segment = min((places.samples_dir() / "offsets_bloat" / "brokers").glob("*/segments/**/*.log"))
    program = f"from casebook.spark import segments, session; print(segments(session(), 'file:{segment}').count())"
    arguments = f"--master local[1] --jars {kafka_jars()[0]} pyspark-shell"
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": arguments, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert int(done.stdout) > 0, done.stderr


def test_no_name_is_asked_for(tmp_path):
    """Not even that of this machine: Java knows none but localhost here, and Spark needs no other."""
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n")
    options = f"{QUICK_JAVA} -Djdk.net.hosts.file={tmp_path / 'hosts'}"
    kept = {name: value for name, value in os.environ.items() if name not in ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME")}
    program = "from casebook.spark.session import session; print(session().range(7).count())"
    done = subprocess.run(
        [sys.executable, "-c", program], env=kept | {"JDK_JAVA_OPTIONS": options}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "7\n", done.stderr


@pytest.mark.parametrize(
    ("before", "after"), [("default_int_handler", "default_int_handler"), ("SIG_IGN", "default_int_handler"), ("own", "own")]
)
def test_ctrl_c_stays_as_it_was(before: str, after: str):
    """Spark's own handler calls the JVM from within another call; also a process that began in the background can be stopped."""
    handlers = {"own": lambda *_: None} | {name: getattr(signal, name) for name in ("default_int_handler", "SIG_IGN")}
    at_first = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, handlers[before])
        with suppress(RuntimeError), _own_interrupts():
            signal.signal(signal.SIGINT, lambda *_: None)
            raise RuntimeError("Spark does not start.")
        assert signal.getsignal(signal.SIGINT) is handlers[after]
    finally:
        signal.signal(signal.SIGINT, at_first)
