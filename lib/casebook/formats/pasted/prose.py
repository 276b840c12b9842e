"""A person's own words on lines of their own, above, between or below outputs: they are shown as remarks.

No tool speaks of *we*, *this* or *why*: a line with such words is a person's, also when it states something new. A row that was
damaged has none of them, so it stays named as not understood.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.formats.pasted import unread
from casebook.formats.pasted.text import PastedLine

_PEOPLE = (
    "i we you he she they my our your their its us me this that these those here there so but because which what"
    " why how who where when while now then after before please thanks thank hi hello hey just also too seems seem"
    " looks look see think thinks guess did does do should would could can since only need any anybody anyone"
    " somebody someone everything nothing something still again ever never always maybe probably really actually"
    " afterwards shortly however therefore example below above following yesterday today tomorrow morning tonight saw seen tried"
    " try got get gets was were been if and or like than it let ich wir du ihr sie er es der die das den dem ein eine"
    " ist sind war und oder aber nicht kein keine hier jetzt seit nach bitte danke warum wie wer wo wenn dann auch"
    " nur noch schon mal beim auf mit je nous vous il elle le la les un une des est sont mais pas ici depuis"
    " pourquoi que qui dans avec el los las una son pero por para desde esto esta aqui yo o os um uma mas isso com"
)
_OF_PEOPLE = frozenset(_PEOPLE.split())
"""Words of sentences by people; those of tools' sentences (*is*, *of*, *not*, *the*, *in*) are not among them."""
_ASKING = (
    "check checking run running look looking list listing show verify try note start starting stop describe and so"
    " with for using adding expected actual output result example"
)
_ASKS = frozenset(_ASKING.split())
"""How a short line of a person begins that has no other word of its own."""
_LABEL = re.compile(
    r"\W{0,4}(?:(?:the )?(?:expected|actual|current|old|new|earlier|later|example|sample|full|same)\W{0,3}){0,2}"
    r"(?:output|results?|before|after(?:wards)?|then|now|expected|actual|example|log|logs|error)?[:*_]{1,4}",
    re.IGNORECASE,
)
"""A label above an output: ``Expected:``."""
_CODE = re.compile(r"`[^`]{1,200}`")
_NO_PROSE = re.compile(
    r"\t|\S {2,}\S|\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b|^\s*(?:Error|Exception|Warning|Caused by|usage)\b"
    r"|\w=\S|[{}\"|]\s*[:,\[{}]"
    r"|\((?:[a-z]\w*\.)+\w+\)|\b(?:[a-z]\w*\.){2,}[A-Z]\w*|[a-zA-Z)\]}]: ?-?\d|^\s*\[?\d{4}-\d\d-\d\d|^\S*[$#%>] "
)
"""Signs of rows, logs and commands, which no sentence has."""
_OF_TOOLS = re.compile(
    r"\s*(?:Reassignment of|There (?:is|are) (?:no|an) (?:active|existing)|(?:No|Topic|Partition|Replica|Consumer group|Configs?"
    r"|Dynamic"
    r"|Default|All configs|Assigned|Current|Proposed|Status of|Successfully|Valid|Save|Querying|Received|Throttle|Clearing|Failed"
    r"|Unable|Could not|Cannot|Assignments|Deletion|Broker|Leader|ZooKeeper|This ZooKeeper|Unit|Metadata)\b)(?!.*[?!]$)"
)
"""How sentences of tools begin."""
_FRAMED = re.compile(r"\s*(?P<sign>[-=#*])(?P=sign){2,}\s.{1,300}[^\s>]\s(?P=sign){3,}\s*")
_SIGNS = "*_,;.?!:()[]'\"`´"
"""Signs around words."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OTHER_SCRIPT = re.compile(r"[\u0400-\u04ff\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = (".", "?", "!", ":", "…", ",")
_LONGEST, _FEW, _SURE, _FEW_SIGNS = 2000, 3, 2, 4


def lines(left: Sequence[PastedLine], whole: Sequence[PastedLine]) -> Iterator[PastedLine]:
    """Yield lines that are a person's words; a line right below the command of a tool that prints records may be a record.

    Args:
        left: The paste without what readers have taken.
        whole: All of the paste.
    """
    is_record = goes_on = False
    for line, own in zip(left, whole, strict=True):
        is_record = bool(own.text) and (is_record or bool(unread.reason(unread.tool(own.text))))
        heads = is_framed(line.text)
        is_person = heads or (bool(line.text) and not is_record and is_of_person(own.text, goes_on=goes_on))
        goes_on = is_person and not heads and not own.text.rstrip("*_ ").endswith(":")  # else an output is announced
        if is_person:
            yield line


def is_framed(text: str) -> bool:
    """Return whether a line is a heading by a script or a person, as ``--- before the restart ---``."""
    return _FRAMED.fullmatch(text[:_LONGEST]) is not None


def is_of_person(text: str, *, goes_on: bool = False) -> bool:
    """Return whether a line is a person's words.

    Args:
        text: Of the line.
        goes_on: Whether the line above is a person's: then it needs none of the words that only people use.
    """
    if len(text) > _LONGEST or "\t" in text or (_OF_TOOLS.match(text) and not goes_on):
        return False
    if _LABEL.fullmatch(text.strip()) and any(map(str.isalpha, text)):
        return True
    plain = _CODE.sub("code", text)
    if _NO_PROSE.search(plain):
        return False
    foreign = len(_OTHER_SCRIPT.findall(plain))
    if foreign >= _FEW_SIGNS and 2 * foreign >= sum(map(str.isalpha, plain)):
        return True
    words = plain.split()
    known = [word for word in (word.strip(_SIGNS) for word in words) if _WORD.fullmatch(word)]
    if len(known) < (1 if goes_on else _FEW) or 2 * len(known) < len(words):
        return False
    if goes_on or plain != text or known[0].lower() in _ASKS:
        return True
    spoken = {part.lower() for word in known for part in re.split(r"['’]", word)} & _OF_PEOPLE
    is_sentence = words[0][:1].isupper() or plain.rstrip("*_) ").endswith(_ENDS)
    return len(spoken) >= (1 if is_sentence else _SURE)
