"""Host and operations output in a case: settings as a broker's file, everything else as remarks.

    brokers/<id>/server.properties    settings of a broker that the paste names; line 7 of it is line 7 of ``pasted/pasted.txt``

A remark quotes the line that proves it. Output without use for any check becomes a gap, with what to paste in its place.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import groupby

from casebook.case.writer import CaseWriter
from casebook.facts.pasted import NOT_PASTED, PASTED, Pasted
from casebook.facts.pasted_hosts import HostSaid, ListedFile, Used
from casebook.findings.words import plural
from casebook.formats import properties

_MOST_REMARKS = 80
_MOST_FOLDERS, _FEW = 20, 6


def write(case: CaseWriter, found: Pasted, *, configured: Container[int]) -> None:
    """Write it into a case.

    Args:
        found: Of a paste.
        configured: Brokers whose ``server.properties`` is in the case: it counts, and pasted settings are only reported.
    """
    _settings(case, found, configured)
    unanswered = [said for said in found.hosts if said.settle]
    for said in unanswered[:_MOST_REMARKS]:
        case.could_not_collect(f"{PASTED}:{said.span.first}", f"{said.kind}: {said.text}; paste instead: {said.settle}")
    told = sorted((said for said in found.hosts if not said.settle), key=lambda said: not said.bad)
    for said in told[:_MOST_REMARKS]:
        case.remark(_remark(said, found.heading(said.span.first)))
    if more := len(told) + len(unanswered) - len(told[:_MOST_REMARKS]) - len(unanswered[:_MOST_REMARKS]):
        case.remark(f"{PASTED}: {more} more statements of hosts are like these.")
    for remark in (*_used(found.used), *_folders(found.files)):
        case.remark(remark)


def _remark(said: HostSaid, heading: str) -> str:
    below = f", below {heading!a}" if heading else ""
    whose = f" of broker {said.broker}" if said.broker is not None else below
    return f"{PASTED}:{said.span.first} ({said.kind}{whose}): {said.text}."


def _settings(case: CaseWriter, found: Pasted, configured: Container[int]) -> None:
    """A file for each broker; of a setting that was pasted twice the later line counts, as in one file."""
    files: dict[int, list[bytes]] = {}
    for settings in found.settings:
        if settings.broker is None or settings.broker in configured:
            continue
        rows = files.setdefault(settings.broker, [])
        rows += [b"\n"] * (settings.span.first - 1 - len(rows))
        rows += [line.encode(errors="replace") + b"\n" for line in settings.lines]
    for broker, rows in sorted(files.items()):
        item = f"brokers/{broker}/server.properties"
        if not properties.is_of_broker(properties.parse(b"".join(rows).decode())):
            continue
        case.file(item, rows)
        case.could_not_collect(item, f"its other settings were {NOT_PASTED}")


def _used(rows: Sequence[Used]) -> Iterator[str]:
    """Yield the sizes in ``du`` and ``kafka-log-dirs``, largest folders first."""
    for used in sorted(rows, key=lambda used: -used.about)[:_MOST_FOLDERS]:
        whose = f" of broker {used.broker}" if used.broker is not None else ""
        rounded = "" if " " in used.printed else " (rounded)"
        held = f"takes {used.printed}{rounded} on disk" if used.tool == "du" else f"holds {used.printed} of segments"
        yield f"{PASTED}:{used.span.first} ({used.tool}{whose}): {used.path} {held}."


def _folders(files: Sequence[ListedFile]) -> Iterator[str]:
    """Yield the content of listings, one by one: a segment's name has its first offset, not its last."""

    def place(file: ListedFile) -> tuple[int, str, int]:
        return file.listing, file.folder, -1 if file.broker is None else file.broker

    groups = [(at, list(own)) for at, own in groupby(sorted(files, key=place), key=place)]
    for (_, folder, broker), own in groups[:_MOST_FOLDERS]:
        whose = f" of broker {broker}" if broker >= 0 else ""
        name = folder or "a folder whose name was not pasted"
        yield f"{PASTED}:{own[0].span.first} (listing{whose}): {name} holds {_held(own)}."


def _held(own: Sequence[ListedFile]) -> str:
    """Segments with their sizes and times as printed, and how many files and folders lie beside them."""
    logs = [file for file in own if not file.is_folder and file.name.endswith(".log")]
    folders = [file for file in own if file.is_folder]
    beside = len(own) - len(logs) - len(folders)
    sizes = [file.bytes for file in logs]
    parts = []
    if logs:
        amount = "their sizes rounded or not printed" if None in sizes else f"{sum(sizes)} bytes in all"
        parts.append(f"{plural(len(logs), 'segment')} (.log), {amount}{_shown(logs)}")
    if beside:
        parts.append(f"{plural(beside, 'other file')} of segments")
    if folders:
        names = ", ".join(file.name for file in folders[:_MOST_FOLDERS])
        more = f" and {len(folders) - _MOST_FOLDERS} more" if len(folders) > _MOST_FOLDERS else ""
        parts.append(f"{plural(len(folders), 'folder')} of partitions: {names}{more}")
    return "; ".join(parts)


def _shown(logs: Sequence[ListedFile]) -> str:
    """When each was modified, as printed, where there are few."""
    told = [f"{file.name} {file.when}" for file in logs if file.when]
    return f" (modified, as printed: {', '.join(told)})" if told and len(logs) <= _FEW else ""
