"""A live ensemble as the source of a notebook: collected first, then read like any case; and no secret on the way."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.findings import words
from casebook.machine import places
from casebook.rehearsal.servers.processes import Guarded
from casebook.runs import notebooks, runner
from tests.collect.small_zookeeper import ZooKeeper
from tests.page.incident import words_of

SECRET = "hunter2-Pl4nted"


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    """A ZooKeeper with the incident's znodes, and credentials where careless people leave them."""
    guarded = Guarded()
    server = ZooKeeper(tmp_path_factory.mktemp("zookeeper"), guarded)
    znodes = {
        f"/kafka{z.path}": z.data for z in Case.open(places.samples_dir() / "leader_minus_one").znodes() if z.stat is not None
    }
    user = {
        "version": 1,
        "config": {"SCRAM-SHA-256": f"salt=abc,stored_key={SECRET},server_key=x,iterations=4096", "password": SECRET},
    }
    broker = {"version": 1, "config": {"listener.name.external.ssl.keystore.password": SECRET, "ssl.key.password": SECRET}}
    planted = {"/kafka/config/users/alice": json.dumps(user).encode(), "/kafka/config/brokers/2": json.dumps(broker).encode(),
               "/kafka/config/users/bob": f"not json {SECRET}".encode()}  # fmt: skip
    server.tree(znodes | planted)
    yield server
    server.close()
    guarded.close()


@pytest.fixture(scope="module")
def ran(ensemble: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> runner.Ran:
    """Notebook 20 on a profile with credentials, properties and a live ensemble."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "server.properties").write_text(
        f'broker.id=2\nssl.keystore.password={SECRET}\nsasl.jaas.config=x required password="{SECRET}";\n'
    )
    (folder / "zookeeper.properties").write_text(f"username=reader\npassword={SECRET}\n")
    logs = folder / "logs"
    logs.mkdir()
    (logs / "server.log").write_text(f"[2026-11-21 10:00:00,000] INFO ssl.key.password = {SECRET} (kafka.server.KafkaConfig)\n")
    (folder / "billing.properties").write_text(f"acks=1\nssl.key.password={SECRET}\n")
    (folder / "sent.csv").write_text("id,topic,outcome\n1,orders,acked\n")
    (folder / "sar.txt").write_text(
        "Linux 6.1.0 (host-2) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n10:00:00 CPU %idle\n10:01:00 all 70.00\n"
    )
    disk = places.samples_dir() / "offsets_bloat" / "brokers" / "1" / "segments"
    (folder / "prod.toml").write_text(
        f'zookeeper = "{ensemble.address}/kafka"\ncredentials = "{folder}/zookeeper.properties"\n'
        f'[properties]\n2 = "{folder}/server.properties"\n[logs]\n2 = "{logs}"\n[log_dirs]\n2 = ["{disk}"]\n[metrics]\n2 = "{folder}/sar.txt"\n'
        f'[clients]\nbilling = "{folder}/billing.properties"\n[ledgers]\nbilling = ["{folder}/sent.csv"]\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CASEBOOK_PROFILES", str(folder))
        return runner.run(notebooks.find("20"), {"source": "live:prod"}, runs_dir=folder / "runs")


class TestLive:
    """`source=live:<profile>`."""

    def test_it_gives_the_same_answer_as_the_sample(self, ran, run):
        """The znodes are the sample's, so the verdict is."""
        assert ran.title.split(" (")[0] == run("20_partition_leadership", "sample:leader_minus_one").title.split(" (")[0]

    def test_it_is_called_by_its_source(self, ran):
        """In the report's head with the time that it was read at, and in the summary; not by the folder that it was collected into."""
        head = words_of((ran.folder / "report.html").read_text().partition("<header")[2].partition("</header>")[0])
        collected = Case.open(ran.folder / "evidence").collected_at
        assert f"live:prod read {words.date(collected)}" in head
        assert "evidence" not in head
        assert (ran.summary["case"], ran.summary["collected_at"]) == ("live:prod", collected)

    def test_the_evidence_stays_with_the_run(self, ran):
        """The case that was collected is in the run's folder, and whole."""
        case = Case.open(ran.folder / "evidence")
        assert not case.damaged
        assert {replica.topic for log_dir in case.log_dirs() for replica in log_dir.replicas} == {"__consumer_offsets"}
        assert [path for _, path, _ in case.log_files()] == ["brokers/2/logs/server.log"]
        assert [file.given["acks"].value for file in case.client_files()] == ["1"]
        assert [client for _, client in case.ledgers()] == ["billing"]
        assert [path for _, path, _ in case.metrics()] == ["brokers/2/metrics/sar.txt"]
        assert json.loads((ran.folder / "run.json").read_text())["case_sha256"] == case.digest

    def test_no_planted_secret_is_found_anywhere(self, ran):
        """Neither in the case, nor in notebook, report, findings, tables, record or log, packed or not."""
        import zstandard

        for path in (p for p in ran.folder.rglob("*") if p.is_file()):
            content = path.read_bytes()
            assert SECRET.encode() not in content, path
            if path.suffix == ".zst":
                assert SECRET.encode() not in zstandard.ZstdDecompressor().stream_reader(content).read(), path
        assert Case.open(ran.folder / "evidence").redacted

    def test_an_unreachable_ensemble_ends_in_3(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """The run is kept and says why; no half case is left."""
        (tmp_path / "gone.toml").write_text('zookeeper = "127.0.0.1:1/kafka"\n')
        monkeypatch.setenv("CASEBOOK_PROFILES", str(tmp_path))
        ran = runner.run(notebooks.find("10"), {"source": "live:gone"}, runs_dir=tmp_path / "runs")
        assert ran.exit_code == 3
        assert "No ZooKeeper server answered" in ran.title
        assert not (ran.folder / "evidence").exists()
