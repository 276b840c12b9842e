"""Configuration files of clients, reduced to the settings that analyses use (:mod:`.redaction.client_settings`)."""

import re
from collections.abc import Sequence
from pathlib import Path

from casebook.case.writer import CaseWriter
from casebook.collect import outside, redaction
from casebook.collect.files import decoding
from casebook.collect.redaction import client_settings
from casebook.formats.clients import client_properties

_YAML = (".yaml", ".yml", ".json")
_TEXT = (".properties", ".conf", ".cfg", ".ini", ".env")
_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)


def copy_client_files(case: CaseWriter, client: str, paths: Sequence[outside.Given]) -> None:
    """Copy properties and YAML files of a client, folders with all files; failures are recorded."""
    taken: set[str] = set()
    for given in outside.files(paths):
        path = given.path
        item = f"clients/{client}/config/{_free_name(path, taken)}"
        try:
            kept = client_settings.kept(_content(given), is_yaml=path.suffix.lower() in _YAML)
        except OSError as error:
            case.left_out(item, f"{path} cannot be opened: {error.strerror or error}")
            continue
        except ValueError as error:
            case.left_out(item, f"{path} {error}")
            continue
        case.file(item, iter(kept.text.encode().splitlines(keepends=True)))
        if kept.dropped:
            case.redacted(f"{kept.dropped} settings and comments of {item} that are not read")


def _free_name(path: Path, taken: set[str]) -> str:
    """Return the file's name, prefixed with its folder's if taken, and numbered if that is taken too."""
    name = _NO_NAME.sub("_", redaction.redact_name(path.name))
    ending = path.suffix if name.endswith(path.suffix) else ""
    below = f"{_NO_NAME.sub('_', path.parent.name)}-{name}"
    number = 1
    while name.lower() in taken:  # some file systems ignore case
        name = below if number == 1 else f"{below.removesuffix(ending)}-{number}{ending}"
        number += 1
    taken.add(name.lower())
    return name


def _content(given: outside.Named) -> str:
    """Return the text of a settings file.

    Raises:
        OSError: It cannot be opened.
        ValueError: It is not text.
    """
    path = given.path
    ending, name = path.suffix.lower(), path.name.lower()
    known = ending in (*_YAML, *_TEXT) or name.startswith(".env")
    if not known and (ending or name.startswith(".") or redaction.is_sensitive(path.name)):
        raise ValueError("is not a settings file by its name: it may be a key or a password, so it was not copied")
    try:
        with outside.opened(given) as file:
            raw = decoding.recoded(file).read(client_properties.LONGEST + 1)
    except decoding.NoTextError:
        raise ValueError("is not text: it may be a key, so it was not copied") from None
    if len(raw) > client_properties.LONGEST:
        raise ValueError(f"is larger than {client_properties.LONGEST // 1024} KiB: it is not a client configuration")
    text = raw.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise ValueError("is not text: it may be a key, so it was not copied")
    if text.lstrip().startswith("<"):
        raise ValueError("is XML, which is not read, so it was not copied")
    if not known and not client_settings.all_assign(text):
        raise ValueError("does not read as settings: it may be a key or a password, so it was not copied")
    return text
