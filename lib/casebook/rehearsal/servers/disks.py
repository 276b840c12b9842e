"""Broker disks during a play: segments, checkpoints and log lines."""

from collections.abc import Iterable
from pathlib import Path

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.topics import Partition


def segments(log_dir: Path, partition: Partition) -> list[Path]:
    """Return the ``.log`` files of a partition, oldest first."""
    topic, number = partition
    return sorted((log_dir / f"{topic}-{number}").glob("*.log"))


def size(log_dir: Path, partitions: Iterable[Partition]) -> int:
    """Return the size of the segments of some partitions."""
    return sum(_bytes(file) for partition in partitions for file in segments(log_dir, partition))


def _bytes(file: Path) -> int:
    """Return 0 for a file that the cleaner has just removed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def cleaned(log_dir: Path) -> dict[Partition, int]:
    """Return the last checkpointed cleaner points."""
    return _checkpoint(log_dir / "cleaner-offset-checkpoint")


def high_watermarks(log_dir: Path) -> dict[Partition, int]:
    """Return the last checkpointed high watermarks, written every 5 s: all that a broker knows of them after a crash."""
    return _checkpoint(log_dir / "replication-offset-checkpoint")


def _checkpoint(file: Path) -> dict[Partition, int]:
    """Parse a version, a count, then ``topic partition offset`` lines; the file is replaced atomically."""
    lines = file.read_text().splitlines()[2:] if file.exists() else []
    return {(topic, int(number)): int(offset) for topic, number, offset in map(str.split, lines)}


def log_lines(cluster: PlayedCluster, broker: int, name: str) -> list[str]:
    """Return the lines of one of a broker's log4j files, e.g. ``log-cleaner.log``, including rolled ones of an earlier hour."""
    files = [file for file in cluster.log_files(broker) if file.name.startswith(name)]
    return [
        line
        for file in sorted(files, key=lambda file: file.stat().st_mtime)
        for line in file.read_text(errors="replace").splitlines()
    ]


def load_lines(cluster: PlayedCluster, broker: int) -> list[str]:
    """Return a broker's log lines on loading partitions of the offsets topic."""
    lines = log_lines(cluster, broker, "server.log")
    return [line for line in lines if OFFSETS_TOPIC in line and ("oading offsets" in line or "Scheduling loading" in line)]
