"""Every command of the README, and of the page on further evidence, is run."""

import os
import re
import shlex
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.formats.zookeeper import znode_lines
from casebook.machine import places
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.processes import Guarded
from casebook.runs import notebooks
from tests import screenshots
from tests.collect.small_zookeeper import ZooKeeper

ROOT = places.checkout()
README = (ROOT / "README.md").read_text()
EVIDENCE = (ROOT / "docs" / "evidence.md").read_text()
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"```sh\n(.*?)```", README + EVIDENCE, re.DOTALL)
    for line in block.splitlines()
]
ELSEWHERE = [
    ["make", "test"],  # is this very run
    ["make", "lab"],  # tests/browser opens the same JupyterLab
    ["source", ".venv/bin/activate"],  # is a word of shells: see what installing says
    ["casebook", "rehearse", "kill-before-drain", "--practice"],  # tests/rehearsal heals one
]
SHOWN = [["make", "report"], ["make", "trends"]]
ENSEMBLE = "zk1:2181,zk2:2181/kafka"
MOST_BYTES = 250_000


@pytest.fixture(scope="module")
def own_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What stands in the README for the reader's own ensemble, its files, dump and case, and what stands for them here."""
    folder = tmp_path_factory.mktemp("readme")
    znodes = list(Case.open(places.samples_dir() / "healthy").znodes())
    dump = folder / "dump.jsonl"
    dump.write_text("".join(znode_lines.encode(z).replace('{"path":"', '{"path":"/kafka', 1) + "\n" for z in znodes))
    case = folder / "my-case"
    _casebook("collect", "--zookeeper-dump", dump, "--chroot", "/kafka", "--out", case)
    guarded = Guarded()
    (folder / "zookeeper").mkdir()
    server = ZooKeeper(folder / "zookeeper", guarded)
    server.tree({f"/kafka{z.path}".rstrip("/"): z.data for z in znodes if z.stat is not None})
    broker = places.samples_dir() / "offsets_bloat" / "brokers" / "1"
    sent = folder / "sent.csv"
    sent.write_text("id,topic,partition,offset\nb-1,orders,0,7\n")
    measured = places.checkout() / "tests" / "formats" / "hosts" / "sar.txt"
    settings = folder / "app.yml"
    settings.write_text("acks: 1\n")
    pasted = folder / "pasted.txt"
    pasted.write_text("Topic: orders\tPartition: 101\tLeader: -1\tReplicas: 1\tIsr: 1\n")
    profiles = folder / "profiles"
    profiles.mkdir()
    (profile,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    server.tree({f"/bloat{z.path}".rstrip("/"): z.data for z in Case.open(broker.parents[1]).znodes() if z.stat is not None})
    here = {
        ENSEMBLE: f"{server.address}/bloat",
        "/var/log/kafka": str(broker / "logs"),
        "/var/kafka-logs": str(broker / "segments"),
    }
    (profiles / "prod.toml").write_text(re.sub("|".join(map(re.escape, here)), lambda match: here[match[0]], profile))
    _casebook("run", "partition_leadership", "--source", case, "--runs", folder / "runs", "--publish", folder / "published")
    config = folder / "client.properties"
    config.write_text("security.protocol=PLAINTEXT\n")
    with PlayedCluster(kafka="3.9.2", brokers=1) as cluster:
        cluster.create_topic("orders", {0: (1,)})
        yield {
            "kafka1:9092": cluster.bootstrap, "client.properties": str(config),
            "profiles": str(profiles), "/srv/casebook/prod": str(folder / "published"),
            ENSEMBLE: f"{server.address}/kafka", "dump.jsonl": str(dump), "my-case": str(case), "pasted.txt": str(pasted),
            "/var/zookeeper/data": str(server.folder),
            "1=/var/kafka-logs": f"1={broker / 'segments'}", "1=/var/log/kafka/*": f"1={broker / 'logs'}/*",
            "1=sar.txt": f"1={measured}", "billing=sent.csv": f"billing={sent}", "billing=app.yml": f"billing={settings}",
        }  # fmt: skip
    server.close()
    guarded.close()


def _casebook(*arguments: str | Path) -> None:
    subprocess.run([ROOT / ".venv/bin/casebook", *arguments], check=True)


class TestReadme:
    """The README keeps its word."""

    def test_it_shows_the_two_commands_first(self):
        """The result first, then the same by hand."""
        assert COMMANDS[:2] == [["make", "report"], ["make", "lab"]]

    @pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ELSEWHERE], ids=" ".join)
    def test_each_command_does_what_it_says(self, command, own_words, tmp_path, monkeypatch):
        """Run as written, but for what is the reader's own."""
        (tmp_path / "runs").mkdir()
        monkeypatch.setenv("CASEBOOK_RUNS", str(tmp_path / "runs"))
        monkeypatch.delenv("MAKELEVEL", raising=False)  # a reader's make is not called by another make
        monkeypatch.delenv("MAKEFLAGS", raising=False)
        monkeypatch.setenv("CASEBOOK_PROFILES", own_words["profiles"])
        monkeypatch.setenv("PATH", f"{ROOT / '.venv/bin'}:{os.environ['PATH']}")  # as the second line on call does
        if "collect" in command:
            own_words = own_words | {"my-case": str(tmp_path / "my-case")}
        if "--publish" in command:
            own_words = own_words | {"/srv/casebook/prod": str(tmp_path / "published")}
        arguments = [own_words.get(word, word) for word in command]
        done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
        assert done.returncode == (2 if "--publish" in command else 0), done.stdout + done.stderr
        last = Path(done.stdout.splitlines()[-1])
        if "collect" in command:
            collected = Case.open(last)
            assert collected.cluster().partitions or (collected.log_dirs() and list(collected.log_files()))
        if "run" in command or command in SHOWN:
            assert (last / "report.html").is_file()
        if "summary" in command:
            assert re.match(r"(OK|INFO): .* \| 20_partition_leadership ", done.stdout)
        if "--publish" in command:
            assert "CRITICAL: The cleaner of broker 1 died at" in done.stdout  # the sample was made by killing it
            assert (tmp_path / "published" / "report.html").is_file()
        if command in SHOWN:
            assert "CRITICAL: " in done.stdout

    def test_installing_says_what_is_next(self):
        """The last line makes the name work that every printed command begins with."""
        said = _made("install")
        assert said == "For casebook by its name alone, in this terminal: source .venv/bin/activate"
        typed = f"{said.rpartition(': ')[2]} && command -v casebook"
        found = subprocess.run(["bash", "-c", typed], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        assert Path(found) == ROOT / ".venv/bin/casebook"

    def test_every_notebook_is_named(self):
        """In the table, by number."""
        assert re.findall(r"^\| `(\d\d_\w+)` \|", README, re.MULTILINE) == [notebook.stem for notebook in notebooks.every()]

    def test_links_lead_somewhere(self):
        """To files that are there, and to headings."""
        targets = re.findall(r"\]\((?!https?:)([^)]+)\)", README) + re.findall(r'(?:src|srcset)="([^"]+)"', README)
        assert [target for target in targets if not _is_there(target)] == []

    def test_pictures_are_those_that_the_script_takes(self):
        """`make screenshots` makes all of them, by day and by night, and none is too heavy for a front page."""
        shown = {ROOT / path for path in re.findall(r'(?:src|srcset)="([^"]+)"', README)}
        assert shown == set(screenshots.files())
        assert set(screenshots.PICTURES.iterdir()) == shown
        assert [path.name for path in shown if path.stat().st_size > MOST_BYTES] == []
        assert {_size(path) for path in shown} == {tuple(screenshots.SIZE.values())}


def _made(*arguments: str, **environment: str) -> str:
    """The last line that make prints to a reader, whom no other make has called."""
    known = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")}
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=known | environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def _is_there(target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = ROOT / name if name else ROOT / "README.md"
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE) if anchor else []
    return path.exists() and (not anchor or anchor in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings])


def _size(picture: Path) -> tuple[int, int]:
    """Width and height, as a PNG tells them in its first chunk."""
    return struct.unpack(">II", picture.read_bytes()[16:24])
