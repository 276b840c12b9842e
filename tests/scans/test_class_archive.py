"""The archive of Spark's classes: it is taken, and Spark starts without it as well."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from casebook.errors import ScanError
from casebook.notebook import preparation
from casebook.spark import class_archive


@pytest.fixture(scope="module")
def archive() -> Path:
    """That of this installation."""
    preparation.prepare(progress=lambda _: None)
    return Path(shlex.split(class_archive.options())[0].partition("=")[2])


def java(option: str) -> subprocess.CompletedProcess:
    """A JVM that is started with another archive in place of ours."""
    ours, *others = shlex.split(class_archive.options())
    return subprocess.run(
        ["java", f"{ours.partition('=')[0]}={option}", *others, "-version"], capture_output=True, text=True, check=False
    )


def test_spark_takes_it(archive, tmp_path):
    """As Java itself says of each class it loads."""
    loaded = tmp_path / "loaded.txt"
    environment = os.environ | {"JDK_JAVA_OPTIONS": f"-Xlog:class+load:file={loaded}_%p.txt"}
    program = "from casebook.spark.session import session; session()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    lines = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines() if " org.apache.spark." in line]
    shared = [line for line in lines if "source: shared objects file" in line]
    assert len(lines) > 1000
    assert len(shared) > 0.5 * len(lines)  # what Spark makes up as it goes is in no archive


@pytest.mark.parametrize("kept", [0, 100])
def test_a_damaged_one_is_left_alone(archive, tmp_path, kept):
    """Java starts without it, and says nothing on the terminal."""
    damaged = tmp_path / "damaged.jsa"
    with archive.open("rb") as whole:
        damaged.write_bytes(whole.read(kept))
    ran = java(str(damaged))
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_program_that_fails(tmp_path, monkeypatch):
    """Its last words are told, and nothing is left."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(ScanError) as refused:
        class_archive.make(["-c", "raise SystemExit('no disk')"])
    assert refused.value.cause == "no disk"
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"] == []
    assert class_archive.options() == ""
