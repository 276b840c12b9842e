"""Preparation of a first run: fetch and compile what scans need, and archive the classes that Spark loads."""

from collections.abc import Callable

from casebook.case.case import Case
from casebook.kafka import release
from casebook.machine.places import samples_dir
from casebook.notebook.shared_evidence import SharedEvidence
from casebook.questions.loss.evidence import LossEvidence, LossParameters
from casebook.spark import class_archive, jvm
from casebook.spark.session import session

_SAMPLES = ("offsets_bloat", "isr_shrunk_loss")
"""Sample cases that exercise all of Spark's work in notebooks."""


def prepare(*, progress: Callable[[str], None]) -> None:
    """Do what is not done yet; idempotent.

    Args:
        progress: Receives one sentence for each slow step.

    Raises:
        ScanError: No JDK, no network, or nowhere to write.
    """
    jvm.source_jars(progress=progress)
    if not class_archive.exists():
        progress("Archiving Spark's classes once, so that Spark starts faster (about a minute).")
        class_archive.make(["-m", __name__])


def exercise() -> None:
    """Run the notebooks' scans of logs, segments and ledgers on the samples."""
    for name in _SAMPLES:
        case = Case.open(samples_dir() / name)
        cluster = case.cluster()
        version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
        shared = SharedEvidence(case, cluster, version, progress=lambda *_, **__: lambda *_: None)
        _ = shared.offsets(scan=True).offsets_topic
        loss = LossEvidence(case, cluster, version, LossParameters(), timeline=shared.timeline)
        if loss.lost is not None:
            loss.lost.rows.collect()


if __name__ == "__main__":
    exercise()
    class_archive.end(session())
