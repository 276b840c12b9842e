"""Colours by the names of the stylesheet: charts use the same list."""

import re
from collections.abc import Mapping
from functools import cache

from casebook.page.assets import asset

_TOKEN = re.compile(r"--cb-([a-z-]+): light-dark\((#[0-9A-F]{6}), (#[0-9A-F]{6})\);")


@cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Return (light, dark) by name, e.g. ``critical-tint``."""
    return {name: (light, dark) for name, light, dark in _TOKEN.findall(asset("tokens.css"))}


def light(token: str) -> str:
    """Return a colour of the light scheme: charts are built with it, and the script redraws them for the dark one."""
    return tokens()[token][0]
