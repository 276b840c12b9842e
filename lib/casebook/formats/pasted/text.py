"""Text copied from a terminal, a mail or a chat: its original lines.

Changes by mail and chat are undone when unambiguous: quote marks, typographic quotes and dashes, no-break spaces, colours,
carriage returns. Lines keep their numbers.
"""

import re
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.damage import begins, loops, markup, sent, source, wrapped

MOST_LINES = 20_000
"""Maximum number of lines read from a paste."""

TOPIC_NAME = r"[a-zA-Z0-9._-]{1,249}"
"""Regex of a topic's name (``internals/Topic.java@3.9.0``)."""

_QUOTED = re.compile(r"\s{0,4}(?:(?:>|&gt;)\s?)+")
_UNSEEN = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]|[\u200b-\u200f\u2060\ufeff\u00ad]"
)
_COLOUR = re.compile(r"(?:\^\[|␛)\[[\d;]{0,16}[mK]|\[(?:\d{1,3}(?:;\d{1,3}){0,4}m(?!\])|[mK](?![\w\]]))")
_COLOUR_ENDS = re.compile(r"\[(?:(?:0{1,2}|39)(?:;\d{1,3})?m(?!\])|m(?![\w\]]))|\^\[\[m")
"""Colours of which a page has dropped the escape sign, or shows it; a duration in brackets is none."""
_KEYS = re.compile(r"\A(?:\^[CDZ\\])+(?![a-z]+(?:\s|$))")
"""A typed key, as a terminal echoes it before what the ended program still prints."""
_NO_LINE_END = re.compile(r"(?<=[a-z\]})\"'])%(?P<blanks>\s*)\Z")
"""The mark of zsh behind an output without a line end, before it fills the line with blanks (``PROMPT_EOL_MARK``)."""
_PROMPT = re.compile(
    r"\s*(?:\[?[\w.-]+@\S+(?: \S+\])?\s?|\S*)[$#%>] .*|\s*\[zk:.*|\s*(?:\S*/)?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|echo) .*"
)
_FENCE = re.compile(
    r"\s*(?:(?:```|~~~)[\w+-]*|</?(?:pre|code|details|summary)>(?:</?(?:pre|code)>)?|\{(?:code|noformat|quote)(?::[^{}]{1,80})?\}"
    r"|\[/?(?:code|quote|pre|spoiler)(?:=[^\[\]]{1,80})?\]|\\(?:begin|end)\{(?:verbatim|lstlisting|minted|alltt)\}.{0,80}"
    r"|\[(?:source|listing)(?:,[^\[\]]{1,80})?\]|\.\. (?:code|code-block|sourcecode|highlight)::.{0,40})\s*"
)
_GLUED_FENCE = re.compile(
    r"^\s*(?:```(?=[^\w`\s]|\w\S*\s+\S)|`(?=[^`]*\w[^`]*$)|\{(?:code|noformat|quote)(?::[^{}]{1,80})?\}|\[(?:code|quote)(?:=[^\[\]]{1,80})?\])"
    r"|(?<=[^`\s])```\s*$|(?<=\S)(?:\{(?:code|noformat|quote)\}|\[/(?:code|quote)\])\s*$"
)
"""A fence on the line of the text that it encloses, or a mark of code that is open at its end."""
_AS_CODE = re.compile(r"\s*`(?P<code>[^`]+)`\s*")
"""A line that stands as code within a text."""
_TABLE = re.compile(r"\s*\|(?P<cells>.*)\|\s*")
_RULE = re.compile(r"[\s|:+=-]*")
_CELL = re.compile(r"\s*\|+\s*")
_STRESSED = re.compile(r"\A(?P<sign>\*\*|__|`)(?P<text>[^*`]+)(?P=sign)\Z")
"""A cell in bold or as code, as a whole."""
_CONTAINER = re.compile(
    r"(?:(?:\d\d:\d\d(?::\d\d)?\s+)?(?P<name>(?!(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\s*\|)"
    r"[a-zA-Z][\w.-]{0,60})\s*\| ?|\[(?P<pod>pod/[\w./-]{1,120})\] )"
)
_FOUND_IN = re.compile(r"(?P<file>[\w@+/-]*\.?[\w@+-]*[./][\w./@+-]*\w):(?!//)")
_LINE_IN_FILE = re.compile(r"(?P<sign>[:-])\d{1,8}(?P=sign)")
_SIGN = re.compile(r"[:-]")
_STAMPED = re.compile(
    r"\[?(?P<stamp>(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]?(?: ?[|:>] ?| |$)"
)
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|level=|systemd|kernel)\b")
"""Prefix that a collector puts before each line of a tool's output; entries of a log keep their times."""
_INDENTED = re.compile(r" {2}|\t")
_PRINTED = re.compile(r"\s+[a-z][a-z0-9._]* = .*")
"""Settings as a broker prints them at start: their indent distinguishes them from those of a file."""
_DATED = re.compile(r"\s*\[?\d{4}-\d\d-\d\d")
_LONGEST_ROW, _LEAST_WORDS = 4096, 8
_MARKED = re.compile(r"\s*(?:\S*[$#%>]|[\[{(<\"'+|*-]|\d)")
"""How lines of tools and typed commands begin, and no sentence does."""
BRACKETED = r"\((?=[^()\d]{2,}\s[^()]*\)\s*$)"
"""Regex of the bracket before a remark at the end of a line."""
_BEHIND = re.compile(rf"\s+(?:(?:<+[-=~]+|<{{2,}}|[-=~]+>|>{{2,}}|←|→|#|//|\*{{2,}}|!{{2,}})\s?(?=\D)|{BRACKETED}).*")
_POINTED = re.compile(r"(?<=\S)\s+(?:<[-=~]{2,}|<{3,}|←|!{3,}|\^{3,})(?!\S*>).*")
"""Signs that a person draws behind a line, and no tool prints."""
_DRAWN = re.compile(r"\s*[>=#*<+-]{2}")
"""How a heading that is drawn begins."""
_ROW = re.compile(
    r"\s*(?:(?:Mode|Node count|Zxid|Outstanding|Connections|Received|Sent): \S+\s.*"
    r"|Topic: ?\S+\s+Partition: ?\d.*|partition \d+, leader .*|[\w.-]+:\d+:\d+\s.*|Reassignment of partition .*"
    r"|[\w.-]+-\d+: replicas: .*|\d+\s+(?:[\w-]{22}\s+)?\d+\s+\d+\s.*(?:Leader|Follower|Observer)\s.*"
    r"|(?:\S+\s+){1,3}\d+\s+(?:\d+|-)\s+(?:\d+|-)\s+(?:\d+|-)\s.*|Topic: ?\S+\s+(?:TopicId: ?\S+\s+)?PartitionCount: ?\d.*"
    r"|Configs for \S.* are .*|(?:[cmp]Zxid|[cm]time|cversion|dataVersion|aclVersion|ephemeralOwner|dataLength|numChildren) = .*"
    r"|(?:Zookeeper version|Latency min/avg/max|Proposal sizes last/min/max|zk_\w+)[:\s].*\s#.*"
    r"|[-d](?:[r-][w-][xsS-]){3}[.+]?\s+\d+\s.*|\d[\d./-]{7,9}\s+\S.*\s(?:<DIR>|\d[\d.,]*)\s+\S.*"
    r"|\S+, \S+, \d+, (?:\d+|unknown), (?:\d+|unknown), .*"
    r"|[a-z][a-zA-Z0-9]*(?:[._-][a-z0-9][a-zA-Z0-9]*)+ ?[=:] ?\S+\s+(?:\((?!id: )|//|\*{2}|<|!!).*)"
)
REDACTED = "[redacted]"
"""Left of a secret, of any length."""
_SENT_AS = {
    **dict.fromkeys(map(ord, "“”„‟«»"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    0x2014: "--",  # an editor's replacement for the two dashes of an option
    0x2026: "...",
    **dict.fromkeys(map(ord, "❯➜"), "$"),  # shell prompts
    0xFF0C: ",",
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
}

_NOTE_IN_JSON = re.compile(
    r"(?P<json>\s*+(?:[{}\[\],:]\s*+|\"(?:\\.|[^\"\\])*+\"\s*+|-?\d[\d.eE+-]*+\s*+|(?:true|false|null)\b\s*+)++)"
    r"(?P<note>(?://|/\*|(?<=[,\]})\d ])# |<-|←).*)"
)
_HUNK = re.compile(r"\d{1,9}(?:,\d{1,9})?[acd]\d{1,9}(?:,\d{1,9})?\s*")
"""Text of ``diff`` above differing lines."""
_OF_DIFF = re.compile(r"[<>](?: .*)?\s*|---\s*|\\ No newline at end of file\s*")

_LEFT_OUT = r"snip(?:ped)?|cut|skip(?:ped)?|omitted|truncated|trimmed|elided|abridged"
_GAP = re.compile(
    rf"\s*(?:[\[(<#/* -]*(?:\.{{3,}}|⋮|…)[\])>]*|:|[\[(<#/*=.-]+\s*(?:\.{{2,}} ?)?(?:{_LEFT_OUT})(?: here|"
    rf" for brevity)?(?: ?\.{{2,}})?\s*[\])>*/=.-]+"
    rf"|[\[(<]?\W{{0,6}}(?:and )?(?:\d{{1,9}} |many |the |other |some )?(?:more |other |similar"
    rf" )*(?:lines?|rows?|partitions?|output|entries|topics?"
    rf"|brokers?|the same)?(?: (?:are |were |have been )?(?:{_LEFT_OUT}))?(?: for brevity| here)?\W{{0,6}}[\])>]?)\s*",
    re.IGNORECASE,
)
_SAYS_GAP = re.compile(rf"\.{{2,}}|⋮|…|^\s*[.:]\s*$|{_LEFT_OUT}", re.IGNORECASE)


_REMARK = re.compile(
    r"\s*(?:#+|//+|<!--|--(?=\s)|;)(?!.*\b(?:kafka-|kcat|kafkacat|zk|zookeeper-|zkServer|echo|(?:nc|telnet|ls2?|get|stat|cat|du|df)\b|docker"
    r"|kubectl|bin/|sudo|broker[- ]?\d+)).*"
)


class PastedLine(NamedTuple):
    """A line of a paste.

    Args:
        number: In the paste, from 1.
        text: As in the terminal, as far as known; without line end.
        padded: Blanks followed it: its last word is complete, even at a cut.
        note: A person's removed remark after it; ``""`` for none.
        container: Removed name before it: of a container by ``docker compose``, or of a file by ``grep``.
        stamp: When it was collected, where that stands before it; taken away.
    """

    number: int
    text: str
    padded: bool = False
    note: str = ""
    container: str = ""
    stamp: str = ""


def one(line: PastedLine) -> LineSpan:
    """The span of a single line."""
    return LineSpan(line.number, line.number)


def spanned(lines: Sequence[PastedLine], at: int, after: int) -> LineSpan:
    """Return the span from a line to the one before another."""
    return LineSpan(lines[at].number, lines[max(at, after - 1)].number)


def broker_ids(text: str | None) -> tuple[int, ...]:
    """Return the ids of a comma-separated list; none when not printed."""
    return tuple(int(broker) for broker in text.split(",")) if text else ()


def quote_mark(text: str) -> str:
    """Return a mail's quote prefix: ``> `` once or more; ``""`` without one."""
    found = _QUOTED.match(text)
    return found[0] if found else ""


def is_remark(text: str) -> bool:
    """Return whether a line is a person's comment, neither a prompt nor a heading for a broker."""
    return len(text) < 300 and _REMARK.fullmatch(text) is not None


def is_sentence(text: str) -> bool:
    """Return whether it is a person's prose: it ends like a sentence, has no prompt, and words of which most are only letters."""
    words = text.split()
    is_ended = text.rstrip()[-1:] in (".", "?", "!", ":") and len(text) < _LONGEST_ROW and not _MARKED.match(text)
    plain = sum(word.strip(",;.?!:()'\"").replace("'", "").isalpha() for word in words)
    return is_ended and len(words) >= _LEAST_WORDS and plain * 4 >= len(words) * 3


def is_gap(text: str) -> bool:
    """Return whether it represents omitted lines: ``...``, ``<snip>``, ``... 40 more lines ...``."""
    return len(text) < 80 and _SAYS_GAP.search(text) is not None and _GAP.fullmatch(text) is not None


def is_fence(text: str) -> bool:
    """Return whether it starts or ends a Markdown block."""
    return _FENCE.fullmatch(text) is not None


def is_end(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether an output certainly ends before a line: an empty one or the next command, not the end of the paste."""
    return at < len(lines) and (not lines[at].text or _PROMPT.fullmatch(lines[at].text[:4096]) is not None)


def cleaned(texts: Iterable[str]) -> list[PastedLine]:
    """Return the lines of a paste, at most :data:`MOST_LINES`; fences are empty lines."""
    bodies: list[str] = []
    in_diff, before = False, ""
    for number, text in enumerate(texts, start=1):
        if number > MOST_LINES:
            break
        text = _without_colours(text)
        between = before.startswith("< ") and text.rstrip() == "---"
        in_diff = _HUNK.fullmatch(text) is not None or between or (in_diff and _OF_DIFF.fullmatch(text) is not None)
        before = text
        body = (text if in_diff else text[len(quote_mark(text)) :]).rstrip("\r\n")
        body = _without_overwritten(body) if "\r" in body else body
        bodies.append(body if body.isascii() else _UNSEEN.sub("", _recoded(body)).translate(_SENT_AS))
    bodies = [_with_line_end(body, bodies[at] if at < len(bodies) else "") for at, body in enumerate(bodies, 1)]
    always = all(body != body.rstrip() for body in bodies if body.strip())
    plain = ["" if is_fence(body.rstrip()) else _without_fence(_KEYS.sub("", body.rstrip(), count=1)) for body in bodies]
    outside, heads = source.literals(source.strings(wrapped.joined(markup.without(plain))))
    unmarked = loops.headed(sent.without_senders(outside))
    texts = sent.with_whole_commands([_without_frame(text) for text in unmarked])
    texts = begins.completed(_without_indents(texts))
    lines = [
        PastedLine(at, text, body != body.rstrip() and not always, heads.get(at - 1, ""))
        for at, (text, body) in enumerate(zip(texts, bodies, strict=True), start=1)
    ]
    return [_without_note(line) for line in _without_stamps(_without_container(_without_file(lines)))]


def _without_colours(text: str) -> str:
    """Return the line without a terminal's signs."""
    text = _UNSEEN.sub("", text) if "\x1b" in text else text
    return _COLOUR.sub("", text) if "[" in text and _COLOUR_ENDS.search(text) else text


def _without_overwritten(text: str) -> str:
    """Return what a terminal shows at last of a line: progress, or a prompt, that was written over."""
    *before, last = text.split("\r")
    return last if last and all("%" in part or len(part) <= len(last) for part in before) else text


def _recoded(text: str) -> str:
    """Return the line as it was before a program took its UTF-8 for Windows' code."""
    try:
        return text.encode("cp1252").decode() if "Â" in text or "â€" in text else text
    except UnicodeError:
        return text


def _with_line_end(text: str, below: str) -> str:
    """Return the last line of an output without the mark of a shell that its line end is missing."""
    if "%" not in text[-_LONGEST_ROW:] or (mark := _NO_LINE_END.search(text, max(0, len(text) - _LONGEST_ROW))) is None:
        return text
    is_last = len(mark["blanks"]) > 1 or not below.strip() or is_fence(below) or _PROMPT.fullmatch(below[:_LONGEST_ROW])
    return text[: mark.start()] + mark["blanks"] if is_last else text


def _without_fence(text: str) -> str:
    """Remove a fence or marks of code on the line of what they enclose."""
    code = _AS_CODE.fullmatch(text) if "`" in text[:8] else None
    return code["code"] if code else _GLUED_FENCE.sub("", text)


def _without_indents(texts: list[str]) -> list[str]:
    """Remove the common indent of a block after an empty line, as of Markdown or of a list: two blanks or more, or a tab."""
    at, found = 0, list(texts)
    while at < len(texts):
        after = at
        while after < len(texts) and (not texts[after] or _INDENTED.match(texts[after])):
            after += 1
        block = [text for text in texts[at:after] if text]
        if len(block) > 1 and (at == 0 or not texts[at]) and not _PRINTED.fullmatch(block[0][:_LONGEST_ROW]):
            least, most = min(indents := [text[: len(text) - len(text.lstrip())] for text in block]), max(indents)
            common = next((index for index, sign in enumerate(least) if most[index : index + 1] != sign), len(least))
            found[at:after] = [text[common:] for text in texts[at:after]]
        at = max(after, at + 1)
    return found


def _without_file(lines: list[PastedLine]) -> list[PastedLine]:
    """Remove the file that ``grep`` prints before each line: with ``:`` before a match, with ``-`` before its neighbours."""
    names = {
        found["file"] for line in lines if "." in line.text or "/" in line.text if (found := _FOUND_IN.match(line.text[:200]))
    }
    marks = [_before_sign(line.text[:200], names) if names else "" for line in lines]
    at = 0
    while at < len(lines):
        after = at + 1
        while marks[at] and after < len(lines) and marks[after] == marks[at]:
            after += 1
        rest = [line.text[len(marks[at]) :] for line in lines[at:after]]
        numbers = [_LINE_IN_FILE.match(text) for text in rest]
        bare = [text[number.end() if number and all(numbers) else 1 :] for text, number in zip(rest, numbers, strict=True)]
        has_both_signs = len({text[:1] for text in rest}) > 1
        is_output = any(map(sent.is_output, bare)) and after - at > 1
        if marks[at] and (has_both_signs or is_output or bare[0].startswith('{"')):
            for index, text in enumerate(bare, at):
                lines[index] = lines[index]._replace(text=text, container=f"file {marks[at]}")
        at = after
    return lines


def _before_sign(text: str, names: Container[str]) -> str:
    """Return the shortest of the names that a line begins with, with a sign of ``grep`` behind it."""
    return next((text[: sign.start()] for sign in _SIGN.finditer(text) if text[: sign.start()] in names), "")


def _without_container(lines: list[PastedLine]) -> list[PastedLine]:
    """Remove the container name of ``docker compose`` before each line; a log line keeps it."""
    names = [(found["name"] or found["pod"]) if (found := _CONTAINER.match(line.text[:200])) else None for line in lines]
    for at, name in enumerate(names):
        is_run = name is not None and name in (names[at - 1] if at else None, names[at + 1] if at + 1 < len(names) else None)
        if is_run and (found := _CONTAINER.match(lines[at].text)) and not _DATED.match(rest := lines[at].text[found.end() :]):
            lines[at] = lines[at]._replace(text=rest, container=f"container {name}")
    return lines


def _without_stamps(lines: list[PastedLine]) -> list[PastedLine]:
    """Without the times before the lines of a tool's output, which no tool prints."""
    marks = [_STAMPED.match(line.text[:60]) for line in lines]
    at = 0
    while at < len(lines):
        after = at + 1
        while marks[at] and after < len(lines) and marks[after] and not _LEVEL.search(lines[after].text[:200]):
            after += 1
        bare = [line.text[mark.end() :] for line, mark in zip(lines[at:after], marks[at:after], strict=True) if mark]
        if len(bare) > 1 and not _LEVEL.search(lines[at].text[:200]) and any(map(sent.is_output, bare)):
            for index, text in enumerate(bare, at):
                lines[index] = lines[index]._replace(text=text, stamp=marks[index]["stamp"])
        at = after
    return lines


def _without_note(line: PastedLine) -> PastedLine:
    """Remove a person's remark after a row of a tool, or a line of JSON: ``<-- here``, ``# was 3``, ``// the leader``."""
    text = line.text
    if not any(mark in text for mark in ("<", ">", "#", "/", "←", "→", "**", "!!", "^^", "(")) or len(text) > _LONGEST_ROW:
        return line
    if ('"' in text or "{" in text) and (noted := _NOTE_IN_JSON.fullmatch(text)):
        return line._replace(text=noted["json"].rstrip(), note=noted["note"])
    is_drawn = _DRAWN.match(text) is not None or _PROMPT.fullmatch(text) is not None or sent.is_command(text)
    mark = _BEHIND.search(text) if _ROW.fullmatch(text) else None if is_drawn else _POINTED.search(text)
    return line._replace(text=text[: mark.start()], note=text[mark.start() :].strip()) if mark else line


def _without_frame(text: str) -> str:
    """Remove the bars of a table row in Markdown, Jira or a chat, which Kafka never prints at both ends of a line."""
    if "|" not in text[:8] or not text.endswith("|") or (row := _TABLE.fullmatch(text)) is None:
        return text
    cells = _CELL.split(row["cells"].strip().strip("|"))
    return "" if _RULE.fullmatch(row["cells"]) else "\t".join(_STRESSED.sub(r"\g<text>", cell.strip()) or "-" for cell in cells)
