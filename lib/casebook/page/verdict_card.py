"""The card at the top of a page: what is broken, since when, what to do first, and why."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from casebook.page.render import render


def verdict_card(
    kind: str,
    title: str,
    *,
    since: str = "",
    first: str = "",
    command: str = "",
    why: str = "",
    notes: Iterable[str] = (),
    run: str = "",
    plan: Sequence[object] = (),
    brokers: Sequence[object] | None = (),
    more: Sequence[object] = (),
) -> Markup:
    """Return the card.

    Args:
        kind: Severity, ``ok``, ``could_not_check``, ``not_applicable`` or ``pending``.
        title: One sentence.
        since: Sentence on since when.
        first: First step.
        command: Command of the first step.
        why: Reason.
        notes: Further sentences; empty ones are left out.
        run: Start of the run that it ends: JupyterLab shows each card of an ended run once on its own.
        plan: Steps with ``text`` and ``never``.
        brokers: Brokers with ``id``, ``dead``, ``controller``, ``note``; ``None`` when the live ones are unknown.
        more: Further brokers, how many and whether dead.
    """
    told = {"since": since, "first": first, "command": command, "why": why, "notes": [note for note in notes if note]}
    return render("verdict", kind=kind, title=title, run=run, plan=plan, brokers=brokers, more=more, **told)
