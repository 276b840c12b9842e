"""Questions on records that were lost when a leader was replaced while it still acknowledged them.

    broker    which leader lost its session
    window    from when to when two brokers could take writes to one partition
    moved     to which partitions of a topic two brokers could take writes
    cut       where the old leader truncated its log
    lost      how many acknowledged records are lost
    inside    how many of them a window with two leaders explains
    setting   which setting would have refused them

Windows are those of notebook 60; truncations, lost records and causes are those of notebook 70.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.losses import Cause, CutRange
from casebook.findings.words import agree, brokers, capitalised, clock_ms, count, listed, plural
from casebook.kafka.past_rows import Window, WindowKind
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.quiz.analysis import common
from casebook.questions.quiz.analysis.exhibit import Exhibit
from casebook.questions.quiz.analysis.gates import gate, known
from casebook.questions.quiz.analysis.quiz import QuizQuestion
from casebook.questions.timeline.analysis.timeline import Timeline

_OF_SESSIONS = ("zk_silent", "zk_state", "zk_session_expired", "zk_session_established", "zks_session_expiring")
_OF_LEADERS = ("broker_registered", "broker_failure", "leader_elected", "truncated")
_MARGIN = 10_000
"""Milliseconds before and after the windows whose log lines are shown."""
_MOST = 60


@dataclass(frozen=True, kw_only=True)
class ReplacedLeader:
    """The case: its past, and its lost records."""

    past: Timeline
    loss: MessageLoss

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Windows with two leaders that no operator planned."""
        return tuple(w for w in self.past.windows if w.kind is WindowKind.TWO_LEADERS and not w.planned)

    @cached_property
    def cuts(self) -> dict[tuple[str, int], CutRange]:
        """Truncations by the old leader, by partition."""
        old = {(window.topic, window.partition): window.old_leader for window in self.windows}
        return {(c.topic, c.partition): c for c in self.loss.cut_ranges if c.broker == old.get((c.topic, c.partition))}

    @cached_property
    def asked(self) -> Window | None:
        """The window to ask about: with most known of it, of the topic with most windows."""
        of_topic = Counter(window.topic for window in self.windows)

        def worth(window: Window) -> tuple[object, ...]:
            is_cut = (window.topic, window.partition) in self.cuts
            return not is_cut, window.closed is None, window.topic == OFFSETS_TOPIC, -of_topic[window.topic], window.partition

        return min(self.windows, key=worth, default=None)

    def missing(self) -> dict[str, str]:
        """Return why windows are unknown, or that there is none."""
        return gate(self.past.findings, "timeline.two_leaders") or (
            {} if self.windows else {"not_asked": "Each leader was replaced as planned by an operator."}
        )


def questions(case: ReplacedLeader) -> tuple[QuizQuestion, ...]:
    """Return the questions on a case, in order."""
    return (_broker(case), _window(case), _moved(case), _cut(case), _lost(case), _inside(case), common.refused_by(case.loss))


def _broker(case: ReplacedLeader) -> QuizQuestion:
    old = sorted({w.old_leader for w in case.windows if w.old_leader is not None})
    return QuizQuestion(
        key="broker",
        title="Which leader was replaced?",
        asks="Which broker lost its session with ZooKeeper, and led partitions at that time?",
        form="ids, separated by commas",
        hints=(
            "A broker keeps its session by a sign of life. ZooKeeper ends the session when none arrives for its timeout.",
            "Look for a session that expired. Which broker opened a new one afterwards?",
            f"{plural(len(old), 'broker')}: see the log lines about ZooKeeper's sessions.",
        ),
        judge=partial(common.exactly, old),
        explanation=f"{capitalised(brokers(old))} did not answer in time. ZooKeeper ended "
        f"{agree(len(old), 'its session', 'their sessions')}, and the controller elected other leaders.",
        cites=tuple(dict.fromkeys(w.opened_proof for w in case.windows))[:3],
        **case.missing(),
    )


def _window(case: ReplacedLeader) -> QuizQuestion:
    one = case.asked
    missing = case.missing() or known(one.closed, f"When broker {one.old_leader} gave up is not in this evidence.")
    name = "" if one is None else f"{one.topic}-{one.partition}"
    both = () if missing else (one.opened, one.closed)
    return common.time_question(
        "window",
        "When could two brokers take writes?",
        f"From when to when could two brokers take writes to {name or 'one partition'}?",
        both,
        hints=(
            "The old leader does not know yet that it was replaced.",
            "The time begins with the election of the next leader.",
            "It ends when the old leader follows: then it truncates its log.",
        ),
        explanation=f"{clock_ms(one.opened)} to {clock_ms(one.closed)}: from the election of broker {one.new_leader} "
        f"until broker {one.old_leader} gave up."
        if both
        else "",
        cites=(one.opened_proof, one.closed_proof) if both else (),
        **missing,
    )


def _moved(case: ReplacedLeader) -> QuizQuestion:
    missing, topic = case.missing(), case.asked.topic if case.asked else ""
    hit = {w.partition for w in case.windows if w.topic == topic}
    right = {p.partition: p.partition in hit for p in case.past.cluster.partitions if p.topic == topic}
    return QuizQuestion(
        key="moved",
        title="Which partitions were at risk?",
        asks=f"To which partitions of topic {topic} could two brokers take writes?",
        form="names or numbers, separated by commas",
        hints=(
            "Only a leader takes writes. Which partitions did the replaced broker lead?",
            "Look for the partitions with a change of leader.",
            f"{plural(len(hit), 'partition')} of {len(right)}.",
        ),
        judge=partial(
            common.partitions_of, right, topic, but="{} had one leader at a time: the replaced broker was not its leader."
        ),
        explanation=f"{', '.join(f'{topic}-{number}' for number in sorted(hit))}: the replaced broker led "
        f"{agree(len(hit), 'it', 'them')}, and another broker was elected.",
        cites=tuple(w.opened_proof for w in case.windows if w.topic == topic)[:3],
        **missing,
    )


def _cut(case: ReplacedLeader) -> QuizQuestion:
    one = case.asked
    cut = case.cuts.get((one.topic, one.partition)) if one else None
    name = f"{one.topic}-{one.partition}" if one else ""
    missing = case.missing() or known(cut, f"No log shows where broker {one.old_leader} truncated {name}.")
    return QuizQuestion(
        key="cut",
        title="Where was the log cut?",
        asks=f"To which offset did broker {one.old_leader} truncate {name}?" if one else "Where was the log truncated?",
        form="an offset",
        hints=(
            "A broker that becomes a follower truncates its log to what the next leader can have.",
            "Look for its log line when it returned, not for those of the other brokers.",
            f"The line is in the log of broker {one.old_leader}." if one else "",
        ),
        judge=partial(common.fewer_or_more, cut.from_offset) if cut else lambda _: "",
        explanation=f"Offset {count(cut.from_offset)}. The next leader does not have what broker {cut.broker} had from there on."
        if cut
        else "",
        cites=(cut.proof,) if cut else (),
        **missing,
    )


def _lost(case: ReplacedLeader) -> QuizQuestion:
    total = case.loss.lost_total or 0
    return QuizQuestion(
        key="lost",
        title="How much is lost?",
        asks="How many acknowledged records are in no log?",
        form="a number",
        hints=(
            "Compare the applications' ledger with what is stored.",
            "Subtract for each partition. A record that a producer reported as failed is not lost.",
            "Add up all partitions.",
        ),
        judge=partial(common.fewer_or_more, total),
        explanation=f"{count(total)} of {plural(case.loss.acked or 0, 'acknowledged record')}.",
        **common.of_lost(case.loss),
    )


def _inside(case: ReplacedLeader) -> QuizQuestion:
    inside = common.lost_by(case.loss, Cause.DEPOSED_LEADER)
    total = case.loss.lost_total or 0
    rest = total - inside
    left = (
        f"{count(rest)} {agree(rest, 'has', 'have')} another cause, or none." if rest else "No record is lost for another reason."
    )
    return QuizQuestion(
        key="inside",
        title="Does that explain all of it?",
        asks="How many of the lost records fall into a time with two leaders of their partition?",
        form="a number",
        hints=(
            "Compare the times at which they were acknowledged with the times of two leaders.",
            "A lost record outside these times needs another explanation.",
            "Compare partition by partition.",
        ),
        judge=partial(common.fewer_or_more, inside),
        explanation=f"{count(inside)} of {count(total)}. {left}",
        cites=tuple(w.closed_proof for w in case.windows)[:3],
        **common.of_lost(case.loss),
    )


def exhibits(case: ReplacedLeader) -> tuple[Exhibit, ...]:
    """Return the evidence for the questions: log lines, states and the ledger, without interpretation."""
    return (_lines(case), _states(case), *ledger(case.loss))


def _lines(case: ReplacedLeader) -> Exhibit:
    opened = min((w.opened for w in case.windows), default=0) - _MARGIN
    closed = max((w.closed or w.opened for w in case.windows), default=0) + _MARGIN
    seen = [
        e
        for e in case.past.rows
        if e.at is not None and opened <= e.at <= closed and e.kind in (*_OF_SESSIONS, *_OF_LEADERS) and e.line
    ]
    return Exhibit(
        name="quiz-lines",
        takeaway=f"{plural(len(seen), 'log line')} about sessions, elections and truncations.",
        reading="Times are UTC, by ZooKeeper's clock where it is known.",
        columns=("Time", "Log of", "Line"),
        rows=tuple((clock_ms(e.at), _owner(e.source, e.broker), e.text.splitlines()[0]) for e in seen[:_MOST]),
    )


def _owner(source: str, broker: int | None) -> str:
    return source if broker is None else f"broker {broker}"


def _states(case: ReplacedLeader) -> Exhibit:
    topics = {w.topic for w in case.windows} | {row.topic for row in case.loss.classes}
    return states(case.past, topics)


def states(past: Timeline, topics: Collection[str] = ()) -> Exhibit:
    """Return the states of partitions in order of time.

    Args:
        topics: Their topics; empty for all.
    """
    rows = [row for row in past.partition_history if not topics or row.topic in topics]
    return Exhibit(
        name="quiz-states",
        takeaway=f"{plural(len(rows), 'state')} of {plural(len({(r.topic, r.partition) for r in rows}), 'partition')}.",
        reading="As ZooKeeper's history or the controller's log has them; times are UTC.",
        columns=("Partition", "When", "Leader", "ISR", "Leader epoch"),
        rows=tuple(
            (
                f"{row.topic}-{row.partition}",
                clock_ms(row.time),
                "–1" if row.leader is None else row.leader,
                listed(row.isr or ()),
                "–" if row.leader_epoch is None else row.leader_epoch,
            )
            for row in rows
        ),
    )


def ledger(loss: MessageLoss) -> tuple[Exhibit, ...]:
    """Return the number of acknowledged and of stored records, and when the others were acknowledged; none without ledger."""
    if loss.acked is None:
        return ()
    places = sorted({(row.topic, -1 if row.partition is None else row.partition) for row in loss.classes})
    return (
        Exhibit(
            name="quiz-ledger",
            takeaway=f"The ledger has {plural(loss.acked, 'acknowledged record')}.",
            reading="The applications' ledger, compared with the logs. Records that a producer reported as failed are left out.",
            columns=("Partition", "Acknowledged", "Of these in a log", "Others: acknowledged from", "to"),
            rows=tuple(_of_place(loss, topic, partition) for topic, partition in places),
        ),
    )


def _of_place(loss: MessageLoss, topic: str, partition: int) -> tuple[str | int, ...]:
    own = {row.verdict: row.records for row in loss.classes if (row.topic, row.partition) == (topic, partition)}
    stored = own.get("stored", 0)
    gone = own.get("lost", 0) + own.get("alarm", 0)
    at = [row.at for row in loss.counts if (row.topic, row.partition) == (topic, partition) and row.at is not None]
    times = (clock_ms(min(at)), clock_ms(max(at))) if at else ("–", "–")
    return (f"{topic}-{partition}", stored + gone, stored, *times)
