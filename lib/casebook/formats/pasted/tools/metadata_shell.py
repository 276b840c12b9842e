"""Sessions of ``kafka-metadata-shell``: its commands are those of ZooKeeper's shell, its paths are others.

Source: ``shell/src/main/java/org/apache/kafka/shell/InteractiveShell.java@3.9.0`` (greeting and prompt). None of it is a znode.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.facts.quotes import cut
from casebook.formats.pasted.text import PastedLine, spanned

_GREETING = re.compile(r"\s*\[ Kafka Metadata Shell \]\s*")
_COMMAND = re.compile(r"\s*(?:>>\s*)?(?P<command>(?:ls|cat|cd|pwd|find|tree|man|history)(?:\s+[\w./-]+)*)\s*")
_INSTEAD = "`kafka-topics --describe` shows leaders and ISRs"
_LONGEST, _MOST_ROWS, _MOST_SHOWN = 512, 60, 400


def sessions(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every session, each command with its answer."""
    at = 0
    while at < len(lines):
        after = at + 1
        if "Metadata Shell" in lines[at].text[:_LONGEST] and _GREETING.fullmatch(lines[at].text[:_LONGEST]):
            told, after = _session(lines, at)
            yield told
        at = after


def _session(lines: Sequence[PastedLine], at: int) -> tuple[ToolStatement, int]:
    """Return a session and where it ends: at an empty line, or at a text before its first command."""
    after, found = at + 1, []
    while after < len(lines) and after - at <= _MOST_ROWS and (text := lines[after].text[:_LONGEST]):
        asked = _COMMAND.fullmatch(text)
        if asked is None and not found:
            break
        if asked:
            found.append([asked["command"]])
        else:
            found[-1].append(cut(" ".join(text.split()), _MOST_SHOWN))
        after += 1
    says = "; ".join(f"`{command}` printed {', '.join(rows) or 'nothing'}" for command, *rows in found)
    return ToolStatement("kafka-metadata-shell", spanned(lines, at, after), says, _INSTEAD), after
