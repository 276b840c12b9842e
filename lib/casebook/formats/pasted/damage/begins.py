"""Labels and braces at the start of a block, of which the first letters were not copied: as the tool prints them.

What follows proves it; only labels and braces are completed, never a value.
"""

import re
from collections.abc import Iterator

_NAME = r"[a-zA-Z0-9._-]{1,249}"
_LABELS = (
    ("Topic:", rf" ?{_NAME}\s+(?:TopicId|Partition(?:Count)?): ?\S.*"),
    ("zk_version", r"\s+\d[\w.-]*, built on .*"),
    ("ClusterId:", r"\s+[\w-]{22}\s*"),
    ("GROUP", r"\s+TOPIC\s+PARTITION\s+(?:CURRENT-)?OFFSET\s.*"),
    ("TOPIC", r"\s+PARTITION\s+(?:LEADER-EPOCH\s+)?CURRENT-OFFSET\s.*"),
    ("CONSUMER-ID", r"\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s+CLIENT-ID\s.*"),
    ("Dynamic configs", r" for (?:topic|broker|user|client)\b.* are:\s*"),
    ("All configs", r" for (?:topic|broker)\b.* are:\s*"),
    ("Reassignment of partition", r" \S+-\d+ (?:is|completed|failed)\b.*"),
    ("Metadata for", r" .*\(from broker .*"),
)
"""As of the tools' sources that the readers name."""
_BRACES = (
    ('{"version":1,"brokers":[{', re.compile(r'\s*"broker"\s*:\s*\d{1,10}\s*,(?:\s*"logDirs"\s*:.*)?')),
    (
        "{",
        re.compile(r'\s*"(?:version"\s*:\s*1\s*,(?:\s*"(?:brokers|partitions)"\s*:.*)?|Kafka(?:Partition|Broker)State"\s*:.*)'),
    ),
)
"""Text before the first member that was copied, of ``kafka-log-dirs``, a plan and Cruise Control."""


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for label, behind in _LABELS:
        rests = "|".join(re.escape(label[at:]) for at in range(1, len(label)))
        yield label, re.compile(rf"(?:{rests})(?P<behind>{behind})")


_PATTERNS = tuple(_patterns())
_LONGEST = 4096


def completed(texts: list[str]) -> list[str]:
    """The lines; the first one of each block with its whole label, or its braces."""
    return [text if not text or (at and texts[at - 1]) else _completed(text) for at, text in enumerate(texts)]


def _completed(text: str) -> str:
    if '"' in text and (braces := next((open_ for open_, member in _BRACES if member.fullmatch(text[:_LONGEST])), "")):
        return f"{braces}{text}"
    found = ((label, pattern.fullmatch(text[:_LONGEST])) for label, pattern in _PATTERNS)
    return next((f"{label}{cut['behind']}{text[_LONGEST:]}" for label, cut in found if cut), text)
