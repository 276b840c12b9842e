"""Pasted text -> a case: the text itself, and what can be stated from it as the rows that every notebook reads.

    pasted/pasted.txt                 the paste, line by line, without secrets: the proof of everything
    zookeeper/znodes.jsonl.zst        znodes that were pasted; what kafka-topics told of others, as ``stated``
    brokers/<id>/logs/pasted.log      log lines of a broker that the paste names, see :mod:`casebook.collect.pasted_logs`
    brokers/<id>/log_dirs.json        listings of a broker that the paste names
    brokers/<id>/server.properties    settings of a broker that the paste names, see :mod:`casebook.collect.pasted_host`

What was not pasted becomes a hole with its reason, never something that is not there.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from casebook.case_folder import PASTED
from casebook.case_writer import CaseWriter
from casebook.collect import outside, pasted_host, pasted_logs, plain, redaction
from casebook.collect.redaction import redact_znode
from casebook.errors import CollectError, UsageError
from casebook.facts import Problem, ReadOutcome, Stat, Znode, state_path
from casebook.formats import kafka_tree as tree
from casebook.formats import log_dir_names, log_dir_rows, pasted, pasted_text
from casebook.formats.pasted_zookeeper import kafka_path
from casebook.pasted import NOT_PASTED, DescribedPartition, DescribedTopic, ListedFile, Pasted, PastedZnode
from casebook.storage import LogDir, Replica, SegmentFile

_LONGEST_LINE = 1 << 20
_MOST_BYTES = 64 << 20
_SHOWN = 20
_KEY_ALONE = re.compile(rb"""(?i).*(?:passw(?:or)?d|passphrase|secret|token|credential|[_.-]key)[\w.-]*["']?\s*(?:=|:)\s*["']?""")
_REST = re.compile(rb"\S{1,400}")
_FOLDED_FROM = 55
_SAY_NOTHING_WITHOUT_DATA = ("/controller", "/controller_epoch")
_PARTS = (tree.IDS, "/controller", "/controller_epoch", "/config/topics", "/config/brokers", "/admin", tree.TOPICS)


def collect(case: CaseWriter, paste: Path | Sequence[str], *, configured: Container[int] = ()) -> None:
    """Write what a paste holds into a case.

    Args:
        case: Gets all items, and is told what the paste leaves open.
        paste: A file, ``-`` for the standard input, or its lines.
        configured: Brokers whose ``server.properties`` is in the case.

    Raises:
        CollectError: It is empty, or cannot be read.
    """
    left_out: list[Path] = []
    is_file = isinstance(paste, str | Path)
    texts = lines_of(Path(paste), left_out) if is_file else (f"{line}\n".encode(errors="replace") for line in paste)
    lines = list(redacted(texts))
    if not any(line.strip() for line in lines):
        raise CollectError("Nothing was pasted.", try_="Paste what a command printed, together with the command.")
    found = pasted.read(line.decode(errors="replace") for line in lines)
    case.file(PASTED, lines)
    if secrets := sum(redaction.MARK in line for line in lines):
        case.redacted(f"{secrets} lines of {PASTED}")
    _znodes(case, found)
    pasted_logs.write(case, found)
    _log_dirs(case, found)
    pasted_host.write(case, found, configured=configured)
    for place, reason in not_understood(found):
        case.could_not_collect(place, reason)
    if left_out or len(lines) > found.lines:
        case.left_out(PASTED, f"only its first {found.lines} lines were read; give whole log files with --logs")


def not_understood(found: Pasted) -> Iterator[tuple[str, str]]:
    """Where a paste says nothing, and why: what is cut one by one, what nobody knows in one sentence."""
    unknown = [part for part in found.not_understood if part.text]
    cut = [part for part in found.not_understood if not part.text]
    for part in cut[:_SHOWN]:
        yield f"{PASTED}:{part.span.first}", part.reason
    if len(cut) > _SHOWN:
        yield PASTED, f"{len(cut) - _SHOWN} more parts are cut or were changed"
    if unknown:
        lines = sum(part.span.last - part.span.first + 1 for part in unknown)
        shown = ", ".join(f"line {part.span.first} ({part.text[:40]!a})" for part in unknown[:3])
        more = "" if len(unknown) <= 3 else ", and others"
        yield PASTED, f"nobody knows what {lines} lines are: {shown}{more}"


def lines_of(path: Path, left_out: list[Path]) -> Iterator[bytes]:
    """The lines of a pasted file, or of the standard input (``-``); at most 64 MB of them.

    Args:
        path: The file.
        left_out: Gets the path where those are not all.

    Raises:
        CollectError: It cannot be read.
    """
    is_stdin = str(path) == "-"
    taken = 0
    try:
        lines = (
            plain.of_stream(outside.standard_input(), longest=_LONGEST_LINE)
            if is_stdin
            else plain.lines(Path(path), longest=_LONGEST_LINE)
        )
        for number, line in enumerate(lines, start=1):
            taken += len(line)
            if taken > _MOST_BYTES or number > pasted_text.MOST_LINES + 1:
                left_out.append(path)
                return
            yield line
    except OSError as error:
        raise CollectError(f"The pasted text {path} cannot be read: {error.strerror}.") from None


def redacted(texts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without secrets: also behind the quote marks of a mail, and where a mail has folded a secret to the next line."""
    marks, bodies = [], []
    for text in texts:
        mark = pasted_text.quote_mark(text[:200].decode("latin-1")).encode("latin-1")
        marks.append(mark)
        bodies.append(text[len(mark) :].rstrip(b"\r\n").replace(b"\0", b"\xef\xbf\xbd"))
    before = rest = b""
    for mark, body, clean in zip(marks, bodies, redaction.redact_log(bodies), strict=True):
        if (_KEY_ALONE.fullmatch(before[-4096:]) or rest) and _REST.fullmatch(body.strip()):
            rest = body
            clean = redaction.MARK
        else:
            rest = body if clean.endswith(redaction.MARK) and clean != body and len(body) >= _FOLDED_FROM else b""
        before = body
        yield mark + clean + b"\n"


def _znodes(case: CaseWriter, found: Pasted) -> None:
    stated = _Stated()
    for topic in found.topics:
        stated.topic(topic)
    for partition in found.partitions:
        stated.partition(partition)
    chroot, theirs = _of_one_chroot(found.znodes)
    for path, znode in theirs:
        stated.read(path, znode)
    rows = list(stated.rows())
    for part in _open_parts({row.path: row for row in rows}):
        case.could_not_collect(part.path, part.reason)
    for problem in _not_used(found.znodes, chroot):
        case.could_not_collect(problem.path, problem.reason)
    if rows:
        clean = [redact_znode(row) for row in rows]
        case.znodes(clean, chroot=chroot, servers=())
        if secrets := sum(row.redacted for row in clean):
            case.redacted(f"{secrets} znodes below /config")
    for remark in _remarks(found, theirs):
        case.remark(remark)


def _of_one_chroot(znodes: Sequence[PastedZnode]) -> tuple[str, list[tuple[str, PastedZnode]]]:
    """The chroot of most of them, and those below it or named without any: a connect string may have had the chroot."""
    known = [(*place, znode) for znode in znodes if znode.path is not None and (place := kafka_path(znode.path)) is not None]
    counts = Counter(chroot for chroot, _, _ in known if chroot)
    main = max(counts, key=counts.__getitem__, default="")
    return main, [(path, znode) for chroot, path, znode in known if chroot in (main, "")]


def _not_used(znodes: Sequence[PastedZnode], main: str) -> Iterator[Problem]:
    for znode in znodes:
        place = kafka_path(znode.path) if znode.path else None
        where = f"{PASTED}:{znode.span.first}"
        if znode.path is None:
            yield Problem(path=where, reason=f"is a znode whose path was {NOT_PASTED}")
        elif place is None and znode.path != main:
            yield Problem(path=where, reason=f"{znode.path} is no znode of Kafka's")
        elif place is not None and place[0] not in (main, ""):
            yield Problem(path=where, reason=f"{znode.path} is below another chroot than {main or '/'}")


def _remarks(found: Pasted, theirs: Sequence[tuple[str, PastedZnode]]) -> Iterator[str]:
    yield f"The evidence was pasted: {found.lines} lines, in {PASTED}. When it was copied is not known, nor whether all at once."
    if any(znode.stat is not None and (znode.stat.mtime or znode.stat.ctime) for _, znode in theirs):
        yield "zkCli prints the times of znodes in whole seconds."
    if undated := [path for path, znode in theirs if znode.undated]:
        yield f"The zone of these znodes' times is none that means one zone only, such as CST: {', '.join(undated[:3])}."
    altered = [path for path, znode in theirs if _is_altered(znode)]
    if altered:
        yield f"Not as long as ZooKeeper says, so changed on the way here: {', '.join(altered[:3])}."


def _is_altered(znode: PastedZnode) -> bool:
    length = znode.stat.dataLength if znode.stat else None
    if znode.data is None or length is None or "[redacted]" in znode.data:
        return False
    return len(znode.data.encode(errors="replace")) != length


class _Stated:
    """Znodes put together from all that the paste says of them; what was read of one counts more than what was told."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, object] | None] = {}
        self._read: dict[str, Znode] = {}
        self._stats: dict[str, Stat | None] = {}

    def topic(self, topic: DescribedTopic) -> None:
        """A topic's line of a description."""
        path = f"{tree.TOPICS}/{topic.topic}"
        self._told.setdefault(path, None)
        if topic.configs is not None:
            self._told[f"/config/topics/{topic.topic}"] = {"version": 1, "config": topic.configs}
        if topic.deleting:
            self._told[f"/admin/delete_topics/{topic.topic}"] = None

    def partition(self, row: DescribedPartition) -> None:
        """A partition's line of a description."""
        path = f"{tree.TOPICS}/{row.topic}"
        topic = self._told.get(path) or {"partitions": {}}
        self._told[path] = topic
        for name, brokers in (("partitions", row.replicas), ("adding_replicas", row.adding), ("removing_replicas", row.removing)):
            if brokers is not None:
                topic.setdefault(name, {})[str(row.partition)] = list(brokers)
        leader = -1 if row.leader is None else row.leader
        self._told[state_path(row.topic, row.partition)] = {"version": 1, "leader": leader, "isr": list(row.isr)}
        if row.deleting:
            self._told[f"/admin/delete_topics/{row.topic}"] = None

    def read(self, path: str, znode: PastedZnode) -> None:
        """An answer of ZooKeeper; it counts more than the answers before it."""
        before = self._read.get(path)
        if not znode.there:
            self._read[path] = Znode(path=path, outcome=ReadOutcome.MISSING)
        elif znode.data is not None:
            data = _data(znode.data)
            same = before is not None and before.data == data
            self._read[path] = Znode(path=path, data=data, stat=znode.stat or (before.stat if same else None))
        elif znode.children is not None:
            self._list(path, znode.children)
            self._read[path] = Znode(path=path, stat=replace(znode.stat or Stat(), numChildren=len(znode.children)))
        elif before is not None and before.data is not None:
            if before.stat is None and znode.stat is not None and znode.stat.dataLength == len(before.data):
                self._read[path] = replace(before, stat=znode.stat)
        else:
            self._told.setdefault(path, None)
            self._stats[path] = znode.stat

    def _list(self, path: str, names: Sequence[str]) -> None:
        """A list of children: who is not in it is not there any more."""
        above = path.rstrip("/") + "/"
        children = {above + name for name in names}
        for known in (self._told, self._read, self._stats):
            for gone in [p for p in known if p.startswith(above) and "/" not in p[len(above) :] and p not in children]:
                del known[gone]
        for child in children:
            self._told.setdefault(child, None)

    def rows(self) -> Iterator[Znode]:
        """By path; of a description only what nobody has read. A partition whose state is not told has a row without data."""
        for path, znode in self._read.items():
            if tree.is_topic(path):
                for state in tree.assigned_states(path, znode.data):
                    self._told.setdefault(state, None)
        for path in sorted({*self._told, *self._read}):
            only_there = path not in self._read and self._told[path] is None
            if not tree.is_evidence(path) or (only_there and path in _SAY_NOTHING_WITHOUT_DATA):
                continue
            read, told = self._read.get(path), self._told.get(path)
            if read is not None:
                yield replace(read, data=None) if path in tree.COUNTED else read
            else:
                data = None if told is None else json.dumps(told, separators=(",", ":")).encode()
                yield Znode(path=path, data=data, stat=self._stats.get(path), outcome=ReadOutcome.STATED)


def _data(text: str) -> bytes:
    """As it stood in ZooKeeper, but for what was taken out."""
    return text.replace('"[redacted]"', "[redacted]").replace("[redacted]", '"[redacted]"').encode(errors="replace")


def _open_parts(rows: Mapping[str, Znode]) -> Iterator[Problem]:
    """The parts of the tree that were not pasted, or not as a whole."""
    for path in _PARTS:
        row = rows.get(path)
        single = path in ("/controller", "/controller_epoch")
        known = row is not None and (
            row.outcome is ReadOutcome.MISSING or (row.outcome is ReadOutcome.READ and (single or row.stat))
        )
        if not known:
            yield Problem(path=path, reason=f"was {NOT_PASTED}")
    for path in sorted(rows):
        if tree.is_topic(path) and rows[path].data is None and rows[path].outcome is ReadOutcome.STATED:
            yield Problem(path=path, reason=f"is there; its partitions' brokers were {NOT_PASTED}")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file lies: folder of the log dir, topic and partition."""

    log_dir: str
    topic: str
    partition: int


def _log_dirs(case: CaseWriter, found: Pasted) -> None:
    segments: dict[int, dict[_Place, list[ListedFile]]] = {}
    unplaced: Counter[str] = Counter()
    for file in found.files:
        if file.is_folder:
            continue
        place, why = _place(file), None
        if place is None:
            why = f"of segments: their folder was {NOT_PASTED}; begin with the command, e.g. ls -l /data/kafka/t-0"
        elif file.broker is None:
            why = f'of segments: whose they are was {NOT_PASTED}; write a line such as "broker 3:" above them'
        elif file.about is None:
            why = f"of segments: their sizes were {NOT_PASTED}; paste ls -l"
        elif file.bytes is None:
            why = f"of segments: their sizes are rounded, the whole ones were {NOT_PASTED}; paste ls -l without -h"
        if why is not None:
            unplaced[why] += 1
        else:
            segments.setdefault(file.broker, {}).setdefault(place, []).append(file)
    for why, count in sorted(unplaced.items()):
        case.could_not_collect("log dirs", f"{count} lines {why}")
    if found.used:
        sizes = f"{len(found.used)} lines of du: they tell the size of folders; segments were {NOT_PASTED}: paste ls -l of them"
        case.could_not_collect("log dirs", sizes)
    for broker, places in sorted(segments.items()):
        item = f"brokers/{broker}/log_dirs.json"
        encoded = (line for log_dir in _listed(broker, places) for line in log_dir_rows.encode(log_dir))
        case.file(item, (f"{line}\n".encode(errors="replace") for line in encoded))
        case.could_not_collect(item, f"other folders, and checkpoints, were {NOT_PASTED}")


def _place(file: ListedFile) -> _Place | None:
    folder = PurePosixPath(file.folder)
    name = log_dir_names.folder(folder.name)
    return _Place(str(folder.parent), name.topic, name.partition) if name and not name.kind else None


def _listed(broker: int, places: Mapping[_Place, Sequence[ListedFile]]) -> Iterator[LogDir]:
    """A broker's log dirs as far as they were pasted. Their places are of another machine: nobody must open them here."""
    for log_dir in sorted({place.log_dir for place in places}):
        where = f"pasted: {log_dir}"
        replicas = [
            Replica(
                broker=broker,
                topic=place.topic,
                partition=place.partition,
                place=f"{where}/{place.topic}-{place.partition}",
                item="",
                segments=_segments(files),
            )
            for place, files in places.items()
            if place.log_dir == log_dir
        ]
        yield LogDir(
            broker=broker,
            place=where,
            listed_at=None,
            replicas=tuple(sorted(replicas)),
            problems=(Problem(path="the log dir", reason="only the folders that were pasted are known"),),
        )


def _segments(files: Sequence[ListedFile]) -> tuple[SegmentFile, ...]:
    logs: dict[int, SegmentFile] = {}
    beside: dict[int, set[str]] = {}
    for file in files:
        name = log_dir_names.file(file.name)
        if name is None or name.kind or file.bytes is None:
            continue
        if name.suffix == ".log":
            logs[name.base_offset] = SegmentFile(name.base_offset, file.bytes, file.modified)
        else:
            beside.setdefault(name.base_offset, set()).add(name.suffix)
    return tuple(logs[base]._replace(beside=tuple(sorted(beside.get(base, ())))) for base in sorted(logs))


def check(paste: object, others: Iterable[object]) -> None:
    """Refuse a paste beside other sources of the same: one case, one answer to each question.

    Raises:
        UsageError: There is another source of znodes or log dirs.
    """
    if paste is not None and any(others):
        raise UsageError(
            "A paste is a case of its own: it cannot be mixed with other znodes or log dirs.",
            try_="Collect the paste into a folder of its own; --logs and --properties may come along.",
        )
