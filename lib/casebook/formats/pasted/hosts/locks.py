"""Locks in a thread dump: held or waited for, by the line that names them (``ThreadInfo.toString``: the owner is on its head)."""

import re

BY_ID = re.compile(
    r".*\sId=(?P<id>\d+) (?P<state>[A-Z_]{3,20})(?: on (?P<lock>\S+@[0-9a-f]+))?"
    r"(?: owned by \"(?P<owner>[^\"]+)\" Id=(?P<by>\d+))?"
    r"(?: \(.*\))?\s*"
)
"""First line of a thread as ``ThreadInfo.toString`` writes it, with its lock and the holder of that."""
WAITS = re.compile(
    r"\s*(?:- waiting to lock (?:on )?|waiting for (?P<owner>.{1,200}) to release lock on )"
    r"(?:<(?P<lock>0x[0-9a-f]+)> \((?P<what>[^)]*)\)|(?P<object>[\w.$]+@[0-9a-f]+))\s*"
)
AWAITS = re.compile(r"\s*- (?P<how>parking to wait for|waiting on)\s+<(?P<lock>[^>]*)>(?: \((?P<what>[^)]*)\))?.*")
HOLDS = re.compile(r"\s*- locked (?:on )?(?:<(?P<lock>0x[0-9a-f]+)> (?:\((?P<what>[^)]*)\))?.*|(?P<object>[\w.$]+@[0-9a-f]+)\s*)")


def named(lock: str, what: str) -> str:
    """Return a lock with what it is, as far as printed."""
    return f"{lock} ({what})" if what else lock
