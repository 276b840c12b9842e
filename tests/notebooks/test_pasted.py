"""Every notebook opens a case of pasted text, says what it can, and names the next thing to paste."""

import json
from pathlib import Path

import pytest

from casebook.collect.collection import collect_case
from casebook.runs import notebooks, runner

TEXT = """\
Partition 101 has no leader since this morning:

> [zk: zk1:2181(CONNECTED) 3] get /kafka/brokers/topics/orders/partitions/101/state
> {"controller_epoch":24,"leader":-1,"version":1,"leader_epoch":37,
> "isr":[1]}
[zk: zk1:2181(CONNECTED) 4] ls /kafka/brokers/ids
[2, 3, 55]
[2019-10-12 11:03:42,671] INFO [Controller 56]: Newly added brokers: , deleted brokers: 1 (kafka.controller.KafkaController)
11:03:43 WARN This is not the correct coordinator.
broker 2:
$ df -h /data
Filesystem      Size  Used Avail Use% Mounted on
/dev/sdb1       500G  500G   20K 100% /data
"""


@pytest.fixture(scope="module")
def pasted(tmp_path_factory) -> Path:
    return collect_case(tmp_path_factory.mktemp("pasted") / "case", pasted=TEXT.splitlines())


@pytest.mark.parametrize("notebook", notebooks.every(), ids=lambda notebook: notebook.stem)
def test_every_notebook(notebook, pasted, tmp_path):
    """None fails; each says which one thing to paste next; what was not pasted is not called well."""
    ran = runner.run(notebook, {"source": str(pasted)}, runs_dir=tmp_path)
    assert not ran.failed, ran.title
    found = {f["check"]: f for f in json.loads((ran.folder / "findings.json").read_text())["findings"]}
    assert found["evidence.next"]["next"][0]["command"].startswith("tail -n 200 server.log   # on broker 1")
    assert found["evidence.pasted"]["facts"]["not_understood"] == [[1, 1]]
    assert [(told["broker"], told["line"]) for told in found["evidence.hosts"]["facts"]["told"]] == [(2, 12)]
    if "leadership.offline" in found:
        offline = found["leadership.offline"]
        assert (offline["severity"], offline["facts"]["start_first"]) == ("critical", [1])
        left = [f for check, f in found.items() if check.startswith("leadership.") and f["status"] == "could_not_check"]
        assert len(left) >= 8
        assert all(f["settle"] for f in left)
        assert not [check for check, f in found.items() if check.startswith("leadership.") and f["status"] == "ok"]
    report = (ran.folder / "report.html").read_text()
    assert "Partition 101 has no leader since this morning" in report
