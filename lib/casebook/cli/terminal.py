"""Terminal output of all commands: print without secrets, report errors, parse durations."""

import re

import click

from casebook.errors import CasebookError, UsageError


def complain(error: CasebookError) -> None:
    """Print what happened, its likely cause and what to try."""
    say(f"casebook: {error.what}", err=True)
    if error.cause:
        say(f"  likely cause: {error.cause}", err=True)
    if error.try_:
        say(f"  try: {error.try_}", err=True)


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text from outside without secrets, the only output to the terminal. Half a surrogate pair becomes a question mark."""
    from casebook.collect.redaction import redact_message

    click.echo(redact_message(text).encode(errors="replace").decode(), err=err, nl=nl)


def seconds(option: str, text: str) -> float:
    """Return the seconds of a duration such as ``30m``.

    Raises:
        UsageError: It is not a duration.
    """
    match = re.fullmatch(r"(\d+)\s*([smh])", text)
    if not match or not int(match[1]):
        raise UsageError(f"{text!r} is not a length of time.", try_=f"For example {option} 30m, 90s or 2h.")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]
