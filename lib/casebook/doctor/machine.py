"""Python, its packages, Java and memory."""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from casebook import __version__
from casebook.doctor.examined import Examined
from casebook.errors import CasebookError
from casebook.machine import jars

_TOLD = ("pyspark", "kazoo", "confluent-kafka", "papermill", "jupyterlab")
"""Packages with versions to report."""

_WITHOUT_JAVA = (
    "segments and logs stay unread: notebooks 40, 50 and 60 answer little, 70 may not complete, 10 and 90 leave questions open,"
    " and nothing can be rehearsed. 00, 05, 20, 30 and 80 work."
)
_BESIDE_HEAP = 1_000_000_000
"""Bytes that the JVM needs beyond its heap, and the Python of a notebook with its tables."""


def examine() -> Iterator[Examined]:
    """Examine the installation."""
    yield _python()
    yield _packages()
    yield _java()
    yield _memory()


def available(*, proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes available to a new process: the kernel's free memory, or less under a container's limit.

    Args:
        proc: Kernel's information on memory and this process's groups.
        cgroups: Mount point of the groups, of version 2 or 1.

    Returns:
        ``None`` outside Linux.
    """
    try:
        told = re.search(r"^MemAvailable:\s+(\d+) kB", (proc / "meminfo").read_text(), re.MULTILINE)
        groups = (proc / "self" / "cgroup").read_text()
    except OSError:
        return None
    left = [int(told[1]) * 1024] if told else []
    for hierarchy, controllers, path in (line.split(":", 2) for line in groups.splitlines()):
        if hierarchy == "0":
            left += _left(cgroups, path, ("memory.max", "memory.current", "inactive_file"))
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            left += _left(cgroups / "memory", path, names)
    return min(left, default=None)


def _left(mounted: Path, path: str, names: tuple[str, str, str]) -> Iterator[int]:
    """Yield the remaining memory of a group and its parents; a container sees its own group at the top, whatever its path."""
    limit, usage, freed = names
    group = mounted / path.strip("/")
    for folder in dict.fromkeys((group, *group.parents[: len(Path(path).parts) - 1], mounted)):
        try:
            most, used = (folder / limit).read_text().strip(), int((folder / usage).read_text())
            cached = re.search(rf"^{freed} (\d+)$", (folder / "memory.stat").read_text(), re.MULTILINE)
        except (OSError, ValueError):
            continue
        if most != "max":
            yield int(most) - used + (int(cached[1]) if cached else 0)


def _python() -> Examined:
    return Examined(
        what="Python",
        ok=sys.version_info >= (3, 11),
        found=f"{sys.version.split()[0]}, with casebook {__version__}",
        without="anything may fail.",
        try_="Install Python 3.11 or newer.",
    )


def _packages() -> Examined:
    missing, found = [], {}
    for requirement in metadata.requires("kafka-casebook") or []:
        if "extra ==" in requirement:
            continue
        name, _, wanted = (part.strip() for part in requirement.partition("=="))
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(f"no {name}")
            continue
        if found[name] != wanted:
            missing.append(f"{name} {found[name]} instead of {wanted}")
    told = ", ".join(f"{name} {found[name]}" for name in _TOLD if name in found)
    return Examined(
        what="Packages",
        ok=not missing,
        found=", ".join(missing) or f"as pinned: {told}",
        without="whatever needs these may fail: this combination was never tested.",
        try_="make install",
    )


def _java() -> Examined:
    try:
        java = jars.java(CasebookError)
    except CasebookError as error:
        return Examined(
            what="Java", ok=False, found=f"none is usable: {error.what}", without=_WITHOUT_JAVA, try_=error.try_ or ""
        )
    return Examined(what="Java", ok=True, found=f"{jars.java_release(java).told}, {java}")


def _memory() -> Examined:
    from casebook.spark.session import heap

    wanted, left = heap(), available()
    if wanted is None:
        return Examined(what="Memory", ok=True, found="Spark runs elsewhere, as configured")
    if left is None:
        return Examined(what="Memory", ok=None, found=f"unknown here; a scan needs up to {_gb(wanted + _BESIDE_HEAP)}")
    return Examined(
        what="Memory",
        ok=left >= wanted + _BESIDE_HEAP,
        found=f"{_gb(left)} free; a scan needs up to {_gb(wanted + _BESIDE_HEAP)}, {_gb(wanted)} of it for Spark's heap",
        without="scans of many segments or logs may be killed: notebooks 40, 50, 60, 70 and 90. 00, 05, 20, 30 and 80 work.",
        try_=("Free some memory, raise the container's limit, or set spark.driver.memory in SPARK_CONF_DIR/spark-defaults.conf."),
    )


def _gb(size: int) -> str:
    return f"{max(size, 0) / 1e9:.1f} GB"
