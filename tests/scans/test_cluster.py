"""The same scan on a real standalone cluster: a master and two workers from pyspark's jars, with nothing of ours but jars."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from tests.scans import scan_elsewhere, standalone

QUICK = "-XX:TieredStopAtLevel=1"
COPIES = 5


@pytest.fixture
def servers(tmp_path):
    """A master's address, and its two workers, whose executors would fail to start any Python."""
    with standalone.cluster(tmp_path, environment={"PYSPARK_PYTHON": "/bin/false", "JDK_JAVA_OPTIONS": QUICK}) as started:
        yield started


@pytest.fixture
def log(written, tmp_path):
    """A log dir of many partitions: real ones, each under many names."""
    place = tmp_path / "log"
    for folder in (folder for kafka in written.values() for folder in sorted(kafka.glob("*-0"))):
        for number in range(COPIES):
            copy = place / folder.parent.name / f"{folder.name.removesuffix('-0')}-{number}"
            shutil.copytree(folder, copy, copy_function=os.link)
    return sorted(place.iterdir())


def events(folder):
    """What happened to tasks, from the event log."""
    lines = (line for file in sorted(folder.rglob("events_*")) for line in file.read_text().splitlines())
    return [event for event in map(json.loads, lines) if event["Event"] == "SparkListenerTaskEnd"]


def test_a_worker_dies(servers, spark, log, tmp_path):
    """Byte for byte the table of this machine alone; a worker killed in mid-scan costs a retry and nothing else."""
    master, workers = servers
    happened, there, here = tmp_path / "events", tmp_path / "there.parquet", tmp_path / "here.parquet"
    happened.mkdir()
    settings = {
        "spark.executor.memory": "500m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": happened.as_uri(),
    }
    configuration = standalone.configuration(tmp_path / "conf", master, workers, **settings)
    begun = tmp_path / "begun"
    command = [sys.executable, scan_elsewhere.__file__, there, begun, *log]
    environment = os.environ | {"SPARK_CONF_DIR": str(configuration), "JDK_JAVA_OPTIONS": QUICK}
    with subprocess.Popen(list(map(str, command)), env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as cluster:
        standalone.wait(lambda: begun.exists() or cluster.poll() is not None)
        os.killpg(workers[0].pid, signal.SIGKILL)
        scan_elsewhere.write_scan(spark, here, tmp_path / "begun here", log)
        assert cluster.communicate(timeout=100)[0].strip() == master
    assert there.read_bytes() == here.read_bytes()
    ended = events(happened)
    lost = [event for event in ended if event["Task End Reason"]["Reason"] == "ExecutorLostFailure"]
    assert lost and {place(event) for event in lost} <= {place(event) for event in ended if succeeded(event)}


def place(event):
    return event["Stage ID"], event["Task Info"]["Index"]


def succeeded(event):
    return event["Task End Reason"]["Reason"] == "Success"
