"""A group of the offsets topic, in a coordinator's state after loading its rows."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from casebook.kafka.group_load import KeyRecords, KnownKey, Markers, known, latest
from casebook.questions.offsets_topic.scans.offsets_rows import by_key


class LoadedGroup:
    """A group's rows, with a loader's view of them.

    Args:
        rows: All rows.
        markers: Transaction markers of its log.
        missing: Missing segments.
    """

    def __init__(self, rows: Iterable[KeyRecords], markers: Markers, missing: Collection[int] = ()) -> None:
        self.rows = [row for row in rows if row.segment not in missing] if missing else list(rows)
        self.by_key: dict[tuple, list[KeyRecords]] = defaultdict(list)
        for row in self.rows:
            if row.kind == "commit":
                self.by_key[by_key(row)].append(row)
        self.known: dict[tuple, KnownKey] = {key: known(some, markers) for key, some in self.by_key.items()}
        self.metadata = latest(row for row in self.rows if row.kind == "group")

    @property
    def visible(self) -> dict[tuple, KeyRecords]:
        """The commits that OffsetFetch returns."""
        return {key: found.visible for key, found in self.known.items() if found.visible is not None}

    @property
    def state(self) -> KeyRecords | None:
        """The latest metadata; ``None`` without any, or after its tombstone."""
        return None if self.metadata is None or self.metadata.tombstone else self.metadata

    def live(self) -> list[KeyRecords]:
        """Return what a cleaner must keep: the latest record of every key."""
        found = [one.live for one in self.known.values()]
        return [row for row in (*found, self.metadata) if row is not None]
