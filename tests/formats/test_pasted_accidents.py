"""Real outputs after the accidents of a mail, a chat, a page and a terminal: the same facts, or none; never another value.

Each accident meets a few of the recorded outputs, the same ones in every run.
"""

import html
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from casebook.facts.pasted import OF_TOOLS, Pasted
from casebook.facts.znodes import Stat
from casebook.formats.pasted import paste

FOLDER = Path(__file__).parent
FILES = {
    path.stem: [*path.read_text().splitlines(), ""]
    for name in ("pasted_sent", "pasted", "pasted_hosts")
    for path in sorted((FOLDER / name).glob("*.txt"))
}
SHORT = [name for name, lines in FILES.items() if len(lines) <= 60]
TYPED = re.compile(r"\$ (?=[a-z./])")
ROWS = (*OF_TOOLS, "hosts")
NO_VALUES = ("span", "listing", "facts", "whole", "dead_leader", "ordered", "deleting")
MANY = 12

Lines = list[str]
Accident = Callable[[Lines], Lines]


def each(change: Callable[[str], str]) -> Accident:
    return lambda lines: [change(line) for line in lines]


def between(*texts: str) -> Accident:
    """Around the lines; the lines stand where ``...`` does."""
    at = texts.index("...")
    return lambda lines: [*texts[:at], *lines, *texts[at + 1 :]]


def prompted(prompt: str) -> Accident:
    return each(lambda line: TYPED.sub(lambda _: prompt, line, count=1))


def glued(begin: str, end: str) -> Accident:
    return lambda lines: [begin + lines[0], *lines[1:-2], lines[-2] + end, ""] if len(lines) > 2 else lines


def numbered(form: str) -> Accident:
    return lambda lines: [form.format(at, line) for at, line in enumerate(lines, 1)]


HARMLESS: dict[str, Accident] = {
    "blanks at the end": each(lambda line: f"{line}   "),
    "no-break blanks": each(lambda line: line.replace(" ", "\xa0")),
    "no-break blanks in a wrong code": each(lambda line: line.replace("  ", " \xc2\xa0")),
    "characters without width": each(lambda line: line.replace(".", ".\u200b").replace("-", "-\u200b")),
    "typographic signs": each(lambda line: re.sub(r' --(?=[a-z])', " \u2014", re.sub(r'"([^"]*)"', "“\\1”", line))),
    "an indent of two": each(lambda line: f"  {line}" if line else ""),
    "an indent of three in a list": lambda lines: ["1. describe it:", "", *(f"   {line}" for line in lines), "", "2. restart it"],
    "an indent of four": each(lambda line: f"    {line}" if line else ""),
    "a fence": between("What I get:", "```shell", "...", "```", "Is it wrong?"),
    "a fence on the line": glued("{noformat}", "{noformat}"),
    "a code on the line": glued("[code]", "[/code]"),
    "BBCode": between("[code]", "...", "[/code]"),
    "Jira": between("{code:java|title=out}", "...", "{code}"),
    "LaTeX": between("\\begin{verbatim}", "...", "\\end{verbatim}"),
    "reST": lambda lines: [".. code-block:: console", "", *(f"    {line}" for line in lines), ""],
    "code on each line": each(lambda line: f"`{line}`" if line.strip() and "`" not in line else line),
    "a mail": each(lambda line: f"> {line}"),
    "a mail within a mail": each(lambda line: f">> {line}"),
    "an answer": between("On Tue, Mar 5, 2024 at 10:01 AM Bob Smith <bob@corp.example> wrote:", "...", "Looks fine to me."),
    "a chat": between("bob  10:03 AM", "...", "alice  10:05 AM", "thanks, I look at it"),
    "a chat of phones": lambda lines: [f"[05.03.24, 10:03:22] Bob: {lines[0]}", *lines[1:]],
    "colours": each(lambda line: f"\x1b[1;32m{line}\x1b[0m"),
    "colours without escape": each(lambda line: f"[32m{line}[0m" if line else ""),
    "colours with a caret": each(lambda line: f"^[[01;31m^[[K{line}^[[m^[[K" if line else ""),
    "a title of the window": prompted("\x1b]0;root@kb1: ~\x07root@kb1:~# "),
    "progress": lambda lines: [f"10%\r50%\r100%\r{lines[0]}", *lines[1:]],
    "entities of a page": each(html.escape),
    "entities for blanks": each(lambda line: html.escape(line).replace("   ", "&nbsp;&#160; ")),
    "an issue": between("### To Reproduce", "```", "...", "```", "### Expected behavior", "No lag.", "- Kafka version: 3.4.0"),
    "a pager": lambda lines: [*lines[:1], "--More--", *lines[1:], "lines 1-22/22 (END)"],
    "a pod": between('Defaulted container "kafka" out of: kafka, init-config (init)', "..."),
    "a login": between("Last login: Tue Mar  5 09:58:01 2024 from 10.0.0.9", "...", "Connection to kb1 closed."),
    "root": prompted("[root@kb1 ~]# "),
    "a container": prompted("kafka@my-cluster-kafka-0:/opt/kafka$ "),
    "a user without a name": prompted("I have no name!@kafka-0:/$ "),
    "a shell": prompted("bash-5.1$ "),
    "an environment": prompted("(base) bob@host:~$ "),
    "no prompt": prompted(""),
    "prose": between("Hello,", "we have 3 brokers, and see the following since 10:15:", "", "...", "", "Why? Thanks in advance!"),
}  # fmt: skip
"""Each leaves every word."""


def at_blanks(width: int, begin: str = "") -> Accident:
    def broken(line: str) -> Iterator[str]:
        while len(line) > width and (at := line.rfind(" ", 1, width)) > 0 and line[:at].strip():
            yield begin + line[:at]
            line = line[at + 1 :]
        yield begin + line

    return lambda lines: [part for line in lines for part in broken(line)]


def left_out(sign: str) -> Accident:
    def changed(lines: Lines) -> Lines:
        at = 1 + len(lines) * 7 % max(1, len(lines) - 3)
        return [*lines[:at], sign, *lines[at + 1 + len(lines) % 5 :]]

    return changed


def noted(remark: str) -> Accident:
    """Behind every third line that is no command."""
    return lambda lines: [
        f"{line}   {remark}" if at % 3 == 1 and line and "$ " not in line else line for at, line in enumerate(lines)
    ]


HARMFUL: dict[str, Accident] = {
    **{f"a screen of {width}": lambda lines, width=width: [
        line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)
    ] for width in (80, 100, 132)},
    **{f"a mail of {width}": at_blanks(width) for width in (72, 100)},
    "a quoted mail": at_blanks(74, "> "),
    **{f"left out by {sign}": left_out(sign) for sign in ("...", "[snip]", "<...>", "(... 20 more rows ...)")},
    **{f"remarks by {sign}": noted(sign) for sign in ("<-- this one", "<<<< here", "# why?", "(the dead one)", "← this")},
    "ends by a sign": each(lambda line: f"{line[:99]}…" if len(line) > 100 else line),
    "line numbers": numbered("{}: {}"),
    "line numbers with bars": numbered("{:3} | {}"),
    "comments": each(lambda line: f"// {line}"),
    "a bar": each(lambda line: f"| {line}"),
}  # fmt: skip
"""Each may leave less."""


def read(lines: Sequence[str]) -> Pasted:
    return paste.read([f"{line}\n" for line in lines])


def facts(found: Pasted) -> dict[str, tuple[str, dict[str, object]]]:
    """What the rows say, by their text."""
    held = {}
    for kind in ROWS:
        for row in getattr(found, kind):
            values = {name: value for name, value in row._asdict().items() if name not in NO_VALUES}
            held[f"{kind} {re.sub(r'  +', ' ', repr(values))}"] = (kind, values)
    return held


def is_less(value: object, known: object) -> bool:
    """Whether it says nothing that the other does not say."""
    if value in (None, "", (), {}) or value == known:
        return True
    if isinstance(value, dict) and isinstance(known, dict):
        return all(known.get(name) == of for name, of in value.items())
    if isinstance(value, Stat) and isinstance(known, Stat):
        return all(of in (None, other) for of, other in zip(value, known, strict=True))
    return False


def is_known(fact: tuple[str, dict[str, object]], known: Sequence[tuple[str, dict[str, object]]]) -> bool:
    kind, values = fact
    if values.get("path", "") is None:  # a part of a znode that is not named
        return True
    return any(of == kind and all(is_less(value, row[name]) for name, value in values.items()) for of, row in known)


def chosen(accident: str) -> list[str]:
    return random.Random(accident).sample(SHORT, MANY)


@pytest.mark.parametrize("accident", HARMLESS)
def test_same_facts(accident):
    different = {}
    for name in chosen(accident):
        before, after = facts(read(FILES[name])), facts(read(HARMLESS[accident](FILES[name])))
        if before.keys() != after.keys():
            different[name] = (sorted(before.keys() - after.keys())[:2], sorted(after.keys() - before.keys())[:2])
    assert different == {}


@pytest.mark.parametrize("accident", HARMFUL)
def test_no_other_value(accident):
    """And no line is silent of which a fact is missing."""
    other, silent = {}, {}
    for name in chosen(accident):
        before, found = facts(read(FILES[name])), read(HARMFUL[accident](FILES[name]))
        after = facts(found)
        rows = [fact for text, fact in after.items() if text not in before and fact[0] not in ("hosts", "groups")]
        if new := [fact for fact in rows if not is_known(fact, list(before.values()))]:
            other[name] = new[:2]
        if before.keys() - after.keys() and not (
            found.not_understood or found.not_kept or found.told or found.beside or found.hosts
        ):
            silent[name] = sorted(before.keys() - after.keys())[:2]
    assert (other, silent) == ({}, {})
