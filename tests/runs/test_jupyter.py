"""What the libraries of Jupyter import."""

import subprocess
import sys

PROGRAM = """
import sys
from casebook.runs import jupyter

jupyter.imported("papermill")
assert "lark" not in sys.modules, "the grammar was compiled"
import rfc3987_syntax
assert rfc3987_syntax.is_valid_syntax("iri", "http://kafka")
"""


def test_without_a_grammar():
    """A run does not wait for one that it never uses, and others can still have it."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
