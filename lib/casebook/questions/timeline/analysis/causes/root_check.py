"""Check on root causes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from casebook.facts.cluster import instant
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, brokers, capitalised, clock, moment, plural, some
from casebook.kafka.past_rows import Window
from casebook.questions.timeline.analysis.causal_chain import Chain, Root
from casebook.questions.timeline.analysis.causes import disks
from casebook.questions.timeline.analysis.causes.chains import is_former
from casebook.questions.timeline.analysis.causes.losses import AFTER, is_of_others
from casebook.questions.timeline.analysis.causes.roots import likeliest
from casebook.questions.timeline.analysis.causes.still import is_down
from casebook.questions.timeline.analysis.extent import outside, untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_LOGS
from casebook.questions.timeline.analysis.windows.window_facts import SETTLE
from casebook.questions.timeline.analysis.windows.windows import FOUND_SO
from casebook.questions.timeline.analysis.words import named

MOST_LOST = 4
"""Maximum number of lost brokers in a title."""
_ENDS = ("broker_lost", "broker_stopped", "all_lost", "disk_failed", "start_failed")
_LASTING = disks.ROOTS | {"start_failed"}
_ENDED = ("stopped", "killed")
"""Kinds of roots that end a process, which only time can join across brokers."""
EARLIER = 60_000
"""Milliseconds by which partitions without a leader precede an unrelated chain."""
_MILD = ("broker_stopped", "unclean_start", "foreign_protocol")


def root(scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root], leaderless: Sequence[Window] = ()) -> Finding:
    """What was the root cause? Only named when contrary evidence was searched in the logs of every broker.

    Args:
        leaderless: Periods without a leader: a root cannot precede its effects.
    """
    if chains and is_former(scene, chains[0]):
        since = [one for one in leaderless if one.opened is None or one.opened > scene.former_until]
        if since:
            return _of_another_cluster(scene, chains, roots, since)
    if chains and leaderless and not any(_may_be_of(scene, one, chains[0]) for one in leaderless):
        return _unlinked(scene, chains, roots, leaderless)
    found = _root(scene, chains, roots)
    if chains and (away := _without_zookeeper(scene, chains[0])):
        found = replace(found, caveats=(*found.caveats, away))
    if not chains or not (before := [one for one in leaderless if one.opened and one.opened < chains[0].opened - EARLIER]):
        return found
    earliest = min(before, key=lambda one: one.opened)
    first = moment(earliest.opened)
    which = plural(len({scene.place(one) for one in before}), "partition")
    least = "At least " if untold(scene) else ""
    latest = " or earlier" if least or earliest.opened_earliest is not None or earliest.opened_by == FOUND_SO else ""
    told = f"{least}{which} had no leader before it, first at {first}{latest}: the cause of that is not known."
    return replace(found, caveats=(*found.caveats, told))


def _without_zookeeper(scene: TimelineInputs, chain: Chain) -> str:
    """State that a stopped broker had no connection to ZooKeeper; ``""`` without evidence."""
    if chain.kind != "broker_stopped":
        return ""
    told = scene.kinds(("zk_connection_lost", "zk_session_established"), chain.opened - EARLIER, chain.opened)
    own = [row for row in told if row.broker == chain.broker]
    if not own or own[-1].kind != "zk_connection_lost":
        return ""
    return f"{capitalised(named(chain.broker))} had no connection with ZooKeeper then, which may be the reason for the stop."


def _may_be_of(scene: TimelineInputs, window: Window, chain: Chain) -> bool:
    """Return whether a chain may have left a partition without a leader.

    Not a shutdown that affected none, was long before or after, or of another broker.
    """
    if chain.kind not in ("broker_stopped", "broker_lost") or chain.partitions or chain.holds or window.opened is None:
        return True
    place = window.topic, window.partition
    if chain.broker is not None and is_of_others(scene, place, chain.broker, window.opened - EARLIER, window.opened + AFTER):
        return False
    return chain.opened - EARLIER <= window.opened <= chain.opened + AFTER


def _unlinked(scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root], leaderless: Sequence[Window]) -> Finding:
    """Return the finding when no chain of a lost broker affected a partition."""
    which = plural(len({scene.place(one) for one in leaderless}), "partition")
    return _ask(scene, chains, roots).could_not_check(
        f"The cause of {which} without leader is unknown",
        why=f"{chains[0].title}, at {moment(_since(chains[0]))}: no partition is known to have lost its leader by it.",
        settle=SETTLE,
        since=instant(min(one.opened for one in leaderless)),
        at_latest=True,
    )


def _of_another_cluster(
    scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root], leaderless: Sequence[Window]
) -> Finding:
    """Return the finding when all chains belong to a replaced cluster in the same logs."""
    which = plural(len({scene.place(one) for one in leaderless}), "partition")
    opened = [one.opened for one in leaderless if one.opened is not None]
    return _ask(scene, chains, roots).could_not_check(
        f"The cause of {which} without leader is unknown: all linked events belong to an earlier cluster",
        why=f"{chains[0].title}: this does not affect the cluster at the end of the logs.",
        settle=SETTLE,
        since=instant(min(opened)) if opened else None,
        at_latest=bool(opened),
    )


def _ask(scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root]) -> Question:
    return Question(
        check="timeline.root",
        question="What is the root cause?",
        coverage=Coverage.every(len(scene.rows), "event", Source.LOGS, Source.HISTORY),
        threshold="any chain of events that affected a partition or a client",
        facts={
            "chains": len(chains),
            "candidates": [root.name for root in roots if root.chain == 0],
            "ends_again": _ends_again(scene, chains, roots),
        },
    )


def _root(scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root]) -> Finding:
    ask = _ask(scene, chains, roots)
    if not chains:
        if not scene.rows:
            return ask.could_not_check(f"What happened is unknown: there is {_lack(scene)}", settle=SETTLE)
        if not scene.past.there:
            return ask.could_not_check(
                _alone(scene) or "The root cause is unknown: no event in these logs could be linked to another",
                settle=SETTLE,
            )
        gaps = (*untold(scene), *coverage.server_logs(scene.files, scene.cluster, scene.brokers))
        return ask.ok("No broker was lost, and no other chain of events was found", gaps=gaps)
    if len(rivals := list(_rivals(scene, chains))) > 1:
        return _rivalled(ask, rivals, roots)
    candidates = [root for root in roots if root.chain == 0]
    first = likeliest(candidates)
    if candidates and first is None:
        return _undecided(ask, f"{chains[0].title}{_lost(scene, chains)}", chains[0], candidates)
    alike = _alike(chains, roots, first)
    since = min([_since(chains[0]), *(_since(chain) for chain in alike)])
    said = f"{first.name if first else chains[0].title}{_too(chains[0], alike)}{_lost(scene, chains)}"
    if unread := (*coverage.server_logs(scene.files, scene.cluster, scene.brokers), *_unseen(scene)):
        return _unread(ask, said, since, chains[0], candidates, unread)
    who = f"{capitalised(named(chains[0].broker))} is" if chains[0].kind != "all_lost" else "They are"
    waits = f"{who} still down and hold{'s' if who.endswith('is') else ''} {plural(chains[0].holds, 'partition')} without leader"
    told = [chains[0].title, *([waits] if chains[0].holds else []), *(point.text for point in (first.pro if first else ()))]
    against = [point.text for point in (first.contra if first else ())]
    unchecked = [f"Could not be checked: {text}." for text in (first.unchecked if first else ())]
    proofs = [point.proof for root in roots[:1] for point in (*root.pro, *root.contra) if point.proof]
    proofs += [link.effect.proof for link in chains[0].links]
    mild = chains[0].kind in _MILD or (chains[0].kind == "broker_lost" and not chains[0].partitions)
    worst = Severity.INFO if mild and not chains[0].holds else Severity.WARNING
    return ask.found(
        worst,
        f"Likeliest root: {said}" if first else said,
        why=". ".join(told) + ".",
        since=instant(since),
        at_latest=_may_have_begun_before(scene, chains[0]) or _may_be_alike(chains, roots),
        evidence=tuple(proof(text) for text in list(dict.fromkeys(proofs))[: 2 * SHOWN]),
        caveats=(*(f"Against it: {text}." for text in against), *unchecked),
    )


def _since(chain: Chain) -> int:
    return chain.opened if chain.by is None else chain.by


def _alike(chains: Sequence[Chain], roots: Sequence[Root], first: Root | None) -> list[Chain]:
    """Return chains of other brokers with the same root: a disk, files in use, or a shutdown at about the same time."""
    if first is None or first.kind not in (*disks.ROOTS, *_ENDED):
        return []
    of_chains = {root.chain: root for root in reversed(roots)}
    alike = (chains[place] for place, root in sorted(of_chains.items()) if root.kind == first.kind)
    others = {one.broker: one for one in reversed(list(alike)) if one.broker != first.broker}
    near = (one for one in others.values() if first.kind not in _ENDED or _is_near(one, chains[0]))
    return sorted(near, key=lambda one: one.opened)


def _may_be_alike(chains: Sequence[Chain], roots: Sequence[Root]) -> bool:
    """Return whether the same root may have hit another broker shortly before, in a loss of unknown cause."""
    unknown = (
        chain
        for place, chain in enumerate(chains)
        if chain.kind == "broker_lost" and likeliest([root for root in roots if root.chain == place]) is None
    )
    return any(one.broker != chains[0].broker and one.opened < chains[0].opened and _is_near(one, chains[0]) for one in unknown)


def _is_near(one: Chain, other: Chain) -> bool:
    """Return whether two chains started at about the same time; ``True`` when a start is unknown."""
    return one.by is None and other.by is None and abs(one.opened - other.opened) <= EARLIER


def _too(chain: Chain, alike: Sequence[Chain]) -> str:
    """Name the brokers with the same root before and after, with times; ``""`` without any."""
    told = ""
    for verb, those in (
        ("had happened to", [one for one in alike if one.opened < chain.opened]),
        ("happened to", [one for one in alike if one.opened >= chain.opened]),
    ):
        whom = [f"{named(one.broker)} at {moment(one.opened)}" for one in those]
        told += f"; the same {verb} {' and '.join(whom)}" if whom else ""
    return told


def _may_have_begun_before(scene: TimelineInputs, chain: Chain) -> bool:
    """Return whether the first event may be in an older log of its broker, missing here."""
    if chain.by is not None:
        return True
    if chain.broker is None or scene.begins_with_start(chain.broker) is not False:
        return False
    return chain.kind == "unknown_request" or scene.lives[chain.broker][0].opened > chain.opened


def _ends_again(scene: TimelineInputs, chains: Sequence[Chain], roots: Sequence[Root]) -> dict[str, str]:
    """Return for each broker that is down the cause that will end it again: no start fixes a full disk, or a permission."""
    first: dict[int, Root] = {}
    for root in roots:
        first.setdefault(root.chain, root)
    last: dict[int, Root] = {}
    for place in sorted(first, key=lambda place: (chains[place].opened, place)):
        over = chains[place].kind == "start_failed" and chains[place].back is not None
        if chains[place].kind in _ENDS and first[place].broker is not None and not over:
            last[first[place].broker] = first[place]
    return {str(b): root.name for b, root in sorted(last.items()) if root.kind in _LASTING and is_down(scene, b)}


def _alone(scene: TimelineInputs) -> str:
    """Describe sessions that brokers report as lost, without further logs; ``""`` for none."""
    ended = Counter(row.broker for row in scene.kind("zk_session_expired").rows if row.broker is not None)
    if not ended:
        return ""
    whose, times = brokers(sorted(ended)), plural(sum(ended.values()), "time")
    which = agree(len(ended), "its session", "sessions")
    return f"{capitalised(whose)} lost {which} with ZooKeeper, {times}; the consequences are unknown"


def _lack(scene: TimelineInputs) -> str:
    alone = "no log, and ZooKeeper's snapshots show only single moments, not the events between them"
    return "neither log nor history" if scene.past.first is None else alone


def _rivals(scene: TimelineInputs, chains: Sequence[Chain]) -> Iterator[tuple[int, Chain]]:
    """Yield losses of several brokers with an unknown current state, which decides which one is named.

    The first of each broker, with its index.
    """
    seen = set()
    for place, chain in enumerate(chains):
        if chain.kind == "broker_lost" and chain.partitions and chain.broker not in seen and chain.back is None:
            seen.add(chain.broker)
            if is_down(scene, chain.broker) is None:
                yield place, chain


def _rivalled(ask: Question, rivals: Sequence[tuple[int, Chain]], roots: Sequence[Root]) -> Finding:
    """Return the candidates in order, with what would decide."""
    order = [
        chain.title if (first := likeliest([root for root in roots if root.chain == place])) is None else first.name
        for place, chain in rivals
    ]
    who = brokers(sorted(chain.broker for _, chain in rivals))
    return ask.could_not_check(
        f"The most important loss is unknown: the evidence does not show which of {who} are back",
        why=(f"According to this evidence, worst first: {'; '.join(f'{n}. {name}' for n, name in enumerate(order, start=1))}."),
        settle="Collect the children of /brokers/ids.",
        since=instant(min(chain.opened for _, chain in rivals)),
        at_latest=True,
        evidence=tuple(proof(chain.links[0].effect.proof) for _, chain in rivals if chain.links)[:SHOWN],
    )


def _unseen(scene: TimelineInputs) -> coverage.Gaps:
    """Return why a chain may be missing here, except gaps inside a history, whose later state is known."""
    return outside(scene) if scene.past.there else untold(scene)


def _lost(scene: TimelineInputs, chains: Sequence[Chain]) -> str:
    """Describe which brokers are still down and needed by leaderless partitions, and other lost brokers; ``""`` without any."""
    down = list(dict.fromkeys(chain.broker for chain in chains if chain.holds and chain.broker is not None))
    if not down:
        return ""
    back: dict[int | None, int] = {}
    for chain in chains:
        if chain.kind == "broker_lost" and chain.partitions and chain.back and is_down(scene, chain.broker) is False:
            back[chain.broker] = max(chain.back, back.get(chain.broker, chain.back))
    said = [f"broker {broker}, still down" for broker in down]
    said += [f"broker {broker}, back since {clock(at)}" for broker, at in back.items()]
    return f" ({some(said, MOST_LOST)})"


def _undecided(ask: Question, what: str, chain: Chain, candidates: Sequence[Root]) -> Finding:
    names = "; ".join(root.name for root in candidates)
    alone = len(candidates) == 1
    return ask.could_not_check(
        f"{what}; the evidence does not show "
        + ("why" if alone else f"which of {plural(len(candidates), 'candidate')} is the root cause"),
        why=f"{'This' if alone else 'Each of these'} is possible: {names}.",
        settle=f"{COLLECT_LOGS}, with the logs of broker {chain.broker}, its GC log, and those of ZooKeeper's servers.",
        since=instant(chain.opened),
        evidence=tuple(proof(text) for text in list(dict.fromkeys(link.effect.proof for link in chain.links))[: 2 * SHOWN]),
        caveats=tuple(f"Could not be checked: {text}." for root in candidates for text in root.unchecked),
    )


def _unread(ask: Question, said: str, since: int, chain: Chain, candidates: Sequence[Root], unread: coverage.Gaps) -> Finding:
    """Return the candidates in order, with what would decide: an unread log may contain another root."""
    order = "; ".join(f"{place}. {one.name}" for place, one in enumerate(candidates, start=1))
    shown = [point.proof for one in candidates for point in (*one.pro, *one.contra) if point.proof]
    shown += [link.effect.proof for link in chain.links]
    return ask.could_not_check(
        f"Likeliest root, as far as could be checked: {said}",
        why=f"{unread[0].why} It may contain the root cause. According to this evidence, likeliest first: {order or said}.",
        settle=unread[0].settle,
        since=instant(since),
        at_latest=True,
        evidence=tuple(proof(text) for text in list(dict.fromkeys(shown))[: 2 * SHOWN]),
        caveats=tuple(f"Could not be checked: {text}." for one in candidates for text in one.unchecked),
    )
