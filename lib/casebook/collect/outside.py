"""The only access to outside files: regular files only, and no link out of the given path.

An explicitly given path is trusted, and may be a link. Files in a folder, or matches of a pattern, may come from others: a link
is then followed only within that folder. All are reached step by step from the folder's descriptor, so that a file swapped for a
link meanwhile cannot lead out; opened files are checked by their own descriptor.
"""

import glob
import io
import math
import os
import select
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from casebook.collect import bounds
from casebook.errors import CollectError
from casebook.formats import properties

_MOST_LINKS = 40
"""Maximum number of links to one file, as in Linux."""
_WAY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OUT = "it is a link out of the given folder and was not followed: pass its target itself"
_ROUND = "it is a link that points back to itself"
_KINDS = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
_VANISHED = "was removed before it could be read"
_LISTINGS = 5
_STDIN = 0
_KERNELS = ("/proc", "/sys")


class Named(NamedTuple):
    """A file or folder to be read.

    Args:
        path: Path for people.
        within: Folder that links must not leave; ``None`` for an explicitly given path, whose links are followed.
    """

    path: Path
    within: Path | None = None


Given = Path | Named


def path_of(given: Given) -> Path:
    """Return the path of an input, for people."""
    return given.path if isinstance(given, Named) else Path(given)


@contextmanager
def opened(given: Given) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        OSError: It cannot be opened or read, is not a regular file, or is behind a refused link; or
            :class:`~casebook.collect.bounds.TimeIsUpError`.
    """
    with _holding(given) as (folder, name), folder.opened(name) as file:
        yield file


def properties_of(path: Path, what: str, *, most: int) -> dict[str, str]:
    """Return a Java properties file.

    Args:
        path: Path of the file.
        what: Its content, for the error.
        most: Bytes that are read at most.

    Raises:
        CollectError: It is unreadable; the message never quotes it.
    """
    try:
        with opened(Path(path)) as file:
            return properties.parse(file.read(most).decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CollectError(f"{what} in {path} cannot be read: {reason}.") from None


def files(given: Iterable[Given]) -> list[Named]:
    """Return files, with folders replaced by their files; each once, even if links lead to it too.

    Inaccessible ones stay in the list, so that opening them reports the reason.
    """
    found: dict[object, tuple[bool, Named]] = {}
    for one in (child for each in given for child in _children(each)):
        identity, is_link = _identity(one)
        if identity not in found or (found[identity][0] and not is_link):
            found[identity] = is_link, one
    return [one for _, one in found.values()]


def matches(pattern: Path) -> list[Given]:
    """Return the matches of a pattern by name; their links must not leave the folder at its start.

    A path without a pattern counts as explicitly given; so does an existing path with pattern characters, and a pattern without
    matches.
    """
    parts = pattern.parts
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    if fixed == len(parts) or os.path.lexists(pattern):
        return [pattern]
    within, rest = Path(*parts[:fixed]), parts[fixed:]
    hidden = any(part.startswith(".") for part in rest)
    try:
        found = sorted(within.glob(str(PurePosixPath(*rest))))
    except (OSError, ValueError):
        found = []
    wanted = [path for path in found if hidden or not any(part.startswith(".") for part in path.relative_to(within).parts)]
    return [Named(path, within) for path in wanted] or [pattern]


class StatEntry(NamedTuple):
    """A file or folder in a listing.

    Args:
        name: Name in its folder.
        stat: Stat of it, or of its link's target; ``None`` when neither is readable.
        why: Reason for a failure.
    """

    name: str
    stat: os.stat_result | None
    why: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, or a link to one."""
        return self.stat is not None and stat.S_ISDIR(self.stat.st_mode)


class Folder:
    """A given folder; use :func:`folder`. Its content is reached from its descriptor."""

    def __init__(self, descriptor: int, place: Path) -> None:
        self._descriptor = descriptor
        self._known_as = (PurePosixPath(place.absolute()), PurePosixPath(os.path.realpath(place)))

    def entries(self, path: str = "") -> list[StatEntry]:
        """Return the entries of a folder below it, by name.

        A broker renames and removes files meanwhile; the folder is then listed again, so that what it lists existed at one time.

        Raises:
            OSError: It cannot be listed.
        """
        found = self._listed(path)
        for _ in range(_LISTINGS - 1):
            if all(entry.why != _VANISHED for entry in found):
                break
            with suppress(FileNotFoundError):  # the folder itself has gone
                found = self._listed(path)
        return found

    def _listed(self, path: str) -> list[StatEntry]:
        bounds.check()
        with self._reached(path) as (above, name, _):
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            with os.scandir(descriptor) as found:
                return sorted((self._entry(path, one) for one in found), key=lambda entry: entry.name)
        finally:
            os.close(descriptor)

    @contextmanager
    def opened(self, path: str) -> Iterator[BinaryIO]:
        """Open a file below it; raises like :func:`opened`."""
        bounds.check()
        with self._reached(path) as (above, name, found):
            _refuse_to_open(found)
            descriptor = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=above)
        with _file(descriptor) as file:
            yield file

    def _entry(self, path: str, found: os.DirEntry[str]) -> StatEntry:
        is_link = found.is_symlink()
        try:
            there = self.stat_of(f"{path}/{found.name}" if path else found.name) if is_link else found.stat(follow_symlinks=False)
            if not stat.S_ISDIR(there.st_mode):
                _refuse(there)
        except FileNotFoundError:
            return StatEntry(found.name, None, "is a link without a target" if is_link else _VANISHED)
        except OSError as error:
            return StatEntry(found.name, None, f"could not be examined: {error.strerror}")
        return StatEntry(found.name, there)

    def stat_of(self, path: str) -> os.stat_result:
        """Return the stat of a path below it.

        Raises:
            OSError: It does not exist, or is behind a refused link.
        """
        with self._reached(path) as (_, _, found):
            return found

    @contextmanager
    def _reached(self, path: str) -> Iterator[tuple[int, str, os.stat_result]]:
        """Yield the descriptor of the parent folder of a path, its name there and its stat; it is not a link."""
        with ExitStack() as held:
            way, links = [self._descriptor], 0
            parts = deque(PurePosixPath(path).parts)
            while True:
                part = parts.popleft() if parts else "."
                if part == "..":
                    if len(way) == 1:
                        raise OSError(0, _OUT)
                    way.pop()
                    continue
                found = os.stat(part, dir_fd=way[-1], follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    links += 1
                    if links > _MOST_LINKS:
                        raise OSError(0, _ROUND)
                    target = PurePosixPath(os.readlink(part, dir_fd=way[-1]))
                    if target.is_absolute():
                        target = self._below(target)
                        del way[1:]
                    parts.extendleft(reversed(target.parts))
                elif parts:
                    way.append(os.open(part, _WAY, dir_fd=way[-1]))
                    held.callback(os.close, way[-1])
                else:
                    yield way[-1], part, found
                    return

    def _below(self, target: PurePosixPath) -> PurePosixPath:
        for known in self._known_as:
            if target.is_relative_to(known):
                return target.relative_to(known)
        raise OSError(0, _OUT)


@contextmanager
def folder(given: Given) -> Iterator[Folder]:
    """Open a folder to access its content.

    Raises:
        OSError: It is not a folder, or unreachable.
    """
    bounds.check()
    place = path_of(given)
    if isinstance(given, Named) and given.within is not None:
        with folder(given.within) as above, above._reached(_below(given)) as (descriptor, name, _):
            held = os.open(name, _WAY, dir_fd=descriptor)
    else:
        held = os.open(place, _WAY & ~os.O_NOFOLLOW)
    try:
        yield Folder(held, place)
    finally:
        os.close(held)


@contextmanager
def _holding(given: Given) -> Iterator[tuple["Folder | _AsNamed", str]]:
    """Yield the opener of an input, and its name there."""
    if isinstance(given, Named) and given.within is not None:
        with folder(given.within) as held:
            yield held, _below(given)
    else:
        yield _AsNamed(), str(path_of(given))


class _AsNamed:
    """Opens an explicitly given path: links are followed."""

    @contextmanager
    def opened(self, path: str) -> Iterator[BinaryIO]:
        """See :meth:`Folder.opened`."""
        bounds.check()
        _refuse_to_open(Path(path).stat())
        with _file(os.open(path, _READ)) as file:
            yield file


@contextmanager
def _file(descriptor: int) -> Iterator[BinaryIO]:
    try:
        _refuse(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    with io.BufferedReader(_InTime(descriptor), 1 << 17) as file:
        yield file


def standard_input() -> BinaryIO:
    """Return this process's standard input, with the collection's time limit."""
    return io.BufferedReader(_StandardInput())


class _StandardInput(io.RawIOBase):
    """Standard input of any kind."""

    def readable(self) -> bool:
        """As for a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As for a file.

        Raises:
            TimeIsUpError: Nothing arrived in time.
        """
        left = bounds.left()
        select.select([_STDIN], [], [], None if left == math.inf else max(0.0, left))
        bounds.check()
        return os.readv(_STDIN, [buffer])


class _InTime(io.FileIO):
    """A file that is only read within the time limit."""

    def readinto(self, buffer: memoryview) -> int | None:
        """As for a file.

        Raises:
            TimeIsUpError: The collection has reached its time limit.
        """
        bounds.check()
        return super().readinto(buffer)


def _refuse_to_open(found: os.stat_result) -> None:
    """Raise before opening: opening alone wakes a writer waiting at a FIFO, and winds a tape. A closed folder reports itself."""
    if not stat.S_ISDIR(found.st_mode):
        _refuse(found)


def _refuse(found: os.stat_result) -> None:
    """Raise when this is not a regular file, or is generated by the kernel."""
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for is_it, words in _KINDS if is_it(found.st_mode)), "a device")
        raise OSError(0, f"it is {kind}, not a file")
    if found.st_dev in _made_up():
        raise OSError(0, "it is generated by the kernel, not a file on a disk")


@cache
def _made_up() -> frozenset[int]:
    return frozenset(Path(place).stat().st_dev for place in _KERNELS if Path(place).exists())


def _children(given: Given) -> Iterator[Named]:
    """Yield the files of a readable folder with content; else the path itself."""
    place, names = path_of(given), []
    with suppress(OSError), folder(given) as held:
        names = [entry.name for entry in held.entries() if not entry.is_folder]
    if names:
        yield from (Named(place / name, _within(given)) for name in names)
    else:
        yield given if isinstance(given, Named) else Named(place)


def _within(given: Given) -> Path:
    """Return the folder that links of a folder's files must not leave."""
    return given.within if isinstance(given, Named) and given.within is not None else path_of(given)


def _identity(one: Named) -> tuple[object, bool]:
    """Return the identity of a file, and whether this name is a link."""
    try:
        is_link = one.path.is_symlink()
        if one.within is None:
            found = one.path.stat()
        else:
            with folder(one.within) as held:
                found = held.stat_of(_below(one))
    except (OSError, ValueError):
        return one.path, False
    return (found.st_dev, found.st_ino), is_link


def _below(named: Named) -> str:
    return str(named.path.relative_to(named.within))
