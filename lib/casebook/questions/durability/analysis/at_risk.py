"""Summary of possible losses: of every topic for notebook 80, and from single failures for the first five minutes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity, Step
from casebook.findings.words import agree, count, plural
from casebook.kafka.releases import VersionInUse
from casebook.kafka.settings import Settings
from casebook.questions.durability.analysis.checks import SETTLE, caveats, evidence, settle, steps
from casebook.questions.durability.analysis.rows import LossVerdict
from casebook.questions.durability.analysis.rules import CONSUMER, PRODUCER, RULES, TOPIC
from casebook.questions.durability.analysis.scene import DurabilityInputs
from casebook.questions.durability.analysis.topics import topics
from casebook.questions.durability.analysis.verdicts import ORDER, answers, rows

_AT_ONCE = "D2"
"""Rule by which a single failure loses a topic's content."""


def at_risk(scene: DurabilityInputs, found: Sequence[LossVerdict]) -> Finding:
    """Which topics can lose acknowledged records at all? First sentence of the notebook.

    Args:
        found: All verdicts, worst first.
    """
    hit = [row for row in found if row.severity in ("critical", "warning")]
    at_once = {row.topic for row in hit if row.topic and row.severity == "critical"}
    of_topics = {row.topic for row in hit if row.topic}
    unsure = _unsure(found, hit)
    ask = Question(
        check="durability.acknowledged",
        question="Which topics can lose acknowledged records with the current settings of topics, brokers and clients?",
        coverage=Coverage.counted(
            len(scene.topics), len(scene.cluster.topics), "topic", Source.ZNODES, Source.SETTINGS, Source.CLIENTS
        ),
        threshold="a rule by which one or two failures lose records",
        facts={
            "topics": len(of_topics),
            "by_one_failure": len(at_once),
            "rules": sorted({row.rule for row in hit}),
            "unknown_rules": _not_asked(hit, unsure),
            "unknown_topics": unsure.topics,
        },
    )
    if not hit:
        not_given = [row for row in found if row.severity is None]
        if not_given:
            title = f"{plural(len(not_given), 'verdict')} on durability could not be given"
            first = not_given[0]
            return ask.could_not_check(title, why=first.sentence, settle=settle(RULES[first.rule], first.proof))
        well = "By these rules, no acknowledged record can be lost"
        return ask.nothing_in(scene.topics, well, gaps=coverage.partitions(scene.cluster))
    one = f", {count(len(at_once))} by a single failure" if at_once else ", by two failures"
    return ask.found(
        Severity(hit[0].severity or Severity.WARNING),
        _how_many(scene, hit, unsure) + (one if of_topics else ""),
        why=f"The worst: {hit[0].sentence}",
        evidence=evidence(hit),
        next=steps(hit),
        caveats=caveats(scene, RULES[_AT_ONCE]),
    )


def in_short(cluster: Cluster, version: VersionInUse) -> tuple[Finding, ...]:
    """Return one finding on durability for the first five minutes, from settings and znodes alone. Cheap.

    It covers the loss by one failure, for a producer with acks=all: producers are not examined. Losses by two failures are
    possible on nearly every cluster, and are left to notebook 80.
    """
    settings = Settings(cluster, version.version, version)
    scene = DurabilityInputs(cluster=cluster, version=version, settings=settings, topics=topics(cluster, settings), clients=())
    found = rows(answers(scene))
    hit = [row for row in found if row.severity == "critical"]
    later = {row.rule for row in found if row.severity == "warning"}
    unsure = _unsure(found, [row for row in found if row.severity in ("critical", "warning")])
    ask = Question(
        check="durability.in_short",
        question="Can a single failure lose acknowledged records with the current settings?",
        coverage=Coverage.counted(len(scene.topics), len(cluster.topics), "topic", Source.ZNODES, Source.SETTINGS),
        threshold="a rule of notebook 80 by which one failure loses records",
        facts={
            "rules": {rule: len(of) for rule, of in _by_rule(hit).items()},
            "topics": len({row.topic for row in hit if row.topic}),
            "with_two_failures": sorted(later, key=ORDER.index),
            "unknown_with_two_failures": unsure.rules,
        },
    )
    two = f"By {plural(len(later), 'more rule')}, two failures can." if later else ""
    if hit:
        said = ", ".join(_in_short(rule, of) for rule, of in _by_rule(hit).items())
        return (
            ask.found(
                Severity.INFO,
                f"{_how_many(scene, hit, unsure)} by a single failure",
                why=f"By rule: {said}. The worst: {hit[0].sentence} {two}".strip(),
                evidence=evidence(hit)[:-1],
                next=(Step(kind="first", text="Run notebook 80: it lists the smallest change and the cost of each."),),
                caveats=caveats(scene, RULES[_AT_ONCE]),
            ),
        )
    unread = [row for row in found if row.severity is None and row.rule == _AT_ONCE]
    if unread or not cluster.brokers_known:
        why = unread[0].sentence if unread else "The brokers of the cluster are unknown."
        return (ask.could_not_check("Loss by a single failure could not be fully checked", why=why, settle=SETTLE[TOPIC]),)
    well = f"No single failure loses records acknowledged with acks=all; producers were not checked. {two}".strip()
    not_given = [row for row in found if row.severity is None]
    gaps = (*coverage.partitions(cluster), *(Gap(why=row.sentence, settle=SETTLE[TOPIC]) for row in not_given[:1]))
    return (ask.nothing_in(scene.topics, well, gaps=gaps),)


def _by_rule(found: Iterable[LossVerdict]) -> dict[str, set[str | None]]:
    by: dict[str, set[str | None]] = {}
    for row in found:
        by.setdefault(row.rule, set()).add(row.topic)
    return by


def _in_short(rule: str, of: Iterable[str | None]) -> str:
    named = [topic for topic in of if topic]
    return f"{rule} {RULES[rule].head}{f' in {count(len(named))}' if named else ''}"


class _Unsure(NamedTuple):
    """Undecided parts next to the results.

    Args:
        rules: Rules without a result that could not judge everything.
        topics: Topics without a result, or without a single-failure one, and with an undecided rule.
    """

    rules: list[str]
    topics: list[str]


def _unsure(found: Sequence[LossVerdict], hit: Sequence[LossVerdict]) -> _Unsure:
    unknown = [row for row in found if row.severity is None]
    rules = {row.rule for row in unknown} - {row.rule for row in hit}
    of_topics, at_once = {row.topic for row in hit}, {row.topic for row in hit if row.severity == "critical"}
    topics = {row.topic for row in unknown if row.topic and row.topic not in (at_once if row.rule == _AT_ONCE else of_topics)}
    return _Unsure(sorted(rules, key=ORDER.index), sorted(topics))


def _not_asked(hit: Sequence[LossVerdict], unsure: _Unsure) -> list[str]:
    """Return the rules without a result that might have one: also those on clients, as the list of clients may be incomplete."""
    on_clients = {rule.id for rule in RULES.values() if rule.scope in (PRODUCER, CONSUMER)}
    return sorted({*unsure.rules, *on_clients} - {row.rule for row in hit}, key=ORDER.index)


def _how_many(scene: DurabilityInputs, hit: Sequence[LossVerdict], unsure: _Unsure) -> str:
    topics_hit, rules = {row.topic for row in hit if row.topic}, {row.rule for row in hit}
    least = "at least " if unsure.topics or scene.cluster.unlisted else ""
    if topics_hit:
        said = f"{least}{count(len(topics_hit))} of {plural(len(scene.topics), 'topic')} can lose acknowledged records"
        return said[0].upper() + said[1:]
    said = agree(len(rules), "says", "say")
    whole = f"{least}{plural(len(rules), 'rule')} on brokers and clients {said} that something can be lost"
    return f"{'Not every topic could be judged' if least else 'No topic by itself'}, but {whole}"
