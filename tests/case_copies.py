"""Copies of a case in which some evidence is another: what lies in the folder fits its manifest, unless a test tears it."""

import hashlib
import io
import json
import shutil
from pathlib import Path

import zstandard

from casebook.case.folder import DERIVED, MANIFEST


class CaseCopy:
    """A copy that is being changed; :meth:`done` writes its manifest.

    Args:
        case: The case to copy.
        folder: New folder.
        scans: Whether results of scans are copied as well: each is found only by who asks for the same evidence.
        expected: Whether what the rehearsal knows of it is copied.
    """

    def __init__(self, case: Path, folder: Path, *, scans: bool = False, expected: bool = False) -> None:
        left = [*(() if scans else (DERIVED,)), *(() if expected else ("expected.json",))]
        shutil.copytree(case, folder, ignore=shutil.ignore_patterns(*left))
        self.folder = folder
        self.manifest = json.loads((case / MANIFEST).read_text())
        self.manifest.setdefault("could_not_collect", [])

    @property
    def paths(self) -> list[str]:
        """Of its items, in order."""
        return [item["path"] for item in self.manifest["items"]]

    def read(self, path: str) -> bytes:
        """An item's bytes."""
        return (self.folder / path).read_bytes()

    def store(self, path: str, content: bytes) -> None:
        """Let an item hold something else; one that was not there begins to be."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        item = next((item for item in self.manifest["items"] if item["path"] == path), None)
        if item is None:
            item = {"path": path}
            self.manifest["items"].append(item)
        item |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        item["rows"] = None if path.endswith(".zst") else content.count(b"\n")

    def remove(self, path: str) -> None:
        """Take an item out."""
        (self.folder / path).unlink()
        self.manifest["items"] = [item for item in self.manifest["items"] if item["path"] != path]

    def tear(self, path: str, content: bytes) -> None:
        """Change an item as if after collecting: its hash stays."""
        (self.folder / path).write_bytes(content)

    def not_collected(self, part: str, reason: str) -> None:
        """Note what could not be collected."""
        self.manifest["could_not_collect"].append({"part": part, "reason": reason})

    def named(self, path: str) -> None:
        """Note that somebody named an item, which is not there, or not to its end."""
        self.manifest.setdefault("left_out", []).append(path)

    def done(self) -> Path:
        """Write the manifest."""
        (self.folder / MANIFEST).write_text(json.dumps(self.manifest))
        return self.folder


def unpacked(content: bytes) -> bytes:
    """What was packed by Zstandard."""
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True) as stream:
        return stream.read()


def packed(content: bytes) -> bytes:
    """Packed by Zstandard."""
    return zstandard.compress(content)
