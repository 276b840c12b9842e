"""Topics by rules: a shape for each outcome, with row and column headers. Equal topics share a row, so a thousand stay readable.

A table, like the replica map: usable without colours, by keyboard, by a screen reader and on paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.findings import words
from casebook.page.render import render
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.rules import PAIR, RULES, TOPIC
from casebook.questions.durability.analysis.scene import HOLDS, LOSES, UNKNOWN, JudgedRule
from casebook.questions.durability.analysis.topics import TopicFacts
from casebook.questions.durability.analysis.verdicts import of_topics

MOST_ROWS = 40
_LOOK = {HOLDS: "ok", UNKNOWN: "could_not_check"}
_WEIGHT = {"critical": 0, "warning": 1, "could_not_check": 2, "info": 3, "ok": 4, "not_applicable": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGroup:
    """Topics with equal results.

    Args:
        first: First of them, by name.
        topics: Number of topics.
        copies: Replication factor.
        least: min.insync.replicas.
        looks: Outcome of each rule, by symbol name.
    """

    first: str
    topics: int
    copies: str
    least: str
    looks: tuple[str, ...]


def rules(found: Durability) -> tuple[str, ...]:
    """Return the rules with a column: those on topics, and on topics with a producer, if one is known."""
    scopes = (TOPIC, PAIR) if found.scene.producers else (TOPIC,)
    return tuple(rule.id for rule in RULES.values() if rule.scope in scopes)


def kinds(found: Durability, *, topic: str = "") -> tuple[TopicGroup, ...]:
    """Return topics with equal results under every rule, worst first."""
    judged, columns = of_topics(found.answers), rules(found)
    alike: dict[tuple[object, ...], list[str]] = {}
    for facts in found.scene.topics:
        if topic and facts.name != topic:
            continue
        users = tuple(client.name for client in found.scene.clients if client.uses(facts.name))
        key = (_copies(facts), _least(facts), _looks(judged.get(facts.name, {}), columns), users)
        alike.setdefault(key, []).append(facts.name)
    made = [
        TopicGroup(first=names[0], topics=len(names), copies=copies, least=least, looks=looks)
        for (copies, least, looks, _), names in alike.items()
    ]
    return tuple(sorted(made, key=lambda kind: (sorted(_WEIGHT[look] for look in kind.looks), kind.first)))


def matrix(found: Durability, rows: Sequence[TopicGroup]) -> Markup:
    """Return the figure."""
    columns = rules(found)
    topics = sum(kind.topics for kind in rows)
    exposed = sum(kind.topics for kind in rows if {"critical", "warning"} & set(kind.looks))
    one = sum(kind.topics for kind in rows if "critical" in kind.looks)
    said = f"{words.count(exposed)} of {words.plural(topics, 'topic')} can lose acknowledged records"
    return render(
        "durability_matrix",
        takeaway=f"{said}, {words.count(one)} by a single failure." if exposed else _nothing_found(rows, topics),
        columns=[(rule, RULES[rule].head, RULES[rule].says) for rule in columns],
        rows=rows[:MOST_ROWS],
        total=len(rows),
        topics=topics,
    )


def _nothing_found(rows: Sequence[TopicGroup], topics: int) -> str:
    """State that no topic is known to lose anything, and how many are unknown."""
    if not topics:
        return "No topic is known: possible loss could not be checked."
    unknown = sum(kind.topics for kind in rows if "could_not_check" in kind.looks)
    left = f"; {words.count(unknown)} could not be fully judged" if unknown else ""
    return f"By these rules, no topic of {words.count(topics)} can lose records{left}."


def _looks(judged: Mapping[str, JudgedRule], columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(_look(judged.get(rule)) for rule in columns)


def _look(judged: JudgedRule | None) -> str:
    if judged is None:
        return "not_applicable"
    return judged.severity or "info" if judged.outcome == LOSES else _LOOK.get(judged.outcome, "not_applicable")


def _copies(facts: TopicFacts) -> str:
    return " to ".join(map(str, {facts.factors[0]: 0, facts.factors[-1]: 0})) if facts.factors else "?"


def _least(facts: TopicFacts) -> str:
    if facts.least is None or facts.most is None:
        return "?"
    return str(facts.least) if facts.least == facts.most else f"{facts.least} to {facts.most}"
