"""Lines that a narrow terminal has broken: the rest of an entry of the kernel's log goes back to its begin.

Each of them begins with its time in brackets, or as ``syslog`` writes it. A line that fills the screen, with a line below
that has no time, was broken there, also within a word.
"""

import re

_KERNEL = re.compile(
    r"\[(?:\s*\d{1,9}\.\d{1,9}|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\] |\w{3} [ \d]\d \d\d:\d\d:\d\d \S{1,250} kernel: "
)
_LEAST_WIDE = 72


def joined(texts: list[str]) -> list[str]:
    """Return the lines; the rests of entries are empty where they stood."""
    entries = [_KERNEL.match(text[:60]) is not None for text in texts]
    if sum(entries) < 2:
        return texts
    wide = max(len(text) for text in texts)
    if wide < _LEAST_WIDE:
        return texts
    broken = [at for at in range(len(texts) - 1) if entries[at] and _is_broken(texts, at, wide)]
    if len(broken) < 2 or any(len(texts[at + 1]) > wide for at in broken):
        return texts
    found = list(texts)
    for at in broken:
        after = at + 1
        while after < len(texts) and not entries[after] and _is_broken(texts, after - 1, wide):
            found[at] += texts[after]
            found[after] = ""
            after += 1
    return found


def _is_broken(texts: list[str], at: int, wide: int) -> bool:
    """Return whether a line fills the screen and another one follows, or the blank that did not fit begins the next one."""
    rest = texts[at + 1] if at + 1 < len(texts) else ""
    return bool(rest) and (len(texts[at]) == wide or (len(texts[at]) == wide - 1 and rest[0] == " "))
