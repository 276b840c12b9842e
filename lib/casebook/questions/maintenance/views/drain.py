"""Notebook 30: draining brokers: steps with their price, files to download, commands, quick variant, blocked partitions."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping

from casebook.findings import words
from casebook.findings.exports import PLAN
from casebook.kafka.drain import DrainStep
from casebook.page import text
from casebook.page.render import render
from casebook.page.table import CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Row, Table, or_unknown, unknown
from casebook.page.view import View, html
from casebook.questions.maintenance.analysis.drain import ELECTION, LEADERS, LEADERS_BACK, Drain
from casebook.questions.maintenance.analysis.drain_checks import WHY_BLOCKED

MOST_ROWS, _MOST_STEPS = 200, 60


def drain(found: Drain | None, *, source: str, kept: bool = True) -> View:
    """Show the plan; without one, how to request it.

    Args:
        source: Source of the evidence, for that command.
        kept: Whether the run stores its files: for the plan of the parameters.
    """
    if found is None:
        ask = text.command("broker_maintenance", source, {"drain": "2", "throttle": "50"})
        return html(render("maintenance_no_drain", command_line=ask))
    files = found.files()
    whom = words.brokers(sorted(found.wanted.brokers))
    return html(
        render(
            "maintenance_drain",
            whom=whom,
            drain=found,
            steps=_steps(found, files),
            moves=_moves(found),
            blocked=_blocked(found),
            evacuation=_evacuation(found),
            leader_commands=found.leader_commands(),
            leader_files=[(name, uri(files[name])) for name in (LEADERS, ELECTION, LEADERS_BACK) if name in files],
            commands=("commands.txt", uri(files["commands.txt"])) if "commands.txt" in files else None,
            step_commands=found.step_commands(found.plan.steps[0]) if found.plan.steps else (),
            folder=PLAN if kept else None,
        ),
        tables={"drain_plan": found.rows},
    )


def uri(content: str) -> str:
    """Return a file inside the page: it can be saved from a notebook or a report, without a server."""
    return f"data:application/octet-stream;base64,{b64encode(content.encode(errors='replace')).decode()}"


def _steps(found: Drain, files: Mapping[str, str]) -> Table | None:
    steps = found.plan.steps
    if not steps:
        return None
    shown = steps[:_MOST_STEPS]
    return Table(
        name="drain-steps",
        columns=(
            ("Step", NUMBER),
            ("Partitions", NUMBER),
            ("Replicas copied", NUMBER),
            ("Bytes", UNBROKEN),
            (_at(found), UNBROKEN),
            ("May fail meanwhile", TEXT),
            ("Plan", TEXT),
            ("Way back", TEXT),
        ),
        rows=[_step(found, step, files) for step in shown],
        takeaway=_takeaway(found),
        reading="Each step waits for the end of the previous one. Partitions with a single replica go first.",
        total=len(steps) if len(steps) > len(shown) else None,
        rest="drain_plan",
        wide=True,
    )


def _at(found: Drain) -> str:
    if found.throttle is None:
        return "Time"
    return f"Time at {found.throttle / 1e6:g} MB/s"


def _takeaway(found: Drain) -> str:
    plan = found.plan
    known = [found.seconds(step) for step in plan.steps]
    took = "" if None in known else f", about {text.duration(1000 * sum(known))} at {found.throttle / 1e6:g} MB/s"
    return (
        f"{words.plural(len(plan.moves), 'partition')} in {words.plural(len(plan.steps), 'step')}, "
        f"{_sized(found.bytes, found.unsized, found.copied)} to copy{took}."
    )


def _sized(known: int, unsized: int, copied: int) -> str:
    if unsized == copied and copied:
        return f"{words.plural(copied, 'replica')} of unknown size"
    return text.size(known) + (f" and {words.plural(unsized, 'replica')} of unknown size" if unsized else "")


def _step(found: Drain, step: DrainStep, files: Mapping[str, str]) -> Row:
    plan, back = found.file(step), found.file(step, back=True)
    copied = sum(len(move.added) for move in step.moves)
    seconds = found.seconds(step)
    if seconds is not None:
        took: object = text.duration(1000 * seconds)
    elif found.throttle is None:
        took = "as fast as it goes" if not found.commands.throttles else "without a throttle"
    else:
        took = unknown()
    size: object = text.size(step.size)
    if step.unknown:
        size = unknown() if step.unknown == copied else f"{size} + {words.count(step.unknown)} unknown"
    sole = sum(len(move.in_sync) == 1 for move in step.moves)
    spare = words.plural(step.spare, "broker") if step.spare else f"none: {words.count(sole)} with one copy in sync"
    return PLAIN, (
        step.number,
        words.count(len(step.moves)),
        words.count(copied),
        size,
        took,
        spare,
        _link(plan, files[plan]),
        "none: the broker is dead" if found.one_way(step) else _link(back, files[back]),
    )


def _link(name: str, content: str) -> object:
    return render("maintenance_file", name=name, uri=uri(content))


def _moves(found: Drain) -> Table | None:
    rows = found.rows
    if not rows:
        return None
    shown = rows[:MOST_ROWS]
    return Table(
        name="drain-plan",
        columns=(
            ("Partition", CODE),
            ("Step", NUMBER),
            ("From", CODE),
            ("To", CODE),
            ("Bytes", UNBROKEN),
            ("Leads after", NUMBER),
        ),
        rows=[
            (
                PLAIN,
                (
                    f"{row.topic}-{row.partition}",
                    row.step,
                    words.listed(row.from_replicas),
                    words.listed(row.to_replicas),
                    or_unknown(row.bytes, text.size),
                    row.leader_after,
                ),
            )
            for row in shown
        ],
        label="Every move",
        total=len(rows) if len(rows) > len(shown) else None,
        rest="drain_plan",
        search=True,
        tall=True,
    )


def _blocked(found: Drain) -> Table | None:
    blocked = found.plan.blocked
    if not blocked:
        return None
    shown = blocked[:MOST_ROWS]
    reasons = Counter(one.reason for one in blocked)
    return Table(
        name="drain-blocked",
        columns=(("Partition", CODE), ("Replicas", CODE), ("Why it stays", TEXT)),
        rows=[(PLAIN, (f"{one.topic}-{one.partition}", words.listed(one.replicas), WHY_BLOCKED[one.reason])) for one in shown],
        takeaway=f"{words.plural(len(blocked), 'partition')} cannot leave.",
        reading="; ".join(f"{words.count(many)}: {WHY_BLOCKED[reason]}" for reason, many in reasons.most_common()) + ".",
        total=len(blocked) if len(blocked) > len(shown) else None,
        search=True,
        tall=True,
    )


def _evacuation(found: Drain) -> str:
    """Describe the effect of moving leadership alone, in one sentence."""
    turned, blocked = found.evacuation
    if not turned and not blocked:
        return f"{words.brokers(sorted(found.wanted.brokers)).capitalize()} leads no partition and is preferred for none."
    to = Counter(one.leader_after for one in turned)
    whom = ", ".join(f"{words.count(many)} to broker {broker}" for broker, many in sorted(to.items())[:8])
    more = f", and to {words.count(len(to) - 8)} more" if len(to) > 8 else ""
    stay = (
        f" {words.plural(len(blocked), 'partition')} cannot: no other replica is in sync, or it is being moved."
        if blocked
        else ""
    )
    return f"{words.plural(len(turned), 'partition')} get another leader: {whom}{more}.{stay}" if turned else stay.strip()
