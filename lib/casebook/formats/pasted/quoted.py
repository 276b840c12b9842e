"""Quoted text: exceptions in a sentence, without a time and an owner, and outputs in a string, as of Ansible or an API."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from casebook.facts.pasted import ToolStatement
from casebook.facts.quotes import cut
from casebook.formats.pasted.text import PastedLine, one

_EXCEPTION = re.compile(r"\b(?:[a-z]\w*\.)*[A-Z]\w*(?:Exception|Error)\b ?: ?\S.*")
_FRAME = re.compile(r"\s+at (?:[\w.-]+(?:@[\w.-]+)?/)?(?:[a-z]\w*\.)+[\w.$<>]+\(")
_OF_FILE = re.compile(r"\s*(?P<said>(?:[A-Za-z]:\\|/)[^:]{1,400}: \S.{0,400})")
_MEMBER = re.compile(r'"(?P<name>\w{1,60})"\s*:\s*(?:"(?P<text>(?:\\.|[^"\\])*+)"|(?P<other>-?\d[\d.eE+-]*|true|false|null))')
_MOST, _LONGEST, _SHOWN = 100, 4096, 2000


def member(text: str, least: int) -> tuple[str, list[str]]:
    """Return the members around the output in a line, and the lines of the output.

    Args:
        text: A line with escaped line ends: a string, or JSON with one, perhaps behind words.
        least: Line ends that a member has which is an output.
    """
    members = list(_MEMBER.finditer(text))
    output = max(members, key=lambda one_: (one_["text"] or "").count("\\n"), default=None)
    if output is None or (output["text"] or "").count("\\n") < least:
        bare = text.strip().removeprefix("'").removeprefix('"').rstrip("'\",;")
        return "", _plain(bare).split("\n")
    told = [
        f"{one_['name']} {one_['text'] or one_['other']}"
        for one_ in members
        if one_ is not output and (one_["text"] or one_["other"])
    ]
    before = text[: members[0].start()].rstrip(" {[").removesuffix("=>").strip()
    return ", ".join(filter(None, [before, *told]))[:_LONGEST] or output["name"], _unescaped(output["text"]).split("\n")


def _unescaped(text: str) -> str:
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        return _plain(text)


def _plain(text: str) -> str:
    return text.replace("\\t", "\t").replace('\\"', '"').replace("\\n", "\n")


def exceptions(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every line with an exception and its message."""
    found = (line for line in lines if ("Exception" in line.text or "Error" in line.text) and len(line.text) <= _LONGEST)
    for line, _ in zip((line for line in found if _EXCEPTION.search(line.text)), range(_MOST), strict=False):
        says = f"quoted without a time: {cut(line.text.strip().strip('`').rstrip('. '), _SHOWN)}"
        yield ToolStatement("an exception", one(line), says, "paste the lines of server.log around it")


def file_errors(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every message of Java on a file that has lost its class, above its stack (``FileSystemException.getMessage``)."""
    for line, below in pairwise(lines):
        if _FRAME.match(below.text) and (of_file := _OF_FILE.fullmatch(line.text[:_LONGEST])):
            yield ToolStatement("an exception", one(line), f"of a file, quoted without a time: {of_file['said'].rstrip('. ')}")
