"""Evidence of proofs from a case: znodes, log lines with context, transactions."""

from collections.abc import Iterator, Sequence, Set
from itertools import islice

from casebook.case.case import Case
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.page import proof

_CONTEXT = 3
"""Lines shown before and after a log line."""
_TRANSACTION = " txn 0x"


def evidence(case: Case, cites: Sequence[str], *, at: int | None) -> tuple[list[Znode], list[proof.ProofLine], list[ZnodeChange]]:
    """Return the evidence of proofs: paths of znodes, ``path:line``, or the history and a transaction.

    Args:
        at: Moment of the znodes, epoch ms; by default that of the collection.
    """
    wanted = {path for path in cites if path.startswith("/")}
    found = {znode.path: znode for znode in case.znodes(at=at, only=wanted)} if wanted else {}
    znodes = [found.get(path) or Znode(path=path, outcome=ReadOutcome.MISSING) for path in sorted(wanted)]
    transactions = {int(cite.rpartition(" ")[2], 16) for cite in cites if _TRANSACTION in cite}
    told = case.past() if transactions else ()
    changes = [change for change in told if change.zxid in transactions]
    places = [cite for cite in cites if ":" in cite and cite not in wanted and _TRANSACTION not in cite]
    return znodes, _lines(case, places), changes


def _lines(case: Case, places: Sequence[str]) -> list[proof.ProofLine]:
    """Return the lines at ``path:number``, reading each file once."""
    asked: dict[str, set[int]] = {}
    for path, _, number in (place.rpartition(":") for place in places):
        asked.setdefault(path, set()).add(int(number))
    return [line for path in sorted(asked) for line in _of_file(case, path, asked[path])]


def _of_file(case: Case, path: str, asked: Set[int]) -> Iterator[proof.ProofLine]:
    near = {n for number in asked for n in range(number - _CONTEXT, number + _CONTEXT + 1)}
    lines = islice(enumerate(case.text_lines(path), start=1), max(near))
    kept = {number: line.rstrip("\n") for number, line in lines if number in near}
    for number in sorted(asked & kept.keys()):
        before = tuple(kept[n] for n in range(number - _CONTEXT, number) if n in kept)
        after = tuple(kept[n] for n in range(number + 1, number + _CONTEXT + 1) if n in kept)
        yield proof.ProofLine(f"{path}:{number}", kept[number], before=before, after=after)
