"""A step of the plan: a row of ``tables/plan``."""

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """Kind of a step."""

    STOP_CONSUMERS = "stop_consumers"
    BACK_UP = "back_up"
    FIND_DATA = "find_data"
    START = "start"
    FIND_OUT = "find_out"
    WAIT = "wait"
    CONFIGURE = "configure"
    RESTART = "restart"
    READ_COMMITS = "read_commits"
    LOAD_AGAIN = "load_again"
    SEND_AGAIN = "send_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step of the plan: a row of ``tables/plan``. The first of its checks says what not to do.

    Columns:
        act: Kind of step, e.g. start, back_up, wait, restart.
        brokers: Brokers concerned, in order.
        text: The order, with its object and reason.
        command: The exact command, where there is one.
        never: What not to do meanwhile, each with its price.
        checks: Checks whose findings it answers.
    """

    act: Act
    text: str
    checks: tuple[str, ...]
    brokers: tuple[int, ...] = ()
    command: str | None = None
    never: tuple[str, ...] = ()
