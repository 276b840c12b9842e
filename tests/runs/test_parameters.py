"""Parameters are set strictly: any text may be a topic's name."""

import nbformat
import pytest

from casebook.errors import UsageError
from casebook.runs import parameters
from casebook.runs.parameters import Parameter

ODD = ["1_000", "007", "None", "nan", "true", "1e5", "null", "~", "0x10", "a=b", " x "]


def parameter(type_):
    return Parameter(name="p", type=type_, default=None, help="what it is")


class TestCoerce:
    @pytest.mark.parametrize("text", ODD)
    def test_text_stays(self, text):
        """A text parameter is the text, whatever Python or YAML would make of it."""
        assert parameter("str").coerce(text) == text

    @pytest.mark.parametrize(("type_", "text", "value"), [("int", "-7", -7), ("int", "007", 7), ("float", "1.5", 1.5), ("float", "1e5", 1e5),
                                                          ("bool", "yes", True), ("bool", "False", False), ("bool", "0", False)])  # fmt: skip
    def test_values(self, type_, text, value):
        """Numbers and flags are read by their type."""
        assert parameter(type_).coerce(text) == value

    @pytest.mark.parametrize(("type_", "text"), [("int", "1_000"), ("int", "None"), ("int", "1.0"), ("int", "٣"), ("int", "9" * 5000),
                                                 ("float", "nan"), ("float", "inf"), ("float", "1_0"), ("bool", "maybe"), ("list", "x")])  # fmt: skip
    def test_refused(self, type_, text):
        """A text that is no plain value of the type is refused, with what the parameter is."""
        with pytest.raises(UsageError) as caught:
            parameter(type_).coerce(text)
        assert (caught.value.what, caught.value.try_) == (f"p={text} is not of type {type_}.", "p: what it is")

    def test_misspelt(self):
        """A name that is none is refused with the nearest."""
        with pytest.raises(UsageError, match=r"There is no parameter topc\. Did you mean topic\?"):
            parameters.coerced([Parameter(name="topic", type="str", default="", help="")], {"topc": "x"})


class TestOfNotebook:
    def notebook(self, folder, source, tags=("parameters",)):
        cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "n.ipynb")
        return folder / "n.ipynb"

    def test_read(self, tmp_path):
        """Name, type, default and comment, also behind a default with hash or umlauts."""
        path = self.notebook(tmp_path, 'topic: str = "#ÄÖÜ"  # whose "name"\nlimit: int = -1\nother = 3')
        assert parameters.of_notebook(path) == (
            Parameter(name="topic", type="str", default="#ÄÖÜ", help='whose "name"'),
            Parameter(name="limit", type="int", default=-1, help=""),
        )

    @pytest.mark.parametrize(
        ("source", "tags"),
        [("x: int = 1", ()), ("x: int = f()", ("parameters",)), ("x: int", ("parameters",)), ("x: int = (", ("parameters",))],
    )
    def test_refused(self, tmp_path, source, tags):
        """A cell that is no list of literals is refused."""
        with pytest.raises(UsageError):
            parameters.of_notebook(self.notebook(tmp_path, source, tags))


class TestFiles:
    def test_pairs(self):
        """The value is everything behind the first equals sign."""
        assert parameters.from_pairs(["a=b=c", "d=", " e =f"]) == {"a": "b=c", "d": "", "e": "f"}
        with pytest.raises(UsageError):
            parameters.from_pairs(["a"])

    @pytest.mark.parametrize("text", ["1_000", "007", "None", "nan", "true", "1e5", "null", "~", "0x10"])
    def test_yaml_keeps_the_text(self, tmp_path, text):
        """A scalar is the text that stands there."""
        (tmp_path / "p.yaml").write_text(f"topic: {text}\n")
        assert parameters.from_yaml(tmp_path / "p.yaml") == {"topic": text}

    @pytest.mark.parametrize(
        "content", [b"", b"- a", b"a: [1]", b"a: {b: c}", b"a: 'x", b"\xff", b"\x00", b"[" * 5000, b"a: 1\n---\nb: 2"]
    )
    def test_yaml_that_is_no_list_of_values(self, tmp_path, content):
        """Anything but a flat list is refused."""
        (tmp_path / "p.yaml").write_bytes(content)
        with pytest.raises(UsageError):
            parameters.from_yaml(tmp_path / "p.yaml")

    def test_no_file(self, tmp_path):
        """A file that is not there is named."""
        with pytest.raises(UsageError, match="cannot be read"):
            parameters.from_yaml(tmp_path / "p.yaml")
