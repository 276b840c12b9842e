"""What identifies a record, as the parameter says it."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.errors import UsageError
from casebook.formats.clients.record_ids import IdKind, RecordId, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key", RecordId(IdKind.KEY)),
        (" hash ", RecordId(IdKind.HASH)),
        ("offset", RecordId(IdKind.OFFSET)),
        ("header:trace:id", RecordId(IdKind.HEADER, "trace:id")),
        ("value:$.order['the id'][0]", RecordId(IdKind.PATH, "$.order['the id'][0]")),
        ("value:/id=\\d+/", RecordId(IdKind.PATTERN, "id=\\d+", 0)),
        ("value:/(?:a|b)=(\\d+) (\\w+)/", RecordId(IdKind.PATTERN, "(?:a|b)=(\\d+) (\\w+)", 1)),
        ("value:/(?P<id>\\d+)(?<!0)/", RecordId(IdKind.PATTERN, "(?<id>\\d+)(?<!0)", 1)),
        ("value:/\\(?P<5/", RecordId(IdKind.PATTERN, "\\(?P<5", 0)),
    ],
)
def test_forms(text, expected):
    """Every form, with what it holds; an expression's first group counts, and named groups are written as Java does."""
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "id", "header:", "value:", "value:$", "value:$.", "value:$..a", "value:$.a[", "value://", "value:/(/", "value:a"]
)
def test_no_form(text):
    """What is none of the forms is said, with the forms or with why."""
    with pytest.raises(UsageError):
        parse(text)


@given(st.text())
def test_any_text(text):
    """Whatever stands in a parameter is read or refused."""
    for form in ("", "header:", "value:$.", "value:/"):
        with suppress(UsageError):
            assert isinstance(parse(form + text + "/" * (form == "value:/")), RecordId)
