"""How far the evidence carries: what is missing, what cannot be taken at its word, and which release's rules apply."""

from casebook.facts import Cluster, Problem
from casebook.findings import Evidence, Finding, Severity, Status
from casebook.versions import VersionInUse, VersionOrigin

ZNODES = "zookeeper/znodes.jsonl.zst"

_KNOWN_FROM = {
    VersionOrigin.PARAMETER: "given as parameter kafka_version",
    VersionOrigin.LOGS: "known from a broker's log",
    VersionOrigin.PROPERTIES: "from inter.broker.protocol.version",
    VersionOrigin.ZNODES: "inferred from the znodes' formats",
    VersionOrigin.ASSUMED: "assumed: nothing in the evidence says",
}


def known_from(version: VersionInUse) -> str:
    """How the release is known, in words."""
    words = _KNOWN_FROM[version.origin]
    return f"{words}, which allow {version.possible}" if version.origin is VersionOrigin.ZNODES else words


def checks(cluster: Cluster, version: VersionInUse) -> tuple[Finding, ...]:
    """What every notebook says about its evidence."""
    return (_complete(cluster), _taken_at_its_word(cluster), _kafka_version(version))


def _complete(cluster: Cluster) -> Finding:
    missing = cluster.missing_parts
    changed = cluster.changed
    moving = f"{changed} znode{'' if changed == 1 else 's'} changed during the walk and {'was' if changed == 1 else 'were'} read again."
    common = {
        "check": "evidence.complete",
        "question": "Was all of the evidence collected?",
        "threshold": "any part missing",
        "caveats": (*cluster.remarks, *((moving,) if changed else ())),
    }
    if not missing:
        return Finding(
            **common,
            status=Status.OK,
            title="Everything that was asked for was collected",
            looked_at=f"{len(cluster.partitions)} partitions, {len(cluster.brokers)} brokers",
            facts={"missing": 0},
        )
    return Finding(
        **common,
        status=Status.COULD_NOT_CHECK,
        title=f"{_parts(missing)} could not be collected",
        why=_first(missing),
        facts={"missing": len(missing), "parts": [problem.path for problem in missing]},
        evidence=(Evidence(file="case.json"),),
        settle="Collect again once the cause is gone.",
    )


def _taken_at_its_word(cluster: Cluster) -> Finding:
    problems = cluster.problems
    unknown = sum(cluster.unknown_znodes.values())
    common = {
        "check": "evidence.decoded",
        "question": "Could every znode be decoded?",
        "facts": {"undecodable": len(problems), "unknown_kinds": dict(cluster.unknown_znodes)},
        "threshold": "any znode that is not what its path promises",
    }
    caveats = (f"{unknown} znodes of kinds that are not Kafka's: {', '.join(cluster.unknown_znodes)}.",) if unknown else ()
    if not problems:
        return Finding(**common, status=Status.OK, title="Every znode was decoded", caveats=caveats)
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.WARNING,
        title=f"{_parts(problems, 'znode')} cannot be taken at {'its' if len(problems) == 1 else 'their'} word",
        why=_first(problems),
        evidence=(*(Evidence(file=ZNODES, znode=p.path) for p in problems[:5]), Evidence(file="tables/problems")),
        caveats=caveats,
    )


def _kafka_version(version: VersionInUse) -> Finding:
    common = {
        "check": "evidence.kafka_version",
        "question": "Which Kafka release's rules apply?",
        "facts": {"applied": str(version.version), "origin": version.origin.value, "possible": version.possible},
        "threshold": "evidence that contradicts the release",
        "evidence": (_line(version.proof),) if version.proof else (),
    }
    title = f"Rules of Kafka {version.version} are applied, {known_from(version)}"
    if version.contradictions:
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.WARNING,
            title=f"{title}, and {len(version.contradictions)} pieces of evidence say otherwise",
            why=" ".join(version.contradictions),
        )
    if version.origin is VersionOrigin.ASSUMED:
        return Finding(
            **common, status=Status.COULD_NOT_CHECK, title=title, settle="Give -p kafka_version=..., or a broker's log."
        )
    return Finding(**common, status=Status.OK, title=title)


def _line(proof: str) -> Evidence:
    file, _, line = proof.rpartition(":")
    return Evidence(file=file, line=int(line)) if line.isdecimal() else Evidence(file=proof)


def _parts(problems: tuple[Problem, ...], noun: str = "part") -> str:
    return f"{len(problems)} {noun}{'' if len(problems) == 1 else 's'}"


def _first(problems: tuple[Problem, ...]) -> str:
    shown = "; ".join(f"{p.path}: {p.reason}" for p in problems[:3])
    return f"{shown}." if len(problems) <= 3 else f"{shown}; and {len(problems) - 3} more."
