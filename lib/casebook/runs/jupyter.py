"""Import of Jupyter's libraries without a part that is slow and never used."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

_UNUSED = "rfc3987_syntax"
"""``jsonschema`` imports it, if it is installed, to check IRIs; the import compiles a grammar for about a second. A notebook's
schema has no IRI (``nbformat.v4.schema.json@5.11.1``)."""


def read(path: Path) -> "NotebookNode":
    """Return a notebook from its file."""
    return imported("nbformat").read(path, as_version=4)


def imported(name: str) -> ModuleType:
    """Return a library of Jupyter, e.g. ``nbformat``, imported when first needed."""
    if _UNUSED in sys.modules:
        return importlib.import_module(name)
    sys.modules[_UNUSED] = None  # Python then reports it as not installed
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[_UNUSED]
