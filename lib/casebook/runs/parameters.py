"""A notebook's parameters: read from its parameters cell, and set strictly.

papermill guesses types from text (``1_000`` becomes 1000, ``None`` becomes null) and only warns about a misspelt name, but topic
and group names may be any of these. So text is converted by the annotation in the cell, and an unknown name is an error.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from casebook.errors import UsageError, did_you_mean
from casebook.runs import jupyter

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A notebook parameter.

    Args:
        name: As in the cell.
        type: Its annotation: ``str``, ``int``, ``float`` or ``bool``.
        default: Its value in the cell.
        help: The comment after it.
    """

    name: str
    type: str
    default: object
    help: str

    def coerce(self, text: str) -> object:
        """Convert a text to the parameter's type.

        Raises:
            UsageError: The text is not a value of that type.
        """
        try:
            return _READERS[self.type](text)
        except (KeyError, ValueError):
            raise UsageError(f"{self.name}={text} is not of type {self.type}.", try_=f"{self.name}: {self.help}") from None


def _number(text: str) -> float:
    """Parse a number in plain digits; Python itself accepts ``1_000`` and ``nan``."""
    if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?", text.strip()):
        raise ValueError(text)
    return float(text)


def _whole_number(text: str) -> int:
    if not re.fullmatch("[+-]?[0-9]{1,18}", text.strip()):
        raise ValueError(text)
    return int(text)


_READERS = {"str": str, "int": _whole_number, "float": _number, "bool": lambda text: _FLAGS[text.strip().lower()]}


def of_notebook(path: Path) -> tuple[Parameter, ...]:
    """Return the parameters of a notebook, in the order of its cell.

    Raises:
        UsageError: It has no parameters cell of annotated literals.
    """
    notebook = jupyter.read(path)
    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ())]
    if not cells:
        raise UsageError(f"{path.name} has no cell tagged parameters.")
    lines = cells[0].source.splitlines()
    try:
        return tuple(_parameter(node, lines) for node in ast.parse(cells[0].source).body if isinstance(node, ast.AnnAssign))
    except (SyntaxError, ValueError):
        raise UsageError(f"{path.name} has a parameter that is not a literal.") from None


def _parameter(node: ast.AnnAssign, lines: list[str]) -> Parameter:
    _, _, comment = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().partition("#")  # ast counts bytes
    return Parameter(
        name=node.target.id, type=ast.unparse(node.annotation), default=ast.literal_eval(node.value), help=comment.strip()
    )


def coerced(parameters: Iterable[Parameter], given: Mapping[str, str]) -> dict[str, object]:
    """Convert the given values to the types of their parameters.

    Raises:
        UsageError: A name is not a parameter, or a text not a value of its type.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in by_name:
            raise UsageError(f"There is no parameter {name}.", try_=did_you_mean(name, by_name))
    return {name: by_name[name].coerce(text) for name, text in given.items()}


def from_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Parse ``name=value`` texts of a command line; the value is everything after the first ``=``.

    Raises:
        UsageError: A text has no ``=``.
    """
    given = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is not name=value.")
        given[name.strip()] = value
    return given


def from_yaml(path: Path) -> dict[str, str]:
    """Read parameters from a YAML file, every scalar as its text (``007`` stays ``007``).

    Raises:
        UsageError: It is unreadable, or not a flat mapping.
    """
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # BaseLoader keeps every scalar as text
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{path} is not YAML: {getattr(error, 'problem', None) or 'it cannot be parsed'}.") from None
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise UsageError(f"{path} is not a flat list of `name: value` lines.")
    return content
