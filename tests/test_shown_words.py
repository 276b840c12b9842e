"""The texts that people see: short sentences in the field's own words, in findings, notebooks, templates and the README."""

import ast
import json
import re
from collections.abc import Iterable, Iterator

import nbformat
import pytest

from casebook.collect import sources
from casebook.machine import places
from casebook.runs import notebooks

MOST_WORDS = 25
AVERAGE_WORDS = 14
MOST_GRADE = 9
AVOIDED = re.compile(
    r"\b(?:nobody|somebody|whom|tells?|told|untold|beside|anew|held against|good is|what of it|taken for an?|"
    r"as it is now|is to be|are to be|whoever|befell|befallen|behind)\b",
    re.IGNORECASE,
)
"""Words that hide who does what, or for which Kafka and plain English have a better one."""
_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`|<code>.*?</code>", re.DOTALL)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)[\"”’)*]*\s+(?=[\"“(*\w`\[])|\n{2,}")
_WORD = re.compile(r"(?<![\w./=:@-])[A-Za-z]+(?:['’-][A-Za-z]+)*(?![\w/=:@-]|\.\w)")
_VOWELS = re.compile(r"[aeiouy]+")


def words(sentence: str) -> list[str]:
    """Words of a sentence: names, numbers, settings, paths and what stands in brackets are none."""
    return _WORD.findall(_IN_BRACKETS.sub(" ", _CODE.sub(" ", sentence)))


def sentences(text: str) -> list[str]:
    """Sentences of a text; a colon or a semicolon ends none."""
    return [part.strip() for part in _SENTENCE_END.split(_CODE.sub("` `", text)) if words(part)]


def syllables(word: str) -> int:
    """Syllables of an English word, by its groups of vowels."""
    return max(len(_VOWELS.findall(re.sub(r"(?:[^l]e|es|ed)$", "", word.lower()))), 1)


def grade(texts: Iterable[str]) -> float:
    """The Flesch–Kincaid grade level of texts (Kincaid and others, 1975)."""
    parts = [words(sentence) for text in texts for sentence in sentences(text)]
    said = [word for part in parts for word in part]
    return 0.39 * len(said) / len(parts) + 11.8 * sum(map(syllables, said)) / len(said) - 15.59


def long_ones(texts: Iterable[str]) -> list[str]:
    """Sentences with too many words."""
    return [sentence for text in texts for sentence in sentences(text) if len(words(sentence)) > MOST_WORDS]


def avoided(texts: Iterable[str]) -> list[str]:
    """Sentences with a word of the list."""
    return [sentence for text in texts for sentence in sentences(text) if AVOIDED.search(_CODE.sub(" ", sentence))]


def of_finding(finding: dict) -> Iterator[str]:
    """What a report shows of a finding."""
    yield from (finding[key] for key in ("question", "title", "why", "threshold", "settle") if finding[key])
    yield from finding["caveats"]
    yield from (step["text"] for step in finding["next"])


def of_markdown(text: str) -> list[str]:
    """Paragraphs, headings, items and cells of a Markdown text, its links as plain words."""
    plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"```.*?```|<[^>]+>", "", text, flags=re.DOTALL))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.)\s)|\s\|\s", plain)
    return [re.sub(r"\s+", " ", re.sub(r"^[\s#|*-]+|\*\*|(?<!\w)\*|\*(?!\w)", "", block)) for block in blocks]


def of_notebook(stem: str) -> list[str]:
    """What a notebook says itself."""
    cells = nbformat.read(notebooks.find(stem).path, as_version=4).cells
    said = [text for cell in cells if cell.cell_type == "markdown" for text in of_markdown(cell.source)]
    return said + [line.partition("# ")[2] for cell in cells if "parameters" in cell.metadata.get("tags", ()) for line in
                   cell.source.splitlines()]  # fmt: skip


def of_templates() -> list[str]:
    """What the templates say, without what they are filled with."""
    texts = [path.read_text() for path in sorted(places.checkout().glob("lib/casebook/**/templates/*.j2"))]
    plain = (re.sub(r"\{%.*?%\}|\{#.*?#\}|<code>.*?</code>|<script.*?</script>|<style.*?</style>", "\n", text, flags=re.DOTALL)
             for text in texts)  # fmt: skip
    return [re.sub(r"\{\{.*?\}\}|&\w+;", " ", part).strip() for text in plain for part in re.split(r"<[^<>]*>|\n", text)]


class TestMeasures:
    """What is measured is what is meant."""

    def test_names_are_no_words(self):
        assert words("Start broker 5: orders-3 and min.insync.replicas=2 (topic override) elect `a leader`.") == [
            "Start", "broker", "and", "elect",
        ]  # fmt: skip

    def test_sentences(self):
        assert len(sentences("Kafka 0.9.0.1 waits. It is up: start it; then wait.")) == 2

    def test_a_known_grade(self):
        """By the formula: 6 words of 6 syllables in one sentence give 0.39 * 6 + 11.8 - 15.59."""
        assert grade(["The cat sat on the mat."]) == pytest.approx(0.39 * 6 + 11.8 - 15.59)

    def test_both_lists_find_something(self):
        assert avoided(["Nobody told it."])
        assert long_ones([" ".join(["word"] * 26)])
        assert not long_ones([" ".join(["word"] * 25)])


@pytest.mark.parametrize("sample", sources.samples())
class TestFindings:
    """What every check says of every shipped sample: notebook 90 asks them all."""

    @pytest.fixture
    def said(self, cells, sample) -> list[str]:
        folder = cells("90_scheduled_report", f"sample:{sample}")
        return [text for one in json.loads((folder / "findings.json").read_text())["findings"] for text in of_finding(one)]

    def test_words_and_sentences(self, said, sample):
        """No word of the list, no long sentence, and short ones on the whole."""
        assert avoided(said) == []
        assert long_ones(said) == []
        lengths = [len(words(sentence)) for text in said for sentence in sentences(text)]
        assert sum(lengths) / len(lengths) <= AVERAGE_WORDS

    def test_grade(self, said, sample):
        """Readable for people whose language is another."""
        assert grade(said) <= MOST_GRADE


@pytest.mark.parametrize("stem", [notebook.stem for notebook in notebooks.every()])
def test_notebooks(stem):
    """Their own words, and the help of their parameters."""
    assert avoided(of_notebook(stem)) == []
    assert long_ones(of_notebook(stem)) == []


def test_templates():
    assert avoided(of_templates()) == []
    assert long_ones(of_templates()) == []


def test_readme():
    said = of_markdown((places.checkout() / "README.md").read_text())
    assert avoided(said) == []
    assert long_ones(said) == []


class TestNames:
    """Names of the code are for the code."""

    def test_no_name_of_a_class_is_shown(self):
        """A column is headed State, not CoordinatorState, whatever a class is called."""
        trees = {path: ast.parse(path.read_text()) for path in sorted((places.checkout() / "lib" / "casebook").rglob("*.py"))}
        nodes = {path: list(ast.walk(tree)) for path, tree in trees.items()}
        names = {node.name for some in nodes.values() for node in some if isinstance(node, ast.ClassDef)}
        joined = re.compile(rf"\b(?:{'|'.join(sorted(name for name in names if re.search('[a-z][A-Z]', name)))})\b")
        shown = [
            f"{path.name}:{node.lineno}: {node.value}"
            for path, some in nodes.items()
            if path.name != "__init__.py"
            for unseen in [set(_unseen(some))]
            for node in some
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unseen
            if joined.search(node.value)
        ]
        assert len(names) > 300
        assert shown == []


def _unseen(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Docstrings, and annotations in quotes."""
    for node in nodes:
        if isinstance(node, ast.Expr):
            yield id(node.value)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            yield from map(id, ast.walk(part)) if part else ()
