"""Output of other programs: text right below their command that no reader takes is quoted as it is.

Other clients of Kafka, scripts and the like have their own words; their meaning is unknown, and no check uses them.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import prose
from casebook.formats.pasted.text import PastedLine

_CLIENTS = r"kcl|rpk|kaf|kafkactl|kafkacli|topicctl|kafka-utils|kafka-check"
"""Clients that are typed with words, not only with options."""
_OF_SHELL = r"\[?[\w.-]+@\S+(?: \S+\])?\s?[$#%]|\S{0,60}[$]"
_COMMAND = re.compile(
    rf"\s*(?:\S*[$#%>]\s+)?(?:sudo )?(?:\S*/)?(?P<client>{_CLIENTS})\s+[a-z][\w-]*(?: .*)?"
    rf"|\s*(?:{_OF_SHELL})\s+(?:sudo )?(?:\S*/)?(?P<program>[a-zA-Z][\w.-]*)(?:\s.*)?"
)
_KNOWN = re.compile(
    r"(?:kafka|zk|zookeeper|connect)-?\w*[\w.-]*|kcat|kafkacat|zkCli\S*|zkServer\S*|echo|ncat|netcat|nc|telnet|ls|ll|dir|du|df|curl"
    r"|kubectl|oc|k|jstack|jcmd|jps|systemctl|dmesg|journalctl|cd|export|source|ssh"
    r"|for|while|ps|top|free|vmstat|iostat|sar|lsof|netstat|ss|ping"
)
"""Programs whose output readers know: what they leave is damaged, and is named as such."""
_OF_ANY_FORM = re.compile(r"kubectl|oc|k|echo")
"""Programs that also print a value in one line, as of a resource or a variable."""
_PROMPT = re.compile(rf"\s*(?:{_OF_SHELL})(?:\s.*)?")
_LONGEST, _SHOWN, _MOST = 2000, 400, 40


def is_typed(text: str) -> bool:
    """Return whether it runs another client of Kafka."""
    found = _COMMAND.fullmatch(text[:_LONGEST])
    return found is not None and found["client"] is not None


def printed(
    lines: Sequence[PastedLine], whole: Sequence[PastedLine], is_beside: Callable[[str], bool]
) -> Iterator[ToolStatement]:
    """Yield the text below each such command, up to the next command or empty line: among that of a client one may be.

    Args:
        lines: What no reader has taken.
        whole: All of the paste.
        is_beside: Whether a line is no output.
    """
    at = 0
    while at < len(lines):
        after = at + 1
        found = _COMMAND.fullmatch(whole[at].text[:_LONGEST])
        if found and (not _KNOWN.fullmatch(found["program"] or "") or _has_any_answer(whole, at, found["program"])):
            texts, has_gap = [], False
            while after < min(len(lines), at + 1 + _MOST):
                text = lines[after].text
                is_inner = bool(texts) and found["client"] is not None and not lines[after].text and not has_gap
                has_gap = has_gap or is_inner
                if not is_inner and (not lines[after].text or is_beside(text) or prose.is_of_person(text)):
                    break
                texts += [cut(" ".join(lines[after].text.split()), _SHOWN)] if lines[after].text else []
                after += 1
            if texts:
                says = f"below its command stands: {'; '.join(texts)}"
                name = found["client"] or found["program"]
                yield ToolStatement(name, LineSpan(lines[at + 1].number, lines[after - 1].number), says.rstrip("."))
        at = after


def _has_any_answer(whole: Sequence[PastedLine], at: int, program: str) -> bool:
    """Return whether one line alone stands between such a command and the next empty line or command."""
    below = [line.text for line in whole[at + 1 : at + 3]]
    is_alone = len(below) == 1 or (len(below) > 1 and (not below[1] or _PROMPT.fullmatch(below[1][:_LONGEST]) is not None))
    return _OF_ANY_FORM.fullmatch(program) is not None and is_alone and not ("|" in whole[at].text and program == "echo")
