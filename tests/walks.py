"""Pages of the documentation that a test carries out, from their text, in a copy of this checkout."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from casebook.machine import places

ROOT = places.checkout()


class Block(NamedTuple):
    """A block of a page that belongs into a file.

    Attributes:
        tags: What stands behind the file's name.
    """

    language: str
    path: str
    tags: list[str]
    content: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page of ``docs`` that name a file, in order."""
    text = (ROOT / "docs" / page).read_text()
    found = re.findall(r"^`{3,}(\w+) (\S+)(.*)\n((?:.|\n)*?)^`{3,}$", text, re.MULTILINE)
    return [Block(language, path, tags.split(), content) for language, path, tags, content in found]


def copied(into: Path, names: Iterable[str]) -> Path:
    """A copy of files and folders of this checkout, without what is made of them."""
    ignored = shutil.ignore_patterns("__pycache__", "derived", ".ipynb_checkpoints")
    for name in names:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, into / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, into / name)
    return into


def python(checkout: Path, *arguments: str) -> subprocess.CompletedProcess:
    """A Python that knows the copy, and not this checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "lib"), "CASEBOOK_RUNS": str(checkout / "runs")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=240, check=False, env=environment)
