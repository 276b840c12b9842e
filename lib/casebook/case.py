"""The case folder: written once, read many times; the only thing an analysis ever reads.

    case.json     schema, when and by what collected, chroot, every item with sha256 and row count,
                  what could not be collected and why, what was redacted
    zookeeper/    znodes.jsonl.zst, a line a znode (formats.znode_lines)
                  history.jsonl.zst, a line a transaction (formats.history_lines), where ZooKeeper's own files were given
    clients/      <name>/logs/, <name>/ledgers/: what applications logged, and what they wrote down of their records
    brokers/<id>/ server.properties, logs/, log_dirs.json (formats.log_dir_rows),
                  segments/<topic>-<partition>/ where they were copied
    pasted/       pasted.txt, where the evidence was pasted
    derived/      results of scans; not evidence, so not in case.json, and free to be deleted

A folder appears under its name only when it is complete: it is written beside it and renamed.
"""

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath

import zstandard

from casebook.clients import ClientFile
from casebook.errors import CaseError
from casebook.events import is_log
from casebook.facts import Change, Cluster, Problem, StatedVersion, Znode
from casebook.formats import cluster, history_lines, log_dir_rows, properties, time_machine, znode_lines, znodes
from casebook.pasted import Pasted
from casebook.storage import LogDir

SCHEMA = 1
MANIFEST = "case.json"
ZNODES = "zookeeper/znodes.jsonl.zst"
HISTORY = "zookeeper/history.jsonl.zst"
PASTED = "pasted/pasted.txt"
DERIVED = "derived"
LIVE = "live:"
"""How the name of a case begins that was collected for one run: the source that it was collected from."""
_LOOPBACK = re.compile(r"(?:localhost|127\.[0-9.]+|\[::1\]):")
_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_LONGEST_LINE = 16 << 20
_LOGGED_VERSION = re.compile(r" INFO Kafka version ?: (\d+(?:\.\d+){2,3}\S*)")


def refuse_taken(path: Path) -> None:
    """Refuse a place for a new case where something is.

    Raises:
        CaseError: It is there, and what to do with it; nothing of it is changed.
    """
    path = Path(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    has_case = (path / MANIFEST).is_file()
    raise CaseError(
        f"{path} already holds something.",
        cause="A case was collected there before; it is untouched." if has_case else None,
        try_="Choose a new folder: a case is never overwritten."
        + (f" That one is read with --source {path}." if has_case else ""),
    )


class CaseWriter:
    """Writes a case folder; use :meth:`create`."""

    def __init__(self, folder: Path, command: str) -> None:
        self._folder = folder
        self._items: list[dict[str, object]] = []
        self._could_not_collect: list[dict[str, str]] = []
        self._redacted: list[str] = []
        self._remarks: list[str] = []
        self._head: dict[str, object] = {"schema": SCHEMA, "collected_at": _now(), "collected_by": command}

    @classmethod
    @contextmanager
    def create(cls, path: Path, *, command: str) -> Iterator["CaseWriter"]:
        """Write a new case; it is there, whole, when the block ends, and not at all when the block fails.

        Args:
            path: The folder to make; its parents are made.
            command: What collects, e.g. ``casebook collect``; without secrets.

        Raises:
            CaseError: Something other than an empty folder is already there, or the disk refuses.
        """
        path = Path(path)
        refuse_taken(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        except OSError as error:
            raise CaseError(f"{path} cannot be written: {error.strerror}.") from error
        try:
            writer = cls(partial, command)
            yield writer
            writer._write_manifest()
            partial.chmod(0o755)
            partial.replace(path)
        except OSError as error:
            raise CaseError(f"{path} cannot be written: {error.strerror or error}.") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def znodes(self, rows: Iterable[Znode], *, chroot: str, servers: Sequence[str]) -> None:
        """Store the znodes of a walk or dump, in the order given.

        Args:
            rows: Already redacted.
            chroot: ``""`` for none.
            servers: ``host:port`` of the ensemble; empty for a dump.
        """
        self._head |= {"chroot": chroot, "zookeeper": list(servers)}
        self._packed_lines(ZNODES, map(znode_lines.encode, rows))

    def history(self, changes: Iterable[Change]) -> None:
        """Store the history of the znodes, already redacted, in the order given."""
        self._packed_lines(HISTORY, chain.from_iterable(map(history_lines.encode, changes)))

    def _packed_lines(self, name: str, lines: Iterable[str]) -> None:
        count = 0
        with self._target(name).open("wb") as raw, zstandard.ZstdCompressor(level=6).stream_writer(raw) as packed:
            for line in lines:
                packed.write(line.encode(errors="surrogatepass") + b"\n")
                count += 1
        self._add(name, rows=count)

    def file(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Store a file under a relative path, from its bytes or its lines (already redacted)."""
        rows = 0
        with self._target(name).open("wb") as out:
            for line in [content] if isinstance(content, bytes) else content:
                out.write(line)
                rows += line.count(b"\n")
        self._add(name, rows=rows)

    def binary(self, name: str, content: Iterable[bytes]) -> int:
        """Store a file that has no lines, as far as it can be read.

        Returns:
            Its size.

        Raises:
            OSError: The content cannot be read on; nothing is stored.
        """
        target = self._target(name)
        try:
            with target.open("wb") as out:
                out.writelines(content)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        self._add(name, rows=None)
        return target.stat().st_size

    def could_not_collect(self, part: str, reason: str) -> None:
        """Record what was asked for and is not here, and why (without secrets)."""
        self._could_not_collect.append({"part": part, "reason": reason})

    def redacted(self, what: str) -> None:
        """Record that secrets were removed, e.g. ``2 entries of config/users``."""
        self._redacted.append(what)

    def remark(self, sentence: str) -> None:
        """Record what happened while collecting that a reader should know, e.g. that a session expired."""
        self._remarks.append(sentence)

    def _target(self, name: str) -> Path:
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts or not relative.parts:
            raise CaseError(f"{name!r} is not a path inside a case.")
        target = self._folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def _add(self, name: str, *, rows: int | None) -> None:
        path = self._folder / name
        self._items.append({"path": name, "rows": rows, "bytes": path.stat().st_size, "sha256": _sha256(path)})

    def _write_manifest(self) -> None:
        manifest = self._head | {
            "items": sorted(self._items, key=lambda item: str(item["path"])),
            "could_not_collect": self._could_not_collect,
            "redacted": sorted(self._redacted),
            "remarks": self._remarks,
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        (self._folder / MANIFEST).write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file of a case as its manifest lists it."""

    path: str
    rows: int | None
    bytes: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case folder opened for reading; use :meth:`open`.

    Args:
        folder: Where it is.
        name: The folder's name; of a case that was collected for one run, its live source.
        digest: sha256 of the manifest: two cases with the same digest are the same evidence.
        collected_at: ISO-8601 UTC, as recorded.
        chroot: ``""`` for none.
        servers: ``host:port`` of the ensemble that was walked; empty for a dump.
        items: What it holds, by path.
        could_not_collect: What the collector did not get, and why.
        redacted: What the collector removed.
        remarks: What happened while it collected.
        damaged: Items that are missing or differ from the manifest.
    """

    folder: Path
    name: str
    digest: str
    collected_at: str | None
    chroot: str
    servers: tuple[str, ...]
    items: Mapping[str, Item]
    could_not_collect: tuple[Problem, ...]
    redacted: tuple[str, ...]
    remarks: tuple[str, ...]
    damaged: tuple[Problem, ...]

    @classmethod
    def open(cls, folder: Path) -> "Case":
        """Open a case and hold every item against the manifest's hash.

        Raises:
            CaseError: There is no such folder, it is no case, or it is of a newer schema.
        """
        folder = Path(folder)
        raw = _manifest_bytes(folder)
        manifest = _manifest(raw, folder)
        outside: list[Problem] = []
        items = tuple(_items(manifest, folder, outside))
        return cls(
            folder=folder,
            name=folder.resolve().name,
            digest=hashlib.sha256(raw).hexdigest(),
            collected_at=_text(manifest.get("collected_at")),
            chroot=_text(manifest.get("chroot")) or "",
            servers=tuple(text for text in _list(manifest.get("zookeeper")) if isinstance(text, str)),
            items={item.path: item for item in items},
            could_not_collect=tuple(_could_not_collect(manifest)),
            redacted=tuple(text for text in _list(manifest.get("redacted")) if isinstance(text, str)),
            remarks=tuple(text for text in _list(manifest.get("remarks")) if isinstance(text, str)),
            damaged=(*outside, *(problem for item in items if (problem := _damage(folder, item)))),
        )

    def znodes(self, at: int | None = None) -> Iterator[Znode]:
        """The znodes, as far as they can be read; a torn or damaged file ends early and is told by :meth:`cluster`.

        Args:
            at: As they were at this moment, epoch ms; by default as they were collected.

        Raises:
            CaseError: A line is not a znode, or the file is torn; rows before it were already yielded. Or the case has no
                history, or none that reaches back so far.
        """
        if at is not None:
            yield from self._znodes_at(at)
            return
        for number, line in enumerate(_lines(self.folder / ZNODES), start=1):
            try:
                yield znode_lines.decode(line)
            except ValueError as error:
                raise CaseError(f"{ZNODES}, line {number}: {error}.") from None

    def _znodes_at(self, at: int) -> Iterator[Znode]:
        try:
            return time_machine.znodes(self.history(), at)
        except ValueError as error:
            raise CaseError(f"{self.name} does not tell of that moment: {error}.") from None

    @property
    def has_history(self) -> bool:
        """Whether it holds what ZooKeeper's own files tell."""
        return HISTORY in self.items

    def history(self) -> Iterator[Change]:
        """What ZooKeeper's own files tell of each change of Kafka's znodes and of each session, in the order of transactions.

        Raises:
            CaseError: The case has none, a line is no change, or the file is torn; changes before it were already yielded.
        """
        if not self.has_history:
            raise CaseError(
                f"{self.name} has no history of the znodes.", try_="Collect ZooKeeper's own files: --zookeeper-data DIR."
            )
        try:
            yield from history_lines.decode(_lines(self.folder / HISTORY))
        except ValueError as error:
            raise CaseError(f"{HISTORY} has a line that is {error}.") from None

    def cluster(self, at: int | None = None) -> Cluster:
        """The cluster as the case's znodes and properties tell it. Never fails on damaged evidence: it says so inside.

        Args:
            at: As it was at this moment, epoch ms; by default as it was collected. Settings are those that were collected.

        Raises:
            CaseError: The case has no history that tells of that moment.
        """
        not_collected = [*self.could_not_collect, *self.damaged]
        rows = self._znodes_as_far_as_readable(not_collected) if at is None else self.znodes(at)
        found = cluster.from_znodes(
            rows,
            chroot=self.chroot,
            not_collected=not_collected,
            server_properties=self.server_properties(),
            remarks=self.remarks,
        )
        return replace(found, zookeeper=self._reachable_servers())

    def _reachable_servers(self) -> tuple[str, ...]:
        """The servers, but for those that only the machine knows where the case was collected, unless that was just now."""
        own = not self.name.startswith(LIVE)
        return () if own and any(map(_LOOPBACK.match, self.servers)) else self.servers

    def _znodes_as_far_as_readable(self, not_collected: list[Problem]) -> Iterator[Znode]:
        if ZNODES not in self.items:
            not_collected.append(Problem(path="/", reason="no znodes in this case"))
            return
        try:
            yield from self.znodes()
        except CaseError as error:
            not_collected.append(Problem(path=ZNODES, reason=str(error)))

    def server_properties(self) -> dict[int, dict[str, str]]:
        """``server.properties`` by broker id, as far as the case holds them."""
        texts = {broker: _read_text(self.folder / path) for path, broker in self._of_brokers("server.properties")}
        return {broker: properties.parse(text) for broker, text in texts.items() if text is not None}

    def log_dirs(self) -> tuple[LogDir, ...]:
        """The log dirs of the brokers as they were listed; empty when none were collected."""
        return tuple(log_dir for path, broker in self._of_brokers("log_dirs.json") for log_dir in self._log_dirs(path, broker))

    def _log_dirs(self, path: str, broker: int) -> tuple[LogDir, ...]:
        copies = (self.folder / "brokers" / str(broker) / "segments").absolute()
        return log_dir_rows.decode(_text_lines(self.folder / path), broker=broker, item=path, copies=str(copies))

    def log_files(self) -> Iterator[tuple[int, str, Iterator[str]]]:
        """Broker, path in the case, and lines of each of the brokers' logs, by path; lines are read as they are taken."""
        for path, broker in self._logs():
            yield broker, path, _text_lines(self.folder / path)

    def logs(self) -> tuple[tuple[Item, int | None], ...]:
        """Every log, of brokers, ZooKeeper servers and clients, by path; with the broker whose it is."""
        of_brokers = dict(self._logs())
        return tuple((item, of_brokers.get(path)) for path, item in sorted(self.items.items()) if is_log(path))

    def ledgers(self) -> tuple[tuple[str, str], ...]:
        """Path in the case, and client, of what clients wrote down of the records that they produced or processed, by path."""
        places = ((path, path.split("/")) for path in sorted(self.items))
        return tuple((path, parts[1]) for path, parts in places if (parts[0], *parts[2:3]) == ("clients", "ledgers"))

    def client_files(self) -> tuple[ClientFile, ...]:
        """What properties and YAML files of clients say, by client and file; see :mod:`casebook.formats.client_properties`."""
        from casebook.formats import client_properties  # few notebooks ask for it

        places = ((path, path.split("/")) for path in sorted(self.items))
        found = ((path, parts[1]) for path, parts in places if len(parts) == 4 and (parts[0], parts[2]) == ("clients", "config"))
        return tuple(
            described
            for path, client in found
            if (text := _read_text(self.folder / path)) is not None
            for described in client_properties.parse(text, client=client, file=path)
        )

    def text_lines(self, path: str) -> Iterator[str]:
        """The lines of an item, read as they are taken; none where it is no item."""
        return _text_lines(self.folder / path) if path in self.items else iter(())

    def pasted(self) -> Pasted | None:
        """What was pasted, taken apart; ``None`` for a case that was collected otherwise."""
        from casebook.formats import pasted  # few cases were pasted

        return pasted.read(self.text_lines(PASTED)) if PASTED in self.items else None

    def derived(self, name: str, key: str) -> Path:
        """Where the result of a scan belongs: there and whole, or not there.

        Who makes it writes it beside this path and renames it. Where the case cannot be written to, and no result is in it,
        the place is a temporary one that ends with this process.

        Args:
            name: Of the result, e.g. ``segments``.
            key: Of all that it was made from: evidence, options and the code that read it.

        Raises:
            CaseError: Name or key is no file name.
        """
        if not (_NAME.fullmatch(name) and _NAME.fullmatch(key)):
            raise CaseError(f"{name!a}, {key!a} cannot name a result.")
        path = self.folder / DERIVED / name / key
        inside = _inside(str(path.relative_to(self.folder)), self.folder)
        if inside and (path.exists() or _can_be_made(path.parent)):
            return path.absolute()
        path = Path(_scratch(self.digest).name, name, key)
        path.parent.mkdir(exist_ok=True)
        return path

    def logged_versions(self) -> tuple[StatedVersion, ...]:
        """The release that each broker logged at its last start in its logs, by path and line."""
        stated: dict[tuple[int, str], StatedVersion] = {}
        for path, broker in self._logs():
            for number, line in enumerate(_text_lines(self.folder / path), start=1):
                if match := _LOGGED_VERSION.search(line):
                    stated[broker, path] = StatedVersion(broker=broker, text=match[1], proof=f"{path}:{number}")
        return tuple(stated.values())

    def line(self, place: str) -> str:
        """The line at ``path:number``; ``""`` when it is not there."""
        path, _, number = place.rpartition(":")
        lines = _text_lines(self.folder / path) if path in self.items and number.isdecimal() else iter(())
        return next((text.rstrip("\n") for count, text in enumerate(lines, start=1) if count == int(number)), "")

    def configured_versions(self) -> tuple[StatedVersion, ...]:
        """``inter.broker.protocol.version`` by broker, where ``server.properties`` has it."""
        return tuple(
            StatedVersion(broker=broker, text=version, proof=f"brokers/{broker}/server.properties")
            for broker, found in self.server_properties().items()
            if (version := found.get("inter.broker.protocol.version"))
        )

    def _of_brokers(self, name: str) -> Iterator[tuple[str, int]]:
        """Path and broker of the files of that name that stand directly in a broker's folder."""
        for path in sorted(self.items):
            parts = PurePosixPath(path).parts
            if len(parts) == 3 and (parts[0], parts[2]) == ("brokers", name) and (broker := znodes.number(parts[1])) is not None:
                yield path, broker

    def _logs(self) -> Iterator[tuple[str, int]]:
        for path in sorted(self.items):
            parts = PurePosixPath(path).parts
            if (
                len(parts) >= 4
                and parts[0] == "brokers"
                and parts[2] == "logs"
                and (broker := znodes.number(parts[1])) is not None
            ):
                yield path, broker


def _can_be_made(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


@cache
def _scratch(digest: str) -> tempfile.TemporaryDirectory:
    """A folder for the results of one case; removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix=f"casebook-{digest[:8]}-")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest_bytes(folder: Path) -> bytes:
    if not folder.exists():
        raise CaseError(f"There is no case at {folder}.", try_="`casebook list` names the shipped samples.")
    try:
        return (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise CaseError(
            f"{folder} is not a case: its {MANIFEST} cannot be read ({error.strerror}).",
            cause="The folder is something else, or its collection never ended.",
            try_="Collect it again with `casebook collect`.",
        ) from None


def _manifest(raw: bytes, folder: Path) -> dict[str, object]:
    try:
        manifest = json.loads(raw)
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or type(manifest.get("schema")) is not int:
        raise CaseError(
            f"{folder / MANIFEST} is damaged: it is not a manifest.",
            cause="The file was cut or changed after collection.",
            try_="Copy the case again from where it came, or collect it again.",
        )
    if manifest["schema"] > SCHEMA:
        raise CaseError(
            f"{folder} is a case of schema {manifest['schema']}; this casebook reads up to {SCHEMA}.",
            cause="It was collected by a newer casebook.",
            try_="Update kafka-casebook.",
        )
    return manifest


def _items(manifest: Mapping[str, object], folder: Path, outside: list[Problem]) -> Iterator[Item]:
    """The items that lie in the folder; one that does not, by path or symbolic link, is told and never opened."""
    for row in _list(manifest.get("items")):
        path = row.get("path") if isinstance(row, dict) else None
        if isinstance(path, str) and _inside(path, folder):
            yield Item(path=path, rows=_int(row.get("rows")), bytes=_int(row.get("bytes")), sha256=_text(row.get("sha256")))
        else:
            outside.append(Problem(path=MANIFEST, reason=f"lists {path!a}, which is no file of this case"))


def _inside(path: str, folder: Path) -> bool:
    relative = PurePosixPath(path)
    if "\0" in path or relative.is_absolute() or ".." in relative.parts or not relative.parts:
        return False
    return (folder / relative).resolve().is_relative_to(folder.resolve())


def _could_not_collect(manifest: Mapping[str, object]) -> Iterator[Problem]:
    for row in _list(manifest.get("could_not_collect")):
        if isinstance(row, dict):
            yield Problem(path=str(row.get("part")), reason=str(row.get("reason")))


def _damage(folder: Path, item: Item) -> Problem | None:
    try:
        if _sha256(folder / item.path) == item.sha256:
            return None
    except OSError as error:
        return Problem(path=item.path, reason=f"listed in {MANIFEST} and cannot be read: {error.strerror}")
    if item.sha256 is None:
        return Problem(path=item.path, reason=f"has no hash in {MANIFEST}")
    return Problem(path=item.path, reason=f"differs from the hash in {MANIFEST}: cut or changed after collection")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as unpacked:
            reader = io.BufferedReader(unpacked, 1 << 20)
            while line := reader.readline(_LONGEST_LINE):
                yield line
    except (OSError, zstandard.ZstdError) as error:
        raise CaseError(f"{path.name} cannot be read to its end: {error}.") from None


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _text_lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(_LONGEST_LINE):
                yield line
    except OSError:
        return


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _int(value: object) -> int | None:
    return value if type(value) is int else None
