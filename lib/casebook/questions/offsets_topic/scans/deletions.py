"""Losses of groups without some segments of the offsets topic: its rows read with and without them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from casebook.facts.offsets_topic import Deletion, GroupLoss, LostCommit, Segment
from casebook.kafka.group_load import KeyRecords, Markers
from casebook.questions.offsets_topic.scans.loaded_group import LoadedGroup
from casebook.questions.offsets_topic.scans.offsets_rows import Log, OffsetsRows

MOST_LOSSES, MOST_LOST_COMMITS = 200, 10_000


def deletions(folder: Path, sets: Mapping[str, Collection[tuple[int, int, int]]], segments: Iterable[Segment]) -> list[Deletion]:
    """Return the effect of deleting segments, for each set and log.

    Args:
        folder: Output of :func:`casebook.questions.offsets_topic.scans.group_records.aggregate`.
        sets: ``(broker, partition, base offset)`` by name; a set without segments has no result.
        segments: Scanned segments.
    """
    rows = OffsetsRows(folder)
    scenarios = [_Scenario(name, log, missing, rows.groupless.get(log, ())) for (name, log), missing in _by_log(sets).items()]
    by_log: dict[Log, list[_Scenario]] = defaultdict(list)
    for scenario in scenarios:
        by_log[scenario.log].append(scenario)
    for log, group, some in rows.groups():
        if log in by_log:
            before = LoadedGroup(some, by_log[log][0].before)
            for scenario in by_log[log]:
                scenario.add(group, before, some)
    facts = {(s.broker, s.partition, s.base_offset): s for s in segments}
    return [scenario.deletion(facts) for scenario in scenarios]


def _by_log(sets: Mapping[str, Collection[tuple[int, int, int]]]) -> dict[tuple[str, Log], set[int]]:
    found: dict[tuple[str, Log], set[int]] = defaultdict(set)
    for name, places in sets.items():
        for broker, partition, base in places:
            found[name, (broker, partition)].add(base)
    return found


class _Scenario:
    """A log with missing segments, compared with the whole."""

    def __init__(self, name: str, log: Log, missing: set[int], groupless: Sequence[KeyRecords]) -> None:
        self.name, self.log, self._missing = name, log, missing
        self.before, self._after = Markers(groupless), Markers(groupless, missing)
        self._sums: Counter[str] = Counter()
        self._losses: list[GroupLoss] = []
        self._commits: list[LostCommit] = []

    def add(self, name: str, before: LoadedGroup, rows: Sequence[KeyRecords]) -> None:
        after = LoadedGroup(rows, self._after, self._missing)
        had, has = before.visible, after.visible
        lost = [had[key] for key in had.keys() - has.keys()]
        back = [(had[key], has[key]) for key in had.keys() & has.keys() if had[key].offset != has[key].offset]
        loss = GroupLoss(
            partition=self.log[1],
            group=name,
            commits=len(had),
            lost=len(lost),
            fell_back=len(back),
            again=sum(max(old.committed - new.committed, 0) for old, new in back),
            revived=len(has.keys() - had.keys()),
            last_lost=max((row.commit_time for row in lost if row.commit_time is not None), default=None),
        )
        self._sums.update({field: getattr(loss, field) for field in ("commits", "lost", "fell_back", "again", "revived")})
        self._note(name, had, has)
        self._sums["groups"] += bool(had)
        self._sums["emptied"] += bool(had) and not has
        self._sums["metadata"] += before.state is not None and (after.state is None or after.state.offset != before.state.offset)
        if loss.lost or loss.fell_back or loss.revived:
            self._losses.append(loss)
            if len(self._losses) > 4 * MOST_LOSSES:
                self._losses = self._worst()

    def _note(self, group: str, had: Mapping[tuple, KeyRecords], has: Mapping[tuple, KeyRecords]) -> None:
        """Keep the commits of a group with a changed answer; lost ones first when there are too many."""
        for key in had.keys() | has.keys():
            old, new = had.get(key), has.get(key)
            if old is None or new is None or old.offset != new.offset:
                self._commits.append(_lost_commit(self.name, self.log[1], group, old, new))
        if len(self._commits) > 2 * MOST_LOST_COMMITS:
            self._commits = sorted(self._commits, key=_worst_first)[:MOST_LOST_COMMITS]

    def _worst(self) -> list[GroupLoss]:
        return sorted(self._losses, key=lambda loss: (-loss.lost, -loss.fell_back, -loss.revived, loss.group))[:MOST_LOSSES]

    def deletion(self, facts: Mapping[tuple[int, int, int], Segment]) -> Deletion:
        found = [facts[*self.log, base] for base in self._missing if (*self.log, base) in facts]
        return Deletion(
            scenario=self.name,
            broker=self.log[0],
            partition=self.log[1],
            segments=tuple(sorted(self._missing)),
            bytes=sum(segment.bytes for segment in found),
            records=sum(segment.records + segment.markers for segment in found),
            commits=self._sums["commits"],
            lost=self._sums["lost"],
            fell_back=self._sums["fell_back"],
            again=self._sums["again"],
            revived=self._sums["revived"],
            groups=self._sums["groups"],
            groups_emptied=self._sums["emptied"],
            metadata_lost=self._sums["metadata"],
            open_lost=sum(segment.open_transactional for segment in found),
            by_group=tuple(self._worst()),
            by_commit=tuple(sorted(sorted(self._commits, key=_worst_first)[:MOST_LOST_COMMITS], key=_by_name)),
        )


def _lost_commit(name: str, log_partition: int, group: str, old: KeyRecords | None, new: KeyRecords | None) -> LostCommit:
    known = old or new
    return LostCommit(
        choice=name,
        log_partition=log_partition,
        group=group,
        topic=known.topic,
        partition=known.partition,
        change="comes back" if old is None else "lost" if new is None else "falls back",
        offset=old.committed if old else None,
        commit_time=old.commit_time if old else None,
        remains=new.committed if new else None,
        remains_time=new.commit_time if new else None,
    )


def _worst_first(one: LostCommit) -> tuple:
    return ("lost", "falls back", "comes back").index(one.change), *_by_name(one)


def _by_name(one: LostCommit) -> tuple:
    return one.group, one.topic, one.partition
