"""What schedulers need: their own tools, in an environment of their own, and a cluster to report on."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.machine import locks, places, private
from casebook.rehearsal.servers.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper

LOCK = Path(__file__).with_name("tools.lock")


@pytest.fixture(scope="session")
def tools() -> Path:
    """The Python of an environment with Airflow, a Kubernetes validator and an S3 server: installed once, kept in the cache."""
    folder = places.cache_dir() / "schedulers" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    python = folder / "bin" / "python"
    private.folder(folder.parent)
    with locks.one_at_a_time(folder.parent):
        if not (folder / ".ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            # 240 packages: pip would take twice as long, and compile them all, though little of them is used.
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
            subprocess.run([*pip, "-r", LOCK.with_name("uv.lock")], check=True)
            uv = [python, "-m", "uv", "pip", "install", "--quiet", "--no-cache", "--python", python, "--require-hashes"]
            subprocess.run([*uv, "-r", LOCK], check=True)
            (folder / ".ready").touch()
    return python


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Connect string of a real ZooKeeper with the znodes of an incident."""
    guarded = Guarded()
    server = ZooKeeper(tmp_path_factory.mktemp("zookeeper"), guarded)
    sample = Case.open(places.samples_dir() / "leader_minus_one")
    server.tree({f"/kafka{z.path}": z.data for z in sample.znodes() if z.stat is not None})
    yield f"{server.address}/kafka"
    server.close()
    guarded.close()


@pytest.fixture(scope="session")
def bucket(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an S3 server with the bucket ``reports``."""
    program = (
        "import boto3, sys, time\n"
        "from moto.server import ThreadedMotoServer\n"
        "server = ThreadedMotoServer('127.0.0.1', 0); server.start()\n"
        "host, port = server.get_host_and_port()\n"
        "client = boto3.client('s3', region_name='eu-central-1', endpoint_url=f'http://{host}:{port}',\n"
        "                      aws_access_key_id='x', aws_secret_access_key='x')\n"
        "client.create_bucket(Bucket='reports', CreateBucketConfiguration={'LocationConstraint': 'eu-central-1'})\n"
        "print(f'\\nhttp://{host}:{port}', flush=True)\n"
        "sys.stdin.read()\n"
    )
    log = (tmp_path_factory.mktemp("s3") / "server.log").open("w")
    server = subprocess.Popen([tools, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    yield next(line.strip() for line in server.stdout if line.startswith("http"))
    server.stdin.close()  # it ends with whoever holds the other end
    server.wait()
    server.stdout.close()
    log.close()
