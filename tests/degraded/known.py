"""Classes of contradictions that are not mended yet: each by the removal that shows it and the checks that answer otherwise.

Each is a test that must fail. One that passes is mended: take it out of here.
"""

from typing import NamedTuple


class Known(NamedTuple):
    """A class that does not hold yet.

    Args:
        text: The smallest degradation that shows it.
        checks: That answer otherwise.
        why: What is at fault.
    """

    text: str
    checks: tuple[str, ...]
    why: str


KNOWN: tuple[Known, ...] = ()
