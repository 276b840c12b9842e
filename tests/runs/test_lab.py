"""Working copies of the notebooks: notes last, and shipped notebooks stay unchanged."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from casebook.errors import UsageError
from casebook.machine import places
from casebook.runs import lab, notebooks

STEM = "20_partition_leadership"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped notebooks that may change."""
    folder = tmp_path / "notebooks"
    shutil.copytree(places.notebooks_dir(), folder)
    monkeypatch.setattr(places, "notebooks_dir", lambda: folder)
    return folder


def annotated(path: Path, words: str) -> bytes:
    """A notebook in which somebody has written."""
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["source"] = [words]
    path.write_text(json.dumps(notebook))
    return path.read_bytes()


def test_every_notebook_is_copied(shipped: Path, tmp_path: Path):
    """As it is shipped."""
    assert lab.refresh(tmp_path / "lab") == []
    copies = {path.name: path.read_bytes() for path in (tmp_path / "lab").glob("*.ipynb")}
    assert copies == {one.path.name: one.path.read_bytes() for one in notebooks.every()}


def test_notes_last(shipped: Path, tmp_path: Path):
    """Whatever else happens to other notebooks."""
    lab.refresh(tmp_path / "lab")
    mine = annotated(tmp_path / "lab" / f"{STEM}.ipynb", "ticket 4711")
    annotated(shipped / "10_triage.ipynb", "A newer one")
    assert lab.refresh(tmp_path / "lab") == []
    assert (tmp_path / "lab" / f"{STEM}.ipynb").read_bytes() == mine
    assert (tmp_path / "lab" / "10_triage.ipynb").read_bytes() == (shipped / "10_triage.ipynb").read_bytes()


@pytest.mark.parametrize("is_recorded", [True, False])
def test_where_both_have_changed_nothing_is_lost(shipped: Path, tmp_path: Path, is_recorded: bool):
    """The new one is there, and the old one beside it; also if it is unknown what was shipped before."""
    lab.refresh(tmp_path / "lab")
    mine = annotated(tmp_path / "lab" / f"{STEM}.ipynb", "ticket 4711")
    new = annotated(shipped / f"{STEM}.ipynb", "A newer one")
    if not is_recorded:
        (tmp_path / "lab" / ".shipped.json").unlink()
    (kept,) = lab.refresh(tmp_path / "lab")
    assert kept.read_bytes() == mine
    assert (tmp_path / "lab" / f"{STEM}.ipynb").read_bytes() == new
    assert lab.refresh(tmp_path / "lab") == []


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b"null", b"\xff"])
def test_a_broken_record_loses_nothing(shipped: Path, tmp_path: Path, record: bytes):
    """Each copy then counts as changed."""
    lab.refresh(tmp_path / "lab")
    mine = annotated(tmp_path / "lab" / f"{STEM}.ipynb", "ticket 4711")
    (tmp_path / "lab" / ".shipped.json").write_bytes(record)
    (kept,) = lab.refresh(tmp_path / "lab")
    assert kept.read_bytes() == mine


def test_two_at_once(shipped: Path, tmp_path: Path):
    """Starts wait for each other, and each keeps what it finds."""
    lab.refresh(tmp_path / "lab")
    mine = annotated(tmp_path / "lab" / f"{STEM}.ipynb", "ticket 4711")
    annotated(shipped / f"{STEM}.ipynb", "A newer one")
    with ThreadPoolExecutor(4) as pool:
        kept = [one for found in pool.map(lambda _: lab.refresh(tmp_path / "lab"), range(4)) for one in found]
    assert [path.read_bytes() for path in kept] == [mine]


def test_a_folder_that_is_a_file(tmp_path: Path):
    """An error in words."""
    (tmp_path / "lab").write_text("")
    with pytest.raises(UsageError, match="CASEBOOK_LAB"):
        lab.refresh(tmp_path / "lab")


def test_the_command_starts_at_the_first_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In the checkout, so that links to its pages lead somewhere; elsewhere in the folder of the copies."""
    command, _ = lab.command(places.checkout() / "lab", ("--no-browser",))
    assert command[-1] == "--no-browser"
    assert "--LabApp.default_url=/lab/tree/lab/00_start_here.ipynb" in command
    assert f"--ServerApp.root_dir={places.checkout()}" in command
    command, _ = lab.command(tmp_path)
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in command
    assert f"--ServerApp.root_dir={tmp_path}" in command


def test_by_the_command_line(tmp_path: Path):
    """The copies are made before JupyterLab starts, whose options are passed on."""
    script = "from casebook.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "lab", "--version"],
        env={"PATH": "/usr/bin:/bin", "CASEBOOK_LAB": str(tmp_path / "lab"), "HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip()[0].isdigit()
    assert (tmp_path / "lab" / "00_start_here.ipynb").exists()


@pytest.mark.parametrize(("user", "options"), [(0, ["--allow-root"]), (1000, [])])
def test_root_is_let_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, options: list[str]):
    """Jupyter refuses root without this option; others do not need it."""
    monkeypatch.setattr("os.geteuid", lambda: user)
    assert [word for word in lab.command(tmp_path)[0] if word == "--allow-root"] == options
