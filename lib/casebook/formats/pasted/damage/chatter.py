"""Lines that kubectl, Java, curl and the tool itself print beside an answer: an output is read without them."""

import re

_CHATTER = re.compile(
    r"\s*(?:Defaulted container .*|Picked up \w+: .*|\S.* VM warning: (?!.*(?:fail|rror)).*|SLF4J: .*"
    r"|log4j:WARN .*|Warning: --zookeeper is .*"
    r"|Use --bootstrap-server instead .*|Unable to use a TTY .*|Defaulting container name .*"
    r"|% Total +% Received % Xferd .*|Dload +Upload +Total +Spent .*"
    r"|\d+ +\S+ +\d+ +\S+ +\d+ +\S+ +\S+ +\S+ +[-:\d]{8} +[-:\d]{8} +[-:\d]{8} +\S+)"
)
_LONGEST = 4096


def is_chatter(text: str) -> bool:
    """Return whether it says nothing of what was asked; not where Java failed."""
    return _CHATTER.fullmatch(text[:_LONGEST]) is not None
