"""Commands to ZooKeeper at the prompt of zk-shell, which stands in a folder of its own."""

import re
from collections.abc import Sequence

from casebook.formats.pasted.text import PastedLine

PROMPT = r"\(CONNECT\w*(?: \[[^\]]*\])?\) (?P<at>/\S*)>"
"""Regex of the prompt of zk-shell, which has a folder of its own (``zk_shell/shell.py@1.3.3``)."""
_SHELL = re.compile(rf"\s*{PROMPT} (?P<verb>get|tree|exists)(?:\s+(?P<path>[\w./-]+))?(?:\s+(?:true|false))*\s*")
_ASKED = re.compile(
    rf"\s*(?:\[zk:[^\]]*\]\s*\S|{PROMPT} |Connecting to \S"
    r"|.*\b(?:zkCli|zookeeper-shell|zookeeper-client)\S*\s.*\S)"
)
_LONGEST = 4096
_OF_CLIENT = re.compile(
    r"\s*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[myid[^\]]{0,20}\] - (?:INFO|WARN|DEBUG) +\[\S*main|.*ClientCnxn\$"
)
"""Log lines that ``zkCli`` writes among its own output (``conf/log4j.properties@release-3.5.9``)."""


def of_zk_shell(text: str) -> str:
    """A command at the prompt of zk-shell as zkCli has it, with its whole path; ``""`` for another line."""
    shell = _SHELL.fullmatch(text)
    return f"{shell['verb'].replace('exists', 'stat')} {_path(shell)}" if shell else ""


def is_asked(text: str) -> bool:
    """Return whether it names a server of ZooKeeper: a command behind a prompt of its shell, or what that prints first."""
    return _ASKED.match(text[:_LONGEST]) is not None


def _path(command: re.Match[str]) -> str:
    """The whole path that a command of zk-shell names: from where its prompt stands."""
    path = command["path"] or ""
    return path if path.startswith("/") else f"{command['at'].rstrip('/')}/{path}".rstrip("/") or "/"


def tree_asked(text: str) -> str | None:
    """The path given to ``tree`` of zk-shell; ``None`` for another line."""
    shell = _SHELL.fullmatch(text[:_LONGEST])
    return _path(shell) if shell and shell["verb"] == "tree" else None


def is_client_log(text: str) -> bool:
    """Return whether ``zkCli`` logs it."""
    return _OF_CLIENT.match(text) is not None


def behind_client_log(lines: Sequence[PastedLine], at: int) -> int:
    """Return the first line with content behind such ones."""
    while at < len(lines) and (not lines[at].text or is_client_log(lines[at].text)):
        at += 1
    return at
