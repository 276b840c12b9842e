"""Processes that a benchmark starts: casebook's own command, and what those that have ended took."""

import resource
import sys

CASEBOOK = (sys.executable, "-c", "from casebook.cli import main; main()")


def used() -> float:
    """Seconds of processor time of the processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
