"""Collect the listings of brokers' log dirs; the segments usually stay in place."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import chain

from casebook.case.writer import CaseWriter
from casebook.collect.files import folders, inventory, segments
from casebook.collect.files.inputs import Inputs
from casebook.errors import CollectError
from casebook.facts.disks import LogDir
from casebook.formats.broker import log_dir_rows


def collect(
    case: CaseWriter, inputs: Inputs, given: Sequence[tuple[int | None, str]], *, copy: Sequence[str] = ()
) -> list[LogDir]:
    """List log dirs into a case.

    Args:
        case: Receives ``brokers/<id>/log_dirs.json`` and copied segments; failures are recorded.
        inputs: Records log dirs of an unknown broker, and segments that cannot be copied.
        given: Broker and folder or URI; without a broker, the log dir's ``meta.properties`` must name it.
        copy: Topics with segments to copy, unless larger than :data:`casebook.collect.files.segments.COPY_LIMIT` or at a URI.

    Returns:
        Those that could be listed.
    """
    listed: dict[int, list[LogDir]] = {}
    for broker, text in given:
        part = "log dirs" if broker is None else f"brokers/{broker}/log_dirs.json"
        if (log_dir := inputs.take(part, partial(_listed, broker, folders.full_name(text)))) is not None:
            listed.setdefault(log_dir.broker, []).append(log_dir)
    every = list(chain.from_iterable(listed.values()))
    if copy:
        copy = inputs.take(f"segments of {', '.join(copy)}", partial(segments.few, every, copy)) or ()
        for topic in sorted(set(copy) - {replica.topic for log_dir in every for replica in log_dir.replicas}):
            case.left_out(f"segments of {topic}", "none of the log dirs holds any")
    for broker, log_dirs in sorted(listed.items()):
        _write(case, broker, list(segments.copied(case, log_dirs, copy)) if copy else log_dirs)
    return every


def _listed(broker: int | None, place: str) -> LogDir:
    """Return the current listing of a log dir.

    Raises:
        UsageError: Its broker is unknown.
        CollectError: It cannot be listed.
    """
    try:
        return inventory.examine(folders.files_of(place), place, broker=broker, listed_at=time.time_ns() // 1_000_000)
    except OSError as error:
        raise CollectError(f"{place} cannot be listed: {error.strerror}") from None


def _write(case: CaseWriter, broker: int, log_dirs: Sequence[LogDir]) -> None:
    item = f"brokers/{broker}/log_dirs.json"
    case.file(item, (f"{line}\n".encode(errors="replace") for log_dir in log_dirs for line in log_dir_rows.encode(log_dir)))
    for log_dir in log_dirs:
        if log_dir.problems:
            first, *more = log_dir.problems
            others = f" (and {len(more)} more, all in {item})" if more else ""
            told = case.left_out if log_dir.unread else case.could_not_collect
            told(item, f"{log_dir.place}: {first.path} {first.reason}{others}")
