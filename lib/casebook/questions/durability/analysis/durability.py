"""Durability: acknowledged records that can be lost by settings of topics, brokers and clients. Content of notebook 80."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from casebook.facts.clients import ClientFile
from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir
from casebook.facts.history import Happened
from casebook.findings.finding import Finding
from casebook.kafka.past import past
from casebook.kafka.releases import VersionInUse
from casebook.kafka.settings import Settings
from casebook.questions.durability.analysis import at_risk, checks
from casebook.questions.durability.analysis import clients as durability_clients
from casebook.questions.durability.analysis import settings as durability_settings
from casebook.questions.durability.analysis import verdicts as durability_verdicts
from casebook.questions.durability.analysis.diff import differences
from casebook.questions.durability.analysis.exposure import exposure
from casebook.questions.durability.analysis.history import isr_alone
from casebook.questions.durability.analysis.questions import Ask, questions
from casebook.questions.durability.analysis.rows import ClientRow, Difference, Exposure, IsrAlone, LossVerdict, SettingRow
from casebook.questions.durability.analysis.scene import DurabilityInputs
from casebook.questions.durability.analysis.topics import topics
from casebook.questions.durability.analysis.verdicts import RuleAnswer
from casebook.questions.timeline.analysis import moments


@dataclass(frozen=True, kw_only=True)
class Durability:
    """Content of notebook 80.

    Args:
        scene: Inputs of the rules.
        settings: By entity and key.
        clients: Effective settings of each producer and consumer.
        answers: Answers of every rule on every subject.
        verdicts: Possible losses and unknowns, worst first.
        exposure: Only copies on each broker, most first.
        isr_alone: Times when acks=all was acks=1, longest first.
        history: Whether the case has a past.
        questions: Questions to people.
        findings: One per check, in a fixed order.
        changes: Changes since the earlier case; ``None`` without one.
    """

    scene: DurabilityInputs
    settings: tuple[SettingRow, ...]
    clients: tuple[ClientRow, ...]
    answers: tuple[RuleAnswer, ...]
    verdicts: tuple[LossVerdict, ...]
    exposure: tuple[Exposure, ...]
    isr_alone: tuple[IsrAlone, ...]
    history: bool
    questions: tuple[Ask, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Difference, ...] | None = None


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    clients: Sequence[ClientFile] = (),
    untold: Sequence[str] = (),
    said: str = "",
    earlier: bool = False,
    log_dirs: Iterable[LogDir] = (),
    happened: Iterable[Happened] | None = None,
) -> Durability:
    """Judge every topic, producer, consumer and the brokers by every rule.

    Args:
        clients: Settings from client files.
        untold: Given clients with unknown settings.
        said: A person's description of them; see :func:`casebook.questions.durability.analysis.clients.stated`.
        earlier: Whether it is the earlier of two cases: the description may then name later topics.
        log_dirs: Log dirs, for sizes of only copies.
        happened: ZooKeeper's history; ``None`` without one.

    Raises:
        UsageError: ``said`` is invalid, or names something that does not exist.
    """
    settings = Settings(cluster, version.version, version)
    stated = durability_clients.stated(said)
    known = durability_clients.clients(clients, stated)
    if not earlier and not cluster.unlisted:
        durability_clients.must_be_there(stated, cluster.topics)
    scene = DurabilityInputs(
        cluster=cluster, version=version, settings=settings, topics=topics(cluster, settings), clients=known, untold=tuple(untold)
    )  # fmt: skip
    told = durability_settings.rows(cluster, settings)
    answers = durability_verdicts.answers(scene)
    verdicts = durability_verdicts.rows(answers)
    alone = exposure(cluster, log_dirs)
    gone = past(happened) if happened is not None else None
    in_past = isr_alone(gone, cluster, settings) if gone is not None else ()
    return Durability(
        scene=scene,
        settings=told,
        clients=durability_clients.rows(known),
        answers=answers,
        verdicts=verdicts,
        exposure=alone,
        isr_alone=in_past,
        history=gone is not None,
        questions=questions(scene),
        findings=(
            at_risk.at_risk(scene, verdicts),
            *checks.of_rules(scene, answers),
            checks.exposed(scene, alone),
            checks.brokers_agree(scene, told),
            *moments.dated([checks.history(in_past, gone, cluster)], moments.observations(past=gone), cluster.source),
            checks.clients(scene),
        ),
    )


def compared(now: Durability, before: Durability) -> Durability:
    """Add the changes since an earlier audit."""
    changes = differences((before.settings, before.verdicts), (now.settings, now.verdicts))
    return replace(now, changes=changes)
