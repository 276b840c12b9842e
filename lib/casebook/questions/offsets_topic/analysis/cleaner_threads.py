"""What a thread dump says of a broker's cleaner: in a whole one a thread that is not there has died, or was never started.

A dump bears no zone, and lines of a log are of before or after it: where a log tells of the cleaner, or of a start, too, the
dump is not weighed against it.
"""

from collections.abc import Iterable, Sequence

from casebook.facts.events import Event
from casebook.facts.pasted import PASTED
from casebook.facts.pasted_hosts import ThreadDump
from casebook.findings.words import agree, plural
from casebook.kafka.settings import Setting


def of_broker(dumps: Iterable[ThreadDump], broker: int, told: Sequence[Event]) -> ThreadDump | None:
    """The last dump of a broker; ``None`` without one, and where its logs tell of its cleaner or of its starts.

    Args:
        dumps: Of all brokers, in the order in which they were pasted.
        told: What its logs tell of its cleaner and its starts.
    """
    own = [dump for dump in dumps if dump.broker == broker]
    return own[-1] if own and not told else None


def lacks_cleaner(dump: ThreadDump | None) -> bool:
    """Whether no thread of the cleaner was there when it was taken."""
    return dump is not None and dump.whole and not dump.cleaners


def absence(dump: ThreadDump) -> str:
    """One sentence on a cleaner without threads."""
    counted = "" if dump.counted else ", judging by its first and last lines"
    return f"A complete thread dump has no kafka-log-cleaner-thread{counted}."


def doubt(dump: ThreadDump | None, enabled: Setting) -> str:
    """What a dump says beside a doubt, one sentence; ``""`` for nothing.

    Args:
        enabled: ``log.cleaner.enable``: a thread that is not there has died only where it is on.
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
