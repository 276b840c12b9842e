"""How a test is seen alone: the one line that runs it again, with what the environment told it."""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

_TELLS = re.compile(r"(CASEBOOK|PYSPARK|SPARK)_|(JAVA_HOME|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|TMPDIR|TZ)$")
"""Variables that change what a test meets."""


def command(test: str, environment: Mapping[str, str]) -> str:
    """The line for a shell in the checkout.

    Args:
        test: Its node id, as pytest prints it.
        environment: Of the run in which it failed.
    """
    told = [f"{name}={shlex.quote(value)}" for name, value in sorted(environment.items()) if _TELLS.match(name)]
    return " ".join([*told, shlex.quote(_python()), "-m", "pytest", shlex.quote(test)])


def _python() -> str:
    """From the checkout, where it lies there."""
    python, checkout = Path(sys.executable), Path(__file__).parents[1]
    return str(python.relative_to(checkout)) if python.is_relative_to(checkout) else str(python)


AT_FIRST = dict(os.environ)
"""As pytest was started: fixtures of modules change it."""
