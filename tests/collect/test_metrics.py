"""Host metrics in a case: copied as text, without secrets, bounded, an answer of Prometheus with a line for each value."""

import json
from datetime import UTC
from pathlib import Path

import pytest

from casebook.case import folder
from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.files import files
from casebook.collect.taken import in_words
from casebook.formats.hosts import files as host_files
from tests.formats.test_host_files import FOLDER, text, told

FILES = sorted(path.name for path in FOLDER.iterdir())


def collected(tmp_path: Path, *paths: Path) -> Case:
    return Case.open(collect_case(tmp_path / "case", metrics={7: paths}))


def kept(case: Case, name: str) -> bytes:
    return (case.folder / "brokers" / "7" / "metrics" / name).read_bytes()


def test_a_folder(tmp_path):
    """All of its files, each below its broker; nothing in them is taken for a secret."""
    case = collected(tmp_path, FOLDER)
    assert [path for _, path, _ in case.metrics()] == [f"brokers/7/metrics/{name}" for name in FILES]
    assert case.redacted == ()
    assert not case.could_not_collect
    assert in_words(case) == f"{len(FILES)} files of host metrics"


@pytest.mark.parametrize("name", FILES)
def test_it_tells_what_the_file_tells(tmp_path, name):
    """Text stays as it is; JSON keeps its values."""
    case = collected(tmp_path, FOLDER / name)
    content = kept(case, name)
    if name.endswith(".json"):
        assert json.loads(content) == json.loads(text(name))
        assert max(map(len, content.splitlines())) < 300
    else:
        assert content.decode() == text(name)
    whole, zone = told(text(name)), lambda _broker: UTC
    assert len(host_files.read(case.metrics(), zone).samples) == len(whole.samples)


def test_an_answer_larger_than_a_line(tmp_path):
    """Prometheus writes no line ends: its answer is one line of any length."""
    rows = ",".join(f'[{1_700_000_000 + n},"{n}"]' for n in range(100_000))
    answer = f'{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"node_load1"}},"values":[{rows}]}}]}}}}'
    assert len(answer) > 1 << 20
    (tmp_path / "load.json").write_text(answer)
    case = collected(tmp_path, tmp_path / "load.json")
    assert len(host_files.read(case.metrics(), lambda _broker: UTC).samples) == 100_000


def test_no_secret(tmp_path):
    """A label may hold whatever somebody put on a command line."""
    (tmp_path / "m.prom").write_text(
        'process_info{cmd="java -Djavax.net.ssl.keyStorePassword=only-for-me-7341"} 1\nnode_load1 1\n'
    )
    case = collected(tmp_path, tmp_path / "m.prom")
    assert b"only-for-me-7341" not in kept(case, "m.prom")
    assert case.redacted


def test_too_large(tmp_path, monkeypatch):
    """What was read before is kept, and it is told."""
    monkeypatch.setattr(files, "_LARGEST_METRICS", 4000)
    case = collected(tmp_path, FOLDER / "sar.txt")
    assert text("sar.txt").startswith(kept(case, "sar.txt").decode())
    (problem,) = case.could_not_collect
    assert "are taken" in problem.reason
    assert folder.left_out(json.loads((case.folder / "case.json").read_text())) == ("brokers/7/metrics/sar.txt",)


def test_binary_data_of_sar(tmp_path):
    """sadc's own files are no text; what is said names it."""
    (tmp_path / "sa26").write_bytes(b"\x96\xd5\x75\x21\x00\x01\x02" * 100)
    (tmp_path / "sar.txt").write_text(text("sar.txt"))
    case = collected(tmp_path, tmp_path / "sa26", tmp_path / "sar.txt")
    (problem,) = case.could_not_collect
    assert (problem.path, "text" in problem.reason) == ("brokers/7/metrics/sa26", True)
