"""Commands of Kafka's tools that print nothing where they find nothing: the next prompt right below is their answer.

Without a prompt, with commands in one block above their outputs, at a cut end, or through a filter, an empty answer proves
nothing. Source: ``core/src/main/scala/kafka/admin/TopicCommand.scala@2.8.2`` (``describeTopic``, ``listTopics``),
``ConsumerGroupCommand.scala@2.8.2`` (``listGroups``), ``AclCommand.scala@2.8.2``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.text import PastedLine, one

_PROMPT = re.compile(r"\s*(?P<prompt>\S{0,120}(?: \S{1,80}){0,3}?[$#%>])(?:\s+(?P<command>\S.*))?\s*")
_NONE = (
    ("kafka-topics", "--under-replicated-partitions", "no partition is under-replicated"),
    ("kafka-topics", "--unavailable-partitions", "no partition is unavailable"),
    ("kafka-topics", "--under-min-isr-partitions", "no partition has fewer in-sync replicas than min.insync.replicas"),
    ("kafka-topics", "--at-min-isr-partitions", "no partition has just as many in-sync replicas as min.insync.replicas"),
    ("kafka-topics", "--topics-with-overrides", "no topic has overrides"),
    ("kafka-topics", "--list", "there is no topic"),
    ("kafka-consumer-groups", "--list", "there is no group"),
    ("kafka-acls", "--list", "there is no ACL"),
)
_WHOSE = re.compile(r"\s--topic[ =]+[\"']?(?P<topic>[^\s\"']+)")
_FILTERED = re.compile(r"[|;<>&→]")
_POINTED = re.compile(r"(?P<command>.*\S)\s+(?:→|=>|-->)\s+(?P<answer>\S.*)")
"""A command with its answer behind an arrow, as a person has put them on one line."""
_LONGEST = 4096


def answers(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield such commands with the prompt, the same as theirs, right below."""
    prompts = [_PROMPT.fullmatch(line.text[:_LONGEST]) if line.text else None for line in lines]
    for at, typed in enumerate(prompts):
        if typed and typed["command"] and (none := _none(typed["command"])) and _is_answered(lines, prompts, at):
            tool, says = none
            yield ToolStatement(tool, one(lines[at]), f"{says} (the command printed nothing)")


def pointed(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield answers that a person has put behind their command."""
    for line in lines:
        typed = _PROMPT.fullmatch(line.text[:_LONGEST]) if "→" in line.text or "> " in line.text else None
        if typed and typed["command"] and (found := _POINTED.fullmatch(typed["command"])):
            yield ToolStatement(found["command"].split()[0], one(line), f"behind its command stands: {found['answer'].strip()}")


def _none(command: str) -> tuple[str, str] | None:
    """Return the tool and the meaning of its empty answer; ``None`` where that may have another reason."""
    if _FILTERED.search(command):
        return None
    words = command.split()
    whose = f", asked for topic {found['topic']}" if (found := _WHOSE.search(command)) else ""
    return next(
        ((tool, f"{says}{whose}") for tool, option, says in _NONE if option in words and any(tool in word for word in words)),
        None,
    )


def _is_answered(lines: Sequence[PastedLine], prompts: Sequence[re.Match[str] | None], at: int) -> bool:
    """Return whether the same prompt follows, and the commands that it begins are not in one block above their outputs."""
    after = at + 1
    if after >= len(lines) or not _is_same(prompts[at], prompts[after]):
        return False
    while after < len(lines) and _is_same(prompts[at], prompts[after]) and prompts[after]["command"]:
        after += 1
    return after < len(lines) and bool(lines[after].text)


def _is_same(first: re.Match[str], second: re.Match[str] | None) -> bool:
    return second is not None and second["prompt"] == first["prompt"]
