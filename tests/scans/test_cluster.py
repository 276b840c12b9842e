"""The same scan on a real standalone cluster: a master and two workers from pyspark's jars, with nothing of ours but jars."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from casebook import jars
from casebook.errors import ScanError
from casebook.rehearsal.ports import HOST, free_port, listens
from casebook.scans import jvm

DEPLOY = "org.apache.spark.deploy"


@pytest.fixture
def servers(tmp_path):
    """A master's address, and its two workers, whose executors would fail to start any Python."""
    spark = jars.spark_jars(ScanError)
    port, started = free_port(), []
    scala = next(spark.glob("spark-core_*.jar")).name.removeprefix("spark-core_").partition("-")[0]
    environment = os.environ | {"SPARK_HOME": str(spark.parent), "SPARK_LOCAL_IP": HOST, "SPARK_SCALA_VERSION": scala}
    environment |= {"PYSPARK_PYTHON": "/bin/false"}

    def start(name, *arguments):
        command = [jars.java(ScanError), "-Xmx256m", "-cp", f"{spark}/*", *arguments]
        with (tmp_path / f"{name}.out").open("w") as out:
            started.append(
                subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=out, stderr=out, start_new_session=True)
            )
        return started[-1]

    try:
        start("master", f"{DEPLOY}.master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0")
        wait(lambda: listens(port))
        worker = (
            f"{DEPLOY}.worker.Worker",
            "--host",
            HOST,
            "--webui-port",
            "0",
            "--cores",
            "1",
            "--memory",
            "600m",
            f"spark://{HOST}:{port}",
        )
        workers = [start(f"worker-{number}", *worker) for number in (1, 2)]
        yield f"spark://{HOST}:{port}", workers
    finally:
        for server in started:
            server.poll() is None and os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def wait(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def scan(tmp_path, name, places, defaults):
    """Start a scan with the user's own configuration; it ends by itself."""
    configuration = tmp_path / f"conf-{name}"
    configuration.mkdir()
    (configuration / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in defaults.items()))
    command = [
        sys.executable,
        Path(__file__).parent / "scan_elsewhere.py",
        tmp_path / f"{name}.parquet",
        tmp_path / f"{name}.begun",
        *places,
    ]
    environment = os.environ | {"SPARK_CONF_DIR": str(configuration)}
    return subprocess.Popen(list(map(str, command)), env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)


def test_standalone_cluster_and_a_worker_that_dies(servers, written, tmp_path):
    """Byte for byte the table of this machine alone; a worker killed in mid-scan costs a retry and nothing else."""
    master, workers = servers
    places = [folder for kafka in written.values() for folder in sorted(kafka.glob("*-0"))]
    there = {
        "spark.master": master,
        "spark.jars": ",".join(map(str, jvm.source_jars())),
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.ui.enabled": "false",
        "spark.executor.memory": "500m",
    }
    alone = scan(tmp_path, "alone", places, {})
    assert alone.communicate(timeout=120)[0].startswith("local")
    cluster = scan(tmp_path, "cluster", places, there)
    wait(lambda: (tmp_path / "cluster.begun").exists() or cluster.poll() is not None)
    os.killpg(workers[0].pid, signal.SIGKILL)
    assert cluster.communicate(timeout=120)[0].strip() == master
    assert cluster.returncode == 0
    assert (tmp_path / "cluster.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()
