"""``server.properties`` by an allow-list: only settings that analyses use; every line keeps its number."""

import re
from collections.abc import Iterable, Iterator

from casebook.collect.redaction.marks import MARK
from casebook.collect.redaction.text import redact_text
from casebook.formats import properties
from casebook.kafka.defaults import DEFAULTS

ALLOWED = frozenset(DEFAULTS) | {"broker.id", "node.id", "process.roles"}
"""Settings that :mod:`casebook.kafka.settings` uses, and the owner of the file."""
_DROPPED = b"# " + MARK
_NUMBER = re.compile(r"-?\d{1,19}(?:\.\d{1,19})?")
_TRUTH = re.compile(r"(?i)true|false")
_WORDS = re.compile(r"[\w.,:/+\- ]{0,100}", re.ASCII)
"""Values of the allowed settings; words are roles and racks."""
_KINDS = {
    "log.cleanup.policy": re.compile(r"(?:compact|delete)?(?:, ?(?:compact|delete)){0,2}"),
    "compression.type": re.compile(r"(?i)producer|none|uncompressed|gzip|snappy|lz4|zstd"),
}
_RELEASE = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,3}(?:[-.\w]{0,20})")


def redact_properties(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield as many lines of a Java properties file; unused settings and comments become a mark."""
    setting: list[bytes] = []
    for line in lines:
        setting.append(line)
        if not continues(line) or (len(setting) == 1 and is_comment(line)):
            yield from _kept(setting)
            setting = []
    if setting:
        yield from _kept(setting)


def continues(line: bytes) -> bool:
    """Whether a setting continues on the next line."""
    body = line.rstrip(b"\r\n")
    return (len(body) - len(body.rstrip(b"\\"))) % 2 == 1


def is_comment(line: bytes) -> bool:
    """Whether a line is a comment of a properties file."""
    return line.lstrip().startswith((b"#", b"!"))


def _kept(lines: list[bytes]) -> Iterator[bytes]:
    """Yield the physical lines of one setting, or as many marks."""
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
    """Whether an allowed setting has a value of its type."""
    return _made_of(key).fullmatch(value) is not None


def _made_of(key: str) -> re.Pattern[str]:
    """Return the pattern of a setting's values, by its defaults: other text in place of a number may be a password."""
    if key in _KINDS:
        return _KINDS[key]
    if key.endswith(".version"):
        return _RELEASE
    defaults = [value for _, value in DEFAULTS[key].values] if key in DEFAULTS else []
    if key.endswith(".id") or key.startswith("log.retention.") or (any(defaults) and all(map(_NUMBER.fullmatch, defaults))):
        return _NUMBER
    return _TRUTH if any(defaults) and all(map(_TRUTH.fullmatch, defaults)) else _WORDS
