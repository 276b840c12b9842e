"""Quotes of evidence: whole, or visibly cut."""

MOST_QUOTED = 40
"""Parts or lines that a sentence quotes; of more, it says how many."""


def cut(text: str, most: int) -> str:
    """Return the text, with an ellipsis in place of what is beyond ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def literal(text: str, most: int) -> str:
    """Return the text as an ASCII literal, with an ellipsis behind it in place of what is beyond ``most`` characters."""
    return f"{text[:most]!a}{'…' if len(text) > most else ''}"
