"""server.properties, as Kafka reads it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.formats import properties


class TestParse:
    def test_last_counts(self):
        """Of a key given twice the last counts; comments, colons and continued lines are Java's."""
        text = "# comment\na=1\nb : 2\na=3\nlog.dirs=/x,\\\n   /y\n"
        assert properties.parse(text) == {"a": "3", "b": "2", "log.dirs": "/x,/y"}

    def test_broken_escape(self):
        """A broken unicode escape is left as text, a good one beside it is read."""
        assert properties.parse("a=\\u12\nb=\\u0041\nc=\\\\u") == {"a": "\\u12", "b": "A", "c": "\\u"}

    @settings(deadline=None)
    @given(st.text(alphabet="\\u0041xyz=\n #:"))
    def test_any_text(self, text):
        """Nothing makes it fail."""
        assert isinstance(properties.parse(text), dict)
