"""Sentences on the content of a paste that no row holds: commands, headings, remarks, lost values, unknown lines.

Nothing of a paste is silent: a report shows these as they were pasted.
"""

from collections.abc import Iterator, Sequence

from casebook.facts.pasted import NotUnderstood, Pasted
from casebook.facts.quotes import MOST_QUOTED, cut, literal

_LONGEST, _SHORT, _MOST_NUMBERS = 400, 200, 200


def typed(found: Pasted) -> Iterator[str]:
    """Yield commands in one sentence: they name servers, a namespace, a chroot or a folder."""
    parts = [f"line {each.span.first} `{cut(each.text, _LONGEST)}`" for each in found.beside if each.typed]
    yield from _sentence("What was typed", parts)


def beside(found: Pasted) -> Iterator[str]:
    """Yield headings, remarks and decoration in one sentence."""
    others = (each for each in found.beside if not each.typed and any(map(str.isalnum, each.text)))
    parts = [f"line {each.span.first} {literal(each.text, _SHORT)}" for each in others]
    yield from _sentence("Headings and remarks next to the answers, kept as they are", parts)


def _sentence(head: str, parts: Sequence[str]) -> Iterator[str]:
    if parts:
        more = f"; and {len(parts) - MOST_QUOTED} more" if len(parts) > MOST_QUOTED else ""
        yield f"{head}: {'; '.join(parts[:MOST_QUOTED])}{more}."


def not_kept(found: Pasted) -> Iterator[str]:
    """Yield decoded values without a row, in one sentence."""
    if found.not_kept:
        shown = "; ".join(
            f"line {each.span.first} {', '.join(each.values)} of {literal(each.text, _LONGEST)}"
            for each in found.not_kept[:MOST_QUOTED]
        )
        rest = [str(each.span.first) for each in found.not_kept[MOST_QUOTED:]]
        more = f"; and parts of lines {', '.join(rest[:_MOST_NUMBERS])}" if rest else ""
        more += f" and of {len(rest) - _MOST_NUMBERS} more, up to line {rest[-1]}" if len(rest) > _MOST_NUMBERS else ""
        yield f"Parts of parsed lines that were not kept: {shown}{more}."


def not_understood(found: Pasted) -> Iterator[str]:
    """Yield the text of lines that no reader took, in one sentence: a person may read what no reader does."""
    parts = [f"{_where(part)} {_quoted(part)}" for part in found.not_understood if part.printed]
    yield from _sentence("Lines that were not understood, as pasted", parts)


def _where(part: NotUnderstood) -> str:
    return f"line {part.span.first}" if part.span.first == part.span.last else f"lines {part.span.first}-{part.span.last}"


def _quoted(part: NotUnderstood) -> str:
    more = " and the rest" if len(part.printed) > MOST_QUOTED else ""
    return ", ".join(literal(text, _SHORT) for text in part.printed[:MOST_QUOTED]) + more
