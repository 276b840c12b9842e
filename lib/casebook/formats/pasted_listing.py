"""What ``ls -l`` and ``du`` print of brokers' log dirs.

``ls -l`` prints times without zone, and without year or without clock: they stay unknown, except with ``--time-style=full-iso``.
With ``-h`` sizes are rounded up to two digits (``human_ceiling``, ``gnulib/lib/human.h``): they are no sizes of files.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from casebook.formats import log_dir_names
from casebook.formats.pasted_text import Line
from casebook.pasted import ListedFile, Span, Used

_ENTRY = re.compile(
    r"\s*(?:\d{1,18}\s+){0,2}(?P<mode>[-dl][rwxsStT-]{9}[.+@]?)\s+\d+\s+(?:\S+\s+){1,4}?"
    r"(?P<size>\d{1,18}|[\d.]{1,5}(?:[KMGTPE]i?B?"
    r"|B))\s+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d{1,9})?(?: [+-]\d{4})?)?"
    r"|\S{2,6}\s+\d{1,2}\s+(?:\d{1,2}:\d\d(?::\d\d \d{4})?|\d{4})|"
    r"\d{1,2}\s+\S{2,6}\s+(?:\d{1,2}:\d\d|\d{4})|\d\d-\d\d \d\d:\d\d|\d{1,2}\S\s+\d{1,2}\S?\s+\d{1,2}:\d\d)\s(?P<name>\S.*?)\s*"
)
_FOLDER = re.compile(r"(?P<path>(?:\.{0,2}/)?[\w./@+-]*[\w-]):")
_DU = re.compile(r"\s*(?P<size>\d{1,18}|[\d.]{1,5}(?:[KMGTPE]i?B?|B))\s+(?P<path>(?:\.{0,2}/)?[\w./@+-]*[\w.@+-]/?|/)\s*")
_COMMAND = re.compile(r"(?:.*[$#%>]\s*)?(?:sudo\s+)?(?P<verb>ls|du|ll)(?P<words>(?:\s.*)?)")
_PROMPT = re.compile(r"\s*(?:\[\S+@\S+ (?P<name>\S+)\]|\S+@\S+?:(?P<path>\S+?))\s*[$#]")
_BROKER = re.compile(
    r"\W*(?:on |from )?(?:the )?(?:kafka )?(?:broker|node|server)(?: ?id)?[ _=:#-]{0,3}(?P<broker>\d{1,9})\W*", re.IGNORECASE
)
_META = re.compile(r"\s*(?:broker|node)\.id=(?P<broker>\d{1,9})\s*")
_TOTAL = re.compile(r"\s*(?:total|insgesamt|итого|总用量|合計|合计)\s+\S+\s*")
_UNIT = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
_LONGEST = 4096


def is_frame(text: str) -> bool:
    """Whether it belongs to a listing and is no segment's: a total, a folder's name, a command, another file."""
    if len(text) > _LONGEST:
        return False
    if any(pattern.fullmatch(text) for pattern in (_TOTAL, _FOLDER, _COMMAND, _META, _ENTRY)) or broker_named(text) is not None:
        return True
    used = _DU.fullmatch(text)
    return used is not None and ("/" in used["path"] or used["path"] in (".", "total", "insgesamt"))


def broker_named(text: str) -> int | None:
    """The broker that a line by itself announces, e.g. ``broker 57:``."""
    found = (_BROKER.fullmatch(text) or _META.fullmatch(text)) if len(text) < 80 else None
    return int(found["broker"]) if found else None


def listed(lines: Sequence[Line]) -> Iterator[ListedFile | Used]:
    """Every entry on something in a log dir; what else a listing holds stays for others."""
    folder, broker, unit = "", None, 1024
    for line in lines:
        text = line.text
        if not text or len(text) > _LONGEST:
            continue
        if (named := broker_named(text)) is not None:
            broker, folder = named, ""
        elif entry := _ENTRY.fullmatch(text):
            if (row := _listed(entry, folder, broker, line)) is not None:
                yield row
        elif head := _FOLDER.fullmatch(text):
            folder = head["path"]
        elif command := _COMMAND.fullmatch(text):
            folder, unit = _asked(command), 1 if re.search(r"\s-\w*b|--bytes", " " + command["words"]) else 1024
        elif (used := _DU.fullmatch(text)) and (used["path"].startswith("/") or _is_partition(used["path"])):
            size = used["size"]
            about = int(size) * unit if size.isdecimal() else _rounded(size)
            if about is not None and about < 2**63:
                printed = size if not size.isdecimal() else f"{about} bytes"
                yield Used(used["path"], Span(line.number, line.number), about, broker, printed)


def _listed(entry: re.Match[str], folder: str, broker: int | None, line: Line) -> ListedFile | None:
    is_folder = entry["mode"].startswith("d")
    above, _, name = entry["name"].rstrip("/").rpartition("/")
    if not (log_dir_names.file(name) or (is_folder and _is_partition(name))):
        return None
    size = entry["size"]
    about = int(size) if size.isdecimal() else _rounded(size)
    if about is None or about >= 2**63:
        return None
    return ListedFile(
        folder=above if above.startswith("/") else "/".join(part for part in (folder.rstrip("/"), above) if part),
        name=name,
        span=Span(line.number, line.number),
        is_folder=is_folder,
        bytes=about if size.isdecimal() else None,
        about=about,
        modified=_time(entry["time"]),
        broker=broker,
    )


def _is_partition(path: str) -> bool:
    return log_dir_names.folder(path.rstrip("/").rpartition("/")[2]) is not None


def _asked(command: re.Match[str]) -> str:
    """The one folder that a command names, without wild cards; ``""`` for none or several."""
    paths = [word for word in command["words"].split() if not word.startswith("-") and ">" not in word]
    if not paths and (prompt := _PROMPT.match(command[0])):
        return prompt["name"] or prompt["path"]
    return paths[0] if len(paths) == 1 and not re.search(r"[*?|{\[]", paths[0]) else ""


def _rounded(size: str) -> int | None:
    found = re.fullmatch(r"(\d{1,4}(?:\.\d)?)([KMGTPE]?)(?:i?B)?", size)
    return int(float(found[1]) * (1 << _UNIT.get(found[2], 0))) if found else None


def _time(text: str) -> int | None:
    """Epoch milliseconds of a time with its zone."""
    if not re.search(r" [+-]\d{4}$", text):
        return None
    try:
        return int(datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*", r"\1", text)).timestamp() * 1000)
    except ValueError:
        return None
