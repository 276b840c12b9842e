"""The segments of a partition that are provably safe to do without: the greatest set that changes no answer."""

from collections import defaultdict
from collections.abc import Collection, Iterable


def provably_safe(candidates: Collection[int], needs: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The greatest set of candidates whose every need lies inside the set.

    Args:
        candidates: Segments without a record that decides an answer; never the active one.
        needs: ``(segment, older)``: the segment may only go when the older one goes too, as its tombstone hides, or its
            marker decides, what lies there.
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
