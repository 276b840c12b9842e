"""Secrets are taken out before anything is written. Pure functions; when in doubt, out it goes.

Where Kafka keeps secrets: SCRAM credentials under ``/config/users``, encrypted passwords under ``/config/brokers``
(``ZkData.SensitiveRootPaths``, core/src/main/scala/kafka/zk/ZkData.scala@3.9.0), JAAS lines and the passwords of key
stores in ``server.properties``. Logs hold whatever someone put on a command line or into a URL.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import tee

from casebook.facts import Znode

REDACTED = "[redacted]"
MARK = REDACTED.encode()

_SENSITIVE_COLUMN = (
    r"passw(?:or)?d|passwort|kennwort|passcode|passphrase|pwd|secret|token|credential|jaas|authorization|user\.?info|salt|scram-sha"
    r"|(?:private|access|stored|server|master|keystore)[._-]?key|certificate"
    r"|api[._-]?key(?!s?\.java:|s\.|[\"']?\s*[:=]\s*-?\d{1,3}(?!\w))"  # Kafka's own: which request it is
)
_SENSITIVE = rf"{_SENSITIVE_COLUMN}|[._-]key(?![\w.-])"
_SENSITIVE_KEY = re.compile(_SENSITIVE, re.IGNORECASE)
_SENSITIVE_PIECE = re.compile(  # too short to be looked for inside of words: compass, spinning
    r"(?:(?<![A-Za-z])[Pp]|(?<=[a-z\d])P)(?:ass|w|in)(?![a-z])(?![._-]?[Tt]hrough)"
    r"|(?<![A-Z])P(?:ASS|W|IN)(?![a-z]|[A-Z](?![a-z])|[._-]THROUGH)"
    r"|(?i:store|key|trust|db|pg|ht|user|sasl|ssl|kafka|jdbc|root|admin)(?i:pass|pw)(?![A-Za-z])"
)
_SECRET_COLUMN = re.compile(_SENSITIVE_COLUMN, re.IGNORECASE)
_ASSIGNED = re.compile(
    rb"""(?P<key>(?:%b)[\w.-]*["']?\s*(?:=|:|->)\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|.+)""" % _SENSITIVE.encode(),
    re.IGNORECASE | re.DOTALL,
)
_SENSITIVE_WORD = re.compile(_SENSITIVE.encode(), re.IGNORECASE)
_USER_IN_URL = re.compile(rb"""(?<=://)[^\s"'/]*:[^\s"']*@""")
_PEM_BEGIN = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY.*", re.DOTALL)
_PEM_BODY = re.compile(rb"[A-Za-z0-9+/= \t]*|(?:Proc-Type|DEK-Info):.*")
_AROUND_PEM = b" \t\r\n#!;*>\"'\\,+"
_NAME = re.compile(r"""(?<![\w.\[\]-])([\w.\[\]-]+)["']?\s*(?:->|[=:])\s*(?=\S)""")
_OPTION = re.compile(r"""(?<![\w-])--?([A-Za-z][\w.-]*)["',]*\s+(?=\S)""")
_USER = re.compile(
    r"""://[^\s"'/@]+@|jdbc:oracle:\w{1,9}:[^\s/@:]{1,99}/[^\s@]{1,99}@|(?<!\S)(?:-u|--user)[\s=]{1,9}[^\s:]{1,99}:\S""",
    re.IGNORECASE,
)
_INLINE_COMMENT = re.compile(r"(?:^|\s)(?:#|;|//)(.*)")
_NOTED = re.compile(r"[^\w.-]*[\w.-]+\s*[=:]\s*")
_VALUE_NOTED = re.compile(r"\W*values?\W", re.IGNORECASE)
_KEY = re.compile(rb"(?:[^\\=:\s]|\\.)+", re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)

_USER_QUOTAS = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
                          "connection_creation_rate"})  # fmt: skip
_SECRET_PATHS = ("/config/users/", "/config/brokers/")


def is_sensitive(key: str) -> bool:
    """Whether a setting of this name may hold a secret."""
    return _SENSITIVE_KEY.search(key) is not None or _SENSITIVE_PIECE.search(key) is not None


def names_in(text: str) -> list[str]:
    """What a text gives a value to: ``-Da``, ``b``, and ``a`` in ``-Da=1 {"b": 2}``."""
    found = _NAME.findall(text)
    return found + [name.removeprefix("-D") for name in found if name.startswith("-D")]


def holds_secret(text: str) -> bool:
    """Whether a value that a person wrote holds a secret: assigned, as an option, in a URL, in a comment, or in PEM.

    Stricter than :func:`redact_text`: what a log says of a ``pass`` is seldom a secret, what a client's file says of it is.
    """
    raw = text.encode(errors="replace")
    return (
        redact_text(raw) != raw
        or "PRIVATE KEY" in text
        or _USER.search(text) is not None
        or any(map(is_sensitive, [*names_in(text), *_OPTION.findall(text), *_INLINE_COMMENT.findall(text)]))
    )


class Pem:
    """Which lines of a text belong to a private key, also where each of them is commented out or quoted."""

    def __init__(self) -> None:
        self._inside = False

    def takes(self, line: str) -> bool:
        """Whether the next line belongs to one."""
        raw = line.encode(errors="replace")
        if begun := _PEM_BEGIN.search(raw):
            self._inside = b"-----END" not in begun[0]
            return True
        body = raw.replace(b"\\n", b"").translate(None, b"\\\r\n").strip(_AROUND_PEM)
        self._inside = self._inside and _PEM_BODY.fullmatch(body) is not None
        return self._inside


class Comments:
    """Comments without secrets, one after the other: there people write sentences, and passwords onto the next line."""

    def __init__(self, pem: Pem) -> None:
        self._pem = pem
        self._named = self._goes_on = False

    def clean(self, comment: str, mark: str = "#", *, secret: bool = False) -> str:
        """The comment, or what may be said in its place.

        Args:
            comment: From its mark on, without a line end.
            mark: What begins a comment.
            secret: Whether it is known to hold one.
        """
        words = comment.strip()
        if not re.search(r"\w", words):
            return comment
        follows = self._goes_on or (self._named and _VALUE_NOTED.match(words) is not None)
        self._named = is_sensitive(words)
        hidden = self._pem.takes(comment) or follows or secret or self._named or holds_secret(words)
        continues = words.endswith("\\") and hidden
        self._goes_on = continues or (self._named and (words.endswith((":", "=")) or is_sensitive(words.split()[-1])))
        if not hidden:
            return comment
        noted = _NOTED.match(comment)
        named = noted is not None and is_sensitive(noted[0]) and not follows
        return f"{noted[0]}{REDACTED}" if named else f"{mark} {REDACTED}"


def redact_znode(znode: Znode) -> Znode:
    """The znode without secrets; what cannot be understood where Kafka keeps secrets loses its data."""
    if znode.data is None or not znode.path.startswith("/config/"):
        return znode
    secret_path = znode.path.startswith(_SECRET_PATHS)
    try:
        row = json.loads(znode.data, object_pairs_hook=_no_duplicates)
        settings = {key: value if _may_stay(znode.path, key, value) else REDACTED for key, value in row["config"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        data = None if secret_path else redact_text(znode.data)
        return znode if data == znode.data else replace(znode, data=data, redacted=True)
    kept = {"version": row["version"]} if type(row.get("version")) is int else {}
    kept = (kept if secret_path else row) | {"config": settings}
    return znode if kept == row else replace(znode, data=json.dumps(kept).encode(), redacted=True)


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A key given twice could hide a secret behind a harmless value."""
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key is given twice")
    return row


def _may_stay(path: str, key: str, value: object) -> bool:
    if path.startswith("/config/users/") and key not in _USER_QUOTAS:
        return False
    return not is_sensitive(key) and not _has_secret(value)


def _has_secret(value: object) -> bool:
    text = (value if isinstance(value, str) else json.dumps(value)).encode(errors="surrogatepass")
    return list(redact_log([text])) != [text]


def redact_text(text: bytes) -> bytes:
    """A line or value without what stands after ``password=`` and its like, and without ``user:password@`` in URLs.

    An unquoted secret is taken to reach to the end: where it really ends, nobody can tell.
    """
    if _SENSITIVE_WORD.search(text):
        text = _ASSIGNED.sub(lambda match: match["key"] + MARK, text)
    return _USER_IN_URL.sub(MARK + b"@", text) if b"@" in text else text


def redact_log(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a log without secrets; as many as before, each with its line end."""
    inside_pem = False
    for line in lines:
        body = line.rstrip(b"\r\n")
        inside_pem = inside_pem and _PEM_BODY.fullmatch(body) is not None
        yield (MARK if inside_pem else redact_text(_PEM_BEGIN.sub(MARK, body))) + line[len(body) :]
        inside_pem = inside_pem or _PEM_BEGIN.search(body) is not None


def redact_ledger(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a ledger without secrets, as of a log; but a JSON object stays one.

    What its columns call a key, as ``record_key``, is a record's, and tells it apart.
    """
    given, lines = tee(lines)
    for line, clean in zip(given, redact_log(lines), strict=True):
        yield clean if clean == line else _redact_object(line) or clean


def _redact_object(line: bytes) -> bytes | None:
    """A JSON object without secrets; ``None`` for anything else."""
    try:
        row = json.loads(line, object_pairs_hook=_no_duplicates)
        kept = {name: REDACTED if _SECRET_COLUMN.search(name) or _has_secret(value) else value for name, value in row.items()}
    except (ValueError, AttributeError, RecursionError):
        return None
    return line if kept == row else json.dumps(kept).encode() + line[len(line.rstrip(b"\r\n")) :]


def redact_properties(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a Java properties file without secrets; a setting that held one becomes one line, however many it had."""
    setting: list[bytes] = []
    for line in lines:
        setting.append(line)
        if not _continues(line) or (len(setting) == 1 and _is_comment(line)):
            yield from _redact_setting(setting)
            setting = []
    if setting:
        yield from _redact_setting(setting)


def _continues(line: bytes) -> bool:
    body = line.rstrip(b"\r\n")
    return (len(body) - len(body.rstrip(b"\\"))) % 2 == 1


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith((b"#", b"!"))


def _redact_setting(lines: list[bytes]) -> list[bytes]:
    """The physical lines of one setting, as they are or as one line without the secret."""
    joined = b"".join([line.rstrip(b"\r\n")[:-1].lstrip() for line in lines[:-1]] + [lines[-1].strip()])
    match = _KEY.match(joined)
    if match is None or _is_comment(joined):
        return [redact_text(line) for line in lines]
    meant = _unescape(joined)
    if is_sensitive(_unescape(match[0]).decode(errors="replace")) or (meant != joined and redact_text(meant) != meant):
        return [match[0] + b"=" + MARK + b"\n"]
    redacted = redact_text(joined)
    return lines if redacted == joined else [redacted + b"\n"]


def _unescape(text: bytes) -> bytes:
    r"""What Java makes of ``\u0070`` and ``\x`` in a properties file."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode(errors="replace") if match[1] else match[2], text)
