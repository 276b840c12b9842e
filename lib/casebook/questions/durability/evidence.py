"""What a case tells of how records can be lost, alone or beside an earlier case."""

from casebook.case.case import Case
from casebook.collect import sources
from casebook.facts.cluster import Cluster
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.releases import VersionInUse
from casebook.questions.durability.analysis import durability
from casebook.questions.durability.analysis.durability import Durability


def examined(case: Case, cluster: Cluster, version: VersionInUse, said: str, *, against: str = "") -> Durability:
    """Everything that notebook 80 shows.

    Args:
        said: What a person says of clients.
        against: An earlier case to compare with: ``sample:<name>`` or a folder; ``""`` for none.

    Raises:
        UsageError: What is said of clients cannot be understood, or the earlier case cannot be meant.
        CaseError: The earlier case cannot be opened.
    """
    found = _examined(case, cluster, version, said)
    if not against:
        return found
    before = sources.open_earlier(against)
    cluster = before.cluster()
    version = release.release(cluster, logged=before.logged_versions(), configured=before.configured_versions())
    known = {file.client for file in before.client_files()}
    said = ";".join(part for part in said.split(";") if part.partition("=")[0].strip() in known)
    return durability.compared(found, _examined(before, cluster, version, said, earlier=True))


def _examined(case: Case, cluster: Cluster, version: VersionInUse, said: str, *, earlier: bool = False) -> Durability:
    clients = case.client_files()
    return durability.examine(
        cluster,
        version,
        clients=clients,
        untold=case.untold_clients(clients),
        said=said,
        earlier=earlier,
        log_dirs=case.log_dirs(),
        happened=history_facts.read(case.past()) if case.has_history else None,
    )
