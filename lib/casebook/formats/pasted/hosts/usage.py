"""Output of ``du``: disk space of a folder.

Only its options show the unit of a bare number: by default a block is 1 KiB on Linux, 512 bytes on macOS, or ``BLOCKSIZE`` on
both (``src/du.c@v9.1``); with ``-h`` everything is rounded up to two digits.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted_hosts import HostSaid, Used
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.frame import Frame
from casebook.formats.pasted.hosts.host import LONGEST, Placed, placed
from casebook.formats.pasted.hosts.listing import is_partition, rounded
from casebook.formats.pasted.text import PastedLine, one

_ROW = re.compile(r"\s*(?P<size>\d{1,18}|[\d.,]{1,12}(?:[KMGTPE]i?B?|B))\s+(?P<path>(?:\.{0,2}/)?[\w./@+-]*[\w.@+-]/?|/)\s*")
_ASKED = re.compile(r"(?:.*[\s$#%>;&|(\"'])?du(?P<words>(?:\s+[^|;]*)?)(?:[|;].*)?")
_NOTED = re.compile(
    r"\s*(?:[(\[#^]|//|<-+|←)\W{0,4}(?:\w+:? ){0,3}?du(?P<words>(?:\s+-{1,2}[a-z][\w=-]*)+)(?:\s[^()|;]*)?[)\]]?\s*"
)
"""The command in a remark right below its output."""
_SIZE = re.compile(r"(?:-\w*B ?|--block-size[= ])(?P<size>1|1?[KMG]|1024|512)(?=\s|$)")
_HUMAN = re.compile(r"\s(?:-[a-zA-Z]*h|--human-readable|--si)")
_OPTION = re.compile(r"\s-(?!-)[a-zA-Z]*(?P<unit>[bkmg])|\s--(?P<bytes>bytes)\b")
_UNITS = {
    "b": (1, "bytes"),
    "k": (1 << 10, "KiB"),
    "m": (1 << 20, "MiB"),
    "g": (1 << 30, "GiB"),
    "5": (512, "blocks of 512 bytes"),
}
_OTHERS = re.compile(r"meta\.properties|[a-z-]+-checkpoint|\.lock|\.kafka_cleanshutdown|remote-log-index-cache|lost\+found")
"""Files of a log dir beside the partitions (``LogManager.scala@3.9.0``)."""
_SUMS = (".", "total", "insgesamt")


def used(lines: Sequence[PastedLine]) -> Iterator[Used | HostSaid | Frame | CutOutput]:
    """Yield every row: bytes with a known unit, else the number as printed."""
    asked: str | None = None
    paths: list[str] = []
    places = list(placed(lines))
    noted = _noted(places)
    for here in places:
        text = here.line.text
        if not text:
            continue
        if here.at not in noted and _NOTED.fullmatch(text[:LONGEST]) and here.at - 1 in noted:
            asked = None
            yield Frame(one(here.line))
        elif command := (_ASKED.fullmatch(text) if "du" in text and len(text) < 1000 else None):
            asked, paths = f" {command['words']}", []
        elif (row := _ROW.fullmatch(text)) and _is_folder(row["path"], is_asked=asked is not None):
            if here.line is lines[-1] and not here.line.padded and _may_be_cut(row["path"], paths):
                yield CutOutput(one(here.line), f"is a row of du whose path may be cut: {row['path']} ({row['size']})")
                continue
            paths.append(row["path"])
            yield _said(row, noted.get(here.at, asked), here.line, here.broker)
        elif len(text) > LONGEST or (asked is not None and not text.lstrip().startswith(("#", "du:", "..."))):
            asked = None


def _noted(places: Sequence[Placed]) -> dict[int, str]:
    """Return the options for each row of an output with its command in a remark right below it."""
    found, words = {}, None
    for here in reversed(places):
        text = here.line.text[:LONGEST]
        if note := (_NOTED.fullmatch(text) if "du" in text else None):
            words = f" {note['words']}"
        elif words is not None and _ROW.fullmatch(text):
            found[here.at] = words
        else:
            words = None
    return found


def _is_folder(path: str, *, is_asked: bool) -> bool:
    return path.startswith(("/", "./", "../")) or is_partition(path) or is_asked


def _may_be_cut(path: str, others: Sequence[str]) -> bool:
    """Return whether the last path of a paste, compared with those above it, can be the start of a longer one.

    It ends within a name that begins another path, or it is no partition's folder where all others are, apart from those above.
    """
    beside = [other for other in others if other != path and not f"{path}/".startswith(f"{other.rstrip('/')}/")]
    if not beside or path in _SUMS or any(f"{other}/".startswith(f"{path.rstrip('/')}/") for other in beside):
        return False
    is_whole = is_partition(path) or _OTHERS.fullmatch(path.rpartition("/")[2]) is not None
    return any(other.startswith(path) for other in beside) or (not is_whole and all(map(is_partition, beside)))


def _said(row: re.Match[str], asked: str | None, line: PastedLine, broker: int | None) -> Used | HostSaid:
    size, path = row["size"].replace(",", "."), row["path"]
    where = one(line)
    unit = _unit(asked) if size.isdecimal() else None
    printed, about = (f"{size} {unit[1]}", int(size) * unit[0]) if unit else (size, None if size.isdecimal() else rounded(size))
    if about is not None and about < 2**63:
        if path in _SUMS:
            return HostSaid("du", where, f"the sum is {printed} on disk by du", broker)
        return Used(path, where, about, broker, printed)
    blocks = "its command would show the unit" if asked is None else "blocks, of 1 KiB on Linux and of 512 bytes on macOS"
    place = "the sum" if path in _SUMS else path
    text = f"{place} takes {size} on disk by du, in an unknown unit: {blocks}"
    return HostSaid("du", where, text, broker, facts={"path": path, "number": size})


def _unit(asked: str | None) -> tuple[int, str] | None:
    """Return the size of a unit, and its name; ``None`` when unknown."""
    if asked is None:
        return None
    if block := _SIZE.search(asked):
        named = block["size"].lstrip("1").lower() or "b"
        return _UNITS["k" if named == "024" else named[0]]
    if option := _OPTION.search(asked):
        return _UNITS[option["unit"] or "b"]
    return _UNITS["b"] if _HUMAN.search(asked) else None
