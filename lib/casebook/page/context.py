"""What a panel has to know of the notebook that it stands in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from casebook.page.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelContext:
    """Widgets or not, what a person chose, and where the evidence is.

    Args:
        interactive: Whether there are widgets; without them a panel is its static twin at the parameters.
        remembered: What the person chose, by field; outlives a re-run of the cell.
        source: Where the evidence comes from, for the command that gives the same answer headless.
        at: The moment of the past that the notebook is about, as that command is given it; ``""`` for that of the evidence.
        case: The name of the case.
        quote: Shows the evidence behind a proof, of use where there are widgets.
        shown: The evidence behind paths of znodes, as it was read.
    """

    interactive: bool = False
    remembered: dict[str, object] = field(default_factory=dict)
    source: str = ""
    at: str = ""
    case: str = ""
    quote: Callable[[str], View] | None = None
    shown: Callable[[Sequence[str]], Markup] = lambda _: Markup("")
