"""Exceptions quoted in a sentence, without a time: reported as printed, without an owner."""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.text import PastedLine, one

_EXCEPTION = re.compile(r"\b(?:[a-z]\w*\.)*[A-Z]\w*(?:Exception|Error)\b ?: ?\S.*")
_MOST, _LONGEST, _SHOWN = 100, 4096, 400


def exceptions(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every line with an exception and its message."""
    found = (line for line in lines if ("Exception" in line.text or "Error" in line.text) and len(line.text) <= _LONGEST)
    for line, _ in zip((line for line in found if _EXCEPTION.search(line.text)), range(_MOST), strict=False):
        says = f"quoted without a time: {line.text.strip().strip('`')[:_SHOWN].rstrip('. ')}"
        yield ToolStatement("an exception", one(line), says, "paste the lines of server.log around it")
