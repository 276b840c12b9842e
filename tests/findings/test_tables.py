"""The tables of a run: what is documented is what is written."""

import resource
import subprocess
import sys
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from casebook.findings import tables
from casebook.kafka.release import release
from casebook.questions.leadership.analysis import leadership, what_if
from tests.evidence import made, override, state

OFF = override("t", unclean_leader_election_enable="false")
TOPICS = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([5, 2], state(-1, [5])), 2: ([6], None), 3: ([1], b"?")}}


def contents():
    """Rows of every table of one small cluster."""
    found = made(topics=TOPICS, extra=[OFF])
    version = release(found)
    looked = leadership.examine(found, version)
    answer = what_if.replay(found, version.version, looked.verdicts, what_if.suppose(found, (1, 2, 3, 5, 6), alive="1,2,5"))
    return {
        "partitions": looked.verdicts, "start_first": looked.start_first, "controller_epochs": looked.controller_epochs,
        "what_if": answer.changes, "problems": found.problems,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["partitions", "start_first", "controller_epochs", "what_if", "problems"])
class TestTables:
    def test_columns(self, tmp_path, name):
        """Columns come as documented, each with its meaning, one row a row."""
        rows = contents()[name]
        tables.write(tmp_path / "tables", name, rows)
        table = pq.read_table(tmp_path / "tables" / f"{name}.parquet")
        assert [column.name for column in tables.columns(name)] == table.column_names
        assert [column.meaning for column in tables.columns(name)] == [
            field.metadata[b"meaning"].decode() for field in table.schema
        ]
        assert table.num_rows == len(rows) > 0

    def test_byte_equal(self, tmp_path, name):
        """The same evidence gives the same bytes."""
        for folder in ("a", "b"):
            tables.write(tmp_path / folder, name, contents()[name])
        assert (tmp_path / "a" / f"{name}.parquet").read_bytes() == (tmp_path / "b" / f"{name}.parquet").read_bytes()

    def test_empty(self, tmp_path, name):
        """A table without rows has its columns all the same."""
        tables.write(tmp_path, name, ())
        assert len(pq.read_table(tmp_path / f"{name}.parquet").column_names) == len(tables.columns(name))


def test_values(tmp_path):
    """Lists, flags and nulls are written as they are."""
    tables.write(tmp_path, "partitions", contents()["partitions"])
    row = pq.read_table(tmp_path / "partitions.parquet").to_pylist()[1]
    expected = {"topic": "t", "partition": 1, "replicas": [5, 2], "isr": [5], "leader": None, "state": "leaderless", "rule": "R3",
                "waits_for": [5], "unclean_winner": 2, "under_min_isr": True}  # fmt: skip
    assert expected == {name: row[name] for name in expected}


@pytest.mark.parametrize("write", ["write", "rewrite"])
def test_whole_or_not_at_all(tmp_path, write):
    """A reader never finds half a table: one that fails leaves what was there before, and nothing else."""
    tables.write(tmp_path / "tables", "problems", contents()["problems"])
    before = (tmp_path / "tables" / "problems.parquet").read_bytes()
    (tmp_path / "source").mkdir()
    pq.write_table(pa.table({"path": ["a"], "reason": ["b"]}), tmp_path / "source" / "0.parquet")
    (tmp_path / "source" / "1.parquet").write_bytes((tmp_path / "source" / "0.parquet").read_bytes()[:-40])
    with limited(100), pytest.raises(OSError, match=r"(?i)too large|parquet"):
        if write == "write":
            tables.write(tmp_path / "tables", "problems", contents()["problems"])
        else:
            tables.rewrite(tmp_path / "tables", "problems", tmp_path / "source")
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["problems.parquet"]
    assert (tmp_path / "tables" / "problems.parquet").read_bytes() == before


@contextmanager
def limited(size):
    """No file grows larger than this, as under a quota (setrlimit(2): EFBIG once SIGXFSZ is ignored, as Python does)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", tables.every())
def test_every_column_is_there(name):
    """Each is an attribute of the row, bears a name of its own, and ends its meaning as a sentence does."""
    row, columns = tables.every()[name], tables.columns(name)
    assert all(hasattr(row, column.attribute) for column in columns)
    assert len({column.name for column in columns}) == len(columns) > 0
    assert [column.name for column in columns if not column.meaning.endswith(".")] == []
    assert f"``tables/{name}``" in row.__doc__


def test_columns_do_not_rest_on_kept_docstrings():
    """`python -OO` drops them, and writes the same tables."""
    code = "from casebook.findings import tables; print({name: tables.columns(name) for name in tables.every()})"
    said = {
        subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=True).stdout
        for options in ([], ["-OO"])
    }
    assert len(said) == 1
    assert "meaning='Topic name.'" in said.pop()
