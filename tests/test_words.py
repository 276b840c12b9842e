"""Docstrings and comments of the library speak plain technical English: no word or phrase of the avoid list."""

import ast
import io
import re
import tokenize
from inspect import cleandoc

import pytest

from casebook.machine import places

LIBRARY = places.checkout() / "lib" / "casebook"

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


def spoken(source, path):
    """Line and text of each docstring and comment; columns of tables are texts for people, as is the help of a command."""
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


def ours(text):
    """The text without code, quotations and names of arguments."""
    return re.sub(r"``.*?``|:\w+:`.*?`|\".*?\"|(?m:^ {4}[\w*, ]+:)", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("pattern", AVOID)
def test_avoided(pattern):
    """None of these in any docstring or comment."""
    found = [
        f"{path.relative_to(LIBRARY)}:{line}: {hit[0]!r}: write {AVOID[pattern]!r}"
        for path in sorted(LIBRARY.rglob("*.py"))
        for line, text in spoken(path.read_text(), path)
        for hit in re.finditer(pattern, ours(text), re.IGNORECASE)
    ]
    assert not found, "\n" + "\n".join(found)
