"""The colours, as the stylesheet names them: charts are drawn from the same list."""

import re
from collections.abc import Mapping
from functools import cache

from casebook.page.view import asset

_TOKEN = re.compile(r"--cb-([a-z-]+): light-dark\((#[0-9A-F]{6}), (#[0-9A-F]{6})\);")


@cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """(light, dark) by name, e.g. ``critical-tint``."""
    return {name: (light, dark) for name, light, dark in _TOKEN.findall(asset("tokens.css"))}


def light(token: str) -> str:
    """A colour of the light scheme: a chart is made in it, and the script redraws it where the reader's is dark."""
    return tokens()[token][0]
