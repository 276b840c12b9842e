"""Every command of the README is run."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook import places
from casebook.case import Case
from casebook.formats import znode_lines
from casebook.rehearsal.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper

ROOT = places.checkout()
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for line in block.splitlines()
]
ELSEWHERE = [["make", "test"], ["make", "lab"]]  # the first is this very run; tests/browser opens the same JupyterLab


@pytest.fixture(scope="module")
def own_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What stands in the README for the reader's own ensemble, its files, dump and case, and what stands for them here."""
    folder = tmp_path_factory.mktemp("readme")
    znodes = list(Case.open(places.samples_dir() / "healthy").znodes())
    dump = folder / "dump.jsonl"
    dump.write_text("".join(znode_lines.encode(z).replace('{"path":"', '{"path":"/kafka', 1) + "\n" for z in znodes))
    case = folder / "my-case"
    subprocess.run(
        [ROOT / ".venv/bin/casebook", "collect", "--zookeeper-dump", dump, "--chroot", "/kafka", "--out", case], check=True
    )
    guarded = Guarded()
    (folder / "zookeeper").mkdir()
    server = ZooKeeper(folder / "zookeeper", guarded)
    server.tree({f"/kafka{z.path}".rstrip("/"): z.data for z in znodes if z.stat is not None})
    broker = places.samples_dir() / "offsets_bloat" / "brokers" / "1"
    sent = folder / "sent.csv"
    sent.write_text("id,topic,partition,offset\nb-1,orders,0,7\n")
    pasted = folder / "pasted.txt"
    pasted.write_text("Topic: orders\tPartition: 101\tLeader: -1\tReplicas: 1\tIsr: 1\n")
    yield {
        "zk1:2181,zk2:2181/kafka": f"{server.address}/kafka", "dump.jsonl": str(dump), "my-case": str(case), "pasted.txt": str(pasted),
        "/var/zookeeper/data": str(server.folder),
        "1=/var/kafka-logs": f"1={broker / 'segments'}", "1=/var/log/kafka/*": f"1={broker / 'logs'}/*",
        "billing=sent.csv": f"billing={sent}",
    }  # fmt: skip
    server.close()
    guarded.close()


class TestReadme:
    """The README keeps its word."""

    def test_it_shows_the_two_commands_first(self):
        """The result first, then the same by hand."""
        assert COMMANDS[:2] == [["make", "report"], ["make", "lab"]]

    @pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ELSEWHERE], ids=" ".join)
    def test_each_command_does_what_it_says(self, command, own_words, tmp_path, monkeypatch):
        """Run as written, but for what is the reader's own."""
        monkeypatch.setenv("CASEBOOK_RUNS", str(tmp_path / "runs"))
        monkeypatch.delenv("MAKELEVEL", raising=False)  # a reader's make is not called by another make
        monkeypatch.delenv("MAKEFLAGS", raising=False)
        if "collect" in command:
            own_words = own_words | {"my-case": str(tmp_path / "my-case")}
        arguments = [own_words.get(word, word) for word in command]
        done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        last = Path(done.stdout.splitlines()[-1])
        if "collect" in command:
            collected = Case.open(last)
            assert collected.cluster().partitions or (collected.log_dirs() and list(collected.log_files()))
        if "run" in command or command == ["make", "report"]:
            assert (last / "report.html").is_file()
        if command == ["make", "report"]:
            assert "CRITICAL: " in done.stdout
