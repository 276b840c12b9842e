"""``server.properties`` by an allow-list: the settings that analyses read, and nothing else; every line keeps its number."""

import re
from collections.abc import Iterable, Iterator

from casebook.collect.redaction.marks import MARK
from casebook.collect.redaction.text import redact_text
from casebook.formats import properties
from casebook.kafka.defaults import DEFAULTS

ALLOWED = frozenset(DEFAULTS) | {"broker.id", "node.id", "process.roles"}
"""What :mod:`casebook.kafka.settings` asks for, and whose file it is."""
_DROPPED = b"# " + MARK
_NUMBER = re.compile(r"-?\d{1,19}(?:\.\d{1,19})?")
_TRUTH = re.compile(r"(?i)true|false")
_WORDS = re.compile(r"[\w.,:/+\- ]{0,100}", re.ASCII)
"""What values of the allowed settings are made of; words are roles and racks."""
_KINDS = {
    "log.cleanup.policy": re.compile(r"(?:compact|delete)?(?:, ?(?:compact|delete)){0,2}"),
    "compression.type": re.compile(r"(?i)producer|none|uncompressed|gzip|snappy|lz4|zstd"),
}
_RELEASE = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,3}(?:[-.\w]{0,20})")


def redact_properties(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a Java properties file, as many as before; a setting that is not read, and a comment, leave a mark alone."""
    setting: list[bytes] = []
    for line in lines:
        setting.append(line)
        if not continues(line) or (len(setting) == 1 and is_comment(line)):
            yield from _kept(setting)
            setting = []
    if setting:
        yield from _kept(setting)


def continues(line: bytes) -> bool:
    """Whether a setting goes on in the next line."""
    body = line.rstrip(b"\r\n")
    return (len(body) - len(body.rstrip(b"\\"))) % 2 == 1


def is_comment(line: bytes) -> bool:
    """Whether a line is a comment of a properties file."""
    return line.lstrip().startswith((b"#", b"!"))


def _kept(lines: list[bytes]) -> Iterator[bytes]:
    """The physical lines of one setting, or as many that tell nothing of it."""
    if not b"".join(lines).strip():
        yield from lines
        return
    joined = b"".join([line.rstrip(b"\r\n")[:-1].lstrip() for line in lines[:-1]] + [lines[-1].strip()])
    if _may_stay(joined):
        yield from lines
        return
    ends = [line[len(line.rstrip(b"\r\n")) :] for line in lines]
    yield _DROPPED + ends[0]
    yield from (b"#" + end for end in ends[1:])


def _may_stay(setting: bytes) -> bool:
    if is_comment(setting):
        return False
    key, value, _ = next(properties.elements(setting.decode(errors="replace")), ("", "", 0))
    return key in ALLOWED and is_of_its_kind(key, value) and redact_text(value.encode()) == value.encode()


def is_of_its_kind(key: str, value: str) -> bool:
    """Whether the value of an allowed setting is made of what its values are made of."""
    return _made_of(key).fullmatch(value) is not None


def _made_of(key: str) -> re.Pattern[str]:
    """What a setting's values are made of, by its defaults: a password in the place of a number is one."""
    if key in _KINDS:
        return _KINDS[key]
    if key.endswith(".version"):
        return _RELEASE
    defaults = [value for _, value in DEFAULTS[key].values] if key in DEFAULTS else []
    if key.endswith(".id") or key.startswith("log.retention.") or (any(defaults) and all(map(_NUMBER.fullmatch, defaults))):
        return _NUMBER
    return _TRUTH if any(defaults) and all(map(_TRUTH.fullmatch, defaults)) else _WORDS
