"""Files of ``page/static``: stylesheets and scripts."""

from importlib import resources

from markupsafe import Markup


def asset(name: str) -> str:
    """Return a file of ``page/static``."""
    return resources.files("casebook.page").joinpath("static", name).read_text(encoding="utf-8")


def stylesheet() -> Markup:
    """Return the stylesheet: colours first, then the rest."""
    return Markup("".join(map(asset, ("tokens.css", "casebook.css", "pictures.css"))))
