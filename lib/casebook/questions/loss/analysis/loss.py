"""Definitions of each produced record's outcome, without counting or reading."""

from casebook.facts.records import RecordVerdict, Signature


def verdict(of: Signature) -> RecordVerdict:
    """Return the outcome of a record with this signature.

    Lost means acknowledged, absent, and everything was read where it must be: no retention, compaction, transaction or time
    explains that. A record that was found is stored, wherever the scan ended.
    """
    if of.stored:
        return _of_stored(of)
    if of.open:
        return RecordVerdict.UNDECIDED
    if of.aborted:
        return RecordVerdict.ABORTED
    if not of.scanned:
        return RecordVerdict.NOT_SCANNED
    if not of.acked:
        return RecordVerdict.UNKNOWN_NOT_STORED if of.unknown else RecordVerdict.FAILED
    return _of_missing(of)


def _of_stored(of: Signature) -> RecordVerdict:
    if not (of.acked or of.failed or of.unknown):
        return RecordVerdict.SURPLUS
    if of.stored > 1:
        return RecordVerdict.DUPLICATED
    if of.acked:
        return RecordVerdict.ELSEWHERE if of.place is False else RecordVerdict.STORED
    return RecordVerdict.UNKNOWN_STORED if of.unknown else RecordVerdict.STORED_THOUGH_FAILED


def _of_missing(of: Signature) -> RecordVerdict:
    """Return the outcome of a missing acknowledged record: certain explanations, then doubts, then loss."""
    if of.below_start:
        return RecordVerdict.EXPIRED
    if of.after_scan:
        return RecordVerdict.NOT_YET
    if of.superseded:
        return RecordVerdict.COMPACTED
    if not of.readable:
        return RecordVerdict.UNREADABLE
    if None in (of.below_start, of.after_scan, of.superseded):
        return RecordVerdict.CANNOT_TELL
    return RecordVerdict.LOST
