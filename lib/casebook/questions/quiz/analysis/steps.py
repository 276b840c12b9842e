"""Last questions of the quiz: start order, remaining offline partitions, price of an unclean election, and what to avoid."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from casebook.findings.words import agree, brokers, capitalised, plural
from casebook.kafka.releases import ENABLING_UNCLEAN_ELECTS
from casebook.kafka.verdict import Verdict
from casebook.questions.leadership.analysis import what_if
from casebook.questions.leadership.analysis.what_if import Supposition
from casebook.questions.quiz.analysis import answers
from casebook.questions.quiz.analysis.incident import CITED, QuizIncident, named
from casebook.questions.quiz.analysis.quiz import QuizQuestion

_DEEDS = (
    ("start", "Start a dead broker that is in an ISR, with its log dirs as they are"),
    ("preferred", "Run a preferred leader election, with unclean election as configured"),
    ("controller", "Delete the znode /controller, so that another broker becomes controller"),
    ("wipe", "Delete the log dirs of a dead broker, so that it starts clean and copies from the others"),
)


def whom_first(incident: QuizIncident) -> QuizQuestion:
    """The dead broker whose start brings most partitions back."""
    missing = incident.missing() or ({} if incident.best else {"not_asked": "No start of a single broker heals a partition."})
    best = incident.best[0] if incident.best else None
    healed = incident.healed_by(best.broker) if best else ()
    return QuizQuestion(
        key="first",
        title="Which broker to start first?",
        asks="You can start one broker after the other, and each takes minutes. Which one comes first? The first aim "
        "is to lose no record that another order would keep. The second is to heal as many partitions as "
        f"possible.{incident.leaves_out}",
        form="one id",
        hints=(
            "A start heals a partition if the broker is assigned and in the ISR. It also heals it if the ISR is empty "
            "and unclean election is allowed.",
            f"Write down the ISR of each offline partition. Which brokers are in it?{_emptied_hint(incident)}",
            "For each dead broker, count the offline partitions that it would lead. Strike out a broker that would "
            "lead one without having been in sync last: records that it lacks there would be lost.",
        ),
        judge=partial(_judge_first, incident),
        explanation=_of_first(incident) if best else "",
        later=("healed", _compared(incident)) if best else ("", ""),
        cites=(*incident.states(healed), *_last_writes(healed, incident)),
        **missing,
    )


def _emptied_hint(incident: QuizIncident) -> str:
    empty = [v for v in incident.offline if not v.isr]
    if not empty:
        return ""
    return (
        f" {plural(len(empty), 'ISR')} {agree(len(empty), 'is', 'are')} empty: if unclean election is allowed, any "
        "assigned broker may be elected there. Which broker was in it last?"
    )


def _last_writes(healed: Sequence[Verdict], incident: QuizIncident) -> tuple[str, ...]:
    """Return the transactions that last wrote a member into a now empty ISR."""
    found = (incident.last_in_sync.get((v.topic, v.partition)) for v in healed if not v.isr)
    return tuple(one.proof for one in found if one)[:CITED]


def _of_first(incident: QuizIncident) -> str:
    firsts = [choice.broker for choice in incident.best]
    each = f"{capitalised(brokers(firsts))} {agree(len(firsts), 'loses least', 'heal as many, each by its start alone')}"
    if dearer := [broker for broker in set(incident.heals) - {*firsts} if incident.heals[broker] >= incident.best[0].heals]:
        each = f"{each}: {'; '.join(_dearer(incident, broker) for broker in sorted(dearer))}."
    elif len(firsts) > 1:
        each = f"{each}."
    else:
        others = "no other heals as many" if len(incident.heals) > 1 else "no other is dead"
        each = f"{capitalised(brokers(firsts))} heals most: {others}."
    due = f"The election of {named(incident.due)} is due: any broker start triggers it." if incident.due else ""
    clean = "If the started broker is in the ISR, its election is clean and nothing is lost."
    return " ".join(filter(None, (_trap(incident), each, clean, due)))


def _dearer(incident: QuizIncident, broker: int) -> str:
    """Describe the price of starting another broker first that heals as many or more."""
    return f"broker {broker} would heal as many or more, and lead {named(incident.led_unclean(broker))} out of sync"


def _compared(incident: QuizIncident) -> str:
    """List how many each start would heal, and so how many remain."""
    return f"By number: {', '.join(f'broker {b} would heal {heals}' for b, heals in sorted(incident.heals.items()))}."


def _trap(incident: QuizIncident) -> str:
    """Describe the risk of an empty ISR: a start heals but may lose, as the last member has what the others lack."""
    empty = [v for v in incident.offline if not v.isr and len(v.waits_for) > 1]
    by_last: dict[tuple[int, ...], list[Verdict]] = {}
    for verdict in empty:
        by_last.setdefault(incident.in_sync_last(verdict), []).append(verdict)
    return " ".join(_of_emptied(last, found) for last, found in by_last.items())


def _of_emptied(last: tuple[int, ...], found: Sequence[Verdict]) -> str:
    whose = (
        f"The ISR of {named(found)} is empty, and unclean election is allowed: the first started replica is elected, in "
        "sync or not."
    )
    lacking = sorted({broker for verdict in found for broker in verdict.waits_for} - {*last})
    if not last:
        return f"{whose} The znodes do not show the last ISR: check ZooKeeper's own files and the logs before you start one."
    if not lacking:
        return whose
    return (
        f"{whose} This is the trap: before it was emptied it named {brokers(sorted(last))} and not {brokers(lacking)}, "
        f"which {agree(len(lacking), 'lacks', 'lack')} records that {brokers(sorted(last))} acknowledged meanwhile. If "
        f"{brokers(lacking)} started before {agree(len(last), 'it', 'them')}, {brokers(lacking)} would lead. "
        f"{capitalised(brokers(sorted(last)))} would then truncate {agree(len(last), 'its log', 'their logs')}, and "
        "those records would be lost."
    )


def _judge_first(incident: QuizIncident, answer: str) -> str:
    given = answers.brokers(answer)
    if len(given) != 1:
        return "One broker: the first."
    broker = next(iter(given))
    if broker in incident.cluster.live:
        return f"Broker {broker} is alive already."
    if broker not in incident.heals:
        return f"No assignment and no ISR names broker {broker}."
    if broker in {choice.broker for choice in incident.best}:
        return ""
    heals, lacking = incident.heals[broker], [v for v in incident.led_unclean(broker) if broker not in incident.in_sync_last(v)]
    cost = (
        (
            f"Started first, it would lead {named(lacking)} without having been in sync: records that it lacks there "
            "would be lost. "
        )
        if lacking
        else ""
    )
    if heals >= incident.best[0].heals:
        return f"{cost}Another broker would lose less."
    return f"{cost}It would heal {plural(heals, 'partition')}; another heals more." if heals else "Its start alone heals nothing."


def is_it_healed(incident: QuizIncident) -> QuizQuestion:
    """The partitions that remain after the best start."""
    missing = incident.missing() or ({} if incident.best else {"not_asked": "No start of a single broker heals a partition."})
    best = incident.best[0] if incident.best else None
    healed = set(incident.healed_by(best.broker)) if best else set()
    left = [v for v in incident.offline if v not in healed]
    return QuizQuestion(
        key="healed",
        title="Is it healed?",
        asks="The broker that is right to start first is up and registered. How many partitions in the whole cluster "
        f"are still without leader?{incident.leaves_out}",
        form="a number",
        hints=(
            "Count over all topics.",
            "A partition is still offline if no living broker is in its ISR, unless the ISR is empty and unclean "
            "election is allowed. Otherwise the start triggers the election.",
            f"{plural(len(incident.offline), 'partition')} {agree(len(incident.offline), 'was', 'were')} offline before.",
        ),
        judge=partial(_judge_left, incident, best.still_offline_after if best else 0),
        explanation=_of_left(left),
        later=("first", _needed(left)),
        cites=incident.states(left),
        **missing,
    )


def _of_left(left: Sequence[Verdict]) -> str:
    if not left:
        return (
            "None is left: with this one broker, every offline partition has a leader again. Replicas of other dead "
            "brokers are still missing from the ISR."
        )
    stuck = [verdict for verdict in left if not verdict.waits_for]
    alone = f" No start of a single broker heals {named(stuck)}." if stuck else ""
    return f"{plural(len(left), 'partition')} still {agree(len(left), 'waits', 'wait')}: {named(left)}.{alone}"


def _needed(left: Sequence[Verdict]) -> str:
    """Describe which brokers bring back the rest, whichever came first."""
    waiting = [verdict for verdict in left if verdict.waits_for]
    needed = brokers(sorted({broker for verdict in waiting for broker in verdict.waits_for}))
    return f"{agree(len(waiting), 'It needs', 'They need')} {needed}." if waiting else ""


def _judge_left(incident: QuizIncident, left: int, answer: str) -> str:
    given = answers.number(answer)
    if given >= len(incident.offline) and given != left:
        return "That start does heal something."
    return _fewer_or_more(given, left)


def what_if_unclean(incident: QuizIncident) -> QuizQuestion:
    """The partitions that would be elected unclean in the current state."""
    missing = incident.missing()
    supposed = _Unclean() if missing else _unclean(incident)
    return QuizQuestion(
        key="unclean",
        title="Would unclean election help now?",
        asks="A colleague proposes to allow unclean election for all topics instead, with the brokers that are alive "
        "now. How many of the offline partitions would get an out-of-sync leader?",
        form="a number",
        hints=(
            "Unclean election needs a living replica; it does not check whether it is in sync.",
            "Strike out the partitions whose replicas are all dead: nothing changes for them.",
            "For each other partition, check whether a living replica is in the ISR: then the election is clean. Count "
            "the partitions without one.",
        ),
        judge=partial(_judge_unclean, incident, supposed),
        explanation=_price(incident, supposed),
        cites=incident.states(supposed.elected),
        **missing,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unclean:
    """Offline partitions when unclean election is allowed.

    Args:
        elected: Led by an out-of-sync replica.
        clean: Led by an ISR member, as without unclean election.
        offline: Still without a leader.
    """

    elected: tuple[Verdict, ...] = ()
    clean: tuple[Verdict, ...] = ()
    offline: tuple[Verdict, ...] = ()


def _unclean(incident: QuizIncident) -> _Unclean:
    supposed = Supposition(alive=incident.cluster.live, unclean="on")
    replayed = what_if.replay(
        incident.cluster, incident.lead.version.version, incident.lead.verdicts, supposed, incident.lead.lacking
    )
    changes = {(change.topic, change.partition): change for change in replayed.changes}
    found = [(verdict, changes[verdict.topic, verdict.partition]) for verdict in incident.offline]
    return _Unclean(
        elected=tuple(verdict for verdict, change in found if change.healed and change.unclean),
        clean=tuple(verdict for verdict, change in found if change.healed and not change.unclean),
        offline=tuple(verdict for verdict, change in found if change.offline),
    )


def _judge_unclean(incident: QuizIncident, supposed: _Unclean, answer: str) -> str:
    given, right = answers.number(answer), len(supposed.elected)
    if given == len(incident.offline) and given != right:
        if any(not verdict.live_replicas for verdict in supposed.offline):
            return "Some of them have no living replica at all: no broker can be elected, unclean or not."
        if supposed.clean:
            return "Some of them have a living ISR member: the elected broker was in sync."
    return _fewer_or_more(given, right)


def _price(incident: QuizIncident, supposed: _Unclean) -> str:
    clean = (
        f" {named(supposed.clean)}: a member of the ISR is alive, so the election is clean, with or without that."
        if supposed.clean
        else ""
    )
    stay = f" {plural(len(supposed.offline), 'partition')} would stay without leader."
    if not supposed.elected:
        dead = not any(verdict.live_replicas for verdict in incident.offline)
        nobody = "None: no offline partition has a living replica." if dead else "No out-of-sync replica would be elected."
        return (
            f"{nobody}{clean}{'' if dead else stay} Allowing it would gain nothing now, and would remain a risk. Later, "
            "a stale replica could be elected while no ISR member is alive, and records that it lacks would be lost. "
            "The question about the broker to start first shows such a loss."
        )
    at_once = ENABLING_UNCLEAN_ELECTS["topic"].at(incident.lead.version.version)
    waits = "In this release, nothing happens until the next broker change or controller change"
    when = "The controller would elect at once" if at_once else waits
    return (
        f"{named(supposed.elected)}: a living replica was out of sync. All records that it lacks would be lost for "
        f"good, acknowledged or not. The znodes do not show how many; log dirs do (notebook 70).{clean}{stay} {when}."
    )


def what_never(incident: QuizIncident) -> QuizQuestion:
    """Never wipe the only copy."""
    last = [v for v in incident.offline if len(v.isr or ()) == 1 and set(v.isr) <= set(incident.lead.dead)]
    due = any(v.clean_winner is None and v.unclean_allowed and v.live_replicas for v in incident.offline)
    missing = incident.missing()
    if not missing and due:
        missing = {"not_asked": "An unclean election is due: more than one of these would lose records."}
    if not missing and not last:
        missing = {"not_asked": "No dead broker is known to be the only one with all records."}
    return QuizQuestion(
        key="never",
        title="What must you not do?",
        asks="One of these loses acknowledged records for good. Which one?",
        form="its short name",
        options=_DEEDS,
        hints=(
            "Which broker has the last acknowledged records?",
            "An ISR member counts as complete, even when it starts with an empty log.",
            "A clean election is safe because the winner's log is. Which of these changes a log?",
        ),
        judge=_judge_never,
        explanation=_of_wiping(last),
        cites=incident.states(last),
        **missing,
    )


def _of_wiping(last: Sequence[Verdict]) -> str:
    if not last:
        return ""
    one = f"{last[0].topic}-{last[0].partition} has broker {last[0].isr[0]} alone in its ISR"
    others = (
        f"; {plural(len(last) - 1, 'other')} {agree(len(last) - 1, 'hangs', 'hang')} on one dead broker like that"
        if len(last) > 1
        else ""
    )
    return (
        f"{one}{others}. If it started with an empty log dir, it would be elected clean, with an empty log, and every "
        "follower would truncate its log to that."
    )


def _judge_never(answer: str) -> str:
    return {
        "start": "A broker that starts with its logs leads partitions in which it was in sync: that election is clean.",
        "preferred": "It only moves leaders to the preferred replica if that one is alive and in sync: nothing is "
        "lost, and nothing gained here.",
        "controller": "The next controller elects by the same rules from the same states: nothing is lost, and rarely "
        "is anything gained.",
        "wipe": "",
    }[answers.choice(answer, _DEEDS)]


def _fewer_or_more(given: int, right: int) -> str:
    return "" if given == right else "Fewer than that." if given > right else "More than that."
