"""The library's docstrings, all comments and the hand-written pages use plain technical English: no phrase of the avoid list."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from pathlib import Path

import pytest

from casebook.machine import places

ROOT = places.checkout()
PAGES = (ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
JAVA = ROOT / "lib" / "jvm" / "src" / "casebook"

# Pattern of each word to avoid, and what to write instead.
AVOID = {
    r"\btells?\b|\btold\b|\btelling (?!how)": "reports, prints, contains, shows",
    r"\bsa(?:ys|id) (?:that|of)\b": "prints, states, means, reports",
    r"\b(?:no|some|any|every)body\b|\bwhoever\b": "none, a person, an operator, or the passive",
    r"\bwhom?\b|(?:^|[.;:] )Whose\b": "a noun: the broker, the leader, the owner",
    r"(?:^|\. )(?-i:What)\b(?!-)(?![^.]*\?)(?! to\b)": "a noun: content, effect, result; a function begins with a verb",
    r"\bwhat (?:of|came|becomes?|became|stands)\b": "a noun: content, effect, result",
    r"\bnone but\b|\bwhereof\b": "only, of which",
    r"\bbegin of\b": "start of",
    r"\bby itself\b|\bby themselves\b": "alone, automatically",
    r"\bnext door\b": "in a sibling module",
    r"\b(?:is|are) to (?!the\b|\d)": "must, will, or a verb",
    r"\btaken for\b|\bat (?:its|their) word\b": "counts as, reliable",
    r"\bheld against\b": "compared with",
    r"\blooked at\b": "examined",
    r"\basked for\b": "requested",
    r"\bmade anew\b|\bbegins? anew\b": "recreated, starts again",
    r"\bwithout leader\b": "without a leader",
}

# Read aloud to people as they are: help texts of commands.
HELP = {"cli", "list_", "describe", "run", "report", "summary", "runs", "rehearse", "prepare", "doctor", "collect"}


def python(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring and comment; columns of tables are texts for people, as is the help of a command."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or (path.parent.name == "cli" and getattr(node, "name", "") in HELP):
            continue
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, re.sub(r"(?m)^Columns:\n(?: {4}.*\n?)+", "", cleandoc(text))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def java(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each comment, without the names of parameters and tags."""
    source = path.read_text()
    for part in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//(.*)|/\*+((?:.|\n)*?)\*/', source):
        text = re.sub(r"(?m)^ *\* ?|@param \w+|@\w+|\{@\w+ [^}]*\}", "", part[1] or part[2] or "")
        yield source.count("\n", 0, part.start()) + 1, text.strip()


def page(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each paragraph, heading and cell of a table; fenced code and parts made from the code are left out."""
    text = re.sub(
        r"(?m)<!-- made: (?:.|\n)*?<!-- end -->|^(`{3,})(?:.|\n)*?^\1$", lambda part: "\n" * part[0].count("\n"), path.read_text()
    )
    text = re.sub(r"`[^`]*`", lambda part: "\n" * part[0].count("\n") + "``", text)
    for part in re.finditer(r"(?:[^|\n]|\n(?![\n|#>]| *[-*\d]+\.? ))+", text):
        yield text.count("\n", 0, part.start()) + 1, re.sub(r"(?m)^[ #]+|\*\*", "", part[0])


def ours(text: str) -> str:
    """The text without code, quotations and names of arguments."""
    return re.sub(r"``.*?``|:\w+:`.*?`|\".*?\"|(?m:^ {4}[\w*, ]+:)", "", text, flags=re.DOTALL)


WRITTEN = {
    "library": (sorted((ROOT / "lib" / "casebook").rglob("*.py")), python),
    "java": (sorted(JAVA.rglob("*.java")), java),
    "pages": (PAGES, page),
}
"""The files of each kind, and the reader of their texts."""


@cache
def written(kind: str) -> list[tuple[str, str]]:
    """Place and text of all that is written in files of a kind."""
    paths, read = WRITTEN[kind]
    return [(f"{path.relative_to(ROOT)}:{line}", ours(text)) for path in paths for line, text in read(path)]


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("pattern", AVOID)
def test_avoided(pattern, kind):
    """None of these in any docstring, comment or page."""
    found = [
        f"{place}: {hit[0]!r}: write {AVOID[pattern]!r}"
        for place, text in written(kind)
        for hit in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert not found, "\n" + "\n".join(found)


def test_texts_are_found(tmp_path):
    """The readers return prose, with its line, and no code."""
    source = tmp_path / "A.java"
    source.write_text('/**\n * Sets {@code x}.\n *\n * @param who a name\n */\nString a = "// who"; // why\n')
    assert list(java(source)) == [(1, "Sets .\n\n a name"), (6, ""), (6, "why")]
    markdown = tmp_path / "a.md"
    markdown.write_text("# One\n\n```sh\nwho\n```\n\n| a | `who` b |\n\n- two `who\n  whom`\n  three\n- **four** five\n")
    assert [(line, text.strip()) for line, text in page(markdown) if re.search(r"\w", text)] == [
        (1, "One"), (7, "a"), (7, "`` b"), (9, "- two \n``\nthree"), (12, "- four five"),
    ]  # fmt: skip
