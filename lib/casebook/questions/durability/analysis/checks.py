"""Checks on durability, rule by rule."""

from collections.abc import Iterable, Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity, Step
from casebook.findings.proof import assumed, proof
from casebook.findings.words import agree, brokers, count, duration, plural, size
from casebook.kafka.past import Past
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.questions.durability.analysis.cluster_rules import IN_QUIET
from casebook.questions.durability.analysis.rows import Exposure, IsrAlone, LossVerdict, SettingRow
from casebook.questions.durability.analysis.rules import CLUSTER, CONSUMER, PAIR, PRODUCER, RULES, TOPIC, Rule
from casebook.questions.durability.analysis.scene import HOLDS, LOSES, UNKNOWN, DurabilityInputs
from casebook.questions.durability.analysis.settings import disagreeing
from casebook.questions.durability.analysis.verdicts import RuleAnswer, rows
from casebook.questions.timeline.analysis.extent import behind_its_end

_SHOWN = 5
_OF_BROKERS = "tables/settings"
SETTLE = {
    TOPIC: "Add server.properties of every broker, and the settings of topics: casebook collect ... --properties 1=FILE.",
    CLUSTER: "Add server.properties of every broker: casebook collect --properties 1=FILE.",
    PAIR: "Set the client's library and release: -p clients='NAME=java 2.8.1'.",
    PRODUCER: "Set the client's library and release: -p clients='NAME=java 2.8.1'.",
    CONSUMER: "Set the client's library and release: -p clients='NAME=java 2.8.1'.",
}
"""Evidence that would settle a rule, by its scope."""
_WHO = {TOPIC: "topic", PAIR: "producer", PRODUCER: "producer", CONSUMER: "consumer"}
_SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)


def of_rules(scene: DurabilityInputs, found: Sequence[RuleAnswer]) -> tuple[Finding, ...]:
    """Return one finding per rule."""
    by_rule: dict[str, list[RuleAnswer]] = {rule: [] for rule in RULES}
    for answer in found:
        by_rule[answer.rule].append(answer)
    return tuple(_of_rule(scene, RULES[rule], asked) for rule, asked in by_rule.items())


_GIVE_FILES = "Add their properties or YAML files: casebook collect --client NAME=FILE."


def _of_rule(scene: DurabilityInputs, rule: Rule, asked: Sequence[RuleAnswer]) -> Finding:
    by: dict[str, list[RuleAnswer]] = {}
    for answer in asked:
        by.setdefault(answer.judged.outcome, []).append(answer)
    hit, missing, well = by.get(LOSES, []), by.get(UNKNOWN, []), by.get(HOLDS, [])
    looked = [*hit, *missing, *well]
    ask = Question(
        check=f"durability.{rule.name}",
        question=f"{rule.id}: {rule.asks}",
        coverage=_coverage(rule, [*hit, *well], looked),
        threshold=rule.says,
        facts={
            "rule": rule.id,
            "found": len(_subjects(rule, hit)),
            "unknown": len(_subjects(rule, missing)),
            "subjects": _subjects(rule, hit)[:100],
        },
        caveats=caveats(scene, rule),
    )
    if hit:
        worst = sorted(rows(hit), key=lambda row: row.severity != "critical")
        severity = min((Severity(row.severity) for row in worst if row.severity), key=_SEVERITIES.index)
        return ask.found(
            severity,
            _title(rule, _subjects(rule, hit), _subjects(rule, looked), hit),
            why=worst[0].sentence,
            evidence=evidence(worst),
            next=steps(worst),
        )
    if missing:
        title = f"{rule.id}, {rule.head}: {_many(rule, missing)} could not be judged"
        return ask.could_not_check(title, why=missing[0].judged.sentence, settle=settle(rule, missing[0].judged.proof))
    return ask.nothing_in(well, _well(rule, well), gaps=_gaps(rule, scene))


def _gaps(rule: Rule, scene: DurabilityInputs) -> tuple[Gap, ...]:
    """Return why topics, brokers or client settings may be unseen."""
    if rule.scope not in (TOPIC, CLUSTER):
        return _of_unknown_clients(scene)
    gaps = coverage.partitions(scene.cluster)
    return (*gaps, *coverage.registrations(scene.cluster)) if rule.scope == CLUSTER else gaps


def _of_unknown_clients(scene: DurabilityInputs) -> tuple[Gap, ...]:
    return tuple(
        Gap(why=f"The collected files do not contain the configuration of {name}.", settle=_GIVE_FILES) for name in scene.untold
    )


def settle(rule: Rule, proof: str) -> str:
    """Return what would settle it: for a client, also its brokers' startup settings, if these are unknown."""
    return SETTLE[CLUSTER] if proof == _OF_BROKERS and rule.scope != TOPIC else SETTLE[rule.scope]


def _well(rule: Rule, well: Sequence[RuleAnswer]) -> str:
    if rule.scope == CLUSTER and well:
        return f"{rule.id}: {well[0].judged.sentence}"
    return f"{rule.id}, {rule.head}: none of {_many(rule, well)}" if well else ""


def _subjects(rule: Rule, asked: Iterable[RuleAnswer]) -> list[str]:
    """Return its subjects, each once; for topics and producers, the producers."""
    named = ((a.topic if rule.scope == TOPIC else a.producer or a.consumer) or "the cluster" for a in asked)
    return list(dict.fromkeys(named))


def _coverage(rule: Rule, judged: Sequence[RuleAnswer], looked: Sequence[RuleAnswer]) -> Coverage:
    by = (Source.CLIENTS,) if rule.scope in (PRODUCER, CONSUMER) else (Source.SETTINGS, Source.ZNODES)
    noun = _WHO.get(rule.scope, "cluster")
    return Coverage.counted(len(_subjects(rule, judged)), len(_subjects(rule, looked)), noun, *by)


def _many(rule: Rule, asked: Sequence[RuleAnswer]) -> str:
    return "the cluster" if rule.scope == CLUSTER else plural(len(_subjects(rule, asked)), _WHO[rule.scope])


def _title(rule: Rule, hit: Sequence[str], of: Sequence[str], found: Sequence[RuleAnswer]) -> str:
    if rule.scope == CLUSTER:
        return f"The cluster has {rule.has}"
    whole = f"{count(len(hit))} of {plural(len(of), _WHO[rule.scope])} {agree(len(hit), 'has', 'have')} {rule.has}"
    partitions = {answer.topic for answer in found} if rule.scope == PAIR else ()
    return f"{whole} ({plural(len(partitions), 'topic')})" if partitions else whole


def caveats(scene: DurabilityInputs, rule: Rule) -> tuple[str, ...]:
    """Return the assumptions of an answer, when some brokers' settings were not collected."""
    if rule.scope not in (TOPIC, CLUSTER):
        return ()
    return () if set(scene.brokers) <= scene.cluster.known_in_full else assumed([BUILT_IN_ASSUMED])


def evidence(found: Sequence[LossVerdict]) -> tuple[Evidence, ...]:
    """Return the proofs of verdicts, each once, and the table of all."""
    proofs = dict.fromkeys(row.proof for row in found)
    named = [proof(text) for text in list(proofs)[:_SHOWN] if not text.startswith("tables/")]
    return (*named, Evidence(file="tables/loss_verdicts"))


def steps(found: Sequence[LossVerdict]) -> tuple[Step, ...]:
    """Return the smallest change that fixes the worst of them, with its topic where only the command has it."""
    worst = found[0]
    text, _, command = worst.smallest_change.partition(": bin/")
    where = f" on {worst.topic}" if worst.topic and command and worst.topic not in text else ""
    like = f" {plural(len(found) - 1, 'more verdict')}: tables/loss_verdicts." if len(found) > 1 else ""
    cost = f" Cost: {worst.cost}" if worst.cost else ""
    return (Step(kind="first", text=f"{text.rstrip('.')}{where}.{cost}{like}", command=f"bin/{command}" if command else None),)


def brokers_agree(scene: DurabilityInputs, found: Sequence[SettingRow]) -> Finding:
    """Do all brokers have the same settings?"""
    differ = disagreeing(found)
    missing = [broker for broker in scene.brokers if broker not in scene.cluster.known_in_full]
    ask = Question(
        check="durability.brokers_agree",
        question="Do all brokers have the same durability settings?",
        coverage=Coverage.counted(
            len(scene.brokers) - len(missing), len(scene.brokers), "broker", Source.SETTINGS, Source.ZNODES
        ),
        threshold="a setting with two values",
        facts={"settings": sorted(differ)},
        evidence=(Evidence(file="tables/settings"),),
    )
    if not differ and missing:
        title = f"Agreement of the brokers is unknown: the settings of {brokers(missing)} were not collected"
        return ask.could_not_check(title, settle=SETTLE[CLUSTER])
    if not differ:
        gaps = (*coverage.overrides(scene.cluster, "brokers"), *coverage.partitions(scene.cluster))  # also names dead brokers
        return ask.nothing_in(found, "All brokers agree in every setting", gaps=gaps)
    key = min(differ, key=lambda name: (name not in _DECISIVE, name))
    values = "; ".join(f"{value or 'not set'} on {brokers(of)}" for value, of in differ[key].items())
    return ask.found(
        Severity.WARNING if _DECISIVE & differ.keys() else Severity.INFO,
        f"Brokers disagree in {plural(len(differ), 'setting')}: a topic's value depends on its leader",
        why=f"{key}: {values}.",
        next=(Step(kind="first", text=f"Set the same value on every broker, and restart those that differ {IN_QUIET}."),),
    )


_DECISIVE = {
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "default.replication.factor",
    "inter.broker.protocol.version",
}


def exposed(scene: DurabilityInputs, found: Sequence[Exposure]) -> Finding:
    """What is lost with one broker?"""
    ask = Question(
        check="durability.exposure",
        question="What is lost for good with the disks of a single broker?",
        coverage=Coverage.every(len(scene.cluster.partitions), "partition", Source.ZNODES),
        threshold="an only copy",
        facts={
            "brokers": [row.broker for row in found],
            "partitions": [row.partitions for row in found],
            "bytes": [row.bytes for row in found],
        },
        evidence=(Evidence(file="tables/single_copies"),),
    )
    if not found:
        gaps = coverage.states(scene.cluster)
        return ask.nothing_in(scene.cluster.partitions, "No broker holds an only copy", gaps=gaps)
    worst = found[0]
    much = "of unknown size" if worst.bytes is None else f"with {size(worst.bytes)}"
    return ask.found(
        Severity.WARNING,
        f"{plural(len(found), 'broker')} {agree(len(found), 'holds', 'hold')} only copies: broker {worst.broker} alone "
        f"{plural(worst.partitions, 'partition')} of {plural(len(worst.topics), 'topic')}, {much}",
        why=f"They belong to {', '.join(worst.topics[:_SHOWN])}{' and others' if len(worst.topics) > _SHOWN else ''}.",
        next=(Step(kind="first", text="Give these topics replication factor 3 before any work on these brokers."),),
    )


def history(found: Sequence[IsrAlone], gone: Past | None, cluster: Cluster) -> Finding:
    """How long was acks=all acks=1?

    Args:
        gone: ZooKeeper's history; ``None`` without one.
    """
    told = gone is not None
    missing = (*coverage.history(gone, cluster), *behind_its_end(gone, cluster)) if told else ()
    known, unknown = [row for row in found if row.min_isr is not None], [row for row in found if row.min_isr is None]
    ask = Question(
        check="durability.isr_alone",
        question="How long was acks=all only acks=1, because the ISR was the leader alone?",
        coverage=Coverage(seen=int(told), of=1, what="history", by=(Source.HISTORY,) if told else ()),
        threshold="an ISR of one, with min.insync.replicas 1",
        facts={
            "partitions": len(known) if told else None,
            "milliseconds": sum(row.milliseconds for row in known) if told else None,
            "open": sum(row.open for row in known) if told else None,
            "unknown": len(unknown) if told else None,
        },
    )
    if not told:
        return ask.could_not_check(
            "Past ISRs of one are unknown",
            why="The case has no history of the cluster.",
            settle=coverage.history_from(cluster),
        )
    if not found and gone.observed:
        return ask.could_not_check(
            "ISRs between snapshots of ZooKeeper are unknown",
            why=missing[0].why,
            settle=missing[0].settle,
        )
    if not found:
        return ask.ok("acks=all never became acks=1 in this history", gaps=missing)
    if not known:
        return ask.could_not_check(
            f"For {plural(len(unknown), 'partition')}, it is unknown whether acks=all was acks=1",
            why="The ISR was the leader alone; the min.insync.replicas of that time is unknown.",
            settle=SETTLE[TOPIC],
            evidence=(Evidence(file="tables/isr_alone"),),
        )
    still = sum(row.open for row in known)
    least = any(row.at_most > row.milliseconds for row in known)
    return ask.found(
        Severity.WARNING,
        f"acks=all was acks=1 in {'at least ' if missing else ''}{plural(len(known), 'partition')}{_longest(known)}",
        why="The ISR was the leader alone, and min.insync.replicas allowed it to acknowledge."
        + (f" {plural(still, 'partition')} {agree(still, 'was', 'were')} still in that state at the end." if still else "")
        + (f" For {plural(len(unknown), 'partition')}, the min.insync.replicas of that time is unknown." if unknown else ""),
        evidence=(Evidence(file="tables/isr_alone"),),
        next=(Step(kind="first", text="Set min.insync.replicas=2 on these topics, once all replicas are in sync (rule D4)."),),
        caveats=(
            "Time is counted from ISR changes in ZooKeeper. Notebook 70 shows what was written in that time.",
            *(f"Durations are lower bounds. {gap.why}" for gap in missing[: int(least)]),
        ),
    )


def _longest(known: Sequence[IsrAlone]) -> str:
    """Return the longest certain case, else the longest possible one, with its duration; it comes first."""
    worst = known[0]
    certain = all(other.at_most <= worst.milliseconds for other in known[1:])
    return f", {'longest' if certain else 'as'} in {worst.topic}-{worst.partition}: {_lasted(worst)}"


def _lasted(row: IsrAlone) -> str:
    """Format the duration; a state that lasted to the end of the history lasted longer."""
    if row.open:
        return f"at least {duration(row.milliseconds)}" if row.milliseconds else "of unknown length"
    if row.at_most == row.milliseconds:
        return duration(row.milliseconds)
    return f"at least {duration(row.milliseconds)}, at most {duration(row.at_most)}"


def clients(scene: DurabilityInputs) -> Finding:
    """Are the settings of producers and consumers known?"""
    unknown = [c.name for c in scene.clients if any(value.value is None for value in c.values.values())]
    problems = [problem for client in scene.clients for problem in client.problems]
    ask = Question(
        check="durability.clients",
        question="Are all producer and consumer settings known?",
        coverage=Coverage.counted(len(scene.clients) - len(unknown), len(scene.clients), "client", Source.CLIENTS),
        threshold="an unknown client setting",
        facts={"producers": len(scene.producers), "consumers": len(scene.consumers), "unknown": unknown},
        evidence=tuple(Evidence(file=client.file) for client in scene.clients[:_SHOWN]),
    )
    if not scene.clients:
        why = "No client file was given: the verdicts assume a producer with acks=all, the best case."
        return ask.could_not_check("Producer and consumer settings are unknown", why=why, settle=_GIVE_FILES)
    if unknown:
        named = ", ".join(unknown[:_SHOWN])
        title = f"{plural(len(unknown), 'client')} {agree(len(unknown), 'has', 'have')} unknown settings: {named}"
        why = f"{problems[0]}." if problems else "They depend on the client's library and release, which its file does not name."
        return ask.could_not_check(title, why=why, settle=SETTLE[PRODUCER])
    gaps = tuple(Gap(why=f"{problem}.", settle=_GIVE_FILES) for problem in problems[:1])
    return ask.ok(f"Every setting of {plural(len(scene.clients), 'client')} is known", gaps=(*gaps, *_of_unknown_clients(scene)))
