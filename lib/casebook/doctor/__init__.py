"""Report what works on this machine and what does not, with reasons. Changes nothing, here or elsewhere."""

from casebook.doctor import folders, machine, neighbours, scanning
from casebook.doctor.examined import Examined

__all__ = ["Examined", "examine"]


def examine(zookeeper: str | None = None, bootstrap: str | None = None) -> tuple[Examined, ...]:
    """Examine everything the workbook depends on.

    Args:
        zookeeper: Also try this ensemble, and its registered brokers: ``host:port[,..]/chroot``.
        bootstrap: Also try these brokers: ``host:port[,..]``.
    """
    looked = [*machine.examine(), *scanning.examine(), *folders.examine()]
    if zookeeper:
        looked += neighbours.ensemble(zookeeper)
    if bootstrap:
        looked += neighbours.brokers(bootstrap)
    return tuple(looked)
