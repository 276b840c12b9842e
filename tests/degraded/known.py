"""Classes of contradictions that are not mended yet: each by check and the removal that shows it.

Each is a test that must fail. One that passes is mended: take it out of here.
"""

from typing import NamedTuple


class Known(NamedTuple):
    """A class that does not hold yet.

    Args:
        check: That answers otherwise.
        text: The smallest degradation that shows it.
        why: What is at fault.
    """

    check: str
    text: str
    why: str


KNOWN: tuple[Known, ...] = (
    Known(
        "durability.auto_created", "kill_before_drain: binary/server.properties/1",
        "a default of a release is found, where nobody read the setting",
    ),
    Known(
        "durability.unclean_election", "kill_before_drain: binary/server.properties/1",
        "a default of a release is found, where nobody read the setting",
    ),
)  # fmt: skip
