"""Events that do not fit in memory: figures query counts, and rows when few."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

import pyarrow as pa
import pyarrow.compute as pc

from casebook.facts.events import owner_of, source_of
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.merge import in_order, row_of
from casebook.questions.timeline.analysis.selection import Count, HeldEvents, Selection
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.scans.logs import Logs, event


class StoredEvents:
    """``selection.Events`` over the stored Parquet and the timeline's transactions.

    A line in two files counts twice here: detecting that would need all of them in memory.

    Args:
        told: Logs.
        found: Timeline, whose clocks have the skews of the logs.
    """

    def __init__(self, told: Logs, found: Timeline) -> None:
        self._told = told
        self._history = HeldEvents([row for row in found.rows if row.source == "history"])
        skews = {clock.owner: clock.skew or 0 for clock in found.clocks}
        self._skews = {file.file: skews.get(owner_of(file.broker, file.file), 0) for file in told.files}
        self._brokers = {file.file: file.broker for file in told.files}

    @property
    def total(self) -> int:
        """Total number."""
        return self._told.total + self._history.total

    @property
    def extent(self) -> tuple[int, int] | None:
        """First and last moment of any log, and transaction."""
        dated = [(file, self._skews[file.file]) for file in self._told.files if file.first is not None]
        ends = [(file.first - skew, file.last - skew) for file, skew in dated]
        ends += [self._history.extent] if self._history.extent else []
        return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else None

    def rows(self, chosen: Selection, most: int) -> tuple[Sequence[EventRow], int]:
        """Return the first matching events, by time, and their total."""
        moments = self._with_moments(self._told.table(["file", "time"], self._inside(chosen)))
        history, transactions = self._history.rows(chosen, most)
        times = moments.column("at").drop_null().sort()
        last = times[min(most, len(times)) - 1].as_py() if len(times) else None
        wanted = chosen if len(times) < most else replace(chosen, until=last)
        found = [self._row(row) for row in self._told.table(None, self._inside(wanted)).to_pylist()]
        merged = sorted((*history, *found), key=in_order)
        return merged[:most], moments.num_rows + transactions

    def counts(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        """Return the number of matching events in equal bins of a period, without empty ones."""
        width = max(1, -(-(until - since) // bins))
        narrowed = replace(chosen, since=since, until=until)
        table = self._with_moments(self._told.table(["file", "time", "kind"], self._inside(narrowed)))
        number = pc.divide(pc.subtract(table.column("at"), since), width)
        counted = table.append_column("bin", number).group_by(["file", "kind", "bin"]).aggregate([([], "count_all")])
        found: dict[tuple, int] = defaultdict(int)
        for row in counted.to_pylist():
            file = row["file"]
            key = (source_of(file), self._brokers[file], row["kind"], since + row["bin"] * width)
            found[key] += row["count_all"]
        return [Count(*key, count) for key, count in found.items()] + list(self._history.counts(chosen, since, until, bins))

    def _inside(self, chosen: Selection) -> pc.Expression:
        """Return rows of a selection. Logs of one clock have the same bounds of printed time."""
        by_skew: dict[int, list[str]] = defaultdict(list)
        for file, skew in self._skews.items():
            if chosen.broker in (None, self._brokers[file]):
                by_skew[skew].append(file)
        parts = [_of_files(files, chosen, skew) for skew, files in by_skew.items()]
        wanted = reduce(or_, parts, pc.scalar(False))
        for name in ("topic", "partition", "group"):
            if (value := getattr(chosen, name)) is not None:
                wanted &= pc.field(name) == value
        return wanted

    def _with_moments(self, table: pa.Table) -> pa.Table:
        """Add the moments by the reference clock."""
        files = pa.array(self._skews, pa.string())
        skews = pa.array(self._skews.values(), pa.int64())
        whose = pc.index_in(table.column("file"), value_set=files)
        return table.append_column("at", pc.subtract(table.column("time"), pc.take(skews, whose)))

    def _row(self, row: dict) -> EventRow:
        told = event(row, self._brokers[row["file"]], self._told.before(row["file"], row["start"]))
        return row_of(told, self._skews[told.file])


def _of_files(files: Sequence[str], chosen: Selection, skew: int) -> pc.Expression:
    wanted = pc.field("file").isin(pa.array(files, pa.string()))
    if chosen.since is not None:
        wanted &= pc.field("time") >= chosen.since + skew
    if chosen.until is not None:
        wanted &= pc.field("time") <= chosen.until + skew
    return wanted
