"""The outside world -> a case folder. Nothing here can write to ZooKeeper or Kafka."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from casebook.case import CaseWriter
from casebook.collect import files
from casebook.collect import log_dirs as broker_log_dirs
from casebook.collect.dump import read_dump
from casebook.collect.ensemble import Credentials, normal_chroot
from casebook.collect.redaction import redact_znode
from casebook.errors import UsageError
from casebook.facts import Problem, Znode

__all__ = ["Credentials", "collect_case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Znodes:
    """Znodes from wherever they came, not yet redacted."""

    rows: Iterable[Znode]
    problems: Iterable[Problem]
    chroot: str
    servers: Sequence[str]
    remarks: Sequence[str] = ()


def collect_case(
    out: Path,
    *,
    zookeeper: str | None = None,
    zookeeper_dump: Path | None = None,
    chroot: str = "",
    properties: Mapping[int, Path] | None = None,
    logs: Mapping[int, Sequence[Path]] | None = None,
    log_dirs: Sequence[tuple[int | None, str]] = (),
    copy_segments: Sequence[str] = (),
    credentials: Path | None = None,
    window: int = 256,
    timeout: float = 15.0,
    progress: Callable[[int, int], None] | None = None,
    command: str = "casebook collect",
) -> Path:
    """Collect evidence into a new case folder.

    Args:
        out: The folder to make.
        zookeeper: ``host:port[,host:port]/chroot`` of a live ensemble.
        zookeeper_dump: A dump instead of an ensemble; see docs/dump_znodes.md.
        chroot: Of the dump.
        properties: ``server.properties`` by broker id.
        logs: Log files, or folders of them, by broker id.
        log_dirs: Broker and folder or URI of each log dir; without broker, its ``meta.properties`` must tell it.
        copy_segments: Topics whose segments are copied; all others, as a rule all, are read where they are.
        credentials: Properties file with what ZooKeeper shall be told; see :meth:`Credentials.load`.
        window: Requests in flight at most.
        timeout: Seconds to wait for ZooKeeper, at the start and when it is lost.
        progress: Told now and then how many znodes were asked for, and of how many.
        command: What the case shall say collected it.

    Returns:
        ``out``.

    Raises:
        UsageError: Both ensemble and dump, a chroot given apart from the connect string, or a malformed one; nothing
            tells whose a log dir is; segments of a URI are to be copied.
        CollectError: ZooKeeper or the dump gives nothing, or the segments to copy are too large for a case.
        CaseError: The folder cannot be made.
    """
    if zookeeper is not None and (zookeeper_dump is not None or chroot):
        raise UsageError(
            "Znodes come either from an ensemble or from a dump; only a dump has its chroot apart.",
            try_="Give --zookeeper host:port/chroot, or --zookeeper-dump FILE with --chroot /C.",
        )
    znodes = None
    if zookeeper is not None:
        znodes = _from_ensemble(zookeeper, credentials, window, timeout, progress)
    elif zookeeper_dump is not None:
        znodes = _from_dump(Path(zookeeper_dump), chroot)
    out = Path(out)
    with CaseWriter.create(out, command=command) as case:
        if znodes is not None:
            _write_znodes(case, znodes)
        for broker, path in sorted((properties or {}).items()):
            files.copy_properties(case, broker, Path(path))
        for broker, paths in sorted((logs or {}).items()):
            files.copy_logs(case, broker, [Path(path) for path in paths])
        broker_log_dirs.collect(case, log_dirs, copy=copy_segments)
    return out


def _from_ensemble(
    connect_string: str, credentials: Path | None, window: int, timeout: float, progress: Callable[[int, int], None] | None
) -> _Znodes:
    from casebook.collect.zookeeper import walk  # kazoo is imported by who needs it

    presented = Credentials.load(credentials) if credentials is not None else None
    found = walk(connect_string, window=window, timeout=timeout, credentials=presented, progress=progress)
    expired = found.sessions - 1
    remark = (
        f"ZooKeeper expired the collector's session {expired} time{'' if expired == 1 else 's'}; the walk went on with a new one."
    )
    return _Znodes(
        rows=found.znodes,
        problems=found.problems,
        chroot=found.ensemble.chroot,
        servers=found.ensemble.servers,
        remarks=(remark,) if expired else (),
    )


def _from_dump(path: Path, chroot: str) -> _Znodes:
    found = read_dump(path, chroot=chroot)
    return _Znodes(rows=found.znodes, problems=found.problems, chroot=normal_chroot(chroot), servers=())


def _write_znodes(case: CaseWriter, znodes: _Znodes) -> None:
    redacted = 0

    def rows() -> Iterator[Znode]:
        nonlocal redacted
        for znode in znodes.rows:
            clean = redact_znode(znode)
            redacted += clean.redacted
            yield clean

    case.znodes(rows(), chroot=znodes.chroot, servers=znodes.servers)
    if redacted:
        case.redacted(f"{redacted} znodes below /config")
    for remark in znodes.remarks:
        case.remark(remark)
    for problem in znodes.problems:
        case.could_not_collect(problem.path, problem.reason)
