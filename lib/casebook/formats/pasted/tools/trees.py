"""Output of ``ls -R`` of zkCli: a znode with all descendants, a path per line (``cli/LsCommand.java@release-3.8.4``)."""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedZnode
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, is_end, one
from casebook.formats.pasted.tools import shells, zookeeper

_COMMAND = re.compile(r".*\bls\s+(?:-\w\s+)*-R\s+(?:-\w\s+)*(?P<path>/[^\s\"'|]*)[\"']?(?:\s*\|.*)?\s*")
_OF_CHILDREN = re.compile(r".*\bls2?\s+(?:-s\s+)?(?P<path>/[^\s\"'|]*)\s*")
_CUT_LIST = re.compile(r"\s*\[[\w., -]*,[\w. -]*")
_PARENTS = re.compile(r"/brokers(?:/ids|/topics)?|/config(?:/topics|/brokers)?|/admin(?:/delete_topics)?")
"""Znodes without data: for others a list of children is not complete."""
_BRANCH = re.compile(r"\.|(?P<depth>(?:[│|] {3}| {4})*)[├└`|](?:──|--) (?P<name>\S+)\s*")
_LONGEST, _MOST_CHATTER, _STEP = 4096, 11, 4


def trees(lines: Sequence[PastedLine]) -> Iterator[PastedZnode]:
    """Yield every znode of such a list; with the children of a parent, if the list ends before the paste does."""
    at = 0
    while at < len(lines):
        after = at + 1
        text = lines[at].text
        if "-R" in text[:_LONGEST] and (command := _COMMAND.fullmatch(text[:_LONGEST])):
            found, after = _listed(lines, at, command["path"].rstrip("/"))
            yield from found
        elif (root := shells.tree_asked(text)) is not None:
            found, after = _drawn(lines, at, root.rstrip("/"))
            yield from found
        at = after


def cut_lists(lines: Sequence[PastedLine]) -> Iterator[PastedZnode | CutOutput]:
    """Yield children in a cut list: those with complete names exist, others are unknown."""
    for at, line in enumerate(lines):
        text = line.text[:_LONGEST]
        command = _OF_CHILDREN.fullmatch(text) if "ls" in text and "/" in text else None
        listed = lines[at + 1].text if command and at + 1 < len(lines) else ""
        if not _CUT_LIST.fullmatch(listed[:_LONGEST]) or (at + 2 < len(lines) and not is_end(lines, at + 2)):
            continue
        path = command["path"].rstrip("/")
        names = [name.strip() for name in listed.strip()[1:].split(",")[:-1]]
        if zookeeper.kafka_path(path) is not None:
            yield from (PastedZnode(f"{path}/{name}", one(lines[at + 1])) for name in names if name)
            yield CutOutput(
                LineSpan(line.number, lines[at + 1].number), "is a list of children that is cut: what followed was not pasted"
            )


def _listed(lines: Sequence[PastedLine], at: int, root: str) -> tuple[Sequence[PastedZnode], int]:
    begin = at + 1
    while begin < min(len(lines), at + _MOST_CHATTER) and (not lines[begin].text or zookeeper.is_chatter(lines[begin].text)):
        begin += 1
    after, paths = begin, {}
    while after < len(lines) and (path := lines[after].text.strip()) and (path == (root or "/") or path.startswith(f"{root}/")):
        paths.setdefault(path, lines[after].number)
        after += 1
    if not paths:
        return (), at + 1
    children: dict[str, list[str]] = {path: [] for path in paths}
    for path in paths:
        above, _, name = path.rpartition("/")
        if above in children:
            children[above].append(name)
    whole = is_end(lines, after)
    spans = {path: LineSpan(number, number) for path, number in paths.items()}
    first = next(iter(paths))
    spans[first] = LineSpan(lines[at].number, paths[first])  # including the command
    return [_znode(path, spans[path], children[path] if whole else None) for path in paths], after


def _drawn(lines: Sequence[PastedLine], at: int, root: str) -> tuple[Sequence[PastedZnode], int]:
    """Output of ``tree`` of zk-shell: a name a line, four signs deeper for each level."""
    after, paths, above = at + 1, {root: lines[at].number}, [root]
    while after < len(lines) and (row := _BRANCH.fullmatch(lines[after].text[:_LONGEST])):
        if row["name"]:
            above = [*above[: len(row["depth"]) // _STEP + 1], ""]
            above[-1] = f"{above[-2]}/{row['name']}"
            paths.setdefault(above[-1], lines[after].number)
        after += 1
    if len(paths) == 1:
        return (), at + 1
    whole = is_end(lines, after)
    below = {path: [other[len(path) + 1 :] for other in paths if other.rpartition("/")[0] == path != other] for path in paths}
    spans = {path: LineSpan(number, number) for path, number in paths.items()}
    spans[root] = LineSpan(lines[at].number, lines[after - 1].number)
    return [_znode(path, spans[path], below[path] if whole else None) for path in paths if path], after


def _znode(path: str, span: LineSpan, children: Sequence[str] | None) -> PastedZnode:
    place = zookeeper.kafka_path(path)
    is_parent = place is not None and _PARENTS.fullmatch(place[1]) is not None
    return PastedZnode(path, span, children=tuple(children) if is_parent and children is not None else None)
