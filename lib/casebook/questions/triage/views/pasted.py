"""A box for pasted evidence, with the result; without widgets, the equivalent command."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.findings.finding import Finding
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import Panel
from casebook.page.render import look, render
from casebook.page.view import View

_HEADLESS = Markup(
    "JupyterLab shows a text box here. Headless, put the pasted text into a file for the same case; <code>-</code> reads the "
    "standard input:"
)
_HINT = "A command with its output: zkCli get and ls, kafka-topics --describe, log lines, ls -l ..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A case from a paste.

    Args:
        source: Value for the notebooks' ``source``.
        findings: Findings on the paste.
    """

    source: str
    findings: Sequence[Finding]


def box(make: Callable[[str], Made], context: PanelContext) -> View:
    """Show the box, or its static twin.

    Args:
        make: Creates a case from a text.
        context: Context in the notebook.
    """
    if not context.interactive:
        return View(
            parts=(
                render("made_case", source=None, headless=_HEADLESS, commands=("casebook collect --pasted FILE --out my-case",)),
            )
        )
    return View(parts=(_widgets(make, context.remembered),))


def banner(findings: Sequence[Finding]) -> View:
    """Show at the top of notebooks on a pasted case what was decoded, and what to paste next; else nothing."""
    if not findings:
        return View(parts=())
    commands = [step.command for finding in findings for step in finding.next if step.command]
    return View(parts=(render("pasted_next", said=[_said(finding) for finding in findings], commands=commands),))


def _said(finding: Finding) -> tuple[str, str, str]:
    return look(finding), finding.title, finding.why


def _widgets(make: Callable[[str], Made], remembered: dict[str, object]) -> object:
    import ipywidgets as widgets

    field = widgets.Textarea(
        placeholder=_HINT,
        description="Paste here",
        layout={"width": "100%", "height": "220px"},
        style={"description_width": "90px"},
        continuous_update=False,
    )
    button = widgets.Button(description="Make a case", layout={"width": "180px"})
    return Panel((field, button), {"pasted": field}, lambda now: _answer(make(now["pasted"])), remembered, asked=button).box


def _answer(made: Made) -> Markup:
    return render(
        "made_case", source=made.source, said=map(_said, made.findings), commands=(text.command("triage", made.source, {}),)
    )
