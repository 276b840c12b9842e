"""Ports for servers that are started beside others."""

import subprocess
import sys

from casebook.rehearsal.servers import ports

ASKS = """
import random, sys
from casebook.rehearsal.servers import ports
wanted = iter(map(int, sys.argv[1:]))
random.choice = lambda _: next(wanted)
print(ports.free_port())
"""


def asked(*wanted: int) -> int:
    """The port that another process is given who would take these, one after the other."""
    told = subprocess.run([sys.executable, "-c", ASKS, *map(str, wanted)], capture_output=True, text=True, check=True)
    return int(told.stdout)


def test_nobody_else_is_given_it_before_a_server_listens():
    """Neither this process nor another; when that has ended, its port is free again: tests beside this one may take some of them."""
    mine, other = ports.free_port(), ports.free_port()
    assert mine != other
    near = range(mine + 1, mine + 40)
    third = asked(mine, other, *near)
    assert third in near
    assert third != other
    assert any(asked(one, *near) == one for one in near)
