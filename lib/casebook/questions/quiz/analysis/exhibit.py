"""A table of evidence for a quiz, without interpretation."""

from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.findings.words import plural

_TELLING = ("unclean.leader.election.enable", "min.insync.replicas")
"""Settings that decide an election, or its importance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """Evidence that the questions of an incident need.

    Args:
        name: Name of its table.
        takeaway: One sentence with its number.
        reading: How to read the table.
        columns: Headers; the first cell of a row is its header.
        rows: Texts and integers.
    """

    name: str
    takeaway: str
    reading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


def settings(cluster: Cluster) -> Exhibit:
    """Return the settings that decide elections and acknowledgements, wherever they are set."""
    places = [
        *((f"topic {name}", config) for name, config in sorted(cluster.topic_configs.items())),
        *((f"broker {name}, dynamic", config) for name, config in sorted(cluster.broker_configs.items())),
        *((f"broker {broker}, server.properties", config) for broker, config in sorted(cluster.server_properties.items())),
    ]
    rows = tuple((where, key, config[key]) for where, config in places for key in _TELLING if key in config)
    return Exhibit(
        name="quiz-settings",
        takeaway=f"{plural(len(rows), 'setting')} of {_TELLING[0]} and {_TELLING[1]}.",
        reading="A topic's own setting comes before a broker's; without either, the release's default holds.",
        columns=("Where", "Setting", "Value"),
        rows=rows or (("nowhere", "–", "–"),),
    )
