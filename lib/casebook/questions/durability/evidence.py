"""Durability audit of a case, alone or compared with an earlier case."""

from casebook.case.case import Case
from casebook.collect import sources
from casebook.facts.cluster import Cluster
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.releases import VersionInUse
from casebook.questions.durability.analysis import durability
from casebook.questions.durability.analysis.durability import Durability


def examined(case: Case, cluster: Cluster, version: VersionInUse, said: str, *, against: str = "") -> Durability:
    """Return the content of notebook 80.

    Args:
        said: A person's description of clients.
        against: An earlier case to compare with: ``sample:<name>`` or a folder; ``""`` for none.

    Raises:
        UsageError: The description of clients, or the name of the earlier case, is invalid.
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
        untold=case.unknown_clients(clients),
        said=said,
        earlier=earlier,
        log_dirs=case.log_dirs(),
        happened=history_facts.read(case.past()) if case.has_history else None,
    )
