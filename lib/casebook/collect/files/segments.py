"""Copy small segments into a case on request. Their times stay in the inventory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from casebook.case.writer import CaseWriter
from casebook.collect import outside
from casebook.collect.files.folders import is_uri
from casebook.errors import CollectError, UsageError
from casebook.facts.cluster import Problem
from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.formats.broker import indexes

COPY_LIMIT = 1 << 30
_LARGEST_INDEX = 64 << 20
_CHUNK = 1 << 20


def few(log_dirs: Iterable[LogDir], topics: Sequence[str]) -> Sequence[str]:
    """Return the topics whose segments can be copied.

    Raises:
        UsageError: They are not local.
        CollectError: They are too large for a case.
    """
    wanted = [replica for log_dir in log_dirs for replica in log_dir.replicas if replica.topic in topics]
    if any(is_uri(replica.place) for replica in wanted):
        raise UsageError(
            "Segments are copied from folders of this machine only.",
            try_="Leave --copy-segments out: scans read them where they are.",
        )
    size = sum(replica.bytes for replica in wanted)
    if size > COPY_LIMIT:
        raise CollectError(
            f"{', '.join(topics)}: {size / 1e9:.1f} GB of segments; at most {COPY_LIMIT / 1e9:.1f} GB are copied into a case.",
            try_="Leave --copy-segments out: scans read them where they are. Or give fewer --log-dirs.",
        )
    return topics


def copied(case: CaseWriter, log_dirs: Iterable[LogDir], topics: Sequence[str]) -> Iterator[LogDir]:
    """Yield a broker's log dirs as in the case: with the sizes of copied segments."""
    taken: set[tuple[str, int]] = set()
    for log_dir in log_dirs:
        problems = list(log_dir.problems)
        replicas = tuple(
            _copy_once(case, replica, taken, problems) if replica.topic in topics else replica for replica in log_dir.replicas
        )
        yield log_dir._replace(replicas=replicas, problems=tuple(problems))


def _copy_once(case: CaseWriter, replica: Replica, taken: set[tuple[str, int]], problems: list[Problem]) -> Replica:
    """A broker with a partition in two log dirs does not start, but folders may be moved manually."""
    if (replica.topic, replica.partition) in taken:
        reason = "was not copied: another log dir of the broker holds it too"
        problems.append(Problem(path=f"{replica.topic}-{replica.partition}", reason=reason))
        return replica
    taken.add((replica.topic, replica.partition))
    return _copy(case, replica, problems)


def _copy(case: CaseWriter, replica: Replica, problems: list[Problem]) -> Replica:
    folder = f"{replica.topic}-{replica.partition}"
    target = f"brokers/{replica.broker}/segments/{folder}"
    segments: list[SegmentFile] = []

    def stored(file: str, content: Callable[[outside.Named], Iterator[bytes]]) -> int | None:
        try:
            return case.binary(f"{target}/{file}", content(_file(replica, file)))
        except OSError as error:
            problems.append(Problem(path=f"{folder}/{file}", reason=f"was not copied: {error.strerror}"))
            return None

    for segment in replica.segments:
        stem = f"{segment.base_offset:020d}"
        size = stored(f"{stem}.log", lambda path, limit=segment.bytes: _chunks(path, limit))
        if size is None:
            continue
        beside = [suffix for suffix in segment.beside if stored(f"{stem}{suffix}", lambda p, s=suffix: _index(p, s)) is not None]
        segments.append(segment._replace(bytes=size, beside=tuple(beside)))
    return replica._replace(segments=tuple(segments), copied=True)


def _file(replica: Replica, name: str) -> outside.Named:
    """Return a file of a partition; links stay within its log dir, as in the listing."""
    return outside.Named(Path(replica.place, name), within=Path(replica.place).parent)


def _chunks(path: outside.Given, limit: int) -> Iterator[bytes]:
    """Yield the file up to its listed size: later appends have no row."""
    with outside.opened(path) as file:
        while limit > 0 and (chunk := file.read(min(_CHUNK, limit))):
            limit -= len(chunk)
            yield chunk


def _index(path: outside.Given, suffix: str) -> Iterator[bytes]:
    with outside.opened(path) as file:
        yield indexes.without_padding(file.read(_LARGEST_INDEX), suffix)
