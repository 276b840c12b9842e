"""A paste whose lines a narrow screen has broken shows no more of a secret than the paste with whole lines."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from casebook.collect.pasted.secrets import redacted
from tests.secrets import forms
from tests.secrets.finding import PART

SECRET = "hQ7vX2mZk9RtB4wN"
NAMED = [form for form in forms.NAMED if "\n" not in form]  # of several lines, one may be broken without being wide
BESIDE = ("$ cat a.log", "[2026-01-01 10:00:00,000] INFO started (kafka.server.KafkaServer)")
SHORTER = PART - 2


def shown(lines: list[str], quote: str = "") -> str:
    return b"".join(redacted([f"{quote}{line}\n".encode() for line in lines])).decode().replace(f"\n{quote}", "")


def broken(lines: list[str], width: int) -> list[str]:
    return [line[at : at + width] for line in lines for at in range(0, len(line), width)]


def leaks(text: str) -> bool:
    return any(SECRET[at : at + SHORTER] in text for at in range(len(SECRET) - SHORTER + 1))


@pytest.mark.parametrize("quote", ["", "> "])
@settings(max_examples=300)
@given(form=st.sampled_from(NAMED), width=st.integers(31, 140))
def test_no_more_than_in_whole_lines(quote, form, width):
    lines = [BESIDE[0], form.replace("{s}", SECRET), BESIDE[1]]
    assume(len(lines[1]) > width and not leaks(shown(lines)))
    assert not leaks(shown(broken(lines, width), quote))


@pytest.mark.parametrize("width", range(31, 100))
def test_within_its_name_and_its_value(width):
    text = f"  listener.name.internal.ssl.keystore.password={SECRET} sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:"
    text += f"listener.name.internal.ssl.keystore.password={SECRET}}}"
    parts = broken(["Dynamic configs for broker 1 are:", text, "  log.cleaner.threads=2 sensitive=false synonyms={}"], width)
    found = shown(parts)
    assert not leaks(found)
    assert "log.cleaner.threads=2" in found


def test_other_lines_stay():
    """Rows of the same width are no secret below a secret."""
    rows = ["ssl.key.password=a1b2c3d4e5f6", "log.cleaner.io.buffer.size=123"[:29], "num.replica.fetchers=123456789"[:29]]
    assert shown(rows) == f"ssl.key.password=[redacted]{rows[1]}{rows[2]}"
