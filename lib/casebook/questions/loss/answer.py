"""The answer of notebook 70, kept where nothing but the case is asked: asked again, it needs no Spark.

answer.json     what was concluded
lost/           all lost records, as Parquet; absent without ledger or loss
unprocessed/    all records that were committed and never processed, as Parquet; absent without such ledgers
"""

import json
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from casebook.case.case import Case
from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import VersionInUse
from casebook.machine import answers, typed_json, workshop
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.loss.analysis import consumer_logs
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.analysis.unclean_price import Committed
from casebook.questions.loss.consumer_evidence import Consumed, ConsumerEvidence
from casebook.questions.loss.evidence import LossEvidence, LossParameters, Progress
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.timeline import Timeline

_FILE, _LOST, _UNPROCESSED = "answer.json", "lost", "unprocessed"


class LossAnswer(NamedTuple):
    """Whether records were lost, and what consumers did with the others.

    Args:
        found: On produced records.
        consumed: On processed ones.
        lost: All lost records: a folder of Parquet with the columns of ``tables/lost``; ``None`` without any.
    """

    found: MessageLoss
    consumed: Consumed
    lost: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossQuestion:
    """Whether records of a case were lost.

    Args:
        case: The case.
        cluster: The case's cluster.
        version: The release whose rules apply.
        timeline: Its timeline.
        settings: All else that cluster and timeline rest on, as JSON.
        offsets: Returns the evidence on the offsets topic.
        committed: Returns the committed offsets of groups, if available; may need a scan.
        progress: Receives the progress of a scan.
    """

    case: Case
    cluster: Cluster
    version: VersionInUse
    timeline: Timeline
    settings: tuple
    offsets: Callable[[], OffsetsEvidence]
    committed: Callable[[], Committed | None]
    progress: Progress | None = None

    def answer(self, asked: LossParameters, processed: str, group: str) -> LossAnswer:
        """Return the answer, from an earlier time if there is one.

        Args:
            asked: Parameters on produced records.
            processed: Ledger of processed records; those of the case when empty.
            group: Consumer group of that ledger.
        """
        is_outside = any((asked.ledger, asked.extract, asked.bootstrap, processed))
        damaged = [problem.path for problem in self.case.damaged]
        inputs = [self.case.digest, damaged, repr(self.version), self.settings, asdict(asked), group]
        place = _anywhere() if is_outside else answers.place("loss", inputs)
        with suppress(OSError, TypeError, ValueError, KeyError):  # there is none, or it is damaged
            return _read(place)
        return self._made(place, asked, processed, group)

    def _made(self, place: Path, asked: LossParameters, processed: str, group: str) -> LossAnswer:
        """Return a new answer; what could not be read today may be there tomorrow, so that answer is not kept."""
        evidence = LossEvidence(
            self.case, self.cluster, self.version, asked, timeline=self.timeline, committed=self.committed, progress=self.progress
        )
        found = evidence.examined
        consumed = ConsumerEvidence(
            self.case,
            evidence,
            processed=processed,
            group=group,
            offsets=self.offsets(),
            partitions=sum(partition.topic == OFFSETS_TOPIC for partition in self.cluster.partitions),
            moves=timeline.moves(self.timeline, OFFSETS_TOPIC),
            clients=consumer_logs.told(self.timeline.rows),
            progress=self.progress,
        ).examined()
        lost = evidence.lost.table if evidence.lost is not None else None
        target = _anywhere() if evidence.stored.has_failed or place.exists() else place
        with workshop.result(target) as folder:
            for name, rows in ((_LOST, lost), (_UNPROCESSED, consumed.records)):
                if rows is not None:
                    shutil.move(rows, folder / name)
            (folder / _FILE).write_text(json.dumps(typed_json.dumped((found, consumed))), encoding="utf-8")
        return _read(target)


def _anywhere() -> Path:
    """Return a folder that ends with this process."""
    return workshop.of_process() / f"loss-{uuid.uuid4()}"


def _read(place: Path) -> LossAnswer:
    data = json.loads((place / _FILE).read_text(encoding="utf-8"))
    found, consumed = typed_json.loaded(tuple[MessageLoss, Consumed], data)
    lost, unprocessed = (folder if (folder := place / name).exists() else None for name in (_LOST, _UNPROCESSED))
    return LossAnswer(found, consumed._replace(records=unprocessed), lost)
