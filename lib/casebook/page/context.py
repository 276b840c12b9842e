"""Context of a panel in its notebook."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from casebook.page.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelContext:
    """Widgets, choices, and source of the evidence.

    Args:
        interactive: Whether there are widgets; otherwise a panel shows its static twin for the parameters.
        remembered: Choices by field, kept when a cell is rerun.
        source: Source of the evidence, for the equivalent headless command.
        at: Past moment of the notebook, for that command; ``""`` for that of the evidence.
        case: Name of the case.
        quote: Shows the evidence of a proof, used with widgets.
        shown: Evidence at paths of znodes, as read.
    """

    interactive: bool = False
    remembered: dict[str, object] = field(default_factory=dict)
    source: str = ""
    at: str = ""
    case: str = ""
    quote: Callable[[str], View] | None = None
    shown: Callable[[Sequence[str]], Markup] = lambda _: Markup("")
