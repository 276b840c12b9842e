"""Cleaner state from a thread dump: a thread missing in a complete one has died, or never started.

A dump has no zone, and log lines are older or newer: when a log covers the cleaner, or a start, the dump is ignored.
"""

from collections.abc import Iterable, Sequence

from casebook.facts.events import Event
from casebook.facts.pasted import PASTED
from casebook.facts.pasted_hosts import ThreadDump
from casebook.findings.words import agree, plural
from casebook.kafka.settings import Setting


def of_broker(dumps: Iterable[ThreadDump], broker: int, told: Sequence[Event]) -> ThreadDump | None:
    """Return the last dump of a broker; ``None`` without one, and when its logs cover its cleaner or its starts.

    Args:
        dumps: Dumps of all brokers, in pasted order.
        told: Events on its cleaner and its starts in its logs.
    """
    own = [dump for dump in dumps if dump.broker == broker]
    return own[-1] if own and not told else None


def lacks_cleaner(dump: ThreadDump | None) -> bool:
    """Return whether it contains no cleaner thread."""
    return dump is not None and dump.whole and not dump.cleaners


def absence(dump: ThreadDump) -> str:
    """Describe a cleaner without threads, in one sentence."""
    counted = "" if dump.counted else ", judging by its first and last lines"
    return f"A complete thread dump has no kafka-log-cleaner-thread{counted}."


def doubt(dump: ThreadDump | None, enabled: Setting) -> str:
    """Return the dump's part of a doubt, one sentence; ``""`` for nothing.

    Args:
        enabled: ``log.cleaner.enable``: a missing thread has died only when this is on.
    """
    if dump is None:
        return ""
    if not dump.cleaners:
        off = f"{absence(dump)[:-1]}: it died, or log.cleaner.enable is false; that setting was not collected."
        return off if dump.whole and enabled.assumed else ""
    count = len(dump.cleaners)
    taken = f" of {dump.taken}" if dump.taken else ""
    return f"In a thread dump{taken}, {plural(count, 'cleaner thread')} {agree(count, 'is', 'are')} alive."


def proof(dump: ThreadDump) -> str:
    """``path:line`` of its first line."""
    return f"{PASTED}:{dump.span.first}"
