"""Log dirs behind a URI, through Spark's own file systems."""

from pathlib import Path

import pytest

from casebook.collect.files import folders, inventory
from casebook.collect.files.hadoop import HadoopFiles
from casebook.facts.disks import LogDir


def examined(files: folders.Files) -> LogDir:
    """The log dir as one reader of files sees it, but for where copies end: behind a URI that is not looked at."""
    found = inventory.examine(files, "place", broker=1, listed_at=1)
    return found._replace(replicas=tuple(copy._replace(log_end=None, magic=None) for copy in found.replicas))


@pytest.mark.usefixtures("spark")
def test_the_same_as_from_the_disk(tmp_path: Path) -> None:
    """Names, sizes, times and checkpoints do not depend on who lists them; what is not there is told in words."""
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(b"x" * 70)
    (tmp_path / "t-0" / f"{0:020d}.index").write_bytes(b"")
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 5\n")
    (tmp_path / "t-1.0123-delete").mkdir()
    assert examined(folders.LocalFiles(str(tmp_path))) == examined(HadoopFiles(f"file:{tmp_path}"))
    with pytest.raises(OSError) as caught:
        HadoopFiles(f"file:{tmp_path}/none").entries("")
    assert "does not exist" in caught.value.strerror
