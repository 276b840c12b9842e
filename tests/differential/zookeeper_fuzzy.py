"""A snapshot as fuzzy as can be, and a log behind it: random changes that meet what is there, what is gone, and what is later.

Parents stay, as no release forgives a creation without one; their counts are anything.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from casebook.formats.zookeeper.records import Acl
from tests.formats import zookeeper_bytes
from tests.formats.zookeeper_bytes import LOG_HEAD, acls, buffer, create, integer, long, multi, node, record, text

FIRST, LAST = 1000, 4000
_PARENTS = 200
_NAMES = ("a", "b", "c")
_READ_ONLY = acls(Acl(1, "world", "anyone"))
_TIMEOUT = 60_000
_IN_A_MULTI = (1, 1, 2, 2, 5)
_OLDER = (*_IN_A_MULTI, 7)
_NEWER = (*_OLDER, 15, 19, 21)


def write(folder: Path, dice: Random, *, newer_operations: bool) -> None:
    """Write both files as a server finds them.

    Args:
        folder: The server's ``version-2``.
        dice: Decides everything.
        newer_operations: Those of 3.5 and later are among them.
    """
    sessions = {f"/{parent}/{name}": 0x100_0000 + 8 * parent + at for parent in range(_PARENTS) for at, name in enumerate(_NAMES)}
    content = zookeeper_bytes.snapshot(*_znodes(dice, sessions), sessions=[(one, _TIMEOUT) for one in sessions.values()])
    (folder / f"snapshot.{FIRST - 1:x}").write_bytes(content)
    (folder / f"log.{FIRST:x}").write_bytes(LOG_HEAD + b"".join(_records(dice, sessions, newer_operations)))


def _znodes(dice: Random, sessions: dict[str, int]) -> Iterator[bytes]:
    yield from map(node, ("", "/zookeeper", "/zookeeper/quota"))
    for parent in range(_PARENTS):
        yield node(f"/{parent}", cversion=dice.randrange(9), pzxid=dice.randrange(LAST))
        for path in (f"/{parent}/{name}" for name in _NAMES):
            if dice.random() < 0.5:
                yield node(path, owner=dice.choice((0, sessions[path])), zxid=dice.randrange(LAST))


def _records(dice: Random, sessions: dict[str, int], newer_operations: bool) -> Iterator[bytes]:
    closed = set()
    for zxid in range(FIRST, LAST):
        path = dice.choice([*sessions])
        session = sessions[path]
        if dice.random() < 0.1:
            closed.add(session)
            yield record(zxid, -11, b"", session=session)
        elif dice.random() < 0.1:
            parts = [_change(dice, path, session not in closed, _IN_A_MULTI) for _ in range(2)]
            yield record(zxid, 14, multi(*parts), session=session)
        else:
            kinds = _NEWER if newer_operations else _OLDER
            yield record(zxid, *_change(dice, path, session not in closed, kinds), session=session)


def _change(dice: Random, path: str, open_session: bool, kinds: Sequence[int]) -> tuple[int, bytes]:
    cversion = dice.choice((-1, dice.randrange(15)))
    match dice.choice(kinds):
        case 1 | 15 as kind:
            return kind, create(path, b"new", ephemeral=open_session and dice.random() < 0.5, parent_cversion=cversion)
        case 2:
            return 2, text(path)
        case 5:
            return 5, text(path) + buffer(b"changed") + integer(dice.randrange(9))
        case 7:
            return 7, text(path) + _READ_ONLY + integer(dice.randrange(9))
        case 19:
            return 19, text(path) + buffer(b"container") + _READ_ONLY + integer(cversion)
        case 21:
            return 21, text(path) + buffer(b"passing") + _READ_ONLY + integer(cversion) + long(3_600_000)
