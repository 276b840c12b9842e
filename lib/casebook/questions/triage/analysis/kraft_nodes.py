"""Recognise a KRaft cluster without its brokers' answers: its own metadata is not read yet."""

from collections.abc import Collection, Sequence

from casebook.facts.cluster import ROLES, Cluster
from casebook.facts.disks import LogDir
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Question, Severity
from casebook.findings.words import agree, capitalised, plural

CHECK = "evidence.kraft"
_KINDS = "kraft_"


def check(cluster: Cluster, log_dirs: Sequence[LogDir], kinds: Collection[str] = ()) -> tuple[Finding, ...]:
    """Return a finding that it is a KRaft cluster; nothing without a sign of it.

    Args:
        kinds: Kinds of events in the logs.
    """
    if cluster.source is Source.WIRE:
        return ()
    by_disks = {log_dir.broker for log_dir in log_dirs if log_dir.is_of_kraft}
    by_settings = {broker for broker, settings in cluster.started_with.items() if settings.get(ROLES)}
    logged = sorted(kind for kind in kinds if kind.startswith(_KINDS))
    nodes = sorted(by_disks | by_settings)
    if not nodes and not logged:
        return ()
    told = {Source.LOG_DIRS: by_disks, Source.SETTINGS: by_settings, Source.LOGS: logged}
    by = tuple(source for source, shown in told.items() if shown)
    ask = Question(
        check=CHECK,
        question="Is this a cluster without ZooKeeper?",
        coverage=Coverage.every(len(nodes), "node", *by) if nodes else Coverage.every(len(logged), "kind", *by),
        facts={"nodes": nodes, "by": [source.value for source in by], "events": logged},
        evidence=tuple(Evidence(file=f"brokers/{node}/log_dirs.json") for node in sorted(by_disks)),
    )
    whose = (
        f"{capitalised(agree(len(nodes), 'node', 'nodes'))} {', '.join(map(str, nodes))} {agree(len(nodes), 'is', 'are')} KRaft's"
    )
    said = whose if nodes else f"The logs contain KRaft events of {plural(len(logged), 'kind')}"
    if cluster.there:
        title = f"{said}, and there are znodes: a migration is under way, or the znodes belong to another cluster"
        return (
            ask.found(
                Severity.WARNING,
                title,
                why="Znodes may be older than KRaft's metadata log, which the workbook does not read yet.",
            ),
        )
    why = (
        "Leaders and live brokers are in KRaft's metadata log, which the workbook does not read yet. Its brokers answer them: "
        "casebook collect --bootstrap HOST:9092. Log dirs, segments and logs are read."
    )
    return (ask.found(Severity.INFO, f"{said}: this cluster has no ZooKeeper", why=why),)
