"""Evidence on consumers: commits of groups, and their ledgers of processed records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.case.case import Case
from casebook.collect.files import folders
from casebook.errors import ScanError, UsageError
from casebook.facts.disks import OFFSETS_TOPIC, Replica
from casebook.facts.records import Limits, UnsuitedLedger
from casebook.findings.finding import Finding, Gap
from casebook.formats.clients import ledger_kind
from casebook.kafka.group_partition import group_partition
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.loss.analysis import commit_history, unprocessed
from casebook.questions.loss.analysis.unprocessed_rows import NOTHING_TOLD, CommitStep, ConsumerLogs, GroupWork, Unprocessed
from casebook.questions.loss.evidence import LossEvidence

if TYPE_CHECKING:
    from casebook.questions.loss.scans.stored import StoredRecords
    from casebook.questions.loss.scans.unprocessed import UnprocessedRecords

Progress = Callable[[int, int | None], None]
_LOG_DIRS = "Add the log dirs of the brokers that lead them (--log-dirs BROKER=DIR)."
_MOST_GROUPS = 100
"""Maximum number of groups distinguished in a ledger."""


class Consumed(NamedTuple):
    """Processing outcome of committed offsets, per group.

    Args:
        work: Work of each group.
        first: First committed but unprocessed records.
        records: All of them: a folder of Parquet; ``None`` without ledger.
        steps: Irregular commits.
        findings: One per check.
    """

    work: tuple[GroupWork, ...] = ()
    first: tuple[Unprocessed, ...] = ()
    records: Path | None = None
    steps: tuple[CommitStep, ...] = ()
    findings: tuple[Finding, ...] = ()


class ConsumerEvidence:
    """Evidence on consumers.

    Args:
        case: The case.
        produced: Stored records, and a person's names for ledger columns.
        processed: Ledger of processed records; those of the case when empty.
        group: Consumer group of that ledger.
        offsets: Evidence on the offsets topic.
        partitions: Number of partitions of the offsets topic.
        moves: Leader changes of each of them, epoch ms.
        clients: Content of consumers' own logs.
        progress: Receives the progress of a scan.
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
        clients: ConsumerLogs = NOTHING_TOLD,
        progress: Progress | None = None,
    ) -> None:
        if processed and not group:
            raise UsageError(
                "To which group does the ledger of processed records belong?",
                try_="Set its consumer group as the parameter group.",
            )
        self._case, self._asked, self._given, self._group = case, produced.asked, processed, group
        self._clients = clients
        self._stored, self._folder = produced.stored, produced.folder / "consumers"
        self._offsets, self._partitions, self._moves, self._progress = offsets, partitions, moves, progress

    def examined(self) -> Consumed:
        """Return the content of notebook 70 on consumers."""
        if not self._ledgers:
            return Consumed(findings=(unprocessed.unprocessed((), self._gathered.unsuited, self._clients),))
        stored, commits = self._stored_records, self._commits
        if commits is None:
            backwards = commit_history.commits_backwards((), total=0, groups=0)
            return Consumed(findings=(self._answer(self._without_commits), backwards))
        from casebook.questions.loss.scans import commit_history as scanned

        limits = stored.limits if stored else ()
        starts = {(of.topic, of.partition): of.log_start for of in limits if of.log_start is not None}
        steps, total = scanned.odd_steps(self._spark, commits, log_starts=starts, coordinator_moves=self._moves)
        gaps = tuple(self._unread_commits(commits))
        backwards = commit_history.commits_backwards(steps, total=total, groups=len(self._ledgers), gaps=gaps)
        if stored is None:
            return Consumed(steps=steps, findings=(self._answer(self._without_commits), backwards))
        found = self._looked(stored, commits)
        gaps += tuple(_unread_records(stored.limits))
        return Consumed(found.work, found.first, found.records, steps, (self._answer(found.work, gaps), backwards))

    def _answer(self, work: Sequence[GroupWork], gaps: Sequence[Gap] = ()) -> Finding:
        topics = {row.topic for row in work}
        return unprocessed.unprocessed(work, self._gathered.unsuited, self._clients.of(topics), gaps, self._gathered.unread)

    def _unread_commits(self, commits: object) -> Iterator[Gap]:
        """Yield why some commits of these groups are unknown."""
        from casebook.spark.copies import shortfalls

        read = commits.select("group", "log_partition", "torn").distinct().collect()
        if without := sorted(self._ledgers.keys() - {row["group"] for row in read}):
            yield Gap(why=f"No commit of {without[0]} was read.", settle=_LOG_DIRS)
        torn = {row["log_partition"] for row in read if row["torn"]}
        for copy in self._commit_copies.values():
            if copy.partition in torn or shortfalls(copy):
                why = f"{copy.topic}-{copy.partition} of broker {copy.broker} could be read only in part."
                yield Gap(why=why, settle=_LOG_DIRS)

    def _looked(self, stored: "StoredRecords", commits: object) -> "UnprocessedRecords":
        """Return the committed but unprocessed records among the stored ones."""
        from casebook.questions.loss.scans import unprocessed as looked

        evidence = looked.WorkEvidence(
            ledgers=self._ledgers,
            commits=commits,
            stored=stored.records,
            limits=stored.limits,
            complete=self._case.complete,
        )
        return looked.unprocessed(self._spark, self._folder / "work", evidence)

    @property
    def _stored_records(self) -> "StoredRecords | None":
        """Return the stored records of the ledgers' topics; ``None`` when there is nothing to read."""
        try:
            return self._stored.of(sorted({topic for topics in self._gathered.topics.values() for topic in topics}))
        except ScanError:
            return None

    @cached_property
    def _ledgers(self) -> Mapping[str, object]:
        """Return the processed records by group."""
        return self._gathered.ledgers

    @cached_property
    def _gathered(self) -> "_Gathered":
        """Return the processed records by group, and unusable files."""
        from casebook.questions.loss.scans import ledger_gathering

        asked, all_of_them = self._asked, _Gathered({}, {}, [], {})
        damaged = {problem.path for problem in self._case.damaged}
        for number, (group, files) in enumerate(sorted(self._files().items())):
            found = ledger_gathering.gather(
                self._spark,
                files,
                asked.of_processed,
                self._folder / "ledgers" / str(number),
                topic=asked.processed_topic or None,
                zone=asked.zone,
                line_pattern=asked.processed_pattern or None,
                progress=self._progress,
            )
            own, unusable = {}, 0
            if found.ledger is not None:
                own = found.ledger.topics_by_consumer(default=group, most=_MOST_GROUPS)
                all_of_them.topics.update(own)
                all_of_them.ledgers.update({name: found.ledger.of_consumer(name, default=group) for name in own})
                unusable = sum(row.rows for row in found.ledger.told.unusable)
            all_of_them.unsuited.extend(found.unsuited)
            cut = unusable and any(_ends_within_a_line(place) for _, place in files)
            partly = bool(found.unsuited or cut) or not damaged.isdisjoint(name for name, _ in files)
            if partly or unusable:
                all_of_them.unread.update(dict.fromkeys((group, *own), None if partly else unusable))
        return all_of_them

    def _files(self) -> Mapping[str, list[tuple[str, str]]]:
        """Return name and path of each file of processed records by consumer group, as given or by its columns."""
        if self._given:
            local = self._given if ":/" in self._given else f"file:{Path(self._given).expanduser().absolute()}"
            return {self._group: [(self._given, local)]}
        kinds = ((path, client) for path, client in self._case.ledgers())
        told = [(path, client) for path, client in kinds if ledger_kind.kind(self._case.text_lines(path)).processed]
        found: dict[str, list[tuple[str, str]]] = {}
        for path, group in (*self._case.processed_ledgers(), *told):
            if self._group in ("", group):
                found.setdefault(group, []).append((path, f"file:{self._case.folder.absolute()}/{path}"))
        return found

    @cached_property
    def _commit_copies(self) -> Mapping[int, Replica]:
        """Return the copies with these groups' commits, by partition of the offsets topic."""
        from casebook.spark.copies import is_here

        wanted = {group_partition(group, self._partitions) for group in self._ledgers} if self._partitions else set()
        return {copy.partition: copy for copy in reversed(self._offsets.copies) if copy.partition in wanted and is_here(copy)}

    @cached_property
    def _commits(self) -> object:
        """Return all commits of these groups; ``None`` without segments of the offsets topic."""
        from casebook.questions.loss.scans import commit_history as scanned
        from casebook.spark.copies import cleaned_to, place
        from casebook.spark.kept import kept

        own = self._commit_copies
        if not own:
            return None
        listed = ((copy, log_dir) for log_dir in self._offsets.log_dirs for copy in log_dir.replicas)
        dirs = {(copy.broker, copy.partition): log_dir for copy, log_dir in listed if copy.topic == OFFSETS_TOPIC}
        cleaned = {partition: cleaned_to(copy, dirs[copy.broker, partition]) for partition, copy in own.items()}
        places = [place(copy) for copy in own.values()]
        history = partial(scanned.history, self._spark, places, sorted(self._ledgers), cleaned=cleaned)
        return kept(self._spark, self._folder / "commits", history)

    @property
    def _without_commits(self) -> tuple[GroupWork, ...]:
        """Return work rows with unknown commits, by group and topic."""
        return tuple(
            GroupWork(group, topic, 0, None, None, None, None, {}, {})
            for group, topics in self._gathered.topics.items()
            for topic in topics
        )

    @cached_property
    def _spark(self) -> object:
        from casebook.spark.session import session  # Spark is imported only where needed

        return session()


class _Gathered(NamedTuple):
    """Ledgers of processed records.

    Args:
        ledgers: Processed records by group.
        topics: Their topics, by group.
        unsuited: Unusable files.
        unread: Number of unusable ledger rows by group; ``None``: whole files, or unknown.
    """

    ledgers: dict[str, object]
    topics: dict[str, Sequence[str]]
    unsuited: list[UnsuitedLedger]
    unread: dict[str, int | None]


def _ends_within_a_line(place: str) -> bool:
    """Return whether a local file ends within its last line: the rest was not copied."""
    path = Path(folders.full_name(place))
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() != b"\n"


def _unread_records(limits: Iterable[Limits]) -> Iterator[Gap]:
    """Yield why some stored records were not read."""
    if short := [of for of in limits if of.unreadable]:
        whose = "only a follower's copy" if short[0].foreign else "not all"
        yield Gap(why=f"Of {short[0].topic}-{short[0].partition} {whose} could be read.", settle=_LOG_DIRS)
