"""Configuration files of clients, copied without their secrets (:mod:`casebook.collect.client_secrets`).

A secret often stands elsewhere than where it is used: ``password=${a}``, and ``a`` in another file. So all files of a client
are read before one is copied. A file that cannot be read is not copied: where a secret ends in it, nobody can tell.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from casebook.case_writer import CaseWriter
from casebook.collect import outside, redaction
from casebook.collect.client_secrets import Lines, Part, Setting, part_of, secret_names
from casebook.formats import client_properties

_YAML = (".yaml", ".yml", ".json")
_TEXT = (".properties", ".conf", ".cfg", ".ini", ".env")
_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)


def copy_client_files(case: CaseWriter, client: str, paths: Sequence[outside.Given]) -> None:
    """Copy properties and YAML files of a client, folders with all their files; what could not be copied is recorded."""
    taken: set[str] = set()
    parts: list[tuple[str, Part]] = []
    settings: list[Setting] = []
    for given in outside.files(paths):
        path = given.path
        item, text = f"clients/{client}/config/{_free_name(path, taken)}", ""
        try:
            text = _content(given)
            parts.append((item, part_of(text, is_yaml=path.suffix.lower() in _YAML)))
        except OSError as error:
            case.left_out(item, f"{path} cannot be opened: {error.strerror or error}")
        except ValueError as error:
            case.could_not_collect(item, f"{path} {error}")
            settings += Lines(text).settings()  # where it takes its secrets from can be told, line by line
    settings += (setting for _, part in parts for setting in part.settings())
    named = secret_names(settings)
    for item, part in parts:
        try:
            clean = part.without_secrets(named)
        except ValueError as error:
            case.could_not_collect(item, f"{item.rpartition('/')[2]} {error}")
            continue
        case.file(item, iter(clean.encode().splitlines(keepends=True)))
        if redacted := clean.count(redaction.REDACTED):
            case.redacted(f"{redacted} settings of {item}")


def _free_name(path: Path, taken: set[str]) -> str:
    """The file's name, below its folder's where that is taken, and numbered where that is taken, too."""
    name = _NO_NAME.sub("_", path.name)
    ending = path.suffix if name.endswith(path.suffix) else ""
    below = f"{_NO_NAME.sub('_', path.parent.name)}-{name}"
    number = 1
    while name.lower() in taken:  # some file systems know no case
        name = below if number == 1 else f"{below.removesuffix(ending)}-{number}{ending}"
        number += 1
    taken.add(name.lower())
    return name


def _content(given: outside.Named) -> str:
    """Text of a file of settings.

    Raises:
        OSError: It cannot be opened.
        ValueError: It is none.
    """
    path = given.path
    ending, name = path.suffix.lower(), path.name.lower()
    known = ending in (*_YAML, *_TEXT) or name.startswith(".env")
    if not known and (ending or name.startswith(".") or redaction.is_sensitive(path.name)):
        raise ValueError("is no file of settings by its name: it may be a key or a password, so it was not copied")
    with outside.opened(given) as file:
        raw = file.read(client_properties.LONGEST + 1)
    if len(raw) > client_properties.LONGEST:
        raise ValueError(f"is larger than {client_properties.LONGEST // 1024} KiB: no client's configuration")
    if b"\0" in raw or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("is binary or UTF-16: its secrets cannot be told from the rest, so it was not copied")
    text = raw.decode("utf-8-sig", errors="replace")
    if text.lstrip().startswith("<"):
        raise ValueError("is XML: its secrets cannot be told from the rest, so it was not copied")
    if not known and not Lines(text).all_assign():
        raise ValueError("does not read as settings: it may be a key or a password, so it was not copied")
    return text
