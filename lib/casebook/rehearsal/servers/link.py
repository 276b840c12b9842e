"""A relay in a process of its own: while that is suspended it is a network that takes everything and hands nothing on.

What was sent meanwhile arrives late, as TCP sends it again once a network is whole.

Run as a module by ``faults.FaultyCluster``. Arguments: where to, as ``host:port``, and the address that
is seen there. Prints where it listens.
"""

import sys
from threading import Event

from casebook.rehearsal.servers.protocol import addresses
from casebook.rehearsal.servers.relay import Relay


def main(server: str, source: str) -> None:
    """Hand on until the process is killed."""
    (address,) = addresses(server)
    with Relay(address, source=source) as relay:
        sys.stdout.write(f"{relay.bootstrap}\n")
        sys.stdout.flush()
        Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
