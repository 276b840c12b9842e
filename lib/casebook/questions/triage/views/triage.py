"""First overview: verdict, findings, coverage, open checks, and the evidence itself."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from markupsafe import Markup

from casebook.case.case import LIVE, Case
from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import words
from casebook.findings.declared import Declaration, explaining, questions
from casebook.findings.evidence import COLLECT_ZNODES, known_from, not_yours
from casebook.findings.finding import Finding, Status, Step, as_document, completeness, worst_first
from casebook.findings.headline import Headline, headline
from casebook.findings.proof import COLLECT_AGAIN, READ_CONFIG
from casebook.kafka.releases import VersionInUse
from casebook.page import text
from casebook.page.render import look, render
from casebook.page.table import PLAIN, QUIET, TEXT, Table
from casebook.page.verdict_card import verdict_card
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

_VERDICT = "verdict"
"""Where the headline stands on the page."""
_COLLECT = ("00 start here", "00_start_here", "collect what is missing", "casebook collect")


def opening(case: Case, cluster: Cluster, version: VersionInUse) -> View:
    """Show the head of the notebook until it finishes."""
    partitions = f"{words.plural(len(cluster.partitions), 'partition')}."
    release = f"Case {case.name}, Kafka {version.version}, {known_from(version)}."
    title = "The verdict will stand here after the last cell has run"
    return html(verdict_card("pending", title, notes=(release, not_yours(version), partitions)))


def summary(
    findings: Sequence[Finding],
    case: Case,
    cluster: Cluster,
    *,
    plan: Plan = NO_PLAN,
    at: str | None = None,
    until: str | None = None,
    source: str = "",
    run: str = "",
) -> View:
    """Show the headline, the plan, and the brokers.

    Args:
        plan: Plan.
        at: Past moment, ISO-8601; ``None`` for that of the evidence.
        until: Time of the evidence, ISO-8601: how long the worst finding has lasted then.
        source: Source for commands that run a notebook.
        run: Start of the run that it ends: JupyterLab shows each verdict once on its own.
    """
    said = headline(as_document(findings))
    strip, more = _brokers(cluster)
    notes = (
        f"As of {words.date(at)}." if at is not None else "",
        _apart(findings),
        f"Also: {said.also}." if said.also else "",
        _meanwhile(said, findings, case),
        _not_yours(findings),
    )
    steps = () if [step.text for step in plan.steps] == [said.first] and not plan.steps[0].never else plan.steps
    return html(
        verdict_card(
            said.kind,
            said.title,
            since=_since(said, until),
            first=said.first,
            command=text.on_source(said.command, source=source),
            why=said.why,
            notes=notes,
            run=run,
            plan=steps,
            brokers=strip,
            more=more,
        )
    )


def _since(said: Headline, until: str | None) -> str:
    """Return since when it is so and how long."""
    if "since" not in said.below:
        return ""
    begun, end = words.parsed(said.since), words.parsed(until)
    long = f" ({text.elapsed(said.since, until)} before the evidence ends)" if end and end > begun else ""
    return f"Since {said.below['since']}{long}."


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


def findings(all_findings: Sequence[Finding], *, until: str | None = None, source: str = "") -> View:
    """Show the findings below their headline, worst first, each with its steps, its proof, and the notebook that explains it.

    What the headline says is not said again; those for information are folded.

    Args:
        until: Time of collection, ISO-8601, the end of each duration.
        source: Source for commands that run a notebook.
    """
    found = [f for f in worst_first(all_findings) if f.status is Status.FINDING]
    said = headline(as_document(all_findings))
    proofs = (e for f in found for e in f.evidence)
    cites = tuple(e.znode if e.znode is not None else e.label for e in proofs if e.znode is not None or e.line is not None)
    steps = _steps(found, {said.first: _VERDICT} if said.first else {})
    rows = [
        (f, "" if f.why in said.why else f.why, own, *_proofs(f), notebook_of(f.check))
        for f, own in zip(found, steps, strict=True)
    ]
    again = _again(until, source) if until and any(f.next for f in found) else ""
    nothing = _nothing_found(said) if not found else None
    on = partial(text.on_source, source=source)
    page = render("findings", findings=rows, until=until, source=source, on=on, again=again, nothing=nothing)
    return html(page, cites=cites)


def _steps(found: Iterable[Finding], said: dict[str, str]) -> Iterator[list[tuple[Step, str]]]:
    """Yield the steps of each finding: in full at their first place; later only how the first begins, with where the rest stands.

    Args:
        said: Where steps were said before, by their text.
    """
    for finding in found:
        new = [(step, "") for step in finding.next if step.text not in said]
        first = [(_in_short(step), said[step.text]) for step in finding.next[:1] if step.text in said]
        said |= {step.text: finding.check for step, _ in new}
        yield [*first, *new]


def _in_short(step: Step) -> Step:
    return replace(step, text=re.split(r"[:.](?:\s|$)", step.text, maxsplit=1)[0])


def _nothing_found(said: Headline) -> tuple[str, str]:
    """Return the verdict without findings: good only when most could be checked."""
    if said.kind == Status.OK:
        return said.kind, "Nothing was found."
    return said.kind, f"Nothing was found in what could be checked; {said.title}."


def _again(until: str, source: str) -> Markup:
    """Return how to check again after a change: a case is a snapshot."""
    if source.startswith(LIVE):
        return Markup("After each change, run this notebook again: it reads the cluster again.")
    collect = Markup("<code>casebook collect … --out ANOTHER-FOLDER</code>")
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
        rows=[(PLAIN, row) for row in _unchecked(unchecked, wanted)],
        label="Could not check",
    )
    return html(render("could_not_check", table=table, number=len(unchecked), asked=completeness(all_findings).asked))


def _unchecked(findings: Iterable[Finding], wanted: str | None) -> Iterator[tuple[object, ...]]:
    """Yield a row for each reason: its questions, their coverage, the reason, and what to add."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.why or finding.title, _settle(finding, wanted)), []).append(finding)
    for (why, settle), own in groups.items():
        looked_at = words.some(tuple(dict.fromkeys(finding.coverage.dated for finding in own)), 1)
        yield Markup("<br>").join(map(_asked, own)), looked_at, why, settle


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
        ("Cluster", _identity(cluster)),
        ("Kafka", kafka),
        ("Brokers" if cluster.source is Source.WIRE else "ZooKeeper", _walk(case, cluster)),
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


def _meanwhile(said: Headline, all_findings: Sequence[Finding], case: Case) -> str:
    """Return what is known without an overall conclusion; without any step, what was left open."""
    if said.known:
        return f"Known so far: {said.known}."
    return "" if said.why or said.first else _how_far(all_findings, case)


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


def _identity(cluster: Cluster) -> Markup:
    code = Markup("<code>{}</code>").format
    found = code(cluster.cluster_id or "no id")
    if cluster.source is Source.WIRE:
        return Markup("{}, {}").format(found, "KRaft" if cluster.is_kraft else "with ZooKeeper")
    return Markup("{}, chroot {}").format(found, code(cluster.chroot or "/"))


def _walk(case: Case, cluster: Cluster) -> str:
    """Describe when the znodes were read, and changes during the read."""
    if not cluster.read_from and any(problem.path == "/" for problem in cluster.missing_parts):
        return "no znodes in this case"
    if not cluster.read_from:
        return "pasted" if case.pasted() else "from a dump"
    verb = "answered" if cluster.source is Source.WIRE else "walked"
    walked = f"{verb} {words.clock(cluster.read_from)} to {words.clock(cluster.read_to)} UTC, {words.day(cluster.read_to)}"
    return (
        f"{walked}; {words.plural(cluster.changed, 'znode')} changed meanwhile and were read again" if cluster.changed else walked
    )


def _settings(cluster: Cluster) -> str:
    collected, printed = sorted(cluster.server_properties), sorted(cluster.printed_settings)
    told = [f"server.properties of broker {words.listed(collected)}"] if collected else []
    answered = [broker for broker in printed if cluster.printed_settings[broker].is_answer]
    logged = [broker for broker in printed if broker not in answered]
    told += [f"settings that broker {words.listed(logged)} printed"] if logged else []
    told += [f"settings that broker {words.listed(answered)} answered"] if answered else []
    return " and ".join(told) or "no server.properties: defaults are assumed"


def _asked(finding: Finding) -> Markup:
    return render("asked", kind=look(finding), question=finding.question)
