"""Given layouts of log lines, in the notation of log4j and logback: ``%d{dd/MM/yyyy HH:mm:ss} %-5p [%t] %c - %m%n``.

A layout becomes a regex that ``casebook.logs.GivenLayout`` tries on each line before detection.

Sources: for conversions ``src/site/antora/modules/ROOT/pages/manual/pattern-layout.adoc@rel/2.24.3`` of apache/logging-log4j2,
log4j's ``PatternLayout@1.2.17`` and logback's; for date letters ``java.time.format.DateTimeFormatter@17``.
"""

import re

from casebook.errors import UsageError

_NAMED_DATES = {
    **dict.fromkeys(("", "DEFAULT", "ISO8601"), "yyyy-MM-dd'T'HH:mm:ss,SSS"),
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ABSOLUTE": "HH:mm:ss,SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
}
_TIMES_ALONE = {"UNIX": r"(?<epoch>\d{10})", "UNIX_MILLIS": r"(?<epoch>\d{13})"}
_OF_DATES = {
    **dict.fromkeys(("yyyy", "uuuu"), r"(?<year>\d{4})"),
    "yy": r"(?<year>\d\d)",
    "MM": r"(?<month>\d\d)",
    "M": r"(?<month>\d\d?)",
    **dict.fromkeys(("MMM", "MMMM"), r"(?<name>[A-Z][a-zä]{2,8}|\d\d?月)\.?"),
    "dd": r"(?<day>\d\d)",
    "d": r"(?<day>\d\d?)",
    **dict.fromkeys(("HH", "hh"), r"(?<hour>\d\d)"),
    **dict.fromkeys(("H", "h"), r"(?<hour>\d\d?)"),
    "mm": r"(?<minute>\d\d)",
    "ss": r"(?<second>\d\d)",
    "a": r"(?<noon>[AaPp]\.?[Mm]\.?)",
    **dict.fromkeys(("E", "EE", "EEE", "EEEE"), r"\p{L}+\.?"),
    **dict.fromkeys(("Z", "XX", "X", "XXX", "xx", "x", "xxx", "z"), r"(?<zone>Z|[+-]\d\d:?(?:\d\d)?|[A-Z]{3,5})"),
}
_LEVEL, _LOGGER, _MESSAGE = r"(?<level>[A-Za-z]+)", r"(?<logger>[^\s()\[\]]+?)(?:[:@]\d+)?", r"(?<message>.*)"
_ANYTHING, _WORD, _NOTHING = r".{0,200}?", r"\S*?", ""
_OF_LINES = {
    **dict.fromkeys(("p", "level", "le"), _LEVEL),
    **dict.fromkeys(("c", "logger", "lo", "C", "class"), _LOGGER),
    **dict.fromkeys(("m", "msg", "message"), _MESSAGE),
    **dict.fromkeys(("n", "ex", "exception", "throwable", "rEx", "xEx", "wEx", "xThrowable", "nopex", "nopexception"), _NOTHING),
    **dict.fromkeys(
        ("t", "thread", "tn", "threadName", "X", "mdc", "MDC", "x", "NDC", "marker", "contextName", "property"), _ANYTHING
    ),
    **dict.fromkeys(
        ("L", "line", "F", "file", "M", "method", "l", "location", "r", "relative", "pid", "sn", "T", "tid", "u", "uuid"), _WORD
    ),
}
_OF_COLOURS = (
    "highlight", "style", "clr", "color", "red", "green", "yellow", "blue", "magenta", "cyan", "gray", "white", "black",
    "faint", "bold", "boldRed", "boldGreen", "boldYellow", "boldBlue", "boldMagenta", "boldCyan", "boldWhite",
    "notEmpty", "variablesNotEmpty", "maxLen", "",
)  # fmt: skip
_NAMES = sorted((*_OF_LINES, *_OF_COLOURS, "d", "date"), key=len, reverse=True)
_WIDTH = re.compile(r"-?\d*(?:\.-?\d+)?")
_DATE = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<other>.)", re.DOTALL)
_GROUP = re.compile(r"\(\?<([a-z]+)>")
_CLOSES = {"{": "}", "(": ")"}
_LIKE = "Write it as log4j does, e.g. log_layout=%d{dd/MM/yyyy HH:mm:ss} %p [%t] %c - %m"


def regex(layout: str) -> str | None:
    """Return the Java regex of a layout; ``None`` for an empty one.

    Raises:
        UsageError: It has an unknown conversion or date, no message, or two.
    """
    if not layout.strip():
        return None
    found = _line(layout.strip())
    if found.count(_MESSAGE) != 1:
        where = "nowhere" if _MESSAGE not in found else "twice"
        raise UsageError(f"log_layout={layout} says {where} where the message is: %m.", try_=_LIKE)
    seen: set[str] = set()
    once = _GROUP.sub(lambda group: "(?:" if group[1] in seen or seen.add(group[1]) else group[0], found)
    return once if once.endswith(_MESSAGE) else rf"{once}\s*$"


def _line(layout: str) -> str:
    found, at = "", 0
    while at < len(layout):
        if layout[at] != "%" or layout.startswith("%%", at):
            literal = layout[at]
            found += re.escape(literal) if literal != " " else "" if found.endswith(" +") else " +"
            at += 2 if literal == "%" else 1
            continue
        width = _WIDTH.match(layout, at + 1)
        name = next((name for name in _NAMES if layout.startswith(name, width.end())), "")
        options, at = _options(layout, width.end() + len(name))
        part = _conversion(layout, name, options)
        found += f" *{part} *" if width[0] and part else part
    return found


def _options(layout: str, at: int) -> tuple[list[str], int]:
    """Return the text in braces or parentheses after a conversion, and its end."""
    options = []
    while at < len(layout) and layout[at] in ("{" if options else "{("):
        depth, begin = 0, at
        opens, closes = layout[begin], _CLOSES[layout[begin]]
        while at < len(layout):
            depth += (layout[at] == opens) - (layout[at] == closes)
            at += 1
            if not depth:
                break
        options.append(layout[begin + 1 : at - 1])
    return options, at


def _conversion(layout: str, name: str, options: list[str]) -> str:
    if name in ("d", "date"):
        if len(options) > 1:
            raise UsageError(
                f"log_layout={layout} names a zone.", try_=f"Leave it out there, and give timezone={options[1]} instead."
            )
        return _date(layout, options[0] if options else "")
    if name in _OF_LINES:
        return _OF_LINES[name]
    if not options:
        raise UsageError(f"log_layout={layout} has an unknown conversion.", try_=_LIKE)
    return _line(options[0])


def _date(layout: str, letters: str) -> str:
    if letters in _TIMES_ALONE:
        return _TIMES_ALONE[letters]
    found = ""
    for part in _DATE.finditer(_NAMED_DATES.get(letters, letters)):
        if part["letters"]:
            run = part["letters"]
            if run not in _OF_DATES and part["letter"] not in "Sn":
                raise UsageError(f"log_layout={layout}: {run} of its date is unknown.", try_=_LIKE)
            found += _OF_DATES.get(run, rf"(?<fraction>\d{{{len(run)}}})")
        else:
            literal = part["quoted"] if part["quoted"] is not None else part["other"]
            found += "[T ]" if literal == "T" else re.escape(literal)  # log4j 2 prints ISO8601 with the T, 1.2 without
    return found
