"""Summary of a case in words: how much of each kind."""

import re
from collections.abc import Iterator
from contextlib import suppress

from casebook.case.case import Case
from casebook.case.folder import PASTED_LOG, Item
from casebook.errors import CasebookError
from casebook.facts.pasted import PASTED
from casebook.facts.proofs import ZNODES
from casebook.facts.wire import ANSWERS
from casebook.findings.words import count, plural

_FILES = (
    (re.compile(r"brokers/\d+/server\.properties"), "server.properties", "server.properties"),
    (re.compile(r"(?:brokers|zookeeper|clients)(?:/[^/]+)?/logs/.*"), "log", "logs"),
    (re.compile(r"clients/[^/]+/ledgers/.*"), "ledger", "ledgers"),
    (re.compile(r"clients/[^/]+/processed/.*"), "ledger of processed records", "ledgers of processed records"),
    (re.compile(r"clients/[^/]+/config/.*"), "client file", "client files"),
    (re.compile(r"brokers/\d+/metrics/.*"), "file of host metrics", "files of host metrics"),
    (re.compile(r"brokers/\d+/log_dirs\.json"), "broker's log dirs", "brokers' log dirs"),
    (re.compile(r"brokers/\d+/segments/.*"), "copied file of segments", "copied files of segments"),
)
_LINES = (
    (ZNODES, "znode", "znodes"),
    (ANSWERS, "answer of brokers", "answers of brokers"),
    (PASTED, "pasted line", "pasted lines"),
)
_COUNTED = ("log", "ledger", "ledger of processed records")
"""Files with counted lines."""


def in_words(case: Case) -> str:
    """Return the content of a case: ``812 znodes, 3 logs with 12,345 lines``; ``nothing`` for an empty one."""
    return ", ".join([*_by_line(case), *_by_file(case)]) or "nothing"


def is_understood(case: Case) -> bool:
    """Return whether anything was collected except an undecodable paste."""
    if any(item.rows for path, item in case.items.items() if path != PASTED):
        return True
    pasted = case.pasted()
    return pasted is not None and pasted.tells


def _by_line(case: Case) -> Iterator[str]:
    for path, one, many in _LINES:
        item = case.items.get(path)
        if item is not None and item.rows is not None:
            yield plural(item.rows, one, many)
        if path == ZNODES and case.has_history:
            yield from _of_history(case)


def _of_history(case: Case) -> Iterator[str]:
    """Yield transactions and snapshots of ZooKeeper's own files; unreadable ones are reported elsewhere."""
    with suppress(CasebookError):
        transactions, snapshots = case.history_size()
        if transactions or not snapshots:
            yield plural(transactions, "transaction")
        if snapshots:
            yield plural(snapshots, "snapshot") + " of ZooKeeper"


def _by_file(case: Case) -> Iterator[str]:
    for pattern, one, many in _FILES:
        items: list[Item] = [item for path, item in case.items.items() if pattern.fullmatch(path)]
        if items:
            lines = sum(_lines(case, item) for item in items)
            yield plural(len(items), one, many) + (f" with {count(lines)} lines" if one in _COUNTED else "")


def _lines(case: Case, item: Item) -> int:
    """Return the number of lines of a file; of a pasted log, only those from the paste: the others are empty placeholders."""
    if PASTED not in case.items or not item.path.endswith(f"/logs/{PASTED_LOG}"):
        return item.rows or 0
    with suppress(OSError), (case.folder / item.path).open("rb") as lines:
        return sum(bool(line.strip()) for line in lines)
    return 0
