"""A znode as a client of ZooKeeper in another language shows it: its data in a string, and its stat, on one line.

Source: ``lib/zookeeper/stat.rb`` of Ruby's ``zookeeper``, ``kazoo/protocol/states.py`` of Python's ``kazoo`` (``ZnodeStat``):
both name the fields of a stat as ZooKeeper does.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedZnode, ToolStatement
from casebook.facts.znodes import Stat
from casebook.formats.pasted.text import PastedLine, one, spanned
from casebook.formats.pasted.tools import zookeeper

_ANSWER = re.compile(
    r"\s*(?:=> ?|Out\[\d+\]: ?)?[\[(]b?(?P<data>\"\{(?:\\.|[^\"\\])*+\"|'\{(?:\\.|[^'\\])*+'), ?"
    r"(?:#<[\w:]*Stat\b|ZnodeStat\()(?P<stat>[^\])>]*)>?\)?[\])]?\s*"
)
_FIELD = re.compile(r"@?\b(?P<name>\w+)=(?P<value>-?\d{1,19})\b")
_NAMES = frozenset(Stat._fields)
_LONGEST = 64 << 10


def answers(lines: Sequence[PastedLine]) -> Iterator[PastedZnode | ToolStatement]:
    """Yield every such znode, of the path that the line above it names."""
    for at, line in enumerate(lines):
        if "Stat" in line.text and len(line.text) < _LONGEST and (found := _ANSWER.fullmatch(line.text)):
            path, data = zookeeper.path_near(lines, at), _data(found["data"])
            if data is None:
                continue
            stat = {row["name"]: int(row["value"]) for row in _FIELD.finditer(found["stat"]) if row["name"] in _NAMES}
            is_asked = path is not None and path in lines[at - 1].text
            yield PastedZnode(path, spanned(lines, at - is_asked, at + 1), data, Stat(**stat) if stat else None)
            if is_asked:
                yield ToolStatement("a client of ZooKeeper", one(lines[at - 1]), f"asked by `{lines[at - 1].text.strip()}`")


def _data(literal: str) -> str | None:
    """Return the object in a string's literal; ``None`` for anything else."""
    try:
        text = ast.literal_eval(literal)
        return text if isinstance(json.loads(text), dict) else None
    except (ValueError, SyntaxError, RecursionError):
        return None
