"""Servers and their folder go with whoever started them, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from casebook.rehearsal import PlayedCluster

REHEARSES = """
import signal, time
from casebook.rehearsal import PlayedCluster
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs this in the background has SIGINT ignored
with PlayedCluster(brokers=1) as cluster:
    print(cluster.home, flush=True)
    time.sleep(600)
"""


def running_in(home: str) -> list[int]:
    """Processes that name this folder in their command: its servers, and their guardian."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if home.encode() in command.read_bytes():
                found.append(int(command.parent.name))
        except OSError:
            continue  # it ended while we looked
    return found


def gone(home: str, *, within: float = 120.0) -> bool:
    deadline = time.monotonic() + within
    while running_in(home) or Path(home).exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class TestNothingIsLeft:
    def test_after_the_block(self):
        """Normal end."""
        with PlayedCluster(brokers=0) as cluster:
            assert running_in(str(cluster.home))
        assert gone(str(cluster.home), within=0)

    def test_after_an_exception(self):
        """The block is left early."""
        with pytest.raises(ZeroDivisionError), PlayedCluster(brokers=0) as cluster:
            _ = 1 / 0
        assert gone(str(cluster.home), within=0)

    @pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
    def test_after_the_parent_was_ended(self, how):
        """Killed without a word, asked to end, or Ctrl-C."""
        parent = subprocess.Popen([sys.executable, "-c", REHEARSES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        home = parent.stdout.readline().strip()
        assert len(running_in(home)) >= 3  # ZooKeeper, a broker, the guardian
        os.kill(parent.pid, how)
        parent.communicate(timeout=120)
        assert gone(home)

    def test_frozen_servers_go_too(self):
        """A suspended process cannot refuse."""
        with PlayedCluster(brokers=1) as cluster:
            cluster.freeze(1)
        assert gone(str(cluster.home), within=0)

    def test_kept_folder(self, tmp_path):
        """``keep`` leaves the files, and no process."""
        with PlayedCluster(brokers=0, home=tmp_path / "home", keep=True) as cluster:
            pass
        assert (cluster.home / "zookeeper" / "zoo.cfg").exists()
        assert running_in(str(cluster.home)) == []
