"""Where a notebook writes what it found."""

import atexit
from collections.abc import Callable
from pathlib import Path

from casebook.machine import places, private
from casebook.runs import folder


class OutFolder:
    """Where a notebook writes: the folder it was given, else a run folder of its own for each time it finishes."""

    def __init__(self, notebook: str, source: str, out_dir: str) -> None:
        self._given = Path(out_dir).expanduser() if out_dir else None
        self._notebook, self._source = notebook, source
        self._run: folder.RunFolder | None = None
        atexit.register(self._discard)

    @property
    def evidence(self) -> Callable[[], Path]:
        """Where a live source is collected to, once somebody asks."""
        return lambda: self.path() / "evidence"

    def path(self) -> Path:
        """The folder, made."""
        if self._given is not None:
            private.folder(self._given)
            return self._given
        if self._run is None:
            self._run = folder.RunFolder.begin(places.runs_dir(), notebook=self._notebook, seed={"source": self._source})
        return self._run.path

    def publish(self) -> Path | None:
        """Give a run folder of its own its name; ``None`` where whoever gave the folder does that."""
        run, self._run = self._run, None
        if run is None:
            return None
        published = run.publish()
        folder.refresh_index(published.parent)
        return published

    def _discard(self) -> None:
        """A notebook that is closed before it has finished leaves nothing behind."""
        if self._run is not None:
            self._run.discard()
