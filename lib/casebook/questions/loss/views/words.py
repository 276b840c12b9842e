"""Wording of message loss: causes, classes with their rules, moments, and links to proofs."""

import re
from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from casebook.facts.losses import Cause
from casebook.facts.records import RecordVerdict
from casebook.findings import words
from casebook.findings.finding import Finding
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.timeline.views.story import cites, link

CAUSES = {
    None: "Outside every window",
    Cause.DEPOSED_LEADER: "acks=1 write to a deposed leader, truncated",
    Cause.ISR_OF_ONE: "ISR shrunk to the leader, acks=all",
    Cause.UNCLEAN_ELECTION: "Unclean election",
    Cause.CUT_AT_START: "Cut to the checkpoint when a broker started",
    Cause.DISK_LOST: "Disk or directory lost",
    Cause.NEVER_RECEIVED: "Never received by a broker",
    Cause.ACKS_0: "Sent with acks=0",
    Cause.EITHER_WINDOW: "One of several windows, for causes that differ",
}
"""Name of each cause; ``None``: an alarm."""

NOT_FOUND = {
    RecordVerdict.EXPIRED: ("Expired by retention", "below where its log begins, or older than its first record"),
    RecordVerdict.COMPACTED: ("Compacted away", "its key has a newer record, or a tombstone"),
    RecordVerdict.ABORTED: ("Aborted", "its transaction was aborted"),
    RecordVerdict.UNDECIDED: ("Transaction open", "its transaction has neither been committed nor aborted"),
    RecordVerdict.NOT_YET: ("Not yet arrived", "acknowledged after its partition was read"),
    RecordVerdict.UNKNOWN_NOT_STORED: ("Outcome unknown, not stored", "never acknowledged"),
    RecordVerdict.FAILED: ("Failed, not stored", "reported to its producer"),
    RecordVerdict.NOT_SCANNED: ("Not looked for", "its partition was not read"),
    RecordVerdict.UNREADABLE: ("In an unreadable part", "something there could not be read"),
    RecordVerdict.CANNOT_TELL: ("Unknown", "retention, compaction or the moment of reading is unknown"),
}
"""Records that were not found, and are not lost: name of each class, and its rule."""

DOUBTS = (
    RecordVerdict.CANNOT_TELL,
    RecordVerdict.UNREADABLE,
    RecordVerdict.NOT_SCANNED,
    RecordVerdict.UNDECIDED,
    RecordVerdict.UNKNOWN_NOT_STORED,
)
"""Those that are not ruled out as losses, least certain first."""

FOUND = {
    RecordVerdict.STORED: ("Stored once", "as acknowledged"),
    RecordVerdict.DUPLICATED: ("Duplicated", "stored more than once"),
    RecordVerdict.STORED_THOUGH_FAILED: ("Failed, yet stored", "a duplicate if it was sent again"),
    RecordVerdict.UNKNOWN_STORED: ("Outcome unknown, stored", "a duplicate if it was sent again"),
    RecordVerdict.ELSEWHERE: ("Stored elsewhere", "at another partition or offset than acknowledged"),
    RecordVerdict.SURPLUS: ("Not in the ledger", "stored, and not in any row"),
    "reordered": ("Reordered", "stored after a later record of its key; counted in addition to the others"),
}
"""Found records."""

_PLACE = r"(?:brokers|clients|pasted|zookeeper)/[^\s()<>]+(?::\d+| txn 0x[0-9a-f]+)"
_CITED = re.compile(f"/.*|{_PLACE}")
_WITHIN = re.compile(f"({_PLACE})")


def check(found: MessageLoss, name: str) -> Finding | None:
    """Return the result of a check; ``None`` when it was not run."""
    return next((finding for finding in found.findings if finding.check == name), None)


def cause(of: str | None) -> str:
    """Return the name of a cause."""
    return CAUSES[of and Cause(of)]


def offsets(first: int | None, end: int | None) -> str:
    """Format a range of offsets, from its first to its last.

    Args:
        end: The offset after the last.
    """
    return f"{'?' if first is None else first} to {'?' if end is None else end - 1}"


def moments(times: Iterable[int | None]) -> tuple[str, Callable[[int | None], str]]:
    """Return the common day of moments, with UTC, and a formatter for each; with its day when there are several.

    Args:
        times: Epoch milliseconds; ``None`` where unknown.
    """
    days = {words.day(at) for at in times if at is not None}
    if len(days) == 1:
        return f"{days.pop()}, UTC", words.clock_ms
    return "UTC", lambda at: "?" if at is None else f"{words.when(at).partition(',')[0]}, {words.clock_ms(at)}"


def proof_link(proof: str) -> Markup:
    """Return a proof as a link to its quote, or to its table; otherwise as text."""
    if proof.startswith("tables/"):
        return Markup('<a class="cb-proof" href="{}.parquet"><code>{}</code></a>').format(proof, proof)
    return link(proof) if _CITED.fullmatch(proof) else Markup("<code>{}</code>").format(proof) if proof else Markup("")


def proofs_linked(said: str) -> Markup:
    """Return a text with every place of the case as a link to its quote."""
    return Markup("").join(link(part) if n % 2 else escape(part) for n, part in enumerate(_WITHIN.split(said)))


def proofs_within(said: Iterable[str]) -> tuple[str, ...]:
    """Return the places of the case in texts, for a view's citations."""
    return cites(place for one in dict.fromkeys(said) for place in _WITHIN.findall(one))


def proofs_cited(proofs: Iterable[str]) -> tuple[str, ...]:
    """Return those that the case can quote, for a view's citations."""
    return cites(proof for proof in proofs if _CITED.fullmatch(proof))
