"""Where a fact stands in the case."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Location of a proof in the case.

    Args:
        file: Path inside the case folder, e.g. ``zookeeper/znodes.jsonl.zst``, or a table such as ``tables/partitions``.
        znode: Path of the znode below the chroot, for a znode.
        line: 1-based line in ``file``, for a line.
    """

    file: str
    znode: str | None = None
    line: int | None = None

    @property
    def label(self) -> str:
        """The short form shown to people."""
        if self.znode is not None:
            return self.znode
        return f"{self.file}:{self.line}" if self.line is not None else self.file

    @property
    def text(self) -> str:
        """The whole form, as rows hold it: file and place; :func:`casebook.findings.proof.proof` reads it back."""
        return self.label if self.znode is None else f"{self.file} {self.znode}"
