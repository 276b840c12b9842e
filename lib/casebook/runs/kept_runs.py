"""Earlier runs of the scheduled report, read defensively: an unreadable one is skipped."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from casebook.case.case import Case
from casebook.facts.cluster import Cluster, epoch_ms
from casebook.facts.disks import Partition
from casebook.findings.past_runs import Identity, Measure, PastRun, Written, outcomes

NOTEBOOK = "90_scheduled_report"


def identity(case: Case, cluster: Cluster, source: str) -> Identity:
    """Return the cluster identity of a case."""
    address = f"{','.join(sorted(case.servers))}{cluster.chroot}" if case.servers else None
    return Identity(id=cluster.cluster_id, address=address, source=source)


def as_json(cluster: Identity) -> dict[str, str | None]:
    """Return the identity for ``run.json``."""
    return {"id": cluster.id, "address": cluster.address}


def read(runs: Path) -> tuple[PastRun, ...]:
    """Return every run of the scheduled report in a folder of runs, by name; none when the folder does not exist."""
    found = (_run(folder) for folder in sorted(runs.glob(f"[!.]*_{NOTEBOOK}_*")))
    return tuple(run for run in found if run is not None)


def _run(folder: Path) -> PastRun | None:
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if record.get("error"):
            return _failed(folder.name, record)
        findings = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
        told = record["cluster"]
        return PastRun(
            name=folder.name,
            cluster=Identity(id=told["id"], address=told["address"], source=record["source"]),
            at=epoch_ms(record["collected_at"]),
            outcomes=outcomes(findings["findings"]),
            measures=_measures(folder),
            written=partial(_written, folder),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, NotImplementedError):
        return None  # the last is Arrow's error for a damaged table


def _failed(name: str, record: Mapping[str, object]) -> PastRun:
    source = Identity(id=None, address=None, source=str(record["parameters"]["source"]))
    return PastRun(name=name, cluster=source, at=epoch_ms(record["started"]), failed=str(record["error"]))


def _measures(folder: Path) -> tuple[Measure, ...]:
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "tables" / "measures.parquet", columns=list(Measure._fields)).to_pylist()
    if not all(row["value"] is None or isinstance(row["value"], int | float) for row in rows):
        raise TypeError("measures are numbers")
    return tuple(Measure(**row) for row in rows)


def _written(folder: Path) -> dict[Partition, Written] | None:
    """Return the write counters of partitions' states at a run; ``None`` when not recorded."""
    import pyarrow.parquet as pq

    columns = ["topic", "partition", "state_version", "leader_epoch"]
    try:
        rows = pq.read_table(folder / "tables" / "partitions.parquet", columns=columns)
    except (OSError, ValueError, KeyError, NotImplementedError):
        return None
    return {
        (topic, partition): Written(version, epoch)
        for topic, partition, version, epoch in zip(*(rows[name].to_pylist() for name in columns), strict=True)
        if version is not None and epoch is not None
    }
