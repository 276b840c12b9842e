"""Kafka's checkpoint files, as ``cat`` prints them: a version, the number of entries, and the entries.

An entry is of a partition (``topic partition offset``), or of a leader's epoch (``epoch offset``). Source:
``CheckpointFile.scala``, ``OffsetCheckpointFile.scala``, ``LeaderEpochCheckpointFile.scala@2.8.2``, all of
``kafka/server/checkpoints``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.text import TOPIC_NAME, PastedLine, spanned

_COUNT = re.compile(r"\s*(?P<count>\d{1,7})\s*")
_OF_PARTITION = re.compile(rf"\s*(?P<topic>{TOPIC_NAME}) (?P<partition>\d{{1,10}}) (?P<offset>\d{{1,19}})\s*")
_OF_EPOCH = re.compile(r"\s*(?P<epoch>\d{1,10}) (?P<offset>\d{1,19})\s*")
_SHOWS = re.compile(r".*\b(?:cat|head|tail|less|more)\s(?:.*[\s/])?(?P<name>[a-z-]+-checkpoint)\b.*")
_MOST, _MOST_ROWS, _LONGEST = 20_000, 60, 400


def contents(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every file below the command that shows it, or one of partitions that is whole by its own number of entries."""
    at, name = 0, ""
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if "-checkpoint" in text and (shows := _SHOWS.fullmatch(text[:_LONGEST])):
            name = shows["name"]
        elif text.strip() in ("0", "1") and after < len(lines) and (count := _COUNT.fullmatch(lines[after].text[:_LONGEST])):
            form = next((form for form in (_OF_PARTITION, _OF_EPOCH) if _is_row(lines, at + 2, form)), None)
            end = at + 2
            while form is not None and end - at - 2 < min(int(count["count"]), _MOST) and _is_row(lines, end, form):
                end += 1
            rows = [found for line in lines[at + 2 : end] if form and (found := form.fullmatch(line.text))]
            is_whole = len(rows) == int(count["count"])
            if rows and (name or (is_whole and form is _OF_PARTITION)):
                more = "" if is_whole else "; the others were not pasted"
                told = ", ".join(map(_told, rows[:_MOST_ROWS])) + (
                    f" and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
                )
                yield ToolStatement(
                    name or "a checkpoint",
                    spanned(lines, at, end),
                    f"version {text.strip()}, {count['count']} entries: {told}{more}",
                )
                after = end
            name = ""
        elif text:
            name = ""
        at = after


def _is_row(lines: Sequence[PastedLine], at: int, form: re.Pattern[str]) -> bool:
    return at < len(lines) and len(lines[at].text) < _LONGEST and form.fullmatch(lines[at].text) is not None


def _told(row: re.Match[str]) -> str:
    if "topic" in row.groupdict():
        return f"{row['topic']}-{row['partition']} at {row['offset']}"
    return f"epoch {row['epoch']} from offset {row['offset']}"
