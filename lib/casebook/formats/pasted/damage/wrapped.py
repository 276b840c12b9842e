"""Lines whose rest stands below them: lists of ids and errors of librdkafka by mails, the kernel's log by a narrow terminal.

Each entry of the kernel begins with its time in brackets, or as ``syslog`` writes it. A line that fills the screen, with a
line below that has no time, was broken there, also within a word.
"""

import re

DMESG_DATE = r"[^\W\d]{1,4}\.? (?:[^\W\d]{3,4}\.?|\d{1,2}[월月]) {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}"
"""A date as ``dmesg -T`` prints it, in the language of its host."""
_KERNEL = re.compile(
    rf"\[(?:\s*\d{{1,9}}\.\d{{1,9}}|{DMESG_DATE})\] "
    r"|\w{3} [ \d]\d \d\d:\d\d:\d\d \S{1,250} kernel: "
)
_ENTRY = re.compile(r"\w{3} [ \d]\d \d\d:\d\d:\d\d \S|\[?\d{4}-\d\d-\d\d[T ]|.*:$")
"""Another entry of a log, or a heading."""
_LEAST_WIDE = 72
_OPEN_IDS, _IDS = re.compile(r".{0,2000}: ?(?:\d{1,10}, ?)+"), re.compile(r"\s?\d{1,10}(?:, ?\d{1,10})*\.?")
_OPEN_ERROR, _ERROR = (
    re.compile(r".{1,2000}\bBroker: [A-Z][a-z]+(?: [a-z]+)*"),
    re.compile(r"\s?[a-z]{2,20}(?: [a-z]{2,20}){0,5}"),
)
_OPEN_BUILD = re.compile(r"\s*(?:zk_version\s+|Zookeeper version: ?)\d[\w.-]*,(?: built(?: on(?: \S+)?)?)?")
_BUILD = re.compile(r"\s*(?:zk_version\s+|Zookeeper version: ?)\d[\w.-]*, built on [\d/-]+ \d\d:\d\d \w{3,4}")


def joined(texts: list[str]) -> list[str]:
    """Return the lines; the rests are empty where they stood."""
    return _entries(_rests(texts))


def _rests(texts: list[str]) -> list[str]:
    """Join a list of ids that ends with a comma, the words of an error, and a version with a line of nothing but their rest."""
    found = list(texts)
    for at in range(len(found) - 1):
        text, below = found[at], found[at + 1]
        if text.endswith(",") and _IDS.fullmatch(below[:2000]) and _OPEN_IDS.fullmatch(text):
            found[at : at + 2] = [text + below.strip(), ""]
        elif "Broker: " in text[-80:] and _ERROR.fullmatch(below[:200]) and _OPEN_ERROR.fullmatch(text):
            found[at : at + 2] = [f"{text} {below.strip()}", ""]
        elif _OPEN_BUILD.fullmatch(text[:200].rstrip()) and _BUILD.fullmatch(whole := f"{text.rstrip()} {below.strip()[:40]}"):
            found[at : at + 2] = [whole, ""]
    return found


def _entries(texts: list[str]) -> list[str]:
    """Join the entries of the kernel's log."""
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
    return (
        bool(rest) and _ENTRY.match(rest) is None and (len(texts[at]) == wide or (len(texts[at]) == wide - 1 and rest[0] == " "))
    )
