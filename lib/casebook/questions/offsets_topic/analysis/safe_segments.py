"""Segments of a partition that are provably safe to delete: the greatest set that changes no answer."""

from collections import defaultdict
from collections.abc import Collection, Iterable


def provably_safe(candidates: Collection[int], needs: Iterable[tuple[int, int]]) -> frozenset[int]:
    """Return the greatest set of candidates that contains all its needs.

    Args:
        candidates: Segments without a deciding record; never the active one.
        needs: ``(segment, older)``: the segment may only go together with the older one, whose content its tombstone hides or its
            marker decides.
    """
    dependants = defaultdict(list)
    for segment, older in needs:
        dependants[older].append(segment)
    safe = set(candidates)
    gone = [older for older in dependants if older not in safe]
    while gone:
        for segment in dependants[gone.pop()]:
            if segment in safe:
                safe.remove(segment)
                gone.append(segment)
    return frozenset(safe)
