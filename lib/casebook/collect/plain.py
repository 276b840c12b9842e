"""Lines of a file, whether it is packed or not, and none longer than is good for the memory."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PACKED = (".gz", ".zst")


def lines(path: Path, *, longest: int) -> Iterator[bytes]:
    """The lines of a file, ``.gz`` and ``.zst`` unpacked; of a longer line only its first ``longest`` bytes.

    Raises:
        OSError: It cannot be opened or read on, or its pack is damaged; the lines before were already given.
    """
    with _opened(path) as content:
        while line := content.readline(longest):
            rest = line
            while len(rest) == longest and not rest.endswith(b"\n"):
                rest = content.readline(longest)
            yield line if line.endswith(b"\n") or rest is line else line + b"\n"


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    import zstandard

    try:
        with path.open("rb") as raw:
            if path.suffix == ".gz":
                yield gzip.GzipFile(fileobj=raw)
            elif path.suffix == ".zst":
                yield io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
            else:
                yield raw
    except (EOFError, zlib.error, zstandard.ZstdError) as damage:
        raise OSError(0, f"its pack is damaged: {damage}") from None
