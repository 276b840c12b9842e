"""The tables of a run and the meaning of their columns: the contract with scripts that read ``tables/<name>.parquet``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Args:
        name: As in the file, and as the attribute of the row.
        type: ``int``, ``ints``, ``text`` or ``flag``; each may be null: unknown, unless ``meaning`` says otherwise.
        meaning: One sentence.
    """

    name: str
    type: str
    meaning: str


def _columns(*columns: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=type_, meaning=meaning) for name, type_, meaning in columns)


TABLES: dict[str, tuple[Column, ...]] = {
    "partitions": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("replicas", "ints", "Assignment in order; the first is the preferred leader. During a reassignment the union."),
        ("isr", "ints", "In-sync replicas as stored; null when the state is missing or unreadable."),
        ("leader", "int", "Leader named by the state; null when none, or unknown."),
        ("leader_epoch", "int", "Leader epoch of the state."),
        ("controller_epoch", "int", "Epoch of the controller that last wrote the state."),
        ("live_replicas", "ints", "Replicas on registered brokers."),
        ("state", "text", "online, leaderless, leader_dead, uninitialised, deleting, reassigning or unknown."),
        ("rule", "text", "Id of the rule that blocks an election; null when nothing is blocked."),
        ("clean_winner", "int", "Whom a clean election held now would choose; null when it could choose nobody."),
        (
            "unclean_winner",
            "int",
            "Whom an unclean one would choose if it were allowed; null with a clean winner or no live replica.",
        ),
        ("waits_for", "ints", "Dead brokers, each of which would bring the partition back by starting alone."),
        ("min_isr", "int", "Effective min.insync.replicas."),
        ("min_isr_origin", "text", "Where min_isr comes from."),
        ("unclean_allowed", "flag", "Effective unclean.leader.election.enable."),
        ("unclean_origin", "text", "Where unclean_allowed comes from."),
        (
            "under_replicated",
            "flag",
            "Fewer replicas in sync than the replication factor, without those being added; null also for a deleted topic.",
        ),
        ("under_min_isr", "flag", "No leader, or fewer replicas in sync than min_isr: acks=all is refused."),
        ("at_min_isr", "flag", "Online with exactly min_isr replicas in sync."),
        ("since", "text", "Last write of the state znode, ISO-8601 UTC by ZooKeeper's clock."),
        ("why", "text", "The verdict in one sentence."),
    ),
    "start_first": _columns(
        ("step", "int", "1 for the first broker to start, 2 for the second, and so on."),
        ("broker", "int", "A broker that is dead at this step."),
        ("heals", "int", "Partitions that get a leader by starting it at this step."),
        ("chosen", "flag", "Whether it is the best choice of its step; the next step begins after it."),
        ("still_offline_after", "int", "Partitions without leader after it."),
    ),
    "controller_epochs": _columns(
        ("controller_epoch", "int", "A controller epoch found in partition states."),
        ("partitions", "int", "Partitions whose state was last written under it."),
        ("first_write", "text", "Earliest of those writes, ISO-8601 UTC by ZooKeeper's clock."),
        ("last_write", "text", "Latest of those writes."),
    ),
    "what_if": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("leader_before", "int", "Leader in the evidence; null for none."),
        ("leader_before_dead", "flag", "That leader is not registered."),
        ("leader_after", "int", "Leader after; null for none."),
        ("isr_before", "ints", "In-sync replicas in the evidence."),
        ("isr_after", "ints", "In-sync replicas after."),
        ("healed", "flag", "Had no living leader and gets one."),
        ("offline", "flag", "Has no living leader after."),
        ("unclean", "flag", "Its leader comes from an unclean election."),
        ("dropped", "int", "Records that are dropped; null for an unknown number."),
        ("why", "text", "One short sentence."),
    ),
    "problems": _columns(
        ("path", "text", "The znode or file."),
        ("reason", "text", "Why it cannot be taken at its word."),
    ),
}
"""Every table by name."""


def write(folder: Path, name: str, rows: Sequence[object]) -> None:
    """Write ``<folder>/<name>.parquet``: rows in the order given, one column for each attribute that the contract names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"int": pa.int64(), "ints": pa.list_(pa.int64()), "text": pa.string(), "flag": pa.bool_()}
    columns = TABLES[name]
    table = pa.table(
        [pa.array([getattr(row, column.name) for row in rows], types[column.type]) for column in columns],
        schema=pa.schema([pa.field(c.name, types[c.type], metadata={"meaning": c.meaning}) for c in columns]),
    )
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
