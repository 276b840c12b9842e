"""Write a case folder: under a temporary name, renamed when complete."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import zstandard

from casebook.case.folder import HISTORY, MANIFEST, SCHEMA, sha256
from casebook.errors import CaseError
from casebook.facts.cluster import Problem
from casebook.facts.proofs import ZNODES
from casebook.facts.znodes import Znode, ZnodeChange
from casebook.formats.zookeeper import history_lines, znode_lines
from casebook.machine import private, workshop


def refuse_taken(path: Path) -> None:
    """Refuse an occupied path for a new case.

    Raises:
        CaseError: It exists; the message says what to do. It is not changed.
    """
    path = Path(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    has_case = (path / MANIFEST).is_file()
    raise CaseError(
        f"{path} already holds something.",
        cause="A case was collected there before; it is untouched." if has_case else None,
        try_="Choose a new folder: cases are never overwritten."
        + (f" To read the existing case, use --source {path}." if has_case else ""),
    )


class CaseWriter:
    """Writes a case folder; use :meth:`create`."""

    def __init__(self, folder: Path, command: str, clean: Callable[[str], str]) -> None:
        self._folder, self._clean = folder, clean
        self._items: list[dict[str, object]] = []
        self._could_not_collect: list[dict[str, str]] = []
        self._left_out: list[str] = []
        self._redacted: list[str] = []
        self._remarks: list[str] = []
        self._head: dict[str, object] = {"schema": SCHEMA, "collected_at": _now(), "collected_by": clean(command)}

    @classmethod
    @contextmanager
    def create(cls, path: Path, *, command: str, clean: Callable[[str], str] = str) -> Iterator["CaseWriter"]:
        """Write a new case; it appears complete when the block succeeds, and not at all otherwise.

        Args:
            path: Folder to create, with its parents.
            command: Collecting command, e.g. ``casebook collect``.
            clean: Removes secrets from recorded text: names, reasons, remarks, the command.

        Raises:
            CaseError: The path exists and is not an empty folder, or the disk refuses.
        """
        path = Path(path)
        refuse_taken(path)
        try:
            private.folder(path.parent)
            with workshop.folder(beside=path.parent) as room:
                writer = cls(room / "case", command, clean)
                yield writer
                writer._write_manifest()
                private.seal(room / "case")
                (room / "case").replace(path)
        except OSError as error:
            raise CaseError(f"{path} cannot be written: {error.strerror or error}.") from error

    def znodes(self, rows: Iterable[Znode], *, chroot: str, servers: Sequence[str]) -> None:
        """Store the znodes of a walk or dump, in the order given.

        Args:
            rows: Already redacted.
            chroot: ``""`` for none.
            servers: ``host:port`` of the walked ensemble; empty for a dump.
        """
        self._head |= {"chroot": chroot, "zookeeper": list(servers)}
        self._packed_lines(ZNODES, map(znode_lines.encode, rows))

    def history(self, changes: Iterable[ZnodeChange]) -> None:
        """Store the already redacted history of the znodes, in the order given."""
        self._packed_lines(HISTORY, chain.from_iterable(map(history_lines.encode, changes)))

    def _packed_lines(self, name: str, lines: Iterable[str]) -> None:
        count = 0
        with _whole(self._target(name)) as raw, zstandard.ZstdCompressor(level=6).stream_writer(raw) as packed:
            for line in lines:
                packed.write(line.encode(errors="surrogatepass") + b"\n")
                count += 1
        self._add(name, rows=count)

    def file(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Store a file under a relative path, from its already redacted bytes or lines."""
        rows = 0
        with _whole(self._target(name)) as out:
            for line in [content] if isinstance(content, bytes) else content:
                out.write(line)
                rows += line.count(b"\n")
        self._add(name, rows=rows)

    def binary(self, name: str, content: Iterable[bytes]) -> int:
        """Store the readable part of a binary file.

        Returns:
            Its size.

        Raises:
            OSError: The content cannot be read further; nothing is stored.
        """
        target = self._target(name)
        with _whole(target) as out:
            out.writelines(content)
        self._add(name, rows=None)
        return target.stat().st_size

    def could_not_collect(self, part: str, reason: str) -> None:
        """Record a requested part that is missing, with the reason."""
        self._could_not_collect.append({"part": self._printable(part), "reason": self._printable(reason)})

    def left_out(self, part: str, reason: str) -> None:
        """Record an explicitly requested part that is missing: the case is incomplete."""
        self.could_not_collect(part, reason)
        self._left_out.append(self._printable(part))

    @property
    def missing(self) -> tuple[Problem, ...]:
        """Return all parts recorded as not collected so far."""
        return tuple(Problem(path=row["part"], reason=row["reason"]) for row in self._could_not_collect)

    @property
    def is_empty(self) -> bool:
        """Whether it is empty so far."""
        return not self._items

    def redacted(self, what: str) -> None:
        """Record that secrets were removed, e.g. ``2 entries of config/users``."""
        self._redacted.append(what)

    def remark(self, sentence: str) -> None:
        """Record an event of the collection for its readers, e.g. an expired session."""
        self._remarks.append(self._printable(sentence))

    def _printable(self, text: str) -> str:
        """Return a printable text without secrets: file names may contain line ends and invalid bytes."""
        return self._clean("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text))

    def _target(self, name: str) -> Path:
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts or not relative.parts:
            raise CaseError(f"{name!r} is not a path inside a case.")
        target = self._folder / relative
        private.folder(target.parent)
        return target

    def _add(self, name: str, *, rows: int | None) -> None:
        path = self._folder / name
        self._items.append({"path": name, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256(path)})

    def _write_manifest(self) -> None:
        manifest = self._head | {
            "items": sorted(self._items, key=lambda item: str(item["path"])),
            "could_not_collect": self._could_not_collect,
            "left_out": list(dict.fromkeys(self._left_out)),
            "redacted": sorted(self._redacted),
            "remarks": self._remarks,
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        self._target(MANIFEST).write_text(text, encoding="utf-8")


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; it is removed on failure."""
    try:
        with target.open("wb") as out:
            yield out
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
