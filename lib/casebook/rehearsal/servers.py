"""Kafka's own server jars: fetched once from Maven Central, verified, cached.

``jars.json`` locks every jar of a version by its Maven coordinate and sha256. They are the runtime dependencies of
``org.apache.kafka:kafka_<scala>`` and the log4j binding that this version's distribution carries beside them
(``gradle/dependencies.gradle@2.8.2, 3.9.0-rc3``; 0.9 has it among its dependencies). The resolver is the Ivy that
pyspark brings along, so nothing but Java is needed.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.places import cache_dir

Progress = Callable[[str], None]


@cache
def _locked() -> Mapping[str, Mapping[str, str]]:
    return json.loads(files("casebook.rehearsal").joinpath("jars.json").read_text())


def versions() -> tuple[str, ...]:
    """The Kafka versions that can be rehearsed, oldest first."""
    return tuple(_locked())


def jars(kafka: str, *, progress: Progress = lambda _: None) -> tuple[Path, ...]:
    """Return the jars of a Kafka version, fetching and verifying them when the cache lacks them.

    Args:
        kafka: One of :func:`versions`.
        progress: Told in one sentence what takes time.

    Raises:
        RehearsalError: Unknown version, no Java, no network, or a jar that is not the one locked.
    """
    if kafka not in _locked():
        raise RehearsalError(f"Kafka {kafka} cannot be rehearsed.", try_=f"Choose one of {', '.join(versions())}.")
    folder = cache_dir() / "servers" / kafka
    if not folder.is_dir():
        with _one_at_a_time(folder.parent):
            if not folder.is_dir():
                progress(f"Fetching the {len(_locked()[kafka])} jars of Kafka {kafka}, once.")
                _fetch(kafka, folder)
    return tuple(folder / name for name in jar_names(kafka))


def java() -> str:
    """Return the path of the ``java`` command: the one of ``$JAVA_HOME``, else the first on the ``PATH``.

    Raises:
        RehearsalError: There is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin"))) if home else None
    if not (found := found or shutil.which("java")):
        raise RehearsalError("There is no java command.", try_="Install a JDK 17 or newer, or set JAVA_HOME.")
    return found


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(kafka: str, folder: Path) -> None:
    """Fetch beside ``folder``, verify, and only then give it its name: a half-fetched version is never seen."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{kafka}-") as scratch:
        fetched = Path(scratch, "jars")
        _retrieve(kafka, fetched, Path(scratch, "ivy.xml"))
        for coordinate, sha256 in _locked()[kafka].items():
            _verify(fetched / _jar_name(coordinate), sha256)
        fetched.rename(folder)


def _retrieve(kafka: str, into: Path, ivy_file: Path) -> None:
    ivy_file.write_text(_ivy_file(_locked()[kafka]))
    cached = cache_dir() / "ivy"
    command = [
        java(),
        f"-Divy.default.ivy.user.dir={cached}",
        *("-jar", str(_ivy_jar())),
        *("-cache", str(cached)),
        *("-ivy", str(ivy_file)),
        *("-retrieve", str(into / "[organisation]-[artifact]-[revision].[ext]")),
    ]
    ivy = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if ivy.returncode:
        log = cache_dir() / f"fetch-{kafka}.log"
        log.write_text(ivy.stdout + ivy.stderr)
        raise RehearsalError(
            f"The servers of Kafka {kafka} could not be fetched from Maven Central.",
            cause=f"Most often there is no network, or a proxy that Java was not told of; what the resolver said is in {log}.",
            try_=f"Set the proxy in JAVA_TOOL_OPTIONS, or copy {cache_dir() / 'servers'} from a machine that has it.",
        )


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")  # located, not imported: importing Spark takes a second
    found = sorted(Path(spec.origin).parent.glob("jars/ivy-*.jar")) if spec and spec.origin else []
    if not found:
        raise RehearsalError(
            "pyspark, whose jars carry the resolver, is not installed.", try_="Install casebook with its dependencies."
        )
    return found[-1]


def _ivy_file(locked: Mapping[str, str]) -> str:
    one = '<dependency org="{}" name="{}" rev="{}" conf="default->master" transitive="false"/>'
    dependencies = "\n".join(one.format(*coordinate.split(":")) for coordinate in locked)
    return f"""<ivy-module version="2.0">
<info organisation="casebook" module="servers"/>
<configurations><conf name="default"/></configurations>
<dependencies>
{dependencies}
</dependencies>
</ivy-module>"""


def jar_names(kafka: str) -> tuple[str, ...]:
    """File names of the jars of a Kafka version."""
    return tuple(map(_jar_name, _locked()[kafka]))


def _jar_name(coordinate: str) -> str:
    return coordinate.replace(":", "-") + ".jar"


def _verify(jar: Path, sha256: str) -> None:
    found = hashlib.sha256(jar.read_bytes()).hexdigest() if jar.exists() else "nothing"
    if found != sha256:
        raise RehearsalError(
            f"{jar.name} is not the jar that was locked.",
            cause=f"Its sha256 should be {sha256} and is {found}: it was damaged or replaced on its way.",
            try_=f"Remove {cache_dir() / 'ivy'} and try again; if it stays so, ask who changed what Maven Central serves you.",
        )
