"""Java libraries locked by coordinate and sha256: fetched once from Maven Central, cached, and verified at each use.

The resolver is pyspark's own Ivy, so only Java is required.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from casebook.errors import CasebookError
from casebook.machine import locks, private, workshop
from casebook.machine.places import cache_dir

Progress = Callable[[str], None]

JAVA_NEEDED = 17
_INSTALL = f"Install a JDK {JAVA_NEEDED} or newer (openjdk-17-jdk-headless), or set JAVA_HOME to one."


class JavaRelease(NamedTuple):
    """Release of a Java.

    Args:
        number: Feature release, 8 for 1.8; ``None`` when unknown.
        told: Release for people.
    """

    number: int | None
    told: str


def fetched(
    locked: Mapping[str, str],
    folder: Path,
    *,
    what: str,
    error: type[CasebookError],
    progress: Progress = lambda _: None,
) -> tuple[Path, ...]:
    """Return jars in a folder of the cache, each with the content that was locked: hashing 100 MB takes 0.3 s.

    They are fetched when the folder is missing, and again when one of its jars has changed.

    Args:
        locked: sha256 by ``group:artifact:version``.
        folder: Cache folder; its name also names the log of a failed fetch.
        what: Description for people, e.g. ``The servers of Kafka 0.9.0.1``.
        error: Class of error to raise.
        progress: Receives one sentence for each slow step.

    Raises:
        CasebookError: The ``error`` given: no Java, no network, or a jar with the wrong hash.
    """
    if changed(locked, folder):
        private.folder(folder.parent)
        with locks.one_at_a_time(folder.parent):
            if not folder.is_dir():
                progress(f"Fetching {len(locked)} jars, once: {what[0].lower()}{what[1:]}.")
                _fetch(locked, folder, what, error)
            elif names := changed(locked, folder):
                progress(f"Fetching again: {', '.join(names)} in {folder} changed after the fetch.")
                _fetch(locked, folder, f"{what} ({', '.join(names)} in the cache changed after the fetch)", error)
    return tuple(folder / jar_name(coordinate) for coordinate in locked)


def changed(locked: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Return the names of a folder's missing or changed jars."""
    names = {jar_name(coordinate): sha256 for coordinate, sha256 in locked.items()}
    return tuple(name for name, sha256 in names.items() if sha256_of(folder / name) != sha256)


def jar_name(coordinate: str) -> str:
    """File name of a jar in the cache."""
    return coordinate.replace(":", "-") + ".jar"


def java(error: type[CasebookError], command: str = "java") -> str:
    """Return the path of a Java command: from ``$JAVA_HOME``, else the first on the ``PATH``.

    Raises:
        CasebookError: The ``error`` given: it does not exist, or ``java`` is too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(command, path=str(Path(home, "bin"))) if home else None
    if home and not found and command == "java":  # Spark searches nowhere else then
        raise error(f"JAVA_HOME is {home}, and there is no bin/java in it.", try_=f"{_INSTALL} Or unset JAVA_HOME.")
    if not (found := found or shutil.which(command)):
        raise error(f"There is no {command} command, neither in JAVA_HOME nor on the PATH.", try_=_INSTALL)
    if command == "java" and ((release := java_release(found)).number or 0) < JAVA_NEEDED:
        raise error(
            f"Java {JAVA_NEEDED} or newer is needed; {found} is {release.told}.",
            cause="It is the one that JAVA_HOME names." if home else "It is the first java on the PATH.",
            try_=_INSTALL,
        )
    return found


@cache
def java_release(java: str) -> JavaRelease:
    """Return the release of a ``java``: from its release file, else by running it."""
    file = Path(java).resolve().parents[1] / "release"
    told = re.search(r'^JAVA_VERSION="([^"]+)"', file.read_text(errors="replace"), re.MULTILINE) if file.is_file() else None
    if told is None:
        try:
            asked = subprocess.run([java, "-version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return JavaRelease(None, f"a command that does not run ({error})")
        told = re.search(r'version "([^"]+)"', asked.stderr.decode(errors="replace"))
    if told is None:
        return JavaRelease(None, "of unknown release")
    number = re.match(r"(?:1\.)?(\d+)", told[1])
    return JavaRelease(int(number[1]) if number else None, f"Java {told[1]}")


def spark_jars(error: type[CasebookError]) -> Path:
    """Return the folder of pyspark's jars. It is located, not imported: that would take a second.

    Raises:
        CasebookError: The ``error`` given: pyspark is not installed.
    """
    spec = find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else None
    if folder is None or not folder.is_dir():
        raise error("pyspark, whose jars are needed, is not installed.", try_="Install casebook with its dependencies.")
    return folder


def can_be_fetched(coordinate: str, *, seconds: float, error: type[CasebookError]) -> str | None:
    """Try to fetch one jar into Ivy's own cache only, through Java and its proxy settings.

    Args:
        coordinate: ``group:artifact:version``.
        seconds: Timeout.

    Returns:
        Why it cannot, in a few words; ``None`` when it can.

    Raises:
        CasebookError: The ``error`` given: no Java, or no pyspark.
        TimeoutError: The time was not enough to decide.
    """
    with workshop.folder() as scratch:
        ivy_file = scratch / "ivy.xml"
        ivy_file.write_text(_ivy_file([coordinate]))
        try:
            said = _retrieve(ivy_file, scratch / "jars", error, seconds=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"Ivy took longer than {seconds:g} s") from None
    if said is None:
        return None
    reasons = re.findall(r"(?:Host (\S+) not found|(\S+Exception: [^\n]*))", said)
    return next((f"{host} is not known" if host else reason for host, reason in reasons), "Ivy found none")


def _fetch(locked: Mapping[str, str], folder: Path, what: str, error: type[CasebookError]) -> None:
    """Fetch next to ``folder``, verify, then rename: an incomplete folder is never visible."""
    with workshop.folder(beside=folder.parent) as scratch:
        ivy_file, into = scratch / "ivy.xml", scratch / "jars"
        ivy_file.write_text(_ivy_file(locked))
        ivy = cache_dir() / "ivy"
        private.folder(ivy)
        with locks.one_at_a_time(ivy):  # Ivy has no locks of its own
            said = _retrieve(ivy_file, into, error)
        if said is not None:
            log = cache_dir() / f"fetch-{folder.name}.log"
            log.write_text(said)
            raise error(
                f"{what} could not be fetched from Maven Central.",
                cause=f"The usual cause is no network, or a proxy that Java does not use; Ivy's output is in {log}.",
                try_=f"Set the proxy in JAVA_TOOL_OPTIONS, or copy {folder.parent} from a machine that has it.",
            )
        for coordinate, sha256 in locked.items():
            _verify(into / jar_name(coordinate), sha256, error)
        if folder.is_dir():
            folder.rename(scratch / "changed")
        into.rename(folder)


def _retrieve(ivy_file: Path, into: Path, error: type[CasebookError], *, seconds: float | None = None) -> str | None:
    """Fetch the dependencies of an Ivy file; return Ivy's output on failure."""
    cached = cache_dir() / "ivy"
    command = [
        java(error),
        f"-Divy.default.ivy.user.dir={cached}",
        *("-jar", str(sorted(spark_jars(error).glob("ivy-*.jar"))[-1])),
        *("-cache", str(cached)),
        *("-ivy", str(ivy_file)),
        *("-retrieve", str(into / "[organisation]-[artifact]-[revision].[ext]")),
    ]
    ivy = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=seconds
    )
    return ivy.stdout + ivy.stderr if ivy.returncode else None


def _ivy_file(locked: Iterable[str]) -> str:
    """Return a module that depends on jars; Ivy caches results by module name, so each has its own."""
    module = hashlib.sha256("\n".join(locked).encode()).hexdigest()[:16]
    one = '<dependency org="{}" name="{}" rev="{}" conf="default->master" transitive="false"/>'
    dependencies = "\n".join(one.format(*coordinate.split(":")) for coordinate in locked)
    return f"""<ivy-module version="2.0">
<info organisation="casebook" module="{module}"/>
<configurations><conf name="default"/></configurations>
<dependencies>
{dependencies}
</dependencies>
</ivy-module>"""


def sha256_of(jar: Path) -> str:
    """Return the hash of a jar, in hexadecimal; another word when it does not exist."""
    if not jar.is_file():
        return "nothing"
    with jar.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(jar: Path, sha256: str, error: type[CasebookError]) -> None:
    if (found := sha256_of(jar)) != sha256:
        raise error(
            f"{jar.name} is not the jar that was locked.",
            cause=f"Its sha256 should be {sha256} and is {found}: it was damaged or replaced on its way.",
            try_=(
                f"Remove {cache_dir() / 'ivy'} and try again. If the error stays, ask your administrator who changes "
                "downloads from Maven Central."
            ),
        )
