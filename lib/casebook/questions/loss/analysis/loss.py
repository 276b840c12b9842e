"""What became of each record that was produced: the definitions, and nothing that counts or reads."""

from casebook.facts.records import Signature, Verdict


def verdict(of: Signature) -> Verdict:
    """What became of the record with this signature.

    Lost is what was acknowledged, must lie where everything was read, and does not: no retention, compaction, transaction or
    moment explains that. A record that was found is what its producer was told of it, wherever the scan ended.
    """
    if of.stored:
        return _of_stored(of)
    if of.open:
        return Verdict.UNDECIDED
    if of.aborted:
        return Verdict.ABORTED
    if not of.scanned:
        return Verdict.NOT_SCANNED
    if not of.acked:
        return Verdict.UNKNOWN_NOT_STORED if of.unknown else Verdict.FAILED
    return _of_missing(of)


def _of_stored(of: Signature) -> Verdict:
    if not (of.acked or of.failed or of.unknown):
        return Verdict.SURPLUS
    if of.stored > 1:
        return Verdict.DUPLICATED
    if of.acked:
        return Verdict.ELSEWHERE if of.place is False else Verdict.STORED
    return Verdict.UNKNOWN_STORED if of.unknown else Verdict.STORED_THOUGH_FAILED


def _of_missing(of: Signature) -> Verdict:
    """Of one that was acknowledged: the explanations that are certain before the doubts, and the loss last."""
    if of.below_start:
        return Verdict.EXPIRED
    if of.after_scan:
        return Verdict.NOT_YET
    if of.superseded:
        return Verdict.COMPACTED
    if not of.readable:
        return Verdict.UNREADABLE
    if None in (of.below_start, of.after_scan, of.superseded):
        return Verdict.CANNOT_TELL
    return Verdict.LOST
