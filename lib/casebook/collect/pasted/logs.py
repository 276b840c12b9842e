"""Log lines of a paste, as the logs that every notebook reads.

    brokers/<id>/logs/pasted.log          of a broker that the paste names
    clients/host-of-broker-<id>/logs/     of the kernel and of systemd of its host: the broker wrote none of them
    clients/pasted/logs/pasted.log        of others

The logs have as many lines as the paste, most of them empty: line 7 of each is line 7 of ``pasted/pasted.txt``.
"""

from casebook.case.folder import PASTED_LOG
from casebook.case.writer import CaseWriter
from casebook.facts.events import HOST_OF_BROKER, folder_of
from casebook.facts.pasted import Pasted, PastedLogLine


def write(case: CaseWriter, found: Pasted) -> None:
    """Log lines at the places where they stand in the paste."""
    files: dict[str, list[bytes]] = {}
    for line in found.logs:
        rows = files.setdefault(f"{_folder(line)}/{PASTED_LOG}", [])
        rows += [b"\n"] * (line.span.first - 1 - len(rows))
        rows.append(line.text.encode(errors="replace") + b"\n")
    for name, rows in sorted(files.items()):
        case.file(name, rows)


def _folder(line: PastedLogLine) -> str:
    if line.broker is not None:
        return folder_of(line.broker)
    if line.host is not None:
        return folder_of(f"{HOST_OF_BROKER}{line.host}")
    return folder_of("zookeeper-pasted" if line.zookeeper else "pasted")
