"""Quotes of a paste are whole, or visibly cut."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste

LONG = "q" * 3500
"""Longer than all that is quoted of a line, and shorter than what is read of one."""

OUTPUTS = {
    path.stem: path.read_text().splitlines()
    for name in ("pasted", "pasted_hosts", "pasted_sent")
    for path in sorted((Path(__file__).parent / name).glob("*.txt"))
}
ALONE = [
    f"Error: Executing consumer group command failed due to {LONG}",
    f"java.lang.IllegalStateException: {LONG}",
    f'{{"request":{{"mbean":"kafka.server:type=x","type":"read"}},"error":"{LONG}","status":404}}',
    f"$ nothing-known --{LONG}\nhere it is {LONG}",
    f"Configs for topic '{LONG}' are {LONG}={LONG}",
]


def shown(found: Pasted) -> Iterator[str]:
    """Yield what a reader may see of a paste, besides its facts."""
    yield from (one.says for one in found.told)
    yield from (one.text for one in found.hosts)
    yield from (text for one in found.beside for text in (one.text, one.heading))
    yield from (text for one in found.not_understood for text in (one.text, one.reason))
    yield from (lost for one in found.not_kept for lost in one.values)


def cut_short(lines: list[str]) -> list[str]:
    """Return quotes that end within :data:`LONG` without a sign."""
    texts = list(shown(paste.read(lines)))
    found = (text[at.start() : at.end() + 20] for text in texts for at in re.finditer(r"(?<!q)q{12,3499}(?!q)", text))
    return [quote for quote in found if not re.match(r"q+['\"`]?(…| ?\.\.\.)", quote)]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_with_a_long_word(name):
    """At the end of any line, as a word of its own or as part of the last."""
    lines = OUTPUTS[name]
    for at in range(0, len(lines), max(1, len(lines) // 4)):
        for between in ("", " "):
            assert cut_short([*lines[:at], f"{lines[at]}{between}{LONG}", *lines[at + 1 :]]) == []


@pytest.mark.parametrize("text", ALONE, ids=range(len(ALONE)))
def test_an_error_that_is_long(text):
    """Without the rest of the output."""
    assert cut_short(text.splitlines()) == []
