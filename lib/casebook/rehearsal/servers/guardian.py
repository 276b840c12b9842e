"""Outlives the process that started the servers, just long enough to stop them.

Run as a script by :class:`casebook.rehearsal.servers.processes.Guarded`, never imported: it holds the reading end of a pipe whose
writing end closes with the parent, however it dies. Then it kills the servers' process group and removes their folder. One exit
for a normal end, an exception, Ctrl-C and ``kill -9``.

Arguments: the folder to remove, if any. Prints the id of the process group for the servers.
"""

import os
import shutil
import signal
import sys
import time

PATIENCE = 5.0
"""Seconds for killed processes to disappear before their folder is removed."""


def main(folder: str | None) -> None:
    """Wait for the parent's end, then clean up."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    group = os.fork()
    if group == 0:  # first member of the group: it keeps the group's id from being reused
        os.setpgid(0, 0)
        while True:
            signal.pause()
    os.setpgid(group, group)
    sys.stdout.write(f"{group}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os.killpg(group, signal.SIGKILL)
    os.waitpid(group, 0)
    _until_gone(group)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _until_gone(group: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
