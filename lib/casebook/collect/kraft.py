"""KRaft nodes: how they are recognised, and what is not read of them yet."""

from collections.abc import Iterable

from casebook.case.writer import CaseWriter
from casebook.facts.disks import LogDir


def tell(case: CaseWriter, by_settings: Iterable[int], log_dirs: Iterable[LogDir]) -> None:
    """Record once what is not read of KRaft nodes.

    Args:
        case: Receives the record.
        by_settings: Nodes recognised by their settings.
        log_dirs: All listed log dirs.
    """
    by_log_dir = {log_dir.broker for log_dir in log_dirs if log_dir.is_of_kraft}
    nodes = sorted({*by_settings, *by_log_dir})
    if nodes:
        this = "This is a KRaft log dir" if by_log_dir else "This is a KRaft node"
        whose = f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
        reason = f"{this} ({whose}); casebook does not read KRaft metadata yet; segments of topics are read."
        case.left_out("KRaft metadata", reason)
