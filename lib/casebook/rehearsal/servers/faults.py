"""Faults of machines: a broken network, a pause within a garbage collection, a lost disk, a paused ZooKeeper."""

import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import Installation
from casebook.rehearsal.servers.processes import Server

GC_LOG = "kafkaServer-gc.log"
"""Its name in a distribution (``bin/kafka-server-start.sh@2.8.2``)."""
LINK_ADDRESS = "127.0.0.51"
"""Address of the linked broker at ZooKeeper."""
_GC_OPTIONS = (
    "-Xlog:gc*:file={}:time,tags:filecount=10,filesize=100M",  # bin/kafka-run-class.sh@2.8.2, since Java 9
    "-Xmn1m",  # so little room for young objects that even an idle broker collects about every second
)
_PAUSE = re.compile(r"\]\[gc(?P<begins>,start)? *\] GC\(\d+\) Pause ")
_FSYNC = {"x86_64": {"74", "75"}, "aarch64": {"82", "83"}}.get(platform.machine(), set())
"""Numbers of the system calls ``fsync`` and ``fdatasync``."""
_SYNC_THREAD = "SyncThread:0"
_LOAD = "/load"
_WRITES = 20
_TRIES = 40
_PATIENCE = 60.0
_MOMENT = 0.0005
_STOPPED = 0.05
"""Seconds until all threads of a process have noticed its suspension, even one waiting for a disk."""


class FaultyCluster(PlayedCluster):
    """A cluster with a breakable ZooKeeper link for one broker, a GC log for one, and a second log dir for one.

    Args:
        linked: Broker with the link.
        collecting: Broker with the GC log.
        two_dirs: Broker with the second log dir.
        more: Arguments of :class:`PlayedCluster`.
    """

    def __init__(self, *, linked: int, collecting: int, two_dirs: int, **more: object) -> None:
        super().__init__(**more)
        self._linked, self._collecting, self._two_dirs = linked, collecting, two_dirs

    @property
    def second_dir(self) -> Path:
        """Log dir that can fail: a link to a folder."""
        return self._place[self._two_dirs].home / "second"

    def session(self, broker: int) -> str:
        """Return the session of a broker's registration, in ZooKeeper's notation."""
        _, stat = self._client.get(f"/brokers/ids/{broker}")
        return f"0x{stat.ephemeralOwner:x}"

    def cut(self) -> None:
        """Break the link."""
        self._link.freeze()

    def mend(self) -> None:
        """Restore the link."""
        self._link.thaw()

    def freeze_collecting(self) -> int:
        """Suspend the broker with the GC log during a collection, like a swapping machine.

        Returns:
            When it was suspended, epoch ms: that it was within a collection is known a moment later.

        Raises:
            RehearsalError: It did not collect, or always ended before the suspension.

        Only its first line may be written: with a second, its end may be measured already. The log is read without rest, since a
        pause takes about a millisecond.
        """
        with (self._place[self._collecting].logs / GC_LOG).open() as log:
            log.seek(0, os.SEEK_END)
            deadline = time.monotonic() + _PATIENCE
            while time.monotonic() < deadline:
                if _collects(log.read()):
                    suspended = time.time_ns() // 1_000_000
                    self.freeze(self._collecting)
                    time.sleep(_STOPPED)
                    if not log.read():
                        return suspended
                    self.thaw(self._collecting)
        raise RehearsalError(f"Broker {self._collecting} could not be suspended within a collection.", try_="Play it again.")

    def fail_second_dir(self) -> None:
        """Replace the second log dir by a file: the next checkpoint cannot be written.

        Its link is replaced, at once: were it missing for a moment, its files would be, too, and that is another failure.
        """
        instead = self.second_dir.with_name("instead")
        instead.write_text("")
        instead.replace(self.second_dir)

    def freeze_zookeeper(self) -> tuple[int, bool]:
        """Suspend ZooKeeper while it waits for its disk.

        Returns:
            When it was suspended, epoch ms; and whether it did wait, or the disk is none that lets wait.
        """
        self._client.ensure_path(_LOAD)
        for _ in range(_TRIES):
            for _ in range(_WRITES):
                self._client.set_async(_LOAD, bytes(2000))
            time.sleep(_MOMENT)
            suspended = time.time_ns() // 1_000_000
            self._zookeeper.freeze()
            time.sleep(_STOPPED)
            if self._zookeeper_syncs():
                return suspended, True
            self._zookeeper.thaw()
        suspended = time.time_ns() // 1_000_000
        self._zookeeper.freeze()
        return suspended, False

    def thaw_zookeeper(self) -> None:
        """Resume ZooKeeper."""
        self._zookeeper.thaw()

    def _zookeeper_syncs(self) -> bool:
        tasks = Path(f"/proc/{self._zookeeper.pid}/task").iterdir()
        sync = next(task for task in tasks if (task / "comm").read_text().strip() == _SYNC_THREAD)
        return (sync / "syscall").read_text().partition(" ")[0] in _FSYNC

    def _start_brokers(self) -> None:
        self._link, self._link_address = self._start_link()
        disk = self.second_dir.with_name("disk")
        disk.mkdir(parents=True)
        self.second_dir.symlink_to(disk)
        super()._start_brokers()

    def _start_link(self) -> tuple[Server, str]:
        output = self.home / "link.out"
        command = [sys.executable, "-m", "casebook.rehearsal.servers.link", self.zookeeper_address, LINK_ADDRESS]
        link = self._guarded.start(command, folder=self.home, output=output)
        self.wait_until(lambda: output.read_text().endswith("\n"), what="the link to ZooKeeper")
        return link, output.read_text().strip()

    def _launch_broker(self, broker: int) -> None:
        shared = self._settings
        self._settings = shared | self._own_settings(broker)
        super()._launch_broker(broker)
        self._settings = shared

    def _command(self, place: Installation, options: Sequence[str] = ()) -> list[str]:
        collects = place == self._place[self._collecting]
        own = [option.format(place.logs / GC_LOG) for option in _GC_OPTIONS] if collects else []
        return super()._command(place, [*options, *own])

    def _own_settings(self, broker: int) -> dict[str, str]:
        linked = {"zookeeper.connect": f"{self._link_address}{self.chroot}"} if broker == self._linked else {}
        dirs = {"log.dirs": f"{self.log_dir(broker)},{self.second_dir}"} if broker == self._two_dirs else {}
        return linked | dirs


def _collects(told: str) -> bool:
    """Return whether the last pause in a log has only begun."""
    pauses = list(_PAUSE.finditer(told))
    return bool(pauses) and pauses[-1]["begins"] is not None
