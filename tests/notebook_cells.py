"""A notebook's own cells, run in this process: as a kernel would, without one to start, and with the Spark that is there."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from casebook.runs import jupyter, notebooks


def execute(stem: str, out_dir: Path, **given: object) -> Path:
    """Run all code cells of a notebook with these parameters, headless; gives the folder that holds what it wrote.

    Args:
        stem: The notebook's stem or name.
        out_dir: Where findings and tables go.
        given: Values of its parameters, over those of the cell.
    """
    found = notebooks.find(stem)
    values: dict[str, object] = {}
    for cell in jupyter.read(found.path).cells:
        if cell.cell_type != "code":
            continue
        with redirect_stdout(StringIO()):  # outside a kernel, what is displayed is printed
            exec(compile(cell.source, found.path.name, "exec"), values)
        if "parameters" in cell.metadata.get("tags", ()):
            values |= {"out_dir": str(out_dir), "interactive": "no"} | given
    return out_dir
