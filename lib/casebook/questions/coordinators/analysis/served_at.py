"""Format times of service for people."""

from datetime import UTC, datetime

from casebook.kafka.load_rate import TimeRange

_NEAR = 600_000


def clock(time: float, at: float | None) -> str:
    """``15:37:24`` near the end of the evidence, else ``15:37``, or ``21 Nov 05:14`` on another day.

    Args:
        time: Epoch ms; formatted in UTC.
        at: End of the evidence.
    """
    moment = datetime.fromtimestamp(time / 1000, UTC)
    if at is None or abs(time - at) <= _NEAR:
        return f"{moment:%H:%M:%S}"
    other_day = moment.date() != datetime.fromtimestamp(at / 1000, UTC).date()
    return f"{moment.day} {moment:%b %H:%M}" if other_day else f"{moment:%H:%M}"


def served_at(span: TimeRange, at: float | None) -> str:
    """``15:19 (15:13 to 15:27)``; without a bound ``15:19 (15:13 or later)``. ``span`` must have a middle."""
    last = span.mid if span.high is None else span.high
    reference = span.mid if at is None or abs(last - at) <= _NEAR else at
    low, mid, high = (clock(time, reference) if time is not None else "" for time in span)
    if reference is at:  # all of them to the minute, even if the first is near
        low, mid = (clock(time, at).rpartition(":")[0] if abs(time - at) <= _NEAR else clock(time, at) for time in span[:2])
    return f"{mid} ({low} to {high})" if high else f"{mid} ({low} or later)"


def about(seconds: float) -> str:
    """``20 s``, ``3 min 20 s``, ``38 min``: with a meaningful precision."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}\u202fs"
    if whole < 600:
        return f"{whole // 60}\u202fmin {whole % 60:02d}\u202fs"
    minutes = round(seconds / 60)
    return f"{minutes}\u202fmin" if minutes < 120 else f"{minutes // 60}\u202fh {minutes % 60:02d}\u202fmin"
