"""A relay in its own process: while suspended, it is a network that accepts everything and delivers nothing.

Data sent meanwhile arrive late, like TCP retransmissions after a network repair.

Run as a module by ``faults.FaultyCluster``. Arguments: target as ``host:port``, and the visible source address. Prints its own
address.
"""

import sys
from threading import Event

from casebook.rehearsal.servers.protocol import addresses
from casebook.rehearsal.servers.relay import Relay


def main(server: str, source: str) -> None:
    """Relay until the process is killed."""
    (address,) = addresses(server)
    with Relay(address, source=source) as relay:
        sys.stdout.write(f"{relay.bootstrap}\n")
        sys.stdout.flush()
        Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
