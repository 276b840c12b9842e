"""Lines that kubectl, Java, curl, a pager and the tool itself print beside an answer: an output is read without them."""

import re

_CHATTER = re.compile(
    r"\s*(?:Defaulted container .*|Picked up \w+: .*|\S.* VM warning: (?!.*(?:fail|rror)).*|SLF4J: .*"
    r"|log4j:WARN .*|Warning: --zookeeper is .*"
    r"|Use --bootstrap-server instead .*|Unable to use a TTY .*|Defaulting container name .*"
    r"|% Total +% Received % Xferd .*|Dload +Upload +Total +Spent .*"
    r"|-{2,4} ?More ?-{2,4}(?:\(\d{1,3}%\))?|<-{2,3} More -{2,3}>|lines \d+-\d+(?:/\d+)?(?: \(END\)| \d{1,3}%)?"
    r"|Script (?:started|done)(?: on|, file is) .*|Warning: Permanently added .* to the list of known hosts\.|Last login: .*"
    r"|Connection to \S+ closed\.|(?:bash|-bash|sh): warning: setlocale: .*|tput: No value for \$TERM .*"
    r"|WARNING: .*reflective access.*"
    r"|\d+ +\S+ +\d+ +\S+ +\d+ +\S+ +\S+ +\S+ +[-:\d]{8} +[-:\d]{8} +[-:\d]{8} +\S+)"
)
_LONGEST = 4096


def is_chatter(text: str) -> bool:
    """Return whether it says nothing of what was asked; not where Java failed."""
    return _CHATTER.fullmatch(text[:_LONGEST]) is not None
