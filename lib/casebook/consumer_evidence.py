"""What a case tells of consumers: what groups committed, and what their ledgers say was processed."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.analysis import commit_history, unprocessed
from casebook.analysis.group_partition import group_partition
from casebook.analysis.unprocessed_rows import CommitStep, GroupWork, Unprocessed
from casebook.case import Case
from casebook.errors import ScanError, UsageError
from casebook.facts import epoch_ms
from casebook.findings import Finding
from casebook.loss_evidence import PROCESSED, LossEvidence
from casebook.offsets_evidence import OffsetsEvidence
from casebook.storage import OFFSETS_TOPIC

if TYPE_CHECKING:
    from casebook.scans.stored import Stored
    from casebook.scans.unprocessed import Found

Progress = Callable[[int, int | None], None]


class Consumed(NamedTuple):
    """What became of what groups committed.

    Args:
        work: What each group did.
        first: The first records that were committed and never processed.
        records: All of them: a folder of Parquet; ``None`` without ledger.
        steps: Commits that do not simply go on from the one before.
        findings: One for every check.
    """

    work: tuple[GroupWork, ...] = ()
    first: tuple[Unprocessed, ...] = ()
    records: Path | None = None
    steps: tuple[CommitStep, ...] = ()
    findings: tuple[Finding, ...] = ()


class ConsumerEvidence:
    """The evidence on consumers.

    Args:
        case: The case.
        produced: What was produced, and what is stored; the same columns name those of the ledgers.
        processed: A ledger of what was processed; those of the case when empty.
        group: Whose that ledger is.
        offsets: The evidence on the offsets topic.
        partitions: How many partitions the offsets topic has.
        moves: When each of them got another leader, epoch ms.
        progress: Told how far a scan is.
    """

    def __init__(
        self,
        case: Case,
        produced: LossEvidence,
        *,
        processed: str,
        group: str,
        offsets: OffsetsEvidence,
        partitions: int,
        moves: Mapping[int, Sequence[int]],
        progress: Progress | None = None,
    ) -> None:
        if processed and not group:
            raise UsageError("Whose is the ledger of what was processed?", try_="Name its consumer group as the parameter group.")
        self._case, self._asked, self._given, self._group = case, produced.asked, processed, group
        self._stored, self._folder = produced.stored, produced.folder / "consumers"
        self._offsets, self._partitions, self._moves, self._progress = offsets, partitions, moves, progress

    def examined(self) -> Consumed:
        """Everything that notebook 70 shows of consumers."""
        if not self._ledgers:
            return Consumed(findings=(unprocessed.unprocessed(()),))
        stored, commits = self._stored_records, self._commits
        if commits is None:
            backwards = commit_history.commits_backwards((), total=0, groups=0)
            return Consumed(findings=(unprocessed.unprocessed(self._untold), backwards))
        from casebook.scans import commit_history as scanned

        limits = stored.limits if stored else ()
        starts = {(of.topic, of.partition): of.log_start for of in limits if of.log_start is not None}
        steps, total = scanned.odd_steps(self._spark, commits, log_starts=starts, coordinator_moves=self._moves)
        backwards = commit_history.commits_backwards(steps, total=total, groups=len(self._ledgers))
        if stored is None:
            return Consumed(steps=steps, findings=(unprocessed.unprocessed(self._untold), backwards))
        found = self._looked(stored, commits)
        return Consumed(found.work, found.first, found.records, steps, (unprocessed.unprocessed(found.work), backwards))

    def _looked(self, stored: "Stored", commits: object) -> "Found":
        """What of the stored records was committed, and not processed."""
        from casebook.scans import unprocessed as looked

        evidence = looked.Evidence(
            ledgers=self._ledgers,
            commits=commits,
            stored=stored.records,
            limits=stored.limits,
            complete=epoch_ms(self._case.collected_at) if self._case.collected_at else None,
        )
        return looked.unprocessed(self._spark, self._folder / "work", evidence)

    @property
    def _stored_records(self) -> "Stored | None":
        """What is stored of the ledgers' topics; ``None`` where there is nothing to read."""
        try:
            return self._stored.of(sorted({topic for rows in self._ledgers.values() for topic in self._topics(rows)}))
        except ScanError:
            return None

    @cached_property
    def _ledgers(self) -> Mapping[str, object]:
        """What each group processed."""
        from casebook.scans import ledgers

        places: dict[str, Path | str] = {}
        if self._given:
            places[self._group] = self._given if ":/" in self._given else Path(self._given).expanduser()
        else:
            for path, client in self._case.ledgers():
                if path.rpartition("/")[2].startswith(PROCESSED) and self._group in ("", client):
                    places[client] = self._case.folder / path
        asked = self._asked
        made = {
            group: ledgers.read(self._spark, place, asked.columns, topic=asked.ledger_topic or None, zone=asked.zone)
            for group, place in places.items()
        }
        return {
            group: ledger.kept_in(self._folder / "ledgers" / str(number), progress=self._progress)
            for number, (group, ledger) in enumerate(sorted(made.items()))
        }

    def _topics(self, rows: object) -> Sequence[str]:
        from casebook.scans import ledgers

        return ledgers.scope(rows).topics

    @cached_property
    def _commits(self) -> object:
        """All commits of these groups; ``None`` where no segment of the offsets topic tells of them."""
        from casebook.scans import commit_history as scanned
        from casebook.scans.copies import cleaned_to, is_here, place
        from casebook.scans.kept import kept

        wanted = {group_partition(group, self._partitions) for group in self._ledgers} if self._partitions else set()
        own = {copy.partition: copy for copy in reversed(self._offsets.copies) if copy.partition in wanted and is_here(copy)}
        if not own:
            return None
        listed = ((copy, log_dir) for log_dir in self._offsets.log_dirs for copy in log_dir.replicas)
        dirs = {(copy.broker, copy.partition): log_dir for copy, log_dir in listed if copy.topic == OFFSETS_TOPIC}
        cleaned = {partition: cleaned_to(copy, dirs[copy.broker, partition]) for partition, copy in own.items()}
        places = [place(copy) for copy in own.values()]
        history = partial(scanned.history, self._spark, places, sorted(self._ledgers), cleaned=cleaned)
        return kept(self._spark, self._folder / "commits", history)

    @property
    def _untold(self) -> tuple[GroupWork, ...]:
        """Of each group and topic, that its commits are not known."""
        return tuple(
            GroupWork(group, topic, 0, None, None, None, None, {}, {})
            for group, rows in self._ledgers.items()
            for topic in self._topics(rows)
        )

    @cached_property
    def _spark(self) -> object:
        from casebook.scans.session import session  # Spark is imported by who needs it

        return session()
