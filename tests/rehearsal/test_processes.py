"""What a server is asked for while it runs."""

import subprocess
import sys
import time
from pathlib import Path

from casebook.rehearsal.servers.processes import Server

COME_AND_GO = """
from threading import Thread
while True:
    Thread(target=int).start()
"""
BUSY, PATIENCE = 0.1, 60.0
"""Seconds of processor time up to which it is counted, and of waiting for it."""


def test_processor_time_while_threads_end():
    """Threads that end while they are counted are passed over."""
    with subprocess.Popen([sys.executable, "-c", COME_AND_GO]) as process:
        try:
            server, name, deadline = Server(process), Path(sys.executable).name[:15], time.monotonic() + PATIENCE
            while (used := server.cpu_seconds(name)) < BUSY and time.monotonic() < deadline:
                pass
        finally:
            process.kill()
    assert used >= BUSY
