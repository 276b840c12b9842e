"""Looks for secrets in all that a command left behind, whatever they are packed, written or encoded in."""

import base64
import gzip
import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pyarrow.parquet as pq
import zstandard

from tests.secrets import kinds
from tests.secrets.planting import Planted

PART = 10
"""Letters of a secret that give it away."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,4000}")
_PREFIX = 8
"""Letters that a kind with a form of its own begins with, such as ``AKIA``."""


def parts(secret: str, kind: str) -> Iterator[bytes]:
    """Every stretch of a secret that may not be found."""
    for line in secret.encode().split(b"\n"):
        own = line[_PREFIX:] if kind in kinds.TYPED else line
        yield from (own[at : at + PART] for at in range(len(own) - PART + 1))


def found_again(planted: Iterable[Planted], artefacts: dict[str, bytes]) -> list[tuple[str, Planted]]:
    """Secrets of which a part is in an artefact, with its name."""
    of = {part: one for one in planted for part in parts(one.secret, one.kind)}
    found = []
    for name, content in artefacts.items():
        for reading in readings(content):
            windows = {reading[at : at + PART] for at in range(len(reading) - PART + 1)}
            found += [(name, one) for one in dict.fromkeys(of[part] for part in windows & of.keys())]
    return found


def readings(content: bytes) -> Iterator[bytes]:
    """A content as it is, and as whoever looks for secrets in it would decode it."""
    yield content
    if b"\0" in content:
        yield content.replace(b"\0", b"")
    if b"%" in content:
        yield unquote_to_bytes(content)
    if b"\\" in content:
        yield re.sub(rb"\\+([\"'/\\])|\\+u00([0-7][0-9a-f])", lambda m: m[1] or bytes.fromhex(m[2].decode()), content)
    if b"&" in content:
        yield html.unescape(content.decode("latin-1")).encode("latin-1", errors="replace")
    yield b"\n".join(_decoded(content))


def _decoded(content: bytes) -> Iterator[bytes]:
    for run in set(_BASE64.findall(content)):
        for shift in range(4):
            text = run[shift:].translate(bytes.maketrans(b"-_", b"+/"))
            yield base64.b64decode(text[: len(text) // 4 * 4])


def below(*folders: Path) -> dict[str, bytes]:
    """Everything below folders, unpacked, and the names of the files."""
    found = {"names": "\n".join(str(path) for folder in folders for path in folder.rglob("*")).encode()}
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            found[str(path)] = _unpacked(path)
    return found


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        return content + json.dumps(pq.read_table(path).to_pylist(), default=str).encode()
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return content + zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read()
    return content + gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
