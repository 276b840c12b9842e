"""Notebook 80 headless: clients and an earlier case, one topic alone, parameters that cannot be meant."""

import json

import pyarrow.parquet as pq
import pytest

from casebook.collect.collection import collect_case
from casebook.formats.zookeeper import znode_lines
from casebook.machine.places import samples_dir
from casebook.runs import notebooks, runner

SECRET = "hunter2"


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """The healthy sample's znodes, with a careless producer and a consumer of Spring's."""
    from casebook.case.case import Case

    folder = tmp_path_factory.mktemp("durability")
    dump = folder / "dump.jsonl"
    dump.write_text("".join(znode_lines.encode(znode) + "\n" for znode in Case.open(samples_dir() / "healthy").znodes()))
    (folder / "billing.properties").write_text(f'acks=1\nretries=0\nsasl.jaas.config=x password="{SECRET}";\nkey.serializer=x\n')
    (folder / "mailer.yml").write_text(
        f"spring.kafka: {{consumer: {{group-id: m, enable-auto-commit: true, password: {SECRET}}}}}\n"
    )
    clients = {"billing": [folder / "billing.properties"], "mailer": [folder / "mailer.yml"]}
    return collect_case(folder / "case", zookeeper_dump=dump, clients=clients)


@pytest.fixture(scope="module")
def ran(case, tmp_path_factory):
    """A run with everything that can be asked for."""
    asked = {"source": str(case), "against": "sample:healthy", "topic": "payments", "clients": "billing=java 2.8.1: payments"}
    return runner.run(notebooks.find("durability_audit"), asked, runs_dir=tmp_path_factory.mktemp("runs"))


class TestRun:
    def test_the_producer_is_judged_where_it_writes(self, ran):
        """acks=1 of billing costs payments records, and no other topic."""
        assert not ran.failed, ran.title
        rows = pq.read_table(ran.folder / "tables" / "loss_verdicts.parquet").to_pylist()
        assert {(row["topic"], row["producer"]) for row in rows if row["rule"] == "D3"} == {("payments", "billing")}
        assert {row["consumer"] for row in rows if row["rule"] == "D9"} == {"mailer"}
        found = {f["check"]: f for f in json.loads((ran.folder / "findings.json").read_text())["findings"]}
        assert found["durability.acks_1"]["severity"] == "critical"

    def test_what_has_changed(self, ran):
        """Since the sample: rules on clients came, settings lost their origin, as no server.properties is here."""
        rows = pq.read_table(ran.folder / "tables" / "audit_changes.parquet").to_pylist()
        assert {row["key"] for row in rows if row["what"] == "verdict" and row["before"] is None} >= {"D3", "D7", "D9"}
        assert any(row["what"] == "setting" and "not collected" in (row["after"] or "") for row in rows)

    def test_no_secret_anywhere(self, ran, case):
        """Neither in the case nor in anything that a run leaves behind."""
        for folder in (ran.folder, case):
            assert not [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"clients": "ghost=java 2.8.1"}, "ghost"),
        ({"clients": "billing=cobol 1.0"}, "cobol"),
        ({"against": "live:production"}, "live"),
        ({"against": "sample:nowhere"}, "nowhere"),
        ({"topic": "nowhere"}, "nowhere"),
    ],
)
def test_parameters_that_cannot_be_meant(case, tmp_path, wrong, told):
    """They end the run with a word on what is wrong."""
    ran = runner.run(notebooks.find("durability_audit"), {"source": str(case)} | wrong, runs_dir=tmp_path)
    assert ran.failed
    assert told in ran.title
