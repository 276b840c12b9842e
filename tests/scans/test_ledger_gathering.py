"""Ledgers of several files: one that cannot be used is told with what would map it, and ends nothing; moments are found by content."""

import pytest

from casebook.errors import UsageError
from casebook.formats.clients.ledger_columns import LedgerColumns
from casebook.questions.loss.scans.ledger_gathering import gather, of_place


@pytest.fixture
def gathered(scanning, tmp_path):
    def of(columns=None, **files):
        places = []
        for name, text in files.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text)
            places.append((path.name, f"file:{path}"))
        return gather(scanning, places, columns or LedgerColumns(), tmp_path / "rows")

    return of


GOOD = "id,topic,outcome,{time}\n1,t,acked,{at}\n2,t,acked,{at}\n"


def test_one_unsuited_file(gathered):
    """It is named with its columns and the parameter; the others are used."""
    found = gathered(LedgerColumns(prefix="processed"), good=GOOD.format(time="ts", at=1700000000000), odd="foo,bar\n1,2\n")
    assert found.ledger.told.rows == 2
    (one,) = found.unsuited
    assert one.name == "odd.csv"
    assert "foo, bar" in one.why
    assert "processed_id" in one.try_


def test_none_is_suited(gathered):
    """Nothing is read, and nothing is raised."""
    found = gathered(odd="foo,bar\n1,2\n")
    assert found.ledger is None
    assert "ledger_id" in found.unsuited[0].try_


def test_folder_with_one_unsuited_file(scanning, tmp_path):
    """What stands behind a pattern or in a folder is used without the one that is no ledger, whatever its name tells."""
    place, rows = tmp_path / "place", tmp_path / "rows"
    place.mkdir()
    (place / "a [1].csv").write_text(GOOD.format(time="ts", at=1700000000000))
    (place / "b.csv").write_text("foo,bar\n1,2\n")
    (place / "README.md").write_text("read me\n")
    found = of_place(scanning, place, LedgerColumns(), rows / "one")
    assert found.ledger.told.rows == 2
    assert [one.name for one in found.unsuited] == [str(place / name) for name in ("README.md", "b.csv")]
    (place / "a [1].csv").unlink()
    with pytest.raises(UsageError, match="README.md does not show its format"):
        of_place(scanning, place, LedgerColumns(), rows / "two")


@pytest.mark.parametrize("name", ["t", "when", "timestamp_ms", "date", "ts", "done_by_us"])
@pytest.mark.parametrize("at", ["1700000000000", "2023-11-14T22:13:20Z"])
def test_moments(gathered, name, at):
    """By a usual name, or else by what the column holds."""
    found = gathered(one=GOOD.format(time=name, at=at))
    assert (found.ledger.told.timed, found.ledger.told.first) == (True, 1_700_000_000_000)


def test_no_moment(gathered):
    """Numbers of something else are no moments: the column is named, and nothing is read from it."""
    found = gathered(one=GOOD.format(time="weight", at=17))
    assert (found.ledger.told.timed, found.ledger.told.first, found.ledger.told.unused) == (False, None, ("weight",))
