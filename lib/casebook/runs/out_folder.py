"""Output folder of a notebook."""

import atexit
from collections.abc import Callable
from pathlib import Path

from casebook.machine import places, private
from casebook.runs import folder


class OutFolder:
    """Output of a notebook: the given folder, or a new run folder each time it finishes."""

    def __init__(self, notebook: str, source: str, out_dir: str) -> None:
        self._given = Path(out_dir).expanduser() if out_dir else None
        self._notebook, self._source = notebook, source
        self._run: folder.RunFolder | None = None
        atexit.register(self._discard)

    @property
    def evidence(self) -> Callable[[], Path]:
        """Return a function for the folder of live collections, created on demand."""
        return lambda: self.path() / "evidence"

    def path(self) -> Path:
        """Return the folder, creating it."""
        if self._given is not None:
            private.folder(self._given)
            return self._given
        if self._run is None:
            self._run = folder.RunFolder.begin(places.runs_dir(), notebook=self._notebook, seed={"source": self._source})
        return self._run.path

    def publish(self) -> Path | None:
        """Rename its own run folder to the final name; ``None`` for a given folder, where the caller does that."""
        run, self._run = self._run, None
        if run is None:
            return None
        published = run.publish()
        folder.refresh_index(published.parent)
        return published

    def _discard(self) -> None:
        """Remove the folder of a notebook that closes before it finishes."""
        if self._run is not None:
            self._run.discard()
