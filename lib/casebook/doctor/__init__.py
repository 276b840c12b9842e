"""What will work on this machine and what will not, and why. Nothing is changed, and nobody is asked anything but to answer."""

from casebook.doctor import folders, machine, neighbours, scanning
from casebook.doctor.examined import Examined

__all__ = ["Examined", "examine"]


def examine(zookeeper: str | None = None, bootstrap: str | None = None) -> tuple[Examined, ...]:
    """Look at everything the workbook rests on.

    Args:
        zookeeper: Also try this ensemble, and the brokers that are registered there: ``host:port[,..]/chroot``.
        bootstrap: Also try these brokers: ``host:port[,..]``.
    """
    looked = [*machine.examine(), *scanning.examine(), *folders.examine()]
    if zookeeper:
        looked += neighbours.ensemble(zookeeper)
    if bootstrap:
        looked += neighbours.brokers(bootstrap)
    return tuple(looked)
