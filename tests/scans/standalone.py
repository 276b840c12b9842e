"""A real Spark standalone cluster on this machine: a master and workers of one core each, from pyspark's jars."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.rehearsal.servers.ports import HOST, free_port, listens
from casebook.spark import jvm
from tests.ends import PATIENCE

DEPLOY = "org.apache.spark.deploy"


@contextmanager
def cluster(
    folder: Path, *, workers: int = 2, memory: str = "600m", environment: Mapping[str, str]
) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """Start servers that write below a folder; yield the master's address and the workers, and kill them all at the end."""
    spark = jars.spark_jars(ScanError)
    port, started = free_port(), []
    scala = next(spark.glob("spark-core_*.jar")).name.removeprefix("spark-core_").partition("-")[0]
    told = os.environ | {"SPARK_HOME": str(spark.parent), "SPARK_LOCAL_IP": HOST, "SPARK_SCALA_VERSION": scala} | environment

    def start(name: str, *arguments: str) -> subprocess.Popen:
        command = [jars.java(ScanError), "-Xmx256m", "-cp", f"{spark}/*", *arguments]
        with (folder / f"{name}.out").open("w") as out:
            started.append(subprocess.Popen(command, env=told, cwd=folder, stdout=out, stderr=out, start_new_session=True))
        return started[-1]

    try:
        start("master", f"{DEPLOY}.master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0")
        wait(lambda: listens(port))
        master = f"spark://{HOST}:{port}"
        options = ("--host", HOST, "--webui-port", "0", "--cores", "1", "--memory", memory)
        yield (
            master,
            [start(f"worker-{number}", f"{DEPLOY}.worker.Worker", *options, master) for number in range(1, workers + 1)],
        )
    finally:
        for server in started:
            server.poll() is None and os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def configuration(folder: Path, master: str, workers: Sequence[object], **settings: str) -> Path:
    """A folder for ``SPARK_CONF_DIR``: a program waits for all workers and uses each of them."""
    usual = {
        "spark.master": master,
        "spark.jars": ",".join(map(str, jvm.source_jars())),
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.ui.enabled": "false",
        "spark.cores.max": str(len(workers)),
        "spark.sql.shuffle.partitions": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }
    folder.mkdir()
    lines = (f"{key} {value}\n" for key, value in (usual | settings).items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return folder


def wait(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for what happens soon."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)
