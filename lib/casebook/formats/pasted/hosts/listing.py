"""Output of ``ls -l`` on brokers' log dirs.

``ls -l`` prints times without a zone, and without year or time of day: they stay unknown, except with ``--time-style=full-iso``.
With ``-h`` sizes are rounded up to two digits (``human_ceiling``, ``gnulib/lib/human.h``), so they are not exact.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from casebook.facts.pasted_hosts import HostSaid, LineSpan, ListedFile
from casebook.formats.broker import log_dir_names
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.frame import Frame
from casebook.formats.pasted.text import PastedLine, is_gap, one

_ENTRY = re.compile(
    r"\s*(?:\d{1,18}\s+){0,2}(?P<mode>[-dl]?[rwxsStT-]{8,9}[.+@]?)\s+(?:\d+|\.{2,3})\s+(?P<owner>(?:\S+\s+){0,4}?)"
    r"(?P<size>\d{1,18}|[\d.]{1,5}(?:[KMGTPE]i?B?"
    r"|B))\s+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d{1,9})?(?: [+-]\d{4})?)?"
    r"|[^\W\d]\S{0,8}\s+\d{1,2}\.?\s+(?:\d{1,2}:\d\d(?::\d\d \d{4})?|\d{4})|"
    r"\d{1,2}\.?\s+(?:de )?[^\W\d]\S{0,8}\s+(?:(?:de )?\d{4}|\d{1,2}:\d\d)|\d\d-\d\d \d\d:\d\d"
    r"|\d{1,2}\s+\d{1,2}\s+(?:\d{1,2}:\d\d|\d{4})|\d{1,2}[./]\d{1,2}\.?\s+(?:\d{1,2}:\d\d|\d{4})"
    r"|(?:\d{4}\s?[年년]\s*)?\d{1,2}\s?[月월]\s*\d{1,2}\s?[日일]?(?:\s+(?:\d{1,2}:\d\d|\d{4}年?))?|\.{2,3}(?:\s+\d{1,2}:\d\d)?)\s+(?P<name>\S.*?)\s*"
)
_FOLDER = re.compile(r"(?P<path>(?:\.{0,2}/)?[\w./@+-]*[\w-]):")
_COMMAND = re.compile(
    r"(?:\$\s{2}[\w.~-]+\s+(?:git:\(\S*\)\s+(?:\S\s+)?)?|.*[$#%>]\s*|[a-z]{1,12} (?=ls -\S+ /\S+$))?"
    r"(?:cd (?P<into>\S+) ?(?:&&|;) ?)?(?:sudo\s+)?"
    r"(?:(?:docker|docker-compose|podman|kubectl|oc|ssh|crictl|nerdctl)\s(?:.*\s)?[\"']?)?(?P<verb>ls|du|ll)(?P<words>(?:\s.*)?)"
)
_ENTERS = re.compile(r"(?:.*[$#%>]\s*)?(?:sudo\s+)?cd\s+(?P<into>[\w./~@+*?{}\[\]-]+?)/?\s*")
_RECURSIVE = re.compile(r"\s-\w*R|\s--recursive\b")
_REST_OF_LINE = re.compile(r"\s*(?:[|;]|&&|\d?>).*")
_LEFT_OUT = re.compile(r"\s*(?:\W{0,3}\.{2,}\W{0,3}|[\[<(]?(?:snip|cut|skipped|omitted)[\]>)]?|#.*|(?:ls|du): .*)\s*")
_PROMPT = re.compile(
    r"\s*(?:\$\s{2}(?P<theme>[\w.-]+)(?=\s.*[a-z])"
    r"|(?:\[\S+@\S+ (?P<name>\S+)\]|(?:\S+@)?[\w.-]+:(?P<path>[/~]\S*?)|\S+@\S+?:(?P<at>\S+?))\s*[$#])"
)
_BROKER = re.compile(
    r"\W*(?:on |from )?(?:the )?(?:kafka )?(?:broker|node|server)(?: ?id)?[ _=:#-]{0,3}(?P<broker>\d{1,9})\W*", re.IGNORECASE
)
_META = re.compile(r"\s*(?:broker|node)\.id=(?P<broker>\d{1,9})\s*")
_TOTAL = re.compile(
    r"\s*(?:total|insgesamt|итого|总用量|总计|總計|合計|合计|totale?|łącznie|razem|합계|celkem|toplam"
    r"|totalt|i alt|összesen|totaal|totaalt|загалом)\s+\S+\s*"
)
_UNIT = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
_ENDINGS = ("log", "index", "timeindex", "txnindex", "snapshot", "checkpoint", "deleted", "cleaned", "swap")
_LONGEST, _MOST_OTHERS, _DIGITS = 4096, 20, 20


def is_frame(text: str) -> bool:
    """Return whether it belongs to a listing and is no entry of a segment: a total, a folder's name, a command."""
    if len(text) > _LONGEST:
        return False
    return (
        any(pattern.fullmatch(text) for pattern in (_TOTAL, _FOLDER, _COMMAND, _META, _ENTERS)) or broker_named(text) is not None
    )


def broker_named(text: str) -> int | None:
    """Return the broker that a lone line announces, e.g. ``broker 57:``."""
    found = (_BROKER.fullmatch(text) or _META.fullmatch(text)) if len(text) < 80 else None
    return int(found["broker"]) if found else None


def asked_folder(text: str, inside: str = "") -> str | None:
    """Return the folder in an ``ls`` command, ``""`` for none or several; ``None`` for another line.

    Args:
        text: The line.
        inside: Folder that a command above has entered.
    """
    command = _COMMAND.fullmatch(text) if "l" in text and len(text) <= _LONGEST else None
    return _asked(command, inside) if command and command["verb"] != "du" else None


def entered(text: str, inside: str) -> str:
    """Return the folder after a line: ``cd`` enters one, which is only as certain as its last names without wildcards."""
    found = _ENTERS.fullmatch(text) if "cd " in text and len(text) <= _LONGEST else None
    return _below(found["into"], inside) if found else inside


def _below(path: str, inside: str) -> str:
    if path.startswith((".", "~", "-")):
        return ""
    parts = (path if path.startswith("/") or not inside else f"{inside}/{path}").split("/")
    certain = next((at for at in range(len(parts), 0, -1) if re.search(r"[*?{\[]", parts[at - 1])), 0)
    return "/".join(parts[certain:])


def listed(lines: Sequence[PastedLine]) -> Iterator[ListedFile | HostSaid | Frame | CutOutput]:
    """Yield every entry of a log dir, one by one; other entries of a listing in one sentence.

    A line outside a listing ends it: the next entry belongs to another one, of an unknown folder.
    """
    here, broker, inside = _Listing(""), None, ""
    for line in lines:
        text = line.text
        if not text or len(text) > _LONGEST:
            continue
        if entry := _ENTRY.fullmatch(text):
            here.begin = here.begin or line.number
            if who := entry["owner"].strip():
                here.owners.setdefault(f"{entry['mode']} {' '.join(who.split()[:2])}", []).append(entry["name"])
            if line is lines[-1] and not line.padded and _is_cut(entry["name"]):
                yield CutOutput(
                    one(line), f"is an entry whose name is cut: {entry['name']} ({entry['size']}, {entry['time'].strip()})"
                )
            elif (row := _listed(entry, here, broker, line)) is not None:
                yield row
            else:
                here.others.append((line, entry))
            continue
        named = broker_named(text)
        inside = "" if named is not None else entered(text, inside)
        following = here.followed_by(text, inside, is_broker=named is not None)
        if following is not here:
            yield from _others(here, broker)
        here = following
        if _TOTAL.fullmatch(text):
            here.total = text.split()[-1]
        broker = broker if named is None else named
    yield from _others(here, broker)


@dataclass(slots=True)
class _Listing:
    """A listing under construction.

    Args:
        folder: Folder in its command or heading; ``""`` without one.
        asked: It follows ``ls``.
        headed: Each folder's name stands above its entries: lines that were left out may be of another one.
        begin: Line of its first entry.
        others: Entries outside segments.
        owners: Names of the entries by owner and group, as printed.
        total: Printed total.
    """

    folder: str
    asked: bool = False
    headed: bool = False
    begin: int = 0
    others: list[tuple[PastedLine, re.Match[str]]] = field(default_factory=list)
    owners: dict[str, list[str]] = field(default_factory=dict)
    total: str = ""

    def followed_by(self, text: str, inside: str, *, is_broker: bool) -> "_Listing":
        """Return the listing for a line without an entry."""
        if is_broker:
            return _Listing("")
        if (head := _FOLDER.fullmatch(text)) and (self.asked or _is_path(head["path"])) and not head["path"].isalpha():
            return _Listing(head["path"], self.asked, headed=True)
        if command := _COMMAND.fullmatch(text):
            return _Listing(_asked(command, inside), asked=True, headed=_RECURSIVE.search(command["words"]) is not None)
        if not self.begin or (_LEFT_OUT.fullmatch(text) and not (self.headed and is_gap(text))):
            return self
        return _Listing("")


def _is_path(name: str) -> bool:
    """Return whether a heading is a folder's name: prose may end in a colon, too."""
    return "/" in name or name.startswith(".") or is_partition(name)


def _others(listing: _Listing, broker: int | None) -> Iterator[HostSaid | Frame]:
    """Yield other entries; those beyond one sentence stay for other readers, or undecoded."""
    shown = [(line, entry) for line, entry in listing.others if entry["name"] not in (".", "..")][:_MOST_OTHERS]
    for line, entry in listing.others:
        if entry["name"] in (".", ".."):
            yield Frame(one(line))
    if shown:
        first = shown[0][0].number
        told = ", ".join(f"{entry['name']} ({entry['size']}, {entry['time'].strip()})" for _, entry in shown)
        yield HostSaid(
            "listing",
            LineSpan(first, shown[-1][0].number),
            f"{listing.folder or 'a folder whose name was not pasted'} also holds {told}; times and sizes as printed",
            broker,
            facts={"beside": {entry["name"]: entry["size"] for _, entry in shown}},
        )
        yield from (Frame(one(line), told=True) for line, _ in shown[1:])
    if listing.owners:
        alone = next(iter(listing.owners)) if len(listing.owners) == 1 else ""
        owners = alone or "; ".join(f"{who}: {', '.join(names[:_MOST_OTHERS])}" for who, names in listing.owners.items())
        total = f"; the listing has total {listing.total}" if listing.total else ""
        span = LineSpan(listing.begin, listing.begin)
        name = listing.folder or "a folder whose name was not pasted"
        yield HostSaid("listing", span, f"modes and owners in {name}: {owners}{total}", broker)


def _is_cut(name: str) -> bool:
    """Return whether a name ends within the ending of a segment's file (``LogFileUtils.java@3.9.0``)."""
    number, dot, ending = name.rpartition(".")
    if not dot:
        return len(name) <= _DIGITS and name.isdecimal()
    return number[:1].isdigit() and ending not in _ENDINGS and any(known.startswith(ending) for known in _ENDINGS)


def _listed(entry: re.Match[str], listing: _Listing, broker: int | None, line: PastedLine) -> ListedFile | None:
    is_folder = entry["mode"].startswith("d")
    above, _, name = entry["name"].rstrip("/").rpartition("/")
    if not (log_dir_names.file(name) or (is_folder and is_partition(name))):
        return None
    size = entry["size"]
    about = int(size) if size.isdecimal() else rounded(size)
    if about is None or about >= 2**63:
        return None
    return ListedFile(
        folder=above if above.startswith("/") else "/".join(part for part in (listing.folder.rstrip("/"), above) if part),
        name=name,
        span=one(line),
        is_folder=is_folder,
        bytes=about if size.isdecimal() else None,
        about=about,
        modified=_time(entry["time"]),
        broker=broker,
        listing=listing.begin,
        when=entry["time"].strip(),
    )


def is_partition(path: str) -> bool:
    """Return whether the last part of a path is a partition's folder name."""
    return log_dir_names.folder(path.rstrip("/").rpartition("/")[2]) is not None


def _asked(command: re.Match[str], inside: str) -> str:
    """Return the only folder in a command, without wildcards; ``""`` for none or several."""
    words = _REST_OF_LINE.sub("", command["words"]).split()
    paths = [word.strip("\"'") for word in words if not word.startswith("-") and word.strip("\"'")]
    inside = _below(command["into"].rstrip("/"), inside) if command["into"] else inside
    if not paths and not command["into"] and (prompt := _PROMPT.match(command[0])):
        named = prompt["theme"] or prompt["name"] or prompt["path"] or prompt["at"]
        return inside if inside.rpartition("/")[2] == named else named
    if not paths:
        return inside
    above = f"{inside}/" if inside and not paths[0].startswith(("/", ".")) else ""
    return above + paths[0] if len(paths) == 1 and not re.search(r"[*?{\[]", paths[0]) else ""


def rounded(size: str) -> int | None:
    """Parse a size in the notation of ``-h``; ``None`` when invalid."""
    found = re.fullmatch(r"(\d{1,12}(?:\.\d)?)([KMGTPE]?)(?:i?B)?", size)
    return int(float(found[1]) * (1 << _UNIT.get(found[2], 0))) if found else None


def _time(text: str) -> int | None:
    """Parse a time with its zone as epoch milliseconds."""
    if not re.search(r" [+-]\d{4}$", text):
        return None
    try:
        return int(datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*", r"\1", text)).timestamp() * 1000)
    except ValueError:
        return None
