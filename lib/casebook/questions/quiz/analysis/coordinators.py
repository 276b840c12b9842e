"""Questions on the offsets topic and its coordinators.

    partition     which partition of the offsets topic a group belongs to
    coordinator   which broker coordinates the group
    load          which state its load is in
    largest       which partition is the largest
    cleaner       why the largest copy is not compacted, or which topic killed its cleaner
    together      which brokers must not be restarted together
    never         what can lose committed offsets

Coordinators and loads are those of notebook 50; sizes and cleaners are those of notebook 40.
"""

from collections.abc import Sequence
from functools import partial

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.proofs import state_path
from casebook.findings.words import agree, brokers, plural, size
from casebook.questions.coordinators.analysis.rows import LookUp
from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.questions.offsets_topic.analysis.cleaner import BLOCKED, RULES
from casebook.questions.quiz.analysis import answers, common
from casebook.questions.quiz.analysis.gates import known
from casebook.questions.quiz.analysis.offsets_incident import OffsetsIncident
from casebook.questions.quiz.analysis.quiz import QuizQuestion

_STATES = (
    (CoordinatorState.SERVED.value, "The partition is loaded: the coordinator answers"),
    (CoordinatorState.LOADING.value, "The coordinator reads the partition now"),
    (CoordinatorState.QUEUED.value, "The coordinator reads another partition first"),
    (CoordinatorState.FAILED.value, "The load ended with an error"),
    (CoordinatorState.MOVED.value, "Another broker has become the coordinator"),
    (CoordinatorState.LEADERLESS.value, "The partition has no leader, so the group has no coordinator"),
    (CoordinatorState.LOADING_FOR_EVER.value, "The load can never end: a batch is larger than the load buffer"),
)
_RULES = tuple((rule, RULES[rule]) for rule in (*BLOCKED, "C7", "C8", "C9"))
_DEEDS = (
    ("wait", "Wait until each coordinator has loaded its partitions"),
    ("rolling", "Restart one broker, and the next one when all replicas are in sync again"),
    ("buffer", "Raise log.cleaner.dedupe.buffer.size, and restart a broker with a dead cleaner"),
    ("delete", "Delete the closed segments of the largest partition, to make its load short"),
)


def questions(case: OffsetsIncident) -> tuple[QuizQuestion, ...]:
    """Return the questions on a case, in order."""
    group = case.groups[0]
    return (
        _partition(group),
        _coordinator(group),
        _load(group),
        _largest(case),
        _cleaner(case),
        _together(case),
        _never(case),
    )


def _partition(group: LookUp) -> QuizQuestion:
    total = group.topic.count
    return QuizQuestion(
        key="partition",
        title="Where are its offsets?",
        asks=f"To which partition of {OFFSETS_TOPIC} does group {group.group} commit?",
        form="a name or a number",
        hints=(
            "The hash of the group's name decides. It does not matter what the group consumes.",
            "Divide the hash, without its sign, by the number of partitions.",
            "The remainder is the partition.",
        ),
        judge=partial(_judge_one, {group.partition}),
        explanation=f"{abs(group.hash)} mod {total} is {group.partition}.",
        cites=(f"/brokers/topics/{OFFSETS_TOPIC}",),
        **known(None if group.topic.assumed else group.partition, f"The partitions of {OFFSETS_TOPIC} are not in this evidence."),
    )


def _judge_one(right: set[int | None], answer: str) -> str:
    given = answers.partitions(answer, OFFSETS_TOPIC)
    if len(given) != 1:
        return "One partition."
    return "" if given <= right else "It is another partition."


def _coordinator(group: LookUp) -> QuizQuestion:
    judged = group.waiting.judged if group.waiting else None
    coordinator = judged.coordinator if judged else None
    without = judged is not None and judged.state is CoordinatorState.LEADERLESS
    missing = {} if without else known(coordinator, "The leader of its partition is not in this evidence.")
    right = [coordinator] if coordinator is not None and not without else []
    return QuizQuestion(
        key="coordinator",
        title="Who answers the group?",
        asks=f"Which broker is the coordinator of group {group.group}?",
        form="one id, or none",
        hints=(
            "Each partition of the offsets topic has one coordinator for all of its groups.",
            "The leader of the partition is the coordinator.",
            "Find the partition of the group first, then its leader.",
        ),
        judge=partial(common.exactly, right),
        explanation=f"Broker {coordinator} leads {OFFSETS_TOPIC}-{group.partition}."
        if right
        else f"{OFFSETS_TOPIC}-{group.partition} has no living leader: the group has no coordinator.",
        cites=(state_path(OFFSETS_TOPIC, group.partition),) if group.partition is not None else (),
        **missing,
    )


def _load(group: LookUp) -> QuizQuestion:
    judged = group.waiting.judged if group.waiting else None
    state = judged.state if judged and judged.state is not CoordinatorState.UNKNOWN else None
    return QuizQuestion(
        key="load",
        title="Why does it not answer?",
        asks=f"Which state is the partition of group {group.group} in?",
        form="its short name",
        options=_STATES,
        hints=(
            "A coordinator logs the begin and the end of each load.",
            "A broker loads one partition after the other.",
            "Look for the last line on this partition in the log of its leader, and for other loads there.",
        ),
        judge=partial(_judge_state, state),
        explanation=f"{state.value}: {judged.why}" if state else "",
        cites=(judged.proof.label,) if state and judged.proof else (),
        **known(state, "The log of its leader does not show the load."),
    )


def _judge_state(state: CoordinatorState | None, answer: str) -> str:
    given = answers.choice(answer, _STATES)
    return "" if given == state else "The log lines of its leader show another state."


def _largest(case: OffsetsIncident) -> QuizQuestion:
    one = case.largest
    right = {row.partition for row in case.topic.partitions if one and row.bytes == one.bytes}
    return QuizQuestion(
        key="largest",
        title="What takes the room?",
        asks=f"Which partition of {OFFSETS_TOPIC} has the largest copy?",
        form="a name or a number",
        hints=(
            "Each broker compacts its own copy: two copies of a partition can have very different sizes.",
            "Compare the sizes of all copies, not only of those of the leaders.",
            "Sort the copies by size.",
        ),
        judge=partial(_judge_one, right),
        explanation=f"{OFFSETS_TOPIC}-{one.partition} on broker {one.broker}: {size(one.bytes)} in "
        f"{plural(one.segments, 'segment')}."
        if one
        else "",
        **case.missing_copies(),
    )


def _cleaner(case: OffsetsIncident) -> QuizQuestion:
    one = case.largest
    compacted = next((finding for finding in case.topic.findings if finding.check == "offsets_topic.compacted"), None)
    killer = compacted.facts.get("died_on") if compacted and one and one.rule == "C3" else None
    missing = case.missing_copies() or (known(None, one.why) if one.rule == "C0" else {})
    options = _topics(case) if killer else _RULES
    right = str(killer).rpartition("-")[0] if killer else one.rule if one else ""
    what = f"{OFFSETS_TOPIC}-{one.partition} on broker {one.broker}" if one else "the largest copy"
    return QuizQuestion(
        key="cleaner",
        title="Why is it not compacted?",
        asks=f"The log cleaner of broker {one.broker} died. Which topic has the segment that killed it?"
        if killer
        else f"Why is {what} as large as it is?",
        form="its short name",
        options=options,
        hints=(
            "The log cleaner removes superseded records, if it is switched on and alive.",
            "Check log.cleaner.enable first, then the lines of the log cleaner.",
            "The cause of a death stands in the line below the error.",
        ),
        judge=partial(_judge_option, right, options),
        explanation=f"{one.rule}: {RULES[one.rule]} {one.why}" if one else "",
        cites=tuple(proof.label for proof in compacted.evidence)[:3] if compacted else (),
        **missing,
    )


def _topics(case: OffsetsIncident) -> tuple[tuple[str, str], ...]:
    names = sorted({partition.topic for partition in case.held.cluster.partitions})
    return tuple((name, f"Topic {name}") for name in names)


def _judge_option(right: str, options: Sequence[tuple[str, str]], answer: str) -> str:
    return "" if answers.choice(answer, options) == right else "Settings and log lines of that broker show another cause."


def _together(case: OffsetsIncident) -> QuizQuestion:
    most = min(map(len, case.least), default=0)
    example = sorted(min(case.least, key=sorted)) if case.least else []
    return QuizQuestion(
        key="together",
        title="Which brokers must not be down together?",
        asks=f"Which brokers must not be down together, so that each partition of {OFFSETS_TOPIC} keeps a coordinator? "
        "Name as few as possible: one such set is enough, and it may be a single broker.",
        form="ids, separated by commas",
        hints=(
            "A partition keeps a coordinator as long as a member of its ISR is alive.",
            "Find the partitions with the fewest brokers in the ISR.",
            f"{plural(most, 'broker')} {agree(most, 'is', 'are')} enough.",
        ),
        judge=partial(_judge_together, case.least, {frozenset(one.isr) for one in case.judged if one.isr}),
        explanation=f"{_sets(case.least)}. With {brokers(example)} down, no member of an ISR is left for "
        f"{plural(_hit(case, example), 'partition')}.",
        cites=tuple(state_path(OFFSETS_TOPIC, one.partition) for one in case.judged if one.isr and set(one.isr) <= {*example})[
            :3
        ],
        **known(example or None, f"The ISRs of {OFFSETS_TOPIC} are not in this evidence."),
    )


def _sets(least: frozenset[frozenset[int]]) -> str:
    return " or ".join(brokers(sorted(one)) for one in sorted(least, key=sorted)).capitalize()


def _hit(case: OffsetsIncident, down: Sequence[int]) -> int:
    return sum(bool(one.isr) and set(one.isr) <= {*down} for one in case.judged)


def _judge_together(least: frozenset[frozenset[int]], every: set[frozenset[int]], answer: str) -> str:
    given = answers.brokers(answer)
    if given in least:
        return ""
    if not any(one <= given for one in every):
        return "With these down, each partition still has a living member in its ISR."
    return "That is more than needed: fewer brokers are enough."


def _never(case: OffsetsIncident) -> QuizQuestion:
    one = case.largest
    safe = one is not None and one.safe_segments is not None and one.safe_segments >= one.segments - 1
    missing = case.missing_copies()
    if not missing and (one.segments < 2 or safe):
        missing = {"not_asked": "No closed segment has a commit that counts."}
    return QuizQuestion(
        key="never",
        title="What must you not do?",
        asks="One of these can lose committed offsets. Which one?",
        form="its short name",
        options=_DEEDS,
        hints=(
            "A commit is a record in a segment.",
            "The latest commit of a group can be old: a group that rests does not commit.",
            "Which of these removes records that no compaction has checked?",
        ),
        judge=_judge_never,
        explanation=f"{OFFSETS_TOPIC}-{one.partition} on broker {one.broker} has {plural(one.segments - 1, 'closed segment')}. "
        "The latest commit of a group may be in any of them. Without it, auto.offset.reset decides what the group skips or "
        "repeats. Notebook 40 shows which segments are safe to remove."
        if one
        else "",
        **missing,
    )


def _judge_never(answer: str) -> str:
    return {
        "wait": "Waiting loses no commit: the groups are served when the loads end.",
        "rolling": "Commits stay on disk. Groups wait while their coordinator restarts and loads.",
        "buffer": "A cleaner only removes superseded records. The latest commit of each group stays.",
        "delete": "",
    }[answers.choice(answer, _DEEDS)]
