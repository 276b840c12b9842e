"""Secrets over several lines: private keys, values on the line after their name, rows of a table."""

import re

from casebook.collect.redaction import commands
from casebook.collect.redaction.marks import MARK
from casebook.collect.redaction.names import is_sensitive
from casebook.collect.redaction.rules import ends_with_name, ends_with_pair, value_of_pair
from casebook.collect.redaction.tables import SecretTable

PEM_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?.*", re.DOTALL)
_PEM_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_PEM_BODY = re.compile(
    rb"(?:.*[\s\"'>|:#])?(?:[A-Za-z0-9+/]{16,}+={0,2}|(?:Proc-Type|DEK-Info):.*)[\s\"',\\n]*|[A-Za-z0-9+/= \t]*", re.DOTALL
)
_LONGEST_PEM = 500
"""Maximum lines, including other threads' lines in between; a key of 16,384 bits has 200."""
_HEAD = re.compile(
    rb"\s*(?:\[?\d{1,4}[:./ -][\d:.,TZ/ +\-]{8,40}(?:\]|(?<=[\s:|])))?[\s:|]{0,9}"
    rb"(?:\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]?(?![\w=]))?[\s:|]{0,9}"
)
_PAIR_LINES = 3
"""Maximum lines between a name and its value."""
_PRINTS = re.compile(
    rb"(?:^|[$#>] |\bsudo[ \t])(?:cat|echo|head|tail|type|more|less|printenv|pass|gopass|vault|bao|kubectl|oc|aws|gcloud"
    rb"|az|op|consul|etcdctl"
    rb"|base64|gpg)[ \t](?P<of>.{1,400})$"
)
_ARGUMENT = re.compile(rb"[\w.-]{2,99}")
_LONE_NAME = re.compile(
    rb"[ \t]{0,40}(?P<name>[a-z][\w-]{0,40}(?:\.[\w-]{1,40}){1,12}|[A-Z][A-Z\d]{0,40}(?:_[A-Z\d]{1,40}){1,12})[ \t]{0,9}"
)
_OTHER_NAME = re.compile(rb"\s*(?:[a-z][\w-]*(?:\.[\w-]+)+|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[\w.-]+[ \t]*(?:[=:][ \t]*[^\s=].*|:))\s*")
_HERE = re.compile(rb"<<-?[ \t]{0,3}[\"']?(?P<end>\w{1,40})[\"']?")
_ROWS = re.compile(rb"(?i)\s{0,40}(?:values?\b|\()")
_BLOCK = re.compile(rb"(?P<indent>[ \t]{0,40})(?P<plain>string)?[dD]ata:[ \t]*")
_ENTRY = re.compile(rb"(?P<indent>[ \t]{0,60})[\w.-]{1,200}:[ \t]{1,9}(?P<value>\S.*)")
_ENCODED = re.compile(rb"[\"']?(?:[A-Za-z0-9+/]{4}){1,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?[\"']?")


class OverLines:
    """State that carries over from one line to the next."""

    def __init__(self) -> None:
        self._pem_left, self._value, self._lone, self._pair_left, self._rows = 0, False, False, 0, False
        self._table: SecretTable | None = None
        self._here: bytes | None = None
        self._block: tuple[int, bool] | None = None

    @property
    def nothing(self) -> bool:
        """Whether there is no such state."""
        return not (
            self._pem_left
            or self._value
            or self._lone
            or self._pair_left
            or self._rows
            or self._table
            or self._here
            or self._block
        )

    def kept(self, body: bytes) -> bytes | None:
        """Return what to keep of a line by the lines before it; ``None`` when these do not affect it."""
        if self._pem_left and _PEM_BODY.fullmatch(body):
            return MARK
        if self._here and body.strip() != self._here:
            return MARK
        if body.strip() and (self._value or (self._lone and not _OTHER_NAME.fullmatch(body))):
            head = _HEAD.match(body)
            return body[: head.end()] + MARK if head.end() < len(body) else MARK
        if self._rows and _ROWS.match(body):
            return MARK
        if self._block and (entry := self._entry(body)):
            return entry
        begin = value_of_pair(body) if self._pair_left else None
        if begin is not None:
            return body[:begin] + MARK
        row = self._table.row(body) if self._table else None
        return None if row == body else row

    def after(self, body: bytes, kept: bytes) -> None:
        """Update the state by a line and its kept part."""
        blank = not body.strip()
        self._value = (self._value and blank) or (ends_with_name(kept) and not kept.endswith(MARK)) or _prints(kept)
        self._lone = (self._lone and blank) or _is_lone_name(kept)
        self._pair_left = _PAIR_LINES if ends_with_pair(kept) else 0 if value_of_pair(kept) else max(0, self._pair_left - 1)
        self._rows = (self._rows and _ROWS.match(body) is not None) or commands.is_insert(body)
        if self._table is None or self._table.row(body) is None:
            self._table = SecretTable.begun(body)
        self._after_block(body)
        self._after_here(body)
        self._pem_left = max(0, self._pem_left - 1)
        if begun := PEM_BEGIN.search(body):
            self._pem_left = 0 if _PEM_END.search(begun[0]) else _LONGEST_PEM
        elif _PEM_END.search(body):
            self._pem_left = 0

    def _entry(self, body: bytes) -> bytes | None:
        """Return a data entry of a Secret without its value."""
        indent, plain = self._block
        entry = _ENTRY.fullmatch(body)
        if entry is None or len(entry["indent"]) <= indent or not (plain or _ENCODED.fullmatch(entry["value"].rstrip())):
            return None
        return body[: entry.start("value")] + MARK

    def _after_block(self, body: bytes) -> None:
        if block := _BLOCK.fullmatch(body):
            self._block = len(block["indent"]), block["plain"] is not None
        elif self._block and body.strip() and len(body) - len(body.lstrip()) <= self._block[0]:
            self._block = None

    def _after_here(self, body: bytes) -> None:
        if self._here:
            self._here = None if body.strip() == self._here else self._here
        elif (here := _HERE.search(body)) and _names_secret(body[: here.start()]):
            self._here = here["end"]


def _prints(line: bytes) -> bool:
    """Return whether a line is a command that prints a secret."""
    prints = _PRINTS.search(line[-500:])
    return prints is not None and MARK not in line and b"<<" not in line and _names_secret(prints["of"])


def _is_lone_name(line: bytes) -> bool:
    lone = _LONE_NAME.fullmatch(line)
    return lone is not None and is_sensitive(lone["name"].decode())


def _names_secret(text: bytes) -> bool:
    return any(is_sensitive(word.decode()) for word in _ARGUMENT.findall(text[:2000]))
