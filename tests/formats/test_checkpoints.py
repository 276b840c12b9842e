"""The small text files of a log dir, from any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.disks import EpochStart
from casebook.formats.broker import checkpoints
from casebook.formats.broker.checkpoints import CleanShutdown, PartitionOffset

LONGS = st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(st.builds(PartitionOffset, st.sampled_from(["t", "my-topic", "a.b_c"]), st.integers(0, 999), LONGS))


def written(rows, count=None):
    """A checkpoint as a broker writes it."""
    return f"0\n{len(rows) if count is None else count}\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows)


class TestOffsets:
    @settings(deadline=None)
    @given(ROWS)
    def test_round_trip(self, rows):
        """Every line is read."""
        assert checkpoints.offsets(written(rows)) == (tuple(rows), ())

    def test_created_and_never_written(self):
        """So a young broker leaves it."""
        assert checkpoints.offsets("") == ((), ())

    def test_torn_number_is_not_believed(self):
        """Of 1234 only 12 may have reached the disk."""
        found = checkpoints.offsets("0\n2\na 0 1\nb 0 12")
        assert found == (
            (PartitionOffset("a", 0, 1),),
            ("ends within a line: it was not believed", "announces '2' lines and holds 1"),
        )

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("1\n0\n", "is of version '1', which is not known"),
            ("\0\0\0\0", "ends within a line: it was not believed"),
            ("0\n", "announces '' lines and holds 0"),
            ("0\n99999999999\na 0 1\n", "announces '99999999999' lines and holds 1"),
            ("0\n1\na b\n", "lines without 3 fields: 1"),
            ("0\n1\na 0 9223372036854775808\n", "lines whose numbers are none: 1"),
        ],
    )
    def test_damaged(self, text, problem):
        """Said in words."""
        assert problem in checkpoints.offsets(text).problems


class TestOthers:
    def test_epochs(self):
        """They rise, or it is said."""
        assert checkpoints.epochs("0\n2\n0 0\n3 17\n") == ((EpochStart(0, 0), EpochStart(3, 17)), ())
        assert checkpoints.epochs("0\n2\n3 17\n1 20\n").problems == ("its epochs do not rise",)

    def test_topic_id(self):
        """As a 3.9.2 broker writes it, without a line end."""
        assert checkpoints.topic_id("version: 0\ntopic_id: HDeBPuB9SV-p4IXbpYyYow") == (("HDeBPuB9SV-p4IXbpYyYow",), ())
        assert checkpoints.topic_id("version: 0\ntopic_id: HDeB").problems == ("holds no topic id",)

    def test_meta_keeps_only_what_brokers_write(self):
        """Whatever else stands there is none of our business."""
        (found,), problems = checkpoints.meta("#Sat Nov 21\nbroker.id=3\nversion=0\npassword=hunter2\n")
        assert (found, problems) == ({"version": "0", "broker.id": "3"}, ())

    @pytest.mark.parametrize(
        ("date", "written"),
        [
            ("Sat Jul 29 09:22:17 UTC 2023", "2023-07-29T09:22:17Z"),
            ("Sat Jul 29 09:22:17 GMT 2023", "2023-07-29T09:22:17Z"),
            ("Sat Jul 29 09:22:17 IST 2023", None),
            ("Sat Jul 32 09:22:17 UTC 2023", None),
        ],
    )
    def test_when_meta_was_written(self, date, written):
        """Of another zone the name does not tell which: IST is three."""
        ((found,), _) = checkpoints.meta(f"#\n#{date}\nbroker.id=3\n")
        assert found.get("written") == written

    def test_clean_shutdown(self):
        """Empty up to 3.6, an epoch from 3.7 on, -1 where there is none; that it stands is what counts."""
        assert checkpoints.clean_shutdown("") == ((CleanShutdown(None),), ())
        assert checkpoints.clean_shutdown('{"version":0,"brokerEpoch":42}') == ((CleanShutdown(42),), ())
        assert checkpoints.clean_shutdown('{"version":0,"brokerEpoch":-1}') == ((CleanShutdown(None),), ())
        assert checkpoints.clean_shutdown('{"ver') == ((CleanShutdown(None),), ("holds no broker epoch",))


@settings(deadline=None)
@given(st.text())
@pytest.mark.parametrize("read", [checkpoints.offsets, checkpoints.epochs, checkpoints.topic_id, checkpoints.meta, checkpoints.clean_shutdown])  # fmt: skip
def test_any_text(read, text):
    """Nothing raises."""
    read(text)
    read("0\n1\n" + text)
