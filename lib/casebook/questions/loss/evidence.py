"""Evidence on lost records, gathered once: ledger, stored records, copies, leader changes."""

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.case.case import Case
from casebook.errors import ScanError, UsageError, did_you_mean
from casebook.facts.cluster import Cluster
from casebook.facts.cluster import Partition as PartitionFacts
from casebook.facts.copies import Compared
from casebook.facts.disks import OFFSETS_TOPIC, Partition
from casebook.facts.losses import CutRange, Estimate, LeaderChange
from casebook.findings import copy_coverage, coverage
from casebook.formats.clients import ledger_columns, ledger_kind, record_ids
from casebook.formats.clients.ledger_columns import LedgerColumns
from casebook.formats.clients.record_ids import IdKind, RecordId
from casebook.kafka.releases import VersionInUse
from casebook.machine import workshop
from casebook.questions.loss.analysis import estimate, message_loss, unclean_price
from casebook.questions.loss.analysis.cut_ranges import cut_ranges
from casebook.questions.loss.analysis.message_loss import MessageLoss, Sought
from casebook.questions.loss.analysis.unclean_price import Committed, UncleanPrice
from casebook.questions.loss.stored_evidence import StoredEvidence
from casebook.questions.timeline.analysis import leader_changes
from casebook.questions.timeline.analysis.timeline import Timeline

if TYPE_CHECKING:
    from casebook.questions.loss.scans.ledger_gathering import Gathered
    from casebook.questions.loss.scans.ledgers import Ledger, Scope
    from casebook.questions.loss.scans.lost import Lost
    from casebook.questions.loss.scans.search import Search
    from casebook.questions.loss.scans.stored import StoredRecords

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossParameters:
    """Parameters of notebook 70; ``""`` leaves the choice to the evidence.

    Args:
        ledger: A file, folder, pattern or URI; those of the case when empty.
        ledger_id: Column of ids.
        ledger_outcome: Column of outcomes.
        ledger_columns: Other columns, ``topic=t, time=ts``.
        ledger_pattern: Regular expression with named groups, for a log of an application.
        ledger_topic: Topic of rows without one.
        id_pattern: Regular expression; its first group extracts the id from the column's text.
        record_id: Location of a stored record's id; see :func:`casebook.formats.clients.record_ids.parse`.
        extract: Stored records read by another tool.
        bootstrap: Brokers to read topics from, live.
        compare: Whether to compare copies.
        processed_id: Column of ids of ledgers of processed records.
        processed_outcome: Their column of outcomes.
        processed_columns: Their other columns.
        processed_pattern: Regular expression with named groups, for logs of an application.
        processed_topic: Topic of their rows without one.
        processed_id_pattern: Regular expression; its first group extracts the id from their column's text.
        zone: Zone of times without one.
    """

    ledger: str = ""
    ledger_id: str = ""
    ledger_outcome: str = ""
    ledger_columns: str = ""
    ledger_pattern: str = ""
    ledger_topic: str = ""
    id_pattern: str = ""
    record_id: str = ""
    extract: str = ""
    bootstrap: str = ""
    compare: bool = True
    processed_id: str = ""
    processed_outcome: str = ""
    processed_columns: str = ""
    processed_pattern: str = ""
    processed_topic: str = ""
    processed_id_pattern: str = ""
    zone: str = "UTC"

    @property
    def columns(self) -> LedgerColumns:
        """Return the named columns.

        Raises:
            UsageError: The column is unknown.
        """
        given = {"id": self.ledger_id, "outcome": self.ledger_outcome, "id_pattern": self.id_pattern}
        return _columns("ledger", self.ledger_columns, given)

    @property
    def of_processed(self) -> LedgerColumns:
        """Return the named columns for ledgers of processed records.

        Raises:
            UsageError: The column is unknown.
        """
        given = {"id": self.processed_id, "outcome": self.processed_outcome, "id_pattern": self.processed_id_pattern}
        return _columns(ledger_columns.PROCESSED, self.processed_columns, given)

    @property
    def identity(self) -> RecordId:
        """Return the location of a stored record's id: its key by default. An offset is not an id: it is reused after a loss.

        Raises:
            UsageError: ``record_id`` is invalid.
        """
        return record_ids.parse(self.record_id or IdKind.KEY)


def _columns(prefix: str, others: str, given: dict[str, str]) -> LedgerColumns:
    known = ("topic", "partition", "offset", "time", "sent", "acks", "key", "producer", "group")
    for part in filter(None, map(str.strip, others.split(","))):
        name, equals, column = map(str.strip, part.partition("="))
        if not equals or name not in known:
            raise UsageError(f"{prefix}_columns={part} names no column.", try_=did_you_mean(name, known))
        given[name] = column
    return LedgerColumns(prefix=prefix, **{name: value or None for name, value in given.items()})


class LossEvidence:
    """Evidence on lost records; each part is read lazily.

    Attributes:
        asked: Parameters.
        stored: Stored records.
        folder: Folder for results, removed with this object.

    Args:
        case: The case.
        cluster: The case's cluster.
        version: The release whose rules apply.
        asked: What a person asks for.
        timeline: Timeline.
        committed: Returns the committed offsets of groups, if available; may need a scan.
        progress: Receives the progress of a scan.
    """

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        asked: LossParameters,
        *,
        timeline: Timeline,
        committed: Callable[[], Committed | None] = lambda: None,
        progress: Progress | None = None,
    ) -> None:
        self._case, self._cluster, self._version, self.asked = case, cluster, version, asked
        self._timeline, self._committed, self._progress = timeline, committed, progress
        self._unread = ""
        self.folder = Path(tempfile.mkdtemp(prefix="loss-", dir=workshop.of_process()))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.stored = StoredEvidence(
            case,
            cluster,
            version,
            asked.identity,
            extract=asked.extract,
            bootstrap=asked.bootstrap,
            folder=self.folder / "stored",
        )

    @cached_property
    def examined(self) -> MessageLoss:
        """Return the content of notebook 70."""
        sought = self._sought()
        prices = self._prices()
        cut = cut_ranges(self._timeline, self._changes)
        return message_loss.examine(
            sought,
            changes=self._changes,
            history=self._case.has_history,
            logs={file.broker for file in self._timeline.files if file.broker is not None},
            topics=self._topics,
            partitions=sum(not self._topics or partition.topic in self._topics for partition in self._cluster.partitions),
            of_past=self._of_past,
            of_copies=self._of_copies,
            limits=self._stored.limits if self._stored else (),
            gaps=self._stored.gaps if self._stored else (),
            cut_ranges=cut,
            estimates=self._estimates(cut) if sought.told is None else (),
            compared=self._compared,
            prices=prices,
            of_brokers=coverage.registrations(self._cluster),
            start_prices=unclean_price.start_prices(prices, self._waiting),
            listed=bool(self._case.log_dirs()),
        )

    @cached_property
    def lost(self) -> "Lost | None":
        """Return the lost records; ``None`` without any."""
        if self._ledger is None or self._stored is None:
            return None
        signatures = message_loss.lost_signatures(self._counted)
        if not signatures:
            return None
        return self._search.lost(signatures, self._changes, but=self._counted.unmatched)

    def _sought(self) -> Sought:
        if self._ledger is None:
            return Sought(unsuited=self._gathered.unsuited)
        if self._stored is None:
            return Sought(told=self._ledger.told, unread=self._unread, unsuited=self._gathered.unsuited)
        if self.lost is None:
            return self._counted
        return replace(self._counted, lost=self.lost.shown(), counts=self.lost.counts())

    @cached_property
    def _counted(self) -> Sought:
        reordered = self._search.reordered() if self._scope.sent else None
        found = Sought(
            told=self._ledger.told,
            counted=self._search.counted,
            acks=self._scope.acks,
            reordered=reordered,
            unsuited=self._gathered.unsuited,
        )
        return replace(found, unmatched=message_loss.unmatched(found.counted, self._search.without_id))

    @cached_property
    def _search(self) -> "Search":
        from casebook.questions.loss.scans.search import Search

        return Search(
            spark=self._spark,
            ledger=self._ledger.rows,
            offsets=self._scope.offsets,
            stored=self._stored,
            identity=self.asked.identity,
            partitions=Counter(partition.topic for partition in self._cluster.partitions),
            complete=self._case.complete,
            folder=self.folder,
        )

    @cached_property
    def _spark(self) -> object:
        from casebook.spark.session import session  # Spark is imported only where needed

        return session()

    @property
    def _ledger(self) -> "Ledger | None":
        return self._gathered.ledger

    @cached_property
    def _gathered(self) -> "Gathered":
        """Read the given ledger, or those of the case, without its unusable files.

        Raises:
            UsageError: The given ledger is unusable.
            ScanError: It is unreadable.
        """
        from casebook.questions.loss.scans import ledger_gathering

        asked, rows = self.asked, self.folder / "ledger"
        options = {"topic": asked.ledger_topic or None, "zone": asked.zone, "line_pattern": asked.ledger_pattern or None}
        if asked.ledger:
            place = asked.ledger if ":/" in asked.ledger else Path(asked.ledger).expanduser()
            return ledger_gathering.of_place(self._spark, place, asked.columns, rows, progress=self._progress, **options)
        own = [path for path, _ in self._case.ledgers() if not ledger_kind.kind(self._case.text_lines(path)).processed]
        folder = self._case.folder.absolute()
        files = [(path, f"file:{folder}/{path}") for path in own]
        if not files:
            return ledger_gathering.Gathered(None)
        return ledger_gathering.gather(self._spark, files, asked.columns, rows, progress=self._progress, **options)

    @property
    def _scope(self) -> "Scope":
        return self._ledger.scope

    @property
    def _topics(self) -> tuple[str, ...]:
        """Return the ledger's topics; without one, those with segments in the case, which are few and small."""
        if self._ledger is not None:
            return self._scope.topics
        return tuple(sorted({replica.topic for replica in self.stored.replicas if replica.copied} - {OFFSETS_TOPIC}))

    @cached_property
    def _stored(self) -> "StoredRecords | None":
        """Return the stored records of the ledger's topics; ``None``, with the reason, when there is nothing to read."""
        try:
            return self.stored.of(self._topics)
        except ScanError as error:
            self._unread = str(error)
            return None

    @cached_property
    def _changes(self) -> tuple[LeaderChange, ...]:
        """Return leader changes of the ledger's topics, or of all; cut at the next epoch of the read copy."""
        wanted = set(self._topics)
        found = [change for change in self._timeline.changes if not wanted or change.topic in wanted]
        return leader_changes.with_epochs(found, self.stored.led)

    @cached_property
    def _compared(self) -> Compared:
        """Compare copies of the ledger's topics, or of all except internal ones."""
        if not self.asked.compare or not self.stored.replicas:
            return Compared()
        from casebook.questions.loss.scans import replicas

        wanted = set(self._topics)
        return replicas.compare(
            self._spark,
            self._case.log_dirs(),
            wanted=lambda replica: replica.topic in wanted if wanted else not replica.topic.startswith("__"),
            progress=self._progress,
        )

    def _estimates(self, cut: Sequence[CutRange]) -> tuple[Estimate, ...]:
        known = estimate.points(self._case.log_dirs(), self._timeline.rows)
        return estimate.estimates(self._changes, known, cut)

    @property
    def _of_past(self) -> coverage.Gaps:
        logs = coverage.server_logs(self._timeline.files, self._cluster, coverage.known_brokers(self._cluster))
        return (*self._timeline.untold, *logs)

    @property
    def _of_copies(self) -> coverage.Gaps:
        held = {(copy.topic, copy.partition, copy.broker) for copy in self._compared.copies}
        return copy_coverage.compared(self._cluster, self._topics, held)

    def _prices(self) -> tuple[UncleanPrice, ...]:
        """Return the price of electing each replica that is out of sync, or that could be started."""
        candidates = {}
        for partition in self._compared_partitions:
            out = [broker for broker in partition.replicas if broker not in partition.state.isr]
            if brokers := sorted({*out, *self._waiting.get((partition.topic, partition.partition), ())}):
                candidates[partition.topic, partition.partition] = brokers
        if not candidates:
            return ()
        return unclean_price.prices(
            self._compared,
            candidates,
            leaders={place: leader for place, leader in self.stored.leaders.items() if leader is not None},
            replicas={(p.topic, p.partition): p.replicas for p in self._cluster.partitions},
            committed=self._committed(),
        )

    @cached_property
    def _waiting(self) -> dict[Partition, list[int]]:
        """Return brokers that could be started, by partition without a live leader."""
        if not self._cluster.brokers_known:
            return {}
        live = set(self._cluster.live)
        waiting = (partition for partition in self._compared_partitions if partition.state.leader not in live)
        return {(p.topic, p.partition): [broker for broker in p.replicas if broker not in live] for p in waiting}

    @property
    def _compared_partitions(self) -> list[PartitionFacts]:
        here = {(copy.topic, copy.partition) for copy in self._compared.copies}
        return [p for p in self._cluster.partitions if (p.topic, p.partition) in here and p.state is not None]
