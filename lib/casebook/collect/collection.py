"""A new case folder from evidence of all kinds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from casebook.case.writer import CaseWriter, refuse_taken
from casebook.collect import bounds, kraft
from casebook.collect.bounds import TIME_LIMIT
from casebook.collect.files import client_files, files
from casebook.collect.files import log_dirs as broker_log_dirs
from casebook.collect.files.inputs import Inputs
from casebook.collect.outside import Given
from casebook.collect.pasted import paste as pasted_text
from casebook.collect.redaction import redact_message, redact_znode
from casebook.collect.redaction.addresses import refuse_passwords
from casebook.collect.zookeeper.data import ZookeeperData
from casebook.collect.zookeeper.dump import read_dump
from casebook.collect.zookeeper.ensemble import Credentials, Ensemble, normal_chroot
from casebook.errors import UsageError
from casebook.facts.cluster import Problem, instant
from casebook.facts.znodes import Znode, ZnodeChange

__all__ = ["PATIENCE", "TIME_LIMIT", "Credentials", "collect_case"]

PATIENCE = 15.0
"""Seconds to wait for ZooKeeper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Znodes:
    """Znodes from any source, not yet redacted."""

    rows: Iterable[Znode]
    problems: Iterable[Problem]
    chroot: str
    servers: Sequence[str]
    remarks: Sequence[str] = ()
    cut: str | None = None


def collect_case(
    out: Path,
    *,
    zookeeper: str | None = None,
    bootstrap: str | None = None,
    client_config: Path | None = None,
    client_jars: Sequence[Path] = (),
    zookeeper_dump: Path | None = None,
    zookeeper_data: Sequence[Path] = (),
    chroot: str = "",
    properties: Mapping[int, Path] | None = None,
    logs: Mapping[int | str, Sequence[Given]] | None = None,
    ledgers: Mapping[str, Sequence[Given]] | None = None,
    processed: Mapping[str, Sequence[Given]] | None = None,
    clients: Mapping[str, Sequence[Given]] | None = None,
    metrics: Mapping[int, Sequence[Given]] | None = None,
    log_dirs: Sequence[tuple[int | None, str]] = (),
    copy_segments: Sequence[str] = (),
    pasted: Path | Sequence[str] | None = None,
    credentials: Path | None = None,
    window: int = 256,
    timeout: float = PATIENCE,
    time_limit: float = TIME_LIMIT,
    progress: Callable[[int, int], None] | None = None,
    command: str = "casebook collect",
) -> Path:
    """Collect evidence into a new case folder. An input that gives nothing is recorded; the others are collected.

    Args:
        out: Folder to create.
        zookeeper: ``host:port[,host:port]/chroot`` of a live ensemble.
        bootstrap: ``host:port[,host:port]`` of brokers, which are asked in Kafka's own protocol.
        client_config: The ``client.properties`` of Kafka's own tools for ``bootstrap``.
        client_jars: Jars with classes that this file names.
        zookeeper_dump: A dump instead of an ensemble; see docs/dump_znodes.md.
        zookeeper_data: ``dataDir`` and ``dataLogDir`` of a ZooKeeper server, or copies: the history of the znodes, and, without
            ensemble or dump, their last state.
        chroot: Chroot of the dump or the files; that of an ensemble is part of ``zookeeper``.
        properties: ``server.properties`` by broker id.
        logs: Log files, folders of them, or matches of a pattern (:func:`casebook.collect.outside.matches`), by broker id, or by
            the name of a ZooKeeper server (``zookeeper``, ``zookeeper-2``) or of a client.
        ledgers: Clients' own records of produced or processed records, as text, by client name.
        processed: Consumers' own records of processed records, as text, by consumer group.
        clients: Properties or YAML files of producers and consumers, by client name.
        metrics: Host metrics of sar, iostat or Prometheus by broker id; files as in ``logs``.
        log_dirs: Broker and folder or URI of each log dir; without a broker, its ``meta.properties`` must name it.
        copy_segments: Topics with segments to copy; all others, usually all, are read in place.
        pasted: Pasted output of commands and logs: a file, or its lines; ``-`` for the standard input.
        credentials: Properties file with ZooKeeper credentials; see :meth:`Credentials.load`.
        window: Maximum number of requests in flight.
        timeout: Seconds to wait for ZooKeeper: for a session, and for each next response, however often the connection is lost.
        time_limit: Seconds for the whole collection, half of them for ZooKeeper; then the case contains what was collected so
            far.
        progress: Receives the number of requested znodes and their total from time to time.
        command: Collecting command, as recorded in the case.

    Returns:
        ``out``.

    Raises:
        UsageError: Both ensemble and dump, a chroot apart from the connect string, or a malformed one; a paste with other sources
            of the same; an address with a password.
        CollectError: Nothing was collected; with a single cause, its error.
        CaseError: The folder is not empty, or cannot be created.
    """
    if zookeeper is not None and (zookeeper_dump is not None or chroot):
        raise UsageError(
            "Znodes come either from an ensemble or from a dump; only a dump has a separate chroot.",
            try_="Use --zookeeper host:port/chroot, or --zookeeper-dump FILE with --chroot /C.",
        )
    if bootstrap is not None and (zookeeper is not None or zookeeper_dump is not None or zookeeper_data):
        raise UsageError(
            "The state of a cluster comes either from its brokers or from ZooKeeper.",
            try_="Collect two cases: one with --bootstrap, one with --zookeeper.",
        )
    refuse_passwords("--zookeeper", zookeeper)
    refuse_passwords("--bootstrap", bootstrap)
    refuse_passwords("--log-dirs", *(place for _, place in log_dirs))
    pasted_text.check(pasted, (zookeeper, bootstrap, zookeeper_dump, zookeeper_data, log_dirs))
    chroot = Ensemble.parse(zookeeper).chroot if zookeeper is not None else normal_chroot(chroot)
    refuse_taken(out)
    out = Path(out)
    with CaseWriter.create(out, command=command, clean=redact_message) as case, bounds.lasting(time_limit):
        inputs, znodes = Inputs(case), None
        if zookeeper is not None:
            znodes = inputs.take("ZooKeeper", lambda: _from_ensemble(zookeeper, credentials, window, timeout, progress))
        elif zookeeper_dump is not None:
            znodes = inputs.take("the znode dump", lambda: _from_dump(Path(zookeeper_dump), chroot))
        if bootstrap is not None:
            inputs.take("the brokers", lambda: _from_brokers(case, bootstrap, client_config, client_jars, progress))
        redacted = _Redacted()
        if zookeeper_data:
            last = inputs.take("ZooKeeper's files", lambda: _history(case, zookeeper_data, chroot, redacted))
            znodes = znodes or last
        if znodes is not None:
            _store(case, znodes, redacted)
        of_kraft = [
            broker for broker, path in sorted((properties or {}).items()) if files.copy_properties(case, broker, Path(path))
        ]
        for owner, paths in (logs or {}).items():
            files.copy_logs(case, owner, paths)
        for broker, paths in (metrics or {}).items():
            files.copy_metrics(case, broker, paths)
        copying = files.Ledgers()
        for client, paths in (ledgers or {}).items():
            copying.copy(case, client, paths, inputs.take)
        for group, paths in (processed or {}).items():
            copying.copy(case, group, paths, inputs.take, folder="processed")
        for client, paths in (clients or {}).items():
            client_files.copy_client_files(case, client, paths)
        kraft.tell(case, of_kraft, broker_log_dirs.collect(case, inputs, log_dirs, copy=copy_segments))
        if pasted is not None:
            inputs.take("the paste", lambda: pasted_text.collect(case, pasted, configured=properties or ()))
        inputs.end()
    return out


def _from_ensemble(
    connect_string: str, credentials: Path | None, window: int, timeout: float, progress: Callable[[int, int], None] | None
) -> _Znodes:
    from casebook.collect.zookeeper.walk import walk  # kazoo is imported only where needed

    presented = Credentials.load(credentials) if credentials is not None else None
    with bounds.half("ZooKeeper's"):
        found = walk(connect_string, window=window, timeout=timeout, credentials=presented, progress=progress)
    expired = found.sessions - 1
    remark = (
        f"ZooKeeper expired the collector's session {expired} time{'' if expired == 1 else 's'}; the walk continued "
        "with a new one."
    )
    return _Znodes(
        rows=found.znodes,
        problems=found.problems,
        chroot=found.ensemble.chroot,
        servers=found.ensemble.servers,
        remarks=(remark,) if expired else (),
        cut=found.gave_up,
    )


def _from_brokers(
    case: CaseWriter,
    bootstrap: str,
    client_config: Path | None,
    client_jars: Sequence[Path],
    progress: Callable[[int, int], None] | None,
) -> None:
    from casebook.collect.wire.collect import collect  # Java is needed only here

    collect(case, bootstrap, client_config=client_config, client_jars=client_jars, progress=progress)


def _from_dump(path: Path, chroot: str) -> _Znodes:
    found = read_dump(path, chroot=chroot)
    return _Znodes(rows=found.znodes, problems=found.problems, chroot=normal_chroot(chroot), servers=())


def _history(case: CaseWriter, folders: Sequence[Path], chroot: str, redacted: "_Redacted") -> _Znodes:
    """Store the history from ZooKeeper's files, and return the znodes at its end.

    Raises:
        CollectError: The files contain none.
    """
    data = ZookeeperData(folders, chroot=chroot)
    try:
        case.history(map(redacted.change, data.changes()))
    finally:
        _report(case, data.problems)
    zxid, time = data.last
    whose = f"of the snapshot at transaction 0x{zxid:x}" if data.ends_with_snapshot else f"after transaction 0x{zxid:x}"
    remark = f"The znodes are those {whose} of {instant(time)}, the last in ZooKeeper's files."
    rows = (znode._replace(read_at=time) for znode in data.znodes())
    return _Znodes(rows=rows, problems=(), chroot=data.chroot, servers=(), remarks=(remark,))


def _store(case: CaseWriter, znodes: _Znodes, redacted: "_Redacted") -> None:
    case.znodes(map(redacted.znode, znodes.rows), chroot=znodes.chroot, servers=znodes.servers)
    _report(case, znodes.problems, znodes.remarks)
    if znodes.cut is not None:
        case.left_out("ZooKeeper", f"{znodes.cut}; its earlier answers are kept")
    if redacted.paths:
        case.redacted(f"{len(redacted.paths)} znodes below /config")


class _Redacted:
    """Removes secrets from znodes, and counts znodes that had any."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def znode(self, znode: Znode) -> Znode:
        clean = redact_znode(znode)
        if clean.redacted:
            self.paths.add(znode.path)
        return clean

    def change(self, change: ZnodeChange) -> ZnodeChange:
        return change._replace(znodes=tuple(map(self.znode, change.znodes)))


def _report(case: CaseWriter, problems: Iterable[Problem], remarks: Iterable[str] = ()) -> None:
    for problem in problems:
        case.could_not_collect(problem.path, problem.reason)
    for remark in remarks:
        case.remark(remark)
