"""Can these brokers restart together: partitions that would be offline, lose records, or refuse writes.

A restart is judged as if all its brokers were dead at once. A controlled shutdown moves leaders before, but cannot help a
partition without another candidate; so the results also hold for it, and for ``kill -9``. Existing problems do not count if the
restart does not worsen them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from casebook.kafka import election
from casebook.kafka.election import Election
from casebook.kafka.verdict import OFFLINE, ONLINE, PartitionCondition, Verdict

Brokers = tuple[int, ...]


class Harm(StrEnum):
    """Harm of a restart to a partition, worst first."""

    OFFLINE = "offline"
    UNCLEAN = "unclean"
    UNDER_MIN_ISR = "under_min_isr"


class Restart(NamedTuple):
    """Effect of stopping some brokers together.

    Args:
        brokers: Broker ids.
        offline: Partitions that would have no leader.
        unclean: Partitions that lose their last in-sync replica and would be led by an out-of-sync one: records are lost.
        under_min_isr: Partitions that would refuse acks=all.
        already_broken: Partitions with a replica on one of them that already have no leader, or too few in-sync replicas, and
            would not get worse.
        unknown: Partitions without a verdict, wherever their replicas are; and those that may refuse acks=all at the highest
            possible min ISR.
    """

    brokers: Brokers
    offline: int
    unclean: int
    under_min_isr: int
    already_broken: int
    unknown: int

    @property
    def safe(self) -> bool | None:
        """Whether nothing breaks; ``None`` when unknown for some partition."""
        if self.offline or self.unclean or self.under_min_isr:
            return False
        return None if self.unknown else True


class Like(NamedTuple):
    """Partitions with the same outcome, whichever brokers stop.

    Args:
        replicas: Live replicas, in assignment order.
        isr: Live ISR members, in order.
        leader: Broker id; ``None`` without a live leader.
        min_isr: Effective ``min.insync.replicas``; 0 without a leader.
        may_be: Its highest possible value, see :class:`casebook.kafka.verdict.Verdict`.
        unclean: Whether an unclean election is allowed.
        elr: Live eligible leader replicas of KRaft, in assignment order: the first leads when the ISR is gone.
    """

    replicas: Brokers
    isr: Brokers
    leader: int | None
    min_isr: int
    may_be: int
    unclean: bool
    elr: Brokers = ()

    @property
    def brokers(self) -> frozenset[int]:
        """Brokers whose stop may harm it."""
        return frozenset((*self.replicas, *self.isr))

    @property
    def broken(self) -> bool:
        """Whether it already has no leader, or too few in-sync replicas."""
        return self.leader is None or len(self.isr) < self.min_isr

    @property
    def at_most(self) -> "Like":
        """The same partitions at the highest possible min ISR."""
        return self._replace(min_isr=self.may_be)


def harm(of: Like, stopped: frozenset[int]) -> Harm | None:
    """Return the harm to a partition when brokers stop; ``None``: nothing relevant, or nothing worse."""
    if of.leader is None:
        return None
    live = of.brokers - stopped
    if of.leader in live:
        left: Sequence[int] = [broker for broker in of.isr if broker in live]
    else:
        elected = election.offline(replicas=of.replicas, isr=of.isr, live=live, unclean=of.unclean)
        eligible = [broker for broker in of.elr if broker in live] if elected.unclean or elected.leader is None else []
        if eligible:
            elected = Election(eligible[0], (eligible[0],))
        if elected.leader is None:
            return Harm.OFFLINE
        if elected.unclean:
            return Harm.UNCLEAN
        left = elected.isr
    return Harm.UNDER_MIN_ISR if len(left) < of.min_isr and not of.broken else None


class RestartSets:
    """Restart questions for one cluster: *can these restart together?*

    Args:
        verdicts: Verdicts of all partitions.
        live: Ids of the registered brokers.
        unseen: Topics that may have unseen partitions; each counts as one without a verdict.
    """

    def __init__(self, verdicts: Iterable[Verdict], live: Iterable[int], *, unseen: int = 0) -> None:
        self.live = tuple(sorted(live))
        self._names: dict[Like, list[tuple[str, int]]] = defaultdict(list)
        self.unknown = unseen
        living = frozenset(self.live)
        for verdict in verdicts:
            if (like := _like(verdict, living)) is not None:
                self._names[like].append((verdict.topic, verdict.partition))
            elif verdict.state is not PartitionCondition.DELETING:
                self.unknown += 1
        self._on: dict[int, set[Like]] = defaultdict(set)
        for like in self._names:
            for broker in like.brokers:
                self._on[broker].add(like)

    def of(self, brokers: Iterable[int]) -> Restart:
        """Return the effect of stopping these together; dead or empty brokers change nothing."""
        stopped = frozenset(brokers)
        counts: Counter = Counter()
        for like in self._touched(stopped):
            counts[_fate(like, stopped)] += len(self._names[like])
        return self._restart(stopped, counts)

    def singles_and_pairs(self) -> Iterator[Restart]:
        """Yield the effect for each live broker and each pair of them, in order of their ids.

        Two brokers affect a partition independently, unless it has replicas on both: only such pairs are evaluated.
        """
        singles: Mapping[int, Counter] = {broker: Counter() for broker in self.live}
        together: dict[Brokers, Counter] = defaultdict(Counter)
        for like, names in self._names.items():
            members = sorted(like.brokers.intersection(singles))
            alone = {broker: _fate(like, frozenset((broker,))) for broker in members}
            for broker, fate in alone.items():
                singles[broker][fate] += len(names)
            for pair in combinations(members, 2):
                counts = together[pair]
                counts[_fate(like, frozenset(pair))] += len(names)
                for broker in pair:
                    counts[alone[broker]] -= len(names)
        for broker in self.live:
            yield self._restart({broker}, singles[broker])
        for pair in combinations(self.live, 2):
            counts = Counter(together.get(pair, ()))
            for broker in pair:
                counts.update(singles[broker])
            yield self._restart(pair, counts)

    def harmed(self, brokers: Iterable[int]) -> dict[Harm, list[tuple[str, int]]]:
        """Return the harmed partitions by harm, topics and numbers in order."""
        stopped = frozenset(brokers)
        found: dict[Harm, list[tuple[str, int]]] = {of: [] for of in Harm}
        for like in self._touched(stopped):
            if (suffers := harm(like, stopped)) is not None:
                found[suffers] += self._names[like]
        return {of: sorted(names) for of, names in found.items() if names}

    def rolling(self, brokers: Iterable[int], *, last: int | None = None) -> list[Restart]:
        """Return an order in which to restart brokers, as many together as is safe.

        All must be back in sync before the next step. Greedy in order of ids: few steps, not always the fewest. A broker that is
        harmful alone has its own step. The controller comes last, so that it moves once.

        Args:
            brokers: Brokers to restart; dead ones are ignored.
            last: The controller.
        """
        wanted, steps = set(brokers), []
        left = [broker for broker in self.live if broker in wanted and broker != last]
        while left:
            step = self._gathered(left)
            left = [broker for broker in left if broker not in step]
            steps.append(self.of(step))
        return [*steps, self.of((last,))] if last in wanted.intersection(self.live) else steps

    def largest(self) -> Restart | None:
        """Return the largest set found that may restart together; ``None`` when no broker may.

        No broker can be added to it. A larger one may exist (maximum independent set): each broker is only tried as the first.
        """
        firsts = [broker for broker in self.live if not self._bears[1][broker]][:_MOST_TRIED]
        tried = [self._gathered([first, *(other for other in self.live if other != first)]) for first in firsts]
        return self.of(max(tried, key=len)) if tried else None

    def _gathered(self, brokers: Sequence[int]) -> list[int]:
        """Return the first broker, and those that may stop together with it and the ones before, in order."""
        limits, alone = self._bears
        full, down, step = Counter(alone), Counter(), []
        for broker in brokers:
            if step and full[broker]:
                continue
            step.append(broker)
            if full[broker]:
                break
            for limit in self._limited[broker]:
                down[limit] += 1
                members, spare = limits[limit]
                if down[limit] == spare:
                    full.update(members)
        return step

    @cached_property
    def _bears(self) -> tuple[Sequence[tuple[Collection[int], int]], Counter]:
        """Per kind of partition: relevant brokers and how many may stop; by broker, how many tolerate not even its stop."""
        limits = [_limit(like) for like in self._names if like.leader is not None]
        return limits, Counter(broker for members, spare in limits if not spare for broker in members)

    @cached_property
    def _limited(self) -> Mapping[int, Sequence[int]]:
        """Limits by broker."""
        found: dict[int, list[int]] = defaultdict(list)
        for number, (members, _) in enumerate(self._bears[0]):
            for broker in members:
                found[broker].append(number)
        return found

    def _touched(self, stopped: frozenset[int]) -> set[Like]:
        return set().union(*(self._on.get(broker, ()) for broker in stopped))

    def _restart(self, stopped: Iterable[int], counts: Mapping[object, int]) -> Restart:
        unknown = self.unknown + counts.get(_UNKNOWN, 0)
        return Restart(tuple(sorted(stopped)), *(counts.get(of, 0) for of in (*Harm, _BROKEN)), unknown)


_BROKEN, _UNKNOWN = "already broken", "unknown"
_MOST_TRIED = 20
"""Number of first brokers tried in a large set; more rarely help, and cost seconds on a hundred brokers."""


def _fate(like: Like, stopped: frozenset[int]) -> object:
    """A harm; else whether harm is possible; else whether it is already broken."""
    if (certain := harm(like, stopped)) is not None:
        return certain
    if like.may_be > like.min_isr and harm(like.at_most, stopped) is not None:
        return _UNKNOWN
    return _BROKEN if like.broken else None


def _limit(like: Like) -> tuple[Collection[int], int]:
    """Return the brokers that matter to a led partition, and how many of them may stop, whichever they are.

    It is harmed below ``min_isr`` in-sync replicas; if already below, no further stop harms. Possible values count. With an
    irregular ISR (without its leader, or with an unassigned broker), or with eligible replicas beside it, all subsets are tried.
    """
    if like.leader in like.isr and set(like.isr) <= set(like.replicas) and not like.elr:
        spares = (len(like.isr) - (1 if one.broken else max(one.min_isr, 1)) for one in (like, like.at_most))
        return like.isr, min(spares)
    members = sorted(like.brokers)
    for many in range(1, len(members) + 1):
        if any(_fate(like, frozenset(some)) not in (None, _BROKEN) for some in combinations(members, many)):
            return members, many - 1
    return members, len(members)


def _like(verdict: Verdict, live: Collection[int]) -> Like | None:
    """``None`` without a verdict: no state, no effective setting, or a topic under deletion."""
    if verdict.state in OFFLINE or verdict.state is PartitionCondition.UNINITIALISED:
        return Like(verdict.live_replicas, (), None, 0, 0, unclean=False)
    if verdict.state not in ONLINE or verdict.min_isr is None or verdict.min_isr_may_be is None:
        return None
    isr = tuple(broker for broker in verdict.isr if broker in live)  # a leader soon drops dead members
    return Like(
        replicas=verdict.live_replicas,
        isr=isr,
        leader=verdict.leader,
        min_isr=verdict.min_isr,
        may_be=verdict.min_isr_may_be,
        unclean=bool(verdict.unclean_allowed),
        elr=tuple(broker for broker in verdict.live_replicas if broker in (verdict.elr or ())),
    )
