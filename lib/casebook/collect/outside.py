"""The one door through which files of the outside world come in: regular files only, and no link out of what was given.

A path that somebody named is their word, and may be a link. What lies in a folder, or what a pattern fits, somebody else may have
put there: a link is then followed only while it stays below that folder. All is reached step by step from the descriptor of the
folder, so that nothing that is swapped for a link meanwhile leads out; and what was opened is looked at by its own descriptor.
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

_MOST_LINKS = 40
"""On the way to one file, as in Linux."""
_WAY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OUT = "it is a link out of the given folder and was not followed: pass its target itself"
_ROUND = "it is a link that points back to itself"
_KINDS = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
_STDIN = 0
_KERNELS = ("/proc", "/sys")


class Named(NamedTuple):
    """A file or folder to be read.

    Args:
        path: As people know it.
        within: The folder that links must not lead out of; ``None`` for a path that somebody named: there they are followed.
    """

    path: Path
    within: Path | None = None


Given = Path | Named


def path_of(given: Given) -> Path:
    """The path of what was given, as people know it."""
    return given.path if isinstance(given, Named) else Path(given)


@contextmanager
def opened(given: Given) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        OSError: It cannot be opened or read, is no regular file, or is reached by a link that is not followed; or
            :class:`~casebook.collect.bounds.TimeIsUpError`.
    """
    with _holding(given) as (folder, name), folder.opened(name) as file:
        yield file


def files(given: Iterable[Given]) -> list[Named]:
    """Files, and in the place of folders the files in them; each once, though a link may lead to it too.

    What cannot be looked at stays in the list, so that who opens it is told why.
    """
    found: dict[object, tuple[bool, Named]] = {}
    for one in (child for each in given for child in _children(each)):
        identity, is_link = _identity(one)
        if identity not in found or (found[identity][0] and not is_link):
            found[identity] = is_link, one
    return [one for _, one in found.values()]


def matches(pattern: Path) -> list[Given]:
    """What a pattern fits, by name; its links must not lead out of the folder that it begins with.

    A path without pattern is what somebody named; so is one that is there as it stands, and a pattern that fits nothing.
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
        name: In its folder.
        stat: Of what it is, or of what its link leads to; ``None`` where that is nothing to read.
        why: What is in the way.
    """

    name: str
    stat: os.stat_result | None
    why: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, or a link to one."""
        return self.stat is not None and stat.S_ISDIR(self.stat.st_mode)


class Folder:
    """A folder that was given; use :func:`folder`. All that lies in it is reached from its descriptor."""

    def __init__(self, descriptor: int, place: Path) -> None:
        self._descriptor = descriptor
        self._known_as = (PurePosixPath(place.absolute()), PurePosixPath(os.path.realpath(place)))

    def entries(self, path: str = "") -> list[StatEntry]:
        """What lies in a folder below it, by name.

        Raises:
            OSError: It cannot be listed.
        """
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
        """Open a file below it; raises as :func:`opened` does."""
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
            return StatEntry(found.name, None, "is a link without a target" if is_link else "was removed before it could be read")
        except OSError as error:
            return StatEntry(found.name, None, f"could not be examined: {error.strerror}")
        return StatEntry(found.name, there)

    def stat_of(self, path: str) -> os.stat_result:
        """Of what lies at a path below it.

        Raises:
            OSError: It is not there, or behind a link that is not followed.
        """
        with self._reached(path) as (_, _, found):
            return found

    @contextmanager
    def _reached(self, path: str) -> Iterator[tuple[int, str, os.stat_result]]:
        """The descriptor of the folder that holds what lies at a path, its name there and its stat; it is no link."""
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
    """Hold a folder for what lies in it.

    Raises:
        OSError: It is none, or cannot be reached.
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
    """Who opens what was given, and by which name."""
    if isinstance(given, Named) and given.within is not None:
        with folder(given.within) as held:
            yield held, _below(given)
    else:
        yield _AsNamed(), str(path_of(given))


class _AsNamed:
    """Opens what somebody named themselves: links are followed."""

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
    """What is piped or typed into this process, waited for as long as the collection may last."""
    return io.BufferedReader(_StandardInput())


class _StandardInput(io.RawIOBase):
    """The standard input, of whatever kind it is."""

    def readable(self) -> bool:
        """As of a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As of a file.

        Raises:
            TimeIsUpError: Nothing came in time.
        """
        left = bounds.left()
        select.select([_STDIN], [], [], None if left == math.inf else max(0.0, left))
        bounds.check()
        return os.readv(_STDIN, [buffer])


class _InTime(io.FileIO):
    """A file that is read only while there is time."""

    def readinto(self, buffer: memoryview) -> int | None:
        """As of a file.

        Raises:
            TimeIsUpError: The collection has lasted as long as it may.
        """
        bounds.check()
        return super().readinto(buffer)


def _refuse_to_open(found: os.stat_result) -> None:
    """Raise before it is opened: opening alone wakes who waits at a FIFO, and winds a tape. A closed folder says so itself."""
    if not stat.S_ISDIR(found.st_mode):
        _refuse(found)


def _refuse(found: os.stat_result) -> None:
    """Raise when this is no regular file, or one that the kernel makes up."""
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for is_it, words in _KINDS if is_it(found.st_mode)), "a device")
        raise OSError(0, f"it is {kind}, not a file")
    if found.st_dev in _made_up():
        raise OSError(0, "it is generated by the kernel, not a file on a disk")


@cache
def _made_up() -> frozenset[int]:
    return frozenset(Path(place).stat().st_dev for place in _KERNELS if Path(place).exists())


def _children(given: Given) -> Iterator[Named]:
    """The files of a folder, as far as it can be looked into and has any; else the thing itself."""
    place, names = path_of(given), []
    with suppress(OSError), folder(given) as held:
        names = [entry.name for entry in held.entries() if not entry.is_folder]
    if names:
        yield from (Named(place / name, _within(given)) for name in names)
    else:
        yield given if isinstance(given, Named) else Named(place)


def _within(given: Given) -> Path:
    """What links of a folder's files must not lead out of."""
    return given.within if isinstance(given, Named) and given.within is not None else path_of(given)


def _identity(one: Named) -> tuple[object, bool]:
    """What tells whether two names are one file, and whether this one is a link."""
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
