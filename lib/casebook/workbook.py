"""What a notebook talks to: open the evidence, show results, finish.

    book = workbook.open("20_partition_leadership", source=source, out_dir=out_dir, ...)
    book.show(view)          # displays it and keeps its tables
    book.finish(findings)    # fills the summary at the top; writes findings.json, run.json, tables/

The same cells serve JupyterLab, papermill and ``casebook run``. Nobody but notebooks imports this module.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from casebook import notebooks, parameters, places, runs, sources, tables
from casebook.analysis import evidence, leadership, release, what_if
from casebook.case import Case
from casebook.errors import UsageError
from casebook.facts import Cluster
from casebook.findings import Finding
from casebook.versions import VersionInUse
from casebook.views import triage
from casebook.views import what_if as what_if_views
from casebook.views.view import View, style

_INTERACTIVE: dict[str, bool | None] = {"auto": None, "yes": True, "no": False}
_CHOSEN: dict[tuple[str, str], dict[str, object]] = {}
"""What a person chose in a notebook's panel, by notebook and case: it outlives a re-run of the cell."""


def open(  # noqa: A001  the workbook's verb: book = workbook.open(...)
    notebook: str, *, source: str, out_dir: str = "", kafka_version: str = "", interactive: str = "auto"
) -> "Workbook":
    """Open the evidence for a notebook and show where it comes from.

    Args:
        notebook: The notebook's stem.
        source: ``sample:<name>``, a case folder, or ``live:<profile>``.
        out_dir: The run's folder; ``""`` makes one under the runs folder when the notebook finishes.
        kafka_version: The release whose rules apply; ``""`` to find it in the evidence.
        interactive: ``auto`` (widgets in JupyterLab, none headless), ``yes`` or ``no``.

    Raises:
        CasebookError: A parameter or the evidence cannot be used; the text says what to do.
    """
    if interactive not in _INTERACTIVE:
        raise UsageError(f"interactive={interactive} is unknown.", try_=parameters.did_you_mean(interactive, _INTERACTIVE))
    given = {"source": source, "kafka_version": kafka_version, "interactive": interactive}
    _display(style())
    run = runs.RunFolder.begin(places.runs_dir(), notebook=notebook, seed=given) if not out_dir else None
    folder = run.path if run else Path(out_dir).expanduser()
    try:
        case = sources.open_source(source, evidence=folder / "evidence", progress=triage.progress("Reading ZooKeeper"))
        cluster = case.cluster()
        version = release.release(
            cluster, given=kafka_version, logged=case.logged_versions(), configured=case.configured_versions()
        )
    except ValueError as error:
        raise UsageError(f"kafka_version: {error}.") from None
    book = Workbook(notebook=notebook, given=given, case=case, cluster=cluster, version=version, folder=folder, run=run)
    _display(triage.opening(case, cluster, version), display_id=_SUMMARY)
    return book
