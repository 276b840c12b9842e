"""Chosen set of segments to delete, from and to parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from casebook.errors import UsageError
from casebook.facts.offsets_topic import Segment
from casebook.questions.offsets_topic.analysis.deletion import ALL_BUT_ACTIVE, BELOW, NOTHING, OLDER, PICKED, SAFE, Place, sets

_PARAMETERS = {"nothing": NOTHING, "safe": SAFE, "all_but_active": ALL_BUT_ACTIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentChoice:
    """A set of segments by description.

    Args:
        name: A set of :mod:`casebook.questions.offsets_topic.analysis.deletion`.
        before: For ``older``: epoch milliseconds; segments with an older last record.
        below: For ``below an offset``: segments with all offsets below it.
        picked: For ``picked``: base offsets.
    """

    name: str = SAFE
    before: int | None = None
    below: int | None = None
    picked: frozenset[int] = frozenset()

    def parameters(self) -> dict[str, str]:
        """Return the equivalent notebook parameters."""
        if self.name == OLDER and self.before is not None:
            return {"delete_before": as_text(self.before)}
        if self.name == BELOW:
            return {"delete_below": str(self.below)}
        if self.name == PICKED:
            return {"delete": ",".join(map(str, sorted(self.picked))) or "nothing"}
        return {"delete": next(parameter for parameter, name in _PARAMETERS.items() if name == self.name)}

    def tried(self, segments: Sequence[Segment]) -> dict[str, tuple[Place, ...]]:
        """Return the sets to compare: the usual ones, and this one if different."""
        before = middle(segments) if self.before is None else self.before
        return sets(segments, older_than=before, below=self.below, picked=self.picked)


def parse(delete: str, delete_before: str, segments: Sequence[Segment], *, delete_below: str = "") -> SegmentChoice:
    """Parse the parameters of a choice.

    Args:
        delete: ``nothing``, ``safe``, ``all_but_active``, or base offsets separated by commas.
        delete_before: ISO-8601, UTC by default; overrides ``delete``.
        segments: Available segments.
        delete_below: An offset; overrides ``delete``.

    Raises:
        UsageError: It is invalid, names an unknown segment, or both a time and an offset are given.
    """
    if delete_before and delete_below:
        raise UsageError("Both delete_before and delete_below are given.", try_="Set one of them. Run again for the other.")
    if delete_below:
        return SegmentChoice(name=BELOW, below=offset(delete_below))
    if delete_before:
        return SegmentChoice(name=OLDER, before=instant(delete_before))
    if delete in _PARAMETERS:
        return SegmentChoice(name=_PARAMETERS[delete])
    names = [name.strip() for name in delete.split(",")]
    unknown = sorted({*names} - {str(segment.base_offset) for segment in segments})
    if unknown:
        raise UsageError(
            f"delete={delete}: {unknown[0]!r} is not a segment of this partition.",
            try_=f"Set {', '.join(_PARAMETERS)}, or base offsets from tables/offsets_segments.",
        )
    return SegmentChoice(name=PICKED, picked=frozenset(map(int, names)))


def middle(segments: Sequence[Segment]) -> int | None:
    """Return an initial time that half of the closed segments precede; ``None`` when no time is known."""
    known = sorted(segment.last_time for segment in segments[:-1] if segment.last_time is not None)
    return known[len(known) // 2] // 1000 * 1000 if known else None


def as_text(moment: int) -> str:
    """Format epoch milliseconds as ISO-8601 UTC."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat().replace("+00:00", "Z")


def offset(text: str) -> int:
    """Parse an offset of the partition.

    Raises:
        UsageError: It is not an offset.
    """
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"delete_below={text} is not an offset.", try_="Write a whole number, e.g. 412450000.")
    return int(text)


def instant(text: str) -> int:
    """Parse an ISO-8601 text as epoch milliseconds, UTC by default.

    Raises:
        UsageError: It is not a time.
    """
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"delete_before={text} is not a time.", try_="Write it as 2026-10-01T00:00:00Z.") from None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)
