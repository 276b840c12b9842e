"""One znode, one line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import znode_lines

NUMBERS = st.none() | st.integers(-(2**63), 2**63 - 1)
ZNODES = st.builds(
    Znode,
    path=st.text().map("/".__add__),
    data=st.none() | st.binary(),
    stat=st.none() | st.builds(Stat, **dict.fromkeys(Stat._fields, NUMBERS)),
    outcome=st.sampled_from(ReadOutcome),
    read_at=NUMBERS,
    redacted=st.booleans(),
)


@settings(deadline=None)
@given(ZNODES)
def test_round_trip(znode):
    """What is written is read again, for any znode."""
    assert znode == znode_lines.decode(znode_lines.encode(znode))


class TestDecode:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("", "not a JSON object"),
            ("[]", "not a JSON object"),
            ("[" * 200_000, "not a JSON object"),
            ("{}", "no path that begins with /"),
            ('{"path":"x"}', "no path that begins with /"),
            ('{"path":"/\\ud800"}', "a path that is not text"),
            ('{"path":"/x","data":1}', "data is neither text nor null, nor data_b64 a text"),
            ('{"path":"/x","data_b64":"*"}', "data_b64 is not base64"),
            ('{"path":"/x","outcome":"maybe"}', "an outcome this version does not know"),
            ('{"path":"/x","outcome":[]}', "an outcome this version does not know"),
        ],
    )
    def test_refused(self, line, reason):
        """A line that is no znode is refused with its reason."""
        with pytest.raises(ValueError) as caught:
            znode_lines.decode(line)
        assert reason == str(caught.value)

    def test_stat_that_is_none(self):
        """A stat field that is no 64-bit integer is unknown, the others stand."""
        znode = znode_lines.decode('{"path":"/x","stat":{"version":true,"mzxid":99999999999999999999,"mtime":5,"new":1}}')
        assert Stat(mtime=5) == znode.stat

    @settings(deadline=None)
    @given(st.text())
    def test_any_text(self, line):
        """Whatever the line, it is read or refused."""
        try:
            znode_lines.decode(line)
        except ValueError as error:
            assert str(error)
