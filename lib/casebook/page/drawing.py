"""A chart's static picture: one SVG, inside a page with its stylesheet, or alone in a notebook."""

import re
from functools import cache

from markupsafe import Markup

from casebook.page.assets import asset
from casebook.page.palette import tokens

_STYLE = re.compile("<style>.*?</style>", re.DOTALL)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ON_WHITE = ' xmlns="http://www.w3.org/2000/svg" style="background: #FFFFFF"'
_FONTS = "--cb-sans: system-ui, sans-serif; --cb-mono: ui-monospace, monospace"


def alone(picture: Markup) -> str:
    """Return a picture that carries its namespace and its style: light on white, as it may be shown on any background."""
    start, _, rest = _NO_XML.sub("\ufffd", str(picture)).partition(">")
    return f"{start}{_ON_WHITE}>{_style()}{rest}"


def of_page(picture: str) -> Markup:
    """Return the picture as it was before :func:`alone`: the page has a style."""
    return Markup(_STYLE.sub("", picture, count=1).replace(_ON_WHITE, "", 1))


@cache
def _style() -> str:
    colours = "; ".join(f"--cb-{name}: {light}" for name, (light, _) in tokens().items())
    return f"<style>.cb-static {{ {_FONTS}; {colours} }}\n{asset('pictures.css')}</style>"
