"""Every command of the README is run."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for line in block.splitlines()
]
ELSEWHERE = {
    ("make", "test"): "this is it",
    ("make", "lab"): "tests/browser opens the same JupyterLab",
}


class TestReadme:
    """The README keeps its word."""

    def test_it_has_commands(self):
        """The two commands, and what comes after."""
        assert ["make", "report"] in COMMANDS
        assert ["make", "lab"] in COMMANDS

    @pytest.mark.parametrize("command", [c for c in COMMANDS if tuple(c) not in ELSEWHERE], ids=" ".join)
    def test_each_command_does_what_it_says(self, command, tmp_path, monkeypatch, readme_zookeeper):
        """Run as written, but for addresses and files that are the reader's own."""
        monkeypatch.setenv("CASEBOOK_RUNS", str(tmp_path / "runs"))
        wanted = 0
        arguments = [readme_zookeeper.get(word, word) for word in command]
        arguments = [str(tmp_path / "my-case") if word == "my-case" else word for word in arguments]
        if "run" in command:
            subprocess.run([*arguments[:1], "collect", "--zookeeper-dump", readme_zookeeper["dump.jsonl"], "--chroot", "/kafka", "--out", str(tmp_path / "my-case")], cwd=ROOT, check=True)
            wanted = 0
        done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == wanted, done.stderr
        if "report" in command:
            assert "CRITICAL" in done.stdout
            assert Path(done.stdout.splitlines()[-1]).joinpath("report.html").is_file()
