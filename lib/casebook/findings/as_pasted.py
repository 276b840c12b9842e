"""Sentences on the content of a paste that no row holds: commands, headings, remarks, lost values, unknown lines.

Nothing of a paste is silent: a report shows these as they were pasted.
"""

from collections.abc import Iterator

from casebook.facts.pasted import NotUnderstood, Pasted
from casebook.facts.quotes import cut, literal

_LONGEST, _SHORT, _MOST, _MOST_NUMBERS = 400, 200, 40, 200


def typed(found: Pasted) -> Iterator[str]:
    """Yield commands in one sentence: they name servers, a namespace, a chroot or a folder."""
    typed = [each for each in found.beside if each.typed]
    if typed:
        shown = "; ".join(f"line {each.span.first} `{cut(each.text, _LONGEST)}`" for each in typed[:_MOST])
        more = f"; and {len(typed) - _MOST} more" if len(typed) > _MOST else ""
        yield f"What was typed: {shown}{more}."


def beside(found: Pasted) -> Iterator[str]:
    """Yield headings, remarks and decoration in one sentence."""
    others = [each for each in found.beside if not each.typed and any(map(str.isalnum, each.text))]
    if others:
        shown = "; ".join(f"line {each.span.first} {literal(each.text, _SHORT)}" for each in others[:_MOST])
        more = f"; and {len(others) - _MOST} more" if len(others) > _MOST else ""
        yield f"Headings and remarks next to the answers, kept as they are: {shown}{more}."


def not_kept(found: Pasted) -> Iterator[str]:
    """Yield decoded values without a row, in one sentence."""
    if found.not_kept:
        shown = "; ".join(
            f"line {each.span.first} {', '.join(each.values)} of {literal(each.text, _LONGEST)}"
            for each in found.not_kept[:_MOST]
        )
        rest = [str(each.span.first) for each in found.not_kept[_MOST:]]
        more = f"; and parts of lines {', '.join(rest[:_MOST_NUMBERS])}" if rest else ""
        more += f" and of {len(rest) - _MOST_NUMBERS} more, up to line {rest[-1]}" if len(rest) > _MOST_NUMBERS else ""
        yield f"Parts of parsed lines that were not kept: {shown}{more}."


def not_understood(found: Pasted) -> Iterator[str]:
    """Yield the text of lines that no reader took, in one sentence: a person may read what no reader does."""
    parts = [part for part in found.not_understood if part.printed]
    if parts:
        shown = "; ".join(f"{_where(part)} {_quoted(part)}" for part in parts[:_MOST])
        more = f"; and more, up to line {parts[-1].span.last}" if len(parts) > _MOST else ""
        yield f"Lines that were not understood, as pasted: {shown}{more}."


def _where(part: NotUnderstood) -> str:
    return f"line {part.span.first}" if part.span.first == part.span.last else f"lines {part.span.first}-{part.span.last}"


def _quoted(part: NotUnderstood) -> str:
    more = " and the rest" if len(part.printed) < part.lines else ""
    return ", ".join(literal(text, _SHORT) for text in part.printed) + more
