"""The first five minutes: verdict, findings, what was looked at, what could not be checked, the evidence itself."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from casebook.analysis.evidence import known_from
from casebook.case import Case
from casebook.facts import Cluster
from casebook.findings import Finding, Status, completeness, worst_first
from casebook.versions import VersionInUse
from casebook.views import text
from casebook.views.render import look, render
from casebook.views.view import View, html

_MOST_BROKERS = 12
_NEXT = (
    ("leadership.", "20 partition leadership", "which partition, which rule, what if", "casebook run partition_leadership"),
    ("evidence.", "00 start here", "collect what is missing", "casebook collect"),
)


def opening(case: Case, cluster: Cluster, version: VersionInUse) -> View:
    """What stands at the top until the notebook has finished."""
    return html(
        render(
            "verdict",
            kind="not_applicable",
            title=f"Case {case.name} is open; the verdict comes when the last cell has run",
            second=f"Kafka {version.version}, {known_from(version)}. {text.plural(len(cluster.partitions), 'partition')}.",
            brokers=(),
            more=0,
        )
    )


def summary(findings: Sequence[Finding], case: Case, cluster: Cluster) -> View:
    """The verdict, what to do first, and the brokers."""
    ordered = worst_first(findings)
    worst = ordered[0] if ordered and ordered[0].status is Status.FINDING else None
    strip, more = _brokers(cluster)
    kind = look(worst) if worst else "ok" if completeness(findings).ok else "could_not_check"
    return html(render("verdict", kind=kind, title=_title(worst, findings), second=_second(worst, findings, case), brokers=strip, more=more))


def findings(all_findings: Sequence[Finding]) -> View:
    """What was found, worst first, each with what to do and its proof."""
    found = [f for f in worst_first(all_findings) if f.status is Status.FINDING]
    return html(render("findings", findings=found), cites=tuple(e.znode for f in found for e in f.evidence if e.znode is not None))


def looked_at(all_findings: Sequence[Finding]) -> View:
    """The checks that are ok, each with the figure that made it ok."""
    ok = [f for f in all_findings if f.status is Status.OK]
    rows = [(False, (_asked(f), f.looked_at or "–", f.title, f.threshold or "–")) for f in ok]
    columns = (("Question", ""), ("Looked at", ""), ("Found", ""), ("Would be a finding", "cb-second"))
    found = any(f.status is Status.FINDING for f in all_findings)
    not_applicable = [f for f in all_findings if f.status is Status.NOT_APPLICABLE]
    return html(render("looked_at", ok=ok, not_applicable=not_applicable, rows=rows, columns=columns, open=not found))


def could_not_check(all_findings: Sequence[Finding]) -> View:
    """What could not be checked, why, and what would settle it."""
    rows = [(False, (_asked(f), f.why or f.title, f.settle or "–")) for f in all_findings if f.status is Status.COULD_NOT_CHECK]
    return html(render("could_not_check", rows=rows, asked=completeness(all_findings).asked))


def tally(all_findings: Sequence[Finding]) -> View:
    """How the checks ended, counted."""
    counts = Counter(look(f) for f in all_findings)
    words = {
        "critical": "critical findings",
        "warning": "warnings",
        "info": "for information",
        "ok": "ok",
        "could_not_check": "could not check",
        "not_applicable": "not applicable",
    }
    rows = [(kind, counts[kind], said) for kind, said in words.items() if counts[kind]]
    return html(render("tally", asked=len(all_findings), rows=rows))


def where_next(all_findings: Sequence[Finding]) -> View:
    """The notebooks that explain what was found."""
    found = [f.check for f in all_findings if f.status in (Status.FINDING, Status.COULD_NOT_CHECK)]
    rows = [row for prefix, *row in _NEXT if any(check.startswith(prefix) for check in found)]
    return html(render("links", title="Where to go next", rows=rows)) if rows else html(Markup())


def evidence_card(case: Case, cluster: Cluster, version: VersionInUse) -> View:
    """Where the evidence comes from and how far it reaches."""
    code = Markup("<code>{}</code>").format
    walked = f"walked {text.clock(cluster.read_from)} to {text.moment(cluster.read_to)}" if cluster.read_from else "from a dump"
    zookeeper = f"{walked}; {text.plural(cluster.changed, 'znode')} changed meanwhile and were read again" if cluster.changed else walked
    kafka = Markup("{}, {}").format(version.version, known_from(version))
    if version.proof:
        kafka += Markup(": ") + code(version.proof)
    rows = [
        ("Case", code(case.name)),
        ("Cluster", Markup("{}, chroot {}").format(code(cluster.cluster_id or "no id"), code(cluster.chroot or "/"))),
        ("Kafka", kafka),
        ("ZooKeeper", zookeeper),
        ("Settings", _settings(cluster)),
        ("Missing", "; ".join(f"{p.path}: {p.reason}" for p in cluster.missing_parts[:3]) or "nothing that was asked for"),
        ("Redacted", "; ".join(case.redacted) or "nothing"),
        ("Manifest", code(f"sha256 {case.digest[:4]}…{case.digest[-4:]}")),
    ]
    return html(render("card", title="Evidence", rows=rows))


def written(folder: Path) -> View:
    """Where a notebook's results were written."""
    return html(Markup('<div class="cb"><p class="cb-quiet">Findings and tables are in <code>{}</code>.</p></div>').format(folder))


def _title(worst: Finding | None, all_findings: Sequence[Finding]) -> str:
    if worst:
        return worst.title
    counts = completeness(all_findings)
    return f"Nothing found in {text.plural(counts.ok, 'check')}" if counts.ok else "Nothing could be checked"


def _second(worst: Finding | None, all_findings: Sequence[Finding], case: Case) -> str:
    counts = completeness(all_findings)
    unchecked = (
        f" {text.plural(counts.could_not_check, 'question')} could not be checked, so this is not a clean bill." if counts.could_not_check else ""
    )
    if worst:
        then = next((step.text for step in worst.next if step.kind == "then"), "")
        return f"Then {then}" if then else worst.why
    collected = f"Collected {text.moment(case.collected_at)}." if case.collected_at else ""
    return f"{collected}{unchecked}".strip()


def _brokers(cluster: Cluster) -> tuple[list[dict[str, object]], int]:
    """The strip of brokers: the dead first to be seen, all in order of id."""
    if not cluster.brokers_known:
        return [], 0
    led = Counter(p.state.leader for p in cluster.partitions if p.state)
    held = Counter(r for p in cluster.partitions for r in p.replicas)
    rows = [_broker(cluster, broker, led, held) for broker in sorted({*cluster.live, *held})]
    if len(rows) <= _MOST_BROKERS:
        return rows, 0
    dead = [row for row in rows if row["dead"]]
    return dead[:_MOST_BROKERS], len(rows) - len(dead)


def _broker(cluster: Cluster, broker: int, led: Counter, held: Counter) -> dict[str, object]:
    registered = cluster.brokers.get(broker)
    note = text.plural(led[broker], "leader") if registered else f"holds {text.plural(held[broker], 'replica')}"
    if registered and cluster.controller.broker == broker and cluster.controller.epoch is not None:
        note += f", epoch {cluster.controller.epoch}"
    return {"id": broker, "dead": registered is None, "controller": cluster.controller.broker == broker, "note": note}


def _settings(cluster: Cluster) -> str:
    collected = sorted(cluster.server_properties)
    return f"server.properties of broker {text.brokers(collected)}" if collected else "no server.properties: defaults are assumed"


def _asked(finding: Finding) -> Markup:
    return render("asked", kind=look(finding), question=finding.question)
