"""What will work on this machine and what will not, and why."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from casebook import places
from casebook.errors import CasebookError

_JAVA_NEEDED = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One thing looked at.

    Args:
        what: The thing.
        ok: Whether it is as needed.
        found: What is there.
        try_: What to do when it is not.
    """

    what: str
    ok: bool
    found: str
    try_: str = ""


def examine(zookeeper: str | None = None) -> tuple[Examined, ...]:
    """Look at everything the workbook rests on."""
    looked = [_python(), _packages(), _java(), _javac(), _runs(), _notebooks(), _profiles()]
    return (*looked, _zookeeper(zookeeper)) if zookeeper else tuple(looked)


def _python() -> Examined:
    return Examined(
        what="Python", ok=sys.version_info >= (3, 11), found=sys.version.split()[0], try_="Install Python 3.11 or newer."
    )


def _packages() -> Examined:
    missing = []
    for requirement in metadata.requires("kafka-casebook") or []:
        if "extra ==" in requirement:
            continue
        name, _, wanted = requirement.partition("==")
        try:
            if metadata.version(name.strip()) != wanted.strip():
                missing.append(f"{name.strip()} {metadata.version(name.strip())} instead of {wanted.strip()}")
        except metadata.PackageNotFoundError:
            missing.append(name.strip())
    return Examined(what="Packages", ok=not missing, found=", ".join(missing) or "as pinned", try_="make install")


def _java() -> Examined:
    java = shutil.which("java", path=os.pathsep.join(filter(None, (_java_home(), os.environ.get("PATH")))))
    try_ = f"Install a JDK {_JAVA_NEEDED} or newer; rehearsals and segment scans need it, reading ZooKeeper does not."
    if java is None:
        return Examined(what="Java", ok=False, found="none", try_=try_)
    said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    match = re.search(r'version "(\d+)', said)
    ok = bool(match) and int(match[1]) >= _JAVA_NEEDED
    return Examined(what="Java", ok=ok, found=said.splitlines()[0] if said else "unknown", try_=try_)


def _javac() -> Examined:
    javac = shutil.which("javac", path=os.pathsep.join(filter(None, (_java_home(), os.environ.get("PATH")))))
    try_ = f"Install a JDK {_JAVA_NEEDED} or newer, not a JRE; segment scans compile their data source with it on first use."
    return Examined(what="Java compiler", ok=javac is not None, found=javac or "none", try_=try_)


def _java_home() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin") if home else None


def _runs() -> Examined:
    runs = places.runs_dir()
    existing = next(folder for folder in (runs, *runs.parents) if folder.exists())
    return Examined(
        what="Runs folder", ok=os.access(existing, os.W_OK), found=str(runs), try_="Set CASEBOOK_RUNS to a folder you may write."
    )


def _notebooks() -> Examined:
    from casebook import notebooks, sources

    try:
        found = f"{len(notebooks.every())} notebooks, {len(sources.samples())} samples"
    except CasebookError as error:
        return Examined(what="Notebooks", ok=False, found=error.what, try_=error.try_ or "")
    return Examined(what="Notebooks", ok=True, found=found)


def _profiles() -> Examined:
    folder = places.profiles_dir()
    return Examined(what="Live profiles", ok=True, found=f"{len(list(folder.glob('*.toml')))} in {folder}")


def _zookeeper(connect: str) -> Examined:
    from casebook.collect.zookeeper import reach

    try:
        return Examined(what="ZooKeeper", ok=True, found=reach(connect))
    except CasebookError as error:
        return Examined(what="ZooKeeper", ok=False, found=error.what, try_=error.try_ or "Check host, port and chroot.")
