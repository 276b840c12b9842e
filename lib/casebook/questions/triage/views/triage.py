"""First overview: verdict, findings, coverage, open checks, and the evidence itself."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup

from casebook.case.case import LIVE, Case
from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.findings import words
from casebook.findings.declared import Declaration, explaining, questions
from casebook.findings.evidence import COLLECT_ZNODES, known_from, not_yours
from casebook.findings.finding import Finding, Status, Step, completeness, names_unreadable, undecided, worst_first
from casebook.findings.proof import COLLECT_AGAIN, READ_CONFIG
from casebook.kafka.releases import VersionInUse
from casebook.page import text
from casebook.page.render import look, render
from casebook.page.table import PLAIN, QUIET, TEXT, Table
from casebook.page.view import View, html
from casebook.questions.triage.analysis.plan import NO_PLAN, Plan

_MOST_BROKERS = 12
_MOST_PROOFS = 2
_MOST_QUESTIONS = 3
_TALLY = (
    ("critical", "critical finding", "critical findings", "", ""),
    ("warning", "warning", "warnings", "", ""),
    ("info", "for information", "for information", "", ""),
    ("ok", "ok", "ok", "looked-at", "list"),
    ("could_not_check", "could not check", "could not check", "could-not-check", "why"),
    ("not_applicable", "not applicable", "not applicable", "looked-at", "list"),
)
"""Outcome, its singular and plural noun, where they are listed, and the link's word."""

_COLLECT = ("00 start here", "00_start_here", "collect what is missing", "casebook collect")


def opening(case: Case, cluster: Cluster, version: VersionInUse) -> View:
    """Show the head of the notebook until it finishes."""
    partitions = f"{words.plural(len(cluster.partitions), 'partition')}."
    return html(
        render(
            "verdict",
            kind="pending",
            title="The verdict will stand here after the last cell has run",
            since="",
            run="",
            second=" ".join(
                filter(
                    None, (f"Case {case.name}, Kafka {version.version}, {known_from(version)}.", not_yours(version), partitions)
                )
            ),
            plan=(),
            brokers=(),
            more=(),
        )
    )


def summary(
    findings: Sequence[Finding],
    case: Case,
    cluster: Cluster,
    *,
    plan: Plan = NO_PLAN,
    at: str | None = None,
    until: str | None = None,
    run: str = "",
) -> View:
    """Show the verdict, the first step, and the brokers.

    Args:
        plan: Plan; its first step is part of the verdict.
        at: Past moment, ISO-8601; ``None`` for that of the evidence.
        until: Time of the evidence, ISO-8601: how long the worst finding has lasted then.
        run: Start of the run that it ends: JupyterLab shows each verdict once on its own.
    """
    ordered = worst_first(findings)
    worst = ordered[0] if ordered and ordered[0].status is Status.FINDING else None
    strip, more = _brokers(cluster)
    if undecided(worst.severity if worst else None, completeness(findings)):
        kind, title, second = Status.COULD_NOT_CHECK.value, _unanswered(findings), _meanwhile(worst, findings, case)
    elif worst:
        kind, title, second = look(worst), worst.title, _first(plan) or worst.why
    else:
        ok = completeness(findings).ok
        kind, title, second = "ok", f"Nothing found in {words.plural(ok, 'check')}", _first(plan) or _how_far(findings, case)
    if hint := _not_yours(findings):
        second = Markup("{} {}").format(second, hint)
    if apart := _apart(findings):
        second = Markup("{} {}").format(apart, second)
    if at is not None:
        second = Markup("As of {}. {}").format(words.date(at), second)
    told = kind != Status.COULD_NOT_CHECK.value and len(plan.steps) == 1 and not plan.steps[0].never  # its step is shown above
    steps = () if told else plan.steps
    since = "" if kind == Status.COULD_NOT_CHECK.value else _since(worst, until)
    return html(
        render("verdict", kind=kind, title=title, since=since, run=run, second=second, plan=steps, brokers=strip, more=more)
    )


def _since(worst: Finding | None, until: str | None) -> str:
    """Return since when it is so and how long, unless its title says it."""
    begun, end = words.parsed(worst.since if worst else None), words.parsed(until)
    if worst is None or begun is None or words.clock(worst.since) in worst.title:
        return ""
    at_latest = " at the latest" if worst.at_latest else ""
    long = f" ({text.elapsed(worst.since, until)} before the evidence ends)" if end and end > begun else ""
    return f"Since {words.date(worst.since)}{at_latest}{long}."


def _apart(all_findings: Sequence[Finding]) -> str:
    """State that znodes and log dirs are of different moments, once for all findings withheld for it."""
    told = [f.title for f in all_findings if f.check == "evidence.moments" and f.status is Status.COULD_NOT_CHECK]
    return f"{told[0]}: what connects them could not be checked." if told else ""


def _not_yours(all_findings: Sequence[Finding]) -> str:
    """State that the release was only inferred, and how to name it."""
    facts = next((f.facts for f in all_findings if f.check == "evidence.kafka_version"), {})
    if not facts.get("other"):
        return ""
    return f"By the rules of Kafka {facts['applied']}. Not your release? Add -p kafka_version={facts['other']}."


def notebook_of(check: str) -> str | None:
    """Return the stem of the notebook that explains a check; ``None`` for checks on the evidence itself."""
    question = explaining(check)
    return question and question.notebook


def findings(all_findings: Sequence[Finding], *, until: str | None = None, source: str = "", explained: bool = False) -> View:
    """Show the findings, worst first, each with its steps and proof.

    Args:
        until: Time of collection, ISO-8601, the end of each duration.
        source: Source for commands that run a notebook.
        explained: Whether each names the notebook that explains it.
    """
    found = [f for f in worst_first(all_findings) if f.status is Status.FINDING]
    proofs = (e for f in found for e in f.evidence)
    cites = tuple(e.znode if e.znode is not None else e.label for e in proofs if e.znode is not None or e.line is not None)
    rows = [
        (f, steps, *_proofs(f), _explained(f, source) if explained else None)
        for f, steps in zip(found, _steps(found), strict=True)
    ]
    again = _again(until, source) if until and any(f.next for f in found) else ""
    nothing = _nothing_found(all_findings) if not found else None
    page = render("findings", findings=rows, until=until, on=partial(text.on_source, source=source), again=again, nothing=nothing)
    return html(page, cites=cites)


def _steps(found: Iterable[Finding]) -> Iterator[list[tuple[Step, str]]]:
    """Yield the steps of each finding: in full at their first place; later only the first, with the check that has the rest."""
    said: dict[str, str] = {}
    for finding in found:
        new = [(step, "") for step in finding.next if step.text not in said]
        first = [(step, said[step.text]) for step in finding.next[:1] if step.text in said]
        said |= {step.text: finding.check for step, _ in new}
        yield [*first, *new]


def _nothing_found(all_findings: Sequence[Finding]) -> tuple[str, str]:
    """Return the verdict without findings: good only when most could be checked."""
    counts = completeness(all_findings)
    if not undecided(None, counts):
        return Status.OK.value, "Nothing was found."
    return Status.COULD_NOT_CHECK.value, f"Nothing was found in what could be checked; {_unanswered(all_findings)}."


def _again(until: str, source: str) -> Markup:
    """Return how to check again after a change: a case is a snapshot."""
    if source.startswith(LIVE):
        return Markup("After each change, run this notebook again: it reads the cluster again.")
    collect = Markup("<code>casebook collect --zookeeper … --out ANOTHER-FOLDER</code>")
    said = Markup(
        "A case is a snapshot: this one shows the state at {}, and rerunning it gives the same answer. After any "
        "change, collect again with {}, and run this notebook on the new case."
    )
    return said.format(words.date(until), collect)


def looked_at(all_findings: Sequence[Finding]) -> View:
    """Show the checks that are ok, each with its number."""
    ok = [f for f in all_findings if f.status is Status.OK]
    table = Table(
        name="looked-at",
        stacked=True,
        columns=(("Question", TEXT), ("Looked at", TEXT), ("Found", TEXT), ("Would be a finding", QUIET)),
        rows=[(PLAIN, (_asked(f), f.coverage.dated, f.title, f.threshold or "–")) for f in ok],
        label="What was checked",
    )
    found = any(f.status is Status.FINDING for f in all_findings)
    not_applicable = [f for f in all_findings if f.status is Status.NOT_APPLICABLE]
    return html(render("looked_at", table=table, not_applicable=not_applicable, open=not found))


def could_not_check(all_findings: Sequence[Finding]) -> View:
    """Show the open checks, with the reason and what would settle them."""
    unchecked = [f for f in all_findings if f.status is Status.COULD_NOT_CHECK]
    wanted = _paste_next(all_findings) or _znodes_wanted(all_findings)
    table = Table(
        name="unchecked",
        stacked=True,
        columns=(("Question", TEXT), ("Looked at", QUIET), ("Why not", TEXT), ("What to add", TEXT)),
        rows=[(PLAIN, (_asked(f), f.coverage.dated, f.why or f.title, _settle(f, wanted))) for f in unchecked],
        label="Could not check",
    )
    return html(render("could_not_check", table=table, asked=completeness(all_findings).asked))


def _paste_next(all_findings: Sequence[Finding]) -> str | None:
    return next((f.title for f in all_findings if f.check == "evidence.next"), None)


def _znodes_wanted(all_findings: Sequence[Finding]) -> str | None:
    """Return how to get znodes, when the case has none because none were requested."""
    return next((f.settle for f in all_findings if f.settle == COLLECT_ZNODES), None)


def _settle(finding: Finding, wanted: str | None) -> str:
    """Return what would settle a check; without znodes, or for a paste, which cannot be collected again, how to get them."""
    return wanted if wanted and finding.settle in (COLLECT_AGAIN, READ_CONFIG) else finding.settle or "–"


def tally(all_findings: Sequence[Finding]) -> View:
    """Show the number of checks by outcome."""
    counts = Counter(look(f) for f in all_findings)
    rows = [
        (kind, counts[kind], one if counts[kind] == 1 else many, *where) for kind, one, many, *where in _TALLY if counts[kind]
    ]
    return html(render("tally", asked=len(all_findings), rows=rows))


def where_next(all_findings: Sequence[Finding], *, source: str = "") -> View:
    """Show the notebooks that explain the findings, that of the worst first.

    Args:
        source: Source for the commands.
    """
    found = [f.check for f in worst_first(all_findings) if f.status in (Status.FINDING, Status.COULD_NOT_CHECK)]
    ways = sorted((*goes_on, question.notebook) for question in questions() if (goes_on := _goes_on(question, found)))
    rows = [(stem.replace("_", " "), stem, said, text.command(stem[3:], source, {})) for _, said, stem in ways]
    if any(check.startswith("evidence.") for check in found):
        rows.append(_COLLECT)
    return html(render("links", title="Where to go next", rows=rows, source=source)) if rows else html(Markup())


def _goes_on(question: Declaration, found: Sequence[str]) -> tuple[int, str] | None:
    """Return how bad the worst of its findings, or open checks, is by its place, and a question's sentence on it; or nothing."""
    explained = {**question.explains, **question.adds_to}
    ways = ((at, said) for at, check in enumerate(found) for prefix, said in explained.items() if check.startswith(prefix))
    return next(ways, None)


def evidence_card(case: Case, cluster: Cluster, version: VersionInUse) -> View:
    """Show the sources and the extent of the evidence."""
    code = Markup("<code>{}</code>").format
    kafka = Markup("{}, {}").format(version.version, known_from(version))
    if hint := not_yours(version):
        kafka += f". {hint}"
    if version.proof:
        kafka += Markup(": ") + code(version.proof)
    rows = [
        ("Case", code(case.name)),
        ("Cluster", Markup("{}, chroot {}").format(code(cluster.cluster_id or "no id"), code(cluster.chroot or "/"))),
        ("Kafka", kafka),
        ("ZooKeeper", _walk(case, cluster)),
        ("Settings", _settings(cluster)),
        ("Missing", words.some([f"{p.path}: {p.reason}" for p in cluster.missing_parts], 3) or "everything that was requested"),
        ("Redacted", words.some(case.redacted, 2) or "nothing"),
        ("Manifest", code(f"sha256 {case.digest[:4]}…{case.digest[-4:]}")),
    ]
    return html(render("card", title="Evidence", rows=rows))


def written(folder: Path) -> View:
    """Show the folder of a notebook's results."""
    return html(
        Markup('<div class="cb"><p class="cb-quiet">Findings and tables are in <code>{}</code>.</p></div>').format(folder)
    )


def _unanswered(all_findings: Sequence[Finding]) -> str:
    counts = completeness(all_findings)
    if not counts.asked:
        return "No check applies to this evidence"
    if counts.unreadable and not counts.inconclusive:
        return next(finding.title for finding in all_findings if names_unreadable(finding))
    return f"{words.count(counts.could_not_check)} of {words.plural(counts.asked, 'question')} could not be answered"


def _meanwhile(worst: Finding | None, all_findings: Sequence[Finding], case: Case) -> str:
    """Return what to paste for a pasted case, and what is known in spite of the gaps."""
    known = f"Known so far: {worst.title}." if worst and worst.check != "evidence.next" else ""
    return " ".join(filter(None, (f"{pasting}." if (pasting := _paste_next(all_findings)) else "", known))) or _how_far(
        all_findings, case
    )


def _first(plan: Plan) -> str:
    return render("first", text=plan.first.text) if plan.first else ""


def _how_far(all_findings: Sequence[Finding], case: Case) -> str:
    questions = [f.question for f in all_findings if f.status is Status.COULD_NOT_CHECK]
    unchecked = (
        f"{words.plural(len(questions), 'question')} could not be checked, so the cluster is not proven healthy. Open: "
        f"{words.some(questions, _MOST_QUESTIONS)}"
    )
    when = words.date(case.collected_at)
    collected = f"Live, read {when}." if case.name.startswith(LIVE) else f"Evidence of {when}."
    return " ".join([unchecked] * bool(questions) + [collected] * bool(case.collected_at))


def _brokers(cluster: Cluster) -> tuple[list[dict[str, object]] | None, list[tuple[int, bool]]]:
    """Return the strip of brokers by id, and the number of other dead or live ones; ``None`` when registrations are unknown.

    When there are too many to show, dead brokers come first.
    """
    if not cluster.brokers_known:
        return None, []
    led = Counter(p.state.leader for p in cluster.partitions if p.state)
    held = Counter(r for p in cluster.partitions for r in p.replicas)
    rows = [_broker(cluster, broker, led, held) for broker in sorted({*cluster.live, *held})]
    if len(rows) <= _MOST_BROKERS:
        return rows, []
    dead_first = sorted(rows, key=lambda row: not row["dead"])
    hidden = Counter(row["dead"] for row in dead_first[_MOST_BROKERS:])
    return sorted(dead_first[:_MOST_BROKERS], key=lambda row: row["id"]), sorted(
        ((n, dead) for dead, n in hidden.items()), key=lambda row: not row[1]
    )


def _broker(cluster: Cluster, broker: int, led: Counter, held: Counter) -> dict[str, object]:
    registered = cluster.brokers.get(broker)
    note = words.plural(led[broker], "leader") if registered else f"holds {words.plural(held[broker], 'replica')}"
    if registered and cluster.controller.broker == broker and cluster.controller.epoch is not None:
        note += f", epoch {cluster.controller.epoch}"
    return {"id": broker, "dead": registered is None, "controller": cluster.controller.broker == broker, "note": note}


def _proofs(finding: Finding) -> tuple[list[Evidence], int]:
    """Return the shown proofs, and the number of znodes that are only quoted below."""
    znodes = [evidence for evidence in finding.evidence if evidence.znode is not None]
    unshown = znodes[_MOST_PROOFS:]
    return [evidence for evidence in finding.evidence if evidence not in unshown], len(unshown)


def _walk(case: Case, cluster: Cluster) -> str:
    """Describe when the znodes were read, and changes during the read."""
    if not cluster.read_from and any(problem.path == "/" for problem in cluster.missing_parts):
        return "no znodes in this case"
    if not cluster.read_from:
        return "pasted" if case.pasted() else "from a dump"
    walked = f"walked {words.clock(cluster.read_from)} to {words.clock(cluster.read_to)} UTC, {words.day(cluster.read_to)}"
    return (
        f"{walked}; {words.plural(cluster.changed, 'znode')} changed meanwhile and were read again" if cluster.changed else walked
    )


def _settings(cluster: Cluster) -> str:
    collected, printed = sorted(cluster.server_properties), sorted(cluster.printed_settings)
    told = [f"server.properties of broker {words.listed(collected)}"] if collected else []
    told += [f"settings that broker {words.listed(printed)} printed"] if printed else []
    return " and ".join(told) or "no server.properties: defaults are assumed"


def _explained(finding: Finding, source: str) -> tuple[str, str] | None:
    """Return the notebook that explains a finding, and its command."""
    notebook = notebook_of(finding.check)
    return notebook and (notebook, text.command(notebook.partition("_")[2], source, {}))


def _asked(finding: Finding) -> Markup:
    return render("asked", kind=look(finding), question=finding.question)
