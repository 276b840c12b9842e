"""Secrets by their context in a line: a name, an option, a command, a header or an address.

An unquoted secret extends to the end of the line, as its real end is unknown. Every pattern scans a text once, with possessive or
bounded repetitions, so that the time is proportional to the length of any line. A rule starts with a hint of :mod:`.words`.
"""

import re
from collections.abc import Callable, Iterator

from casebook.collect.redaction import commands
from casebook.collect.redaction.marks import MARK, without
from casebook.collect.redaction.names import is_class, is_id, is_sensitive

Names = Callable[[str], bool]

_NAMED = re.compile(
    rb"""(?<![\w.\-\[\]$\x80-\xff])(?P<name>[\w.\-\[\]$\x80-\xff]++)(?:\\*+["'`]){0,2}\]?[ \t]*+"""
    rb"""(?:=>|->|[=:]|</\w{1,40}>\s{0,9}<\w{1,40}>|,?[ \t]{0,9}["']?value["']?[ \t]{0,9}[=:]|>"""
    rb"""|\((?=[ \t]{0,9}\\*+["'`]))[ \t]*+""",
)
_CALL = re.compile(rb"""\([ \t]{0,9}\\*+["'`](?P<name>[\w.-]{1,99})\\*+["'`][ \t]{0,9},[ \t]{0,9}(?=\\*+["'`])""")
_FIELDS = re.compile(
    rb"""["'](?i:name|key)["'][ \t]{0,9}:[ \t]{0,9}["'](?P<name>[\w.-]{1,99})["'][^{}]{0,200}?["'](?i:value)"""
    rb"""["'][ \t]{0,9}:[ \t]{0,9}"""
)
_FIELDS_OF_JAVA = re.compile(rb"""\bname=["'](?P<name>[\w.-]{1,99})["'][^()]{0,200}?\bvalue=(?=["'])""")
_VALUE_FIRST = re.compile(
    rb"""["']value["'][ \t]{0,9}:[ \t]{0,9}(?P<value>"[^"]{1,2000}"|'[^']{1,2000}')[^{}]{0,100}?"""
    rb"""["'](?:name|key)["'][ \t]{0,9}:[ \t]{0,9}["'](?P<name>[\w.-]{1,99})["']"""
)
_SUPPLIED = re.compile(
    rb"""["'`]?(?P<name>[\w.-]{1,99})["'`]?[ \t]{1,9}"""
    rb"(?:is[ \t]{1,9}overridden[ \t]{1,9}to|was[ \t]{1,9}supplied[ \t]{1,9}with[ \t]{1,9}value)[ \t]{1,9}"
)
"""``VerifiableProperties.scala@0.9.0.1``, ``AbstractConfig.java@2.8.2`` (logUnused)."""
_INVALID = re.compile(
    rb"(?i)invalid[ \t]{1,9}value[ \t]{1,9}(?P<value>.{1,400}?)[ \t]{1,9}"
    rb"for[ \t]{1,9}configuration[ \t]{1,9}(?P<name>[\w.-]{1,99})"
)
"""``ConfigException.java@2.8.2``."""
_ELEMENT = re.compile(rb"<(?:\w{1,40}:)?(?P<name>[\w.-]{1,99})[ \t][^<>]{0,400}>")
_ELEMENT_WITH = re.compile(rb"<(?:\w{1,40}:)?(?P<name>[\w.-]{1,99})>[ \t]{0,9}(?=[^\s<])")
_OPTION = re.compile(rb"""(?<![\w-])--?(?P<name>[A-Za-z][\w.-]*+)(?:["',]*+[ \t]++(?=\S)|["']{1,2},["'])""")
_WORD = rb"""(?i)(?<![\w.-])(?:passw(?:or)?d|passwort|kennwort|passphrase|pwd|secret|identified[ \t]{1,9}by)["']?"""
_OTHER_WORDS = (
    rb"(?:a|also|an?|and|are|as|at|auth|authentications?|authenticators?|based|be|been|by|callbacks?|cannot|can"
    rb"|change[sd]?|checks?"
    rb"|clients?|configs?|configurations?|configured|could|credentials?|did|does|empty|encoders?|encrypted|encryption"
    rb"|entries|expire[sd]?"
    rb"|failed|failures?|fields?|files?|for|from|given|has|hash|hashes|if|in|incorrect|into|invalid|is|keys?|login|managers?|may"
    rb"|mechanisms?|mismatch|missing|must|needs?|no|not|null|of|on|options?|or|parameters?|policy|properties|property|protected"
    rb"|providers?|prompt|provided|rotat\w{1,6}|requests?|required|reset|secrets?|server|set|settings?|should|specified"
    rb"|stores?|than|that|the|this"
    rb"|through|to|tokens?|type|unset|update[sd]?|use[dr]?|using|validation|validators?|values?|verification|via|was"
    rb"|were|when|which"
    rb"|will|with|without|would|wrong)(?![\w-])"
)
"""Words about passwords that are no passwords."""
_SAID = re.compile(_WORD + rb"""(?:[ \t]+(?:is|was|to|ist|lautet)[ \t]+(?!""" + _OTHER_WORDS + rb""")|[ \t]+(?=["']\S))""")
_SPACED = re.compile(rb"""(?i)(?<![\w.-])(?:pass[ \t]{1,9}(?:phrase|word|code)|pin[ \t]{1,9}code)["']?[ \t]{0,9}[:=][ \t]{0,9}""")
_SAID_FOR = re.compile(
    _WORD + rb"""[ \t]{1,9}(?:for|of|from|on|von)[ \t]{1,9}\S{1,99}(?:[ \t]{1,9}\S{1,60}){0,3}?"""
    rb"(?:[ \t]{1,9}=|:|[ \t]{1,9}(?:is|was|->)(?=[ \t])(?![ \t]{1,9}" + _OTHER_WORDS + rb"))(?=\s|$)[ \t]*"
)
_SAID_ALONE = re.compile(
    rb"(?i)(?<![\w.-])(?:[\w.-]{0,30}passw(?:or)?d|passwort|kennwort|passphrase|pwd|rootpw|requirepass|masterauth)[ \t]+"
    rb"(?P<value>(?!" + _OTHER_WORDS + rb""")[^\s=:,.;)\]}>|\-"'<(\[{]\S*+)"""
)
_SCHEME = re.compile(
    rb"(?i)\b(?:bearer|basic|negotiate|digest|splunk|apikey|token)[ \t]{1,9}(?![a-z]{1,20}=)(?P<value>[\w+/.~=!#%^*:-]{8,}+)"
)
_SAID_WRONG = re.compile(
    rb"(?i)passw(?:or)?d[^:]{0,60}\b(?:incorrect|wrong|invalid|bad|rejected|mismatch\w{0,4})[ \t]{0,9}:[ \t]{1,9}(?P<value>\S++)$"
    rb"|passw(?:or)?d.{0,120}?\b(?:tried|used|using|was)[ \t]{1,9}(?P<quoted>[\"'][^\"']{1,200})"
)
_AFTER_USER = re.compile(
    rb"(?i)\b(?:user(?:name)?|login|as|auth|digest)\b[^|]{1,80}?[ \t,;/]{1,9}(?:pass|pw)[ \t]{1,9}(?P<value>(?!"
    + _OTHER_WORDS + rb")[^\s=:]\S*+)"
)  # fmt: skip
_KEY_SAID = re.compile(
    rb"(?i)\b(?:api|access|licen[sc]e|encryption|secret|private|aes|auth|webhook|signing)[ _-]?(?:key"
    rb"|token)[ \t]{0,9}(?:is|was|=|:|->)?"
    rb"[ \t]{1,9}(?P<value>[\"']?(?:(?=[^\s\d]{0,40}\d)[\w+/=.~!#%^*-]{8,}+|(?!\w*(?:ed|able|ible|ing|ent|ect|ory|al"
    rb"|on)$)[\w+/=.~!#%^*-]{10,}+$))"
    rb"|(?i:\bpassw(?:or)?d|pwd?|passphrase)[ \t]{1,9}\((?P<within>(?=[^\s\d]{0,40}\d)[^\s()]{8,}+)\)"
)
_CREDS_SAID = re.compile(
    rb"(?i)\bcred(?:ential)?s?[ \t]{1,9}(?:are|is)[ \t]{1,9}(?P<value>[^\s:/]{1,60}[ \t]{0,3}[:/][ \t]{0,3}\S++)"
)
_CELLS = re.compile(rb"(?i)<th>[^<]{0,60}(?:passw|passwd|pwd|secret|token|credential)[^<]{0,60}</th>.{0,2000}?<td>")
_COOKIE = re.compile(rb"(?i)\b(?:set-)?cookie2?[\"']?[ \t]{0,9}[:=][ \t]{0,9}")
_PARAMETER = re.compile(
    rb"(?i)[?&;](?:sig|signature|code|auth|key|x-amz-(?:signature|credential|security-token))=(?P<value>[^\s&\"'<>]++)"
)
_WITH_URL = re.compile(rb"""[^\s"']*+""")
_AFTER_SCHEME = re.compile(rb"(:/{1,3})")
_LONE_USER = re.compile(rb"[^/:]{16,400}")
_CONTAINER = re.compile(rb"(?i)\b(?:abfss?|wasbs?)$")
"""Azure schemes with a container before the @."""
_USER_OF_HOST = re.compile(
    rb"""(?<![\w./:@-])[\w.-]{1,64}:(?!/)"""
    rb"""[^\s@/"',;()\[\]]{1,200}@(?![0-9a-f]{5,8}\b)(?=[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9]|:\d{1,5}\b))"""
)
_ORACLE = re.compile(rb"(?i)(?<=jdbc:oracle:)\w{1,9}:[^\s/@:]{1,99}/[^\s@]{1,99}@")
_NOTHING = re.compile(
    rb"(?i)(?:null|none|nil|true|false|undefined|\[?(?:hidden|redacted|masked)\]?|\*{3,}+"
    rb"|\$\{[^}\s]{0,99}\})(?=[\s,;)\]}\"'<\\]|$)"
)
_NUMBER = re.compile(rb"-?\d{1,19}(?:\.\d{1,19})?(?=[\s,;)\]}\"'<]|$)")
_LEAST_DIGITS = 14
"""Minimum digits of a secret number: epoch milliseconds have 13."""
_GUESSABLE = re.compile(rb"(?i)pass|pw|pin|secret|kennwort|auth|cred")
_QUOTE = re.compile(rb"""(\\*+)(["'`])""")
_ELEMENT_OF_NAME = re.compile(rb"<(?:\w{1,40}:)?(?:\w{0,20}name|key)>\s{0,9}(?P<name>[\w.-]{1,99})\s{0,9}</[\w:]{1,80}>$")
_BLOCK = re.compile(rb"(?<=:)[ \t]{1,9}[|>][+-]?\d?$")
_PAIR = re.compile(rb"""(?:^|[\s{,"'-])(?:name|key)["']?[ \t]{0,9}[:=][ \t]{0,9}["']?(?P<name>[\w.-]{1,99})["']?,?$""")
_VALUE = re.compile(rb"""[\s"'-]*+value["']?[ \t]*+[:=][ \t]*+(?=\S)""")
_USER = re.compile(rb"user_[\w.@-]++")
_LEAST_PADDED = 12
"""Minimum letters before the padding of Base64."""
_ENDS_PADDED = re.compile(rb"""=?["']?(?:[,;)\]}]|$)""")
_BEGINS = re.compile(rb"\\|[|>][+-]?\d?")
"""Start of a value on the next line, in properties and YAML."""
_MIXED = re.compile(rb"\d|[a-z][A-Z]|[+/=~]|[a-z]{18}")
_REQUEST = re.compile(r"(?i).*api[._-]?keys?")
_OF_REQUEST = re.compile(rb"-?\d{1,3}(?!\w)|[A-Z_]{3,}(?!\w)|[<(\[]|(?:[A-Z][a-z]{1,20}){1,5}(?![\w+/=!-])")
"""Kafka's notation of a request kind: ``apiKey=18``, ``FETCH``, ``JoinGroup``."""


def ends_with_name(text: bytes) -> bool:
    """Return whether a line ends before the value of a sensitive name, which is then on the next line."""
    tail = _BLOCK.sub(b"", text[-400:].rstrip()).removesuffix(b"\\").rstrip()
    if tail.endswith(b">") and (named := _ELEMENT_OF_NAME.search(tail)):
        return _is_secret(named["name"], b"", is_sensitive)
    if tail[-1:] not in (b"=", b":", b">"):
        return False
    ends = (match for rule in (_NAMED, _SAID_FOR) for match in rule.finditer(tail) if match.end() == len(tail))
    return any(match.re is _SAID_FOR or _is_secret(match["name"], b"", is_sensitive) for match in ends)


def ends_with_pair(text: bytes) -> bool:
    """Return whether a line contains a sensitive name in a pair; its value follows under its own key."""
    pair = _PAIR.search(text[-400:].rstrip())
    return pair is not None and _is_secret(pair["name"], b"", is_sensitive)


def value_of_pair(text: bytes) -> int | None:
    """Return the start of the value of a pair; ``None`` for another line."""
    match = _VALUE.match(text)
    return match.end() if match else None


def without_named(text: bytes, is_named: Names) -> bytes:
    """Return a line or value without the matches of structured rules.

    Args:
        text: Without its line end.
        is_named: Whether a name is sensitive.
    """
    text = _without_users(text)
    return without(text, _spans(text, is_named))


def without_addresses(text: bytes) -> bytes:
    """Return an address without its user's password, and without token or signature parameters."""
    text = _without_users(text)
    return without(text, (match.span("value") for match in _PARAMETER.finditer(text)))


def _without_users(text: bytes) -> bytes:
    """Return a text without the users of its addresses that have passwords."""
    if b"@" not in text:
        return text
    text = _WITH_URL.sub(lambda match: _without_user(match[0]), text) if b":/" in text else text
    return _ORACLE.sub(MARK + b"@", _USER_OF_HOST.sub(MARK + b"@", text))


def _without_user(word: bytes) -> bytes:
    """Return a word without the part before the host of each URL: a name with a password, or text too long for a name."""
    if b"@" not in word or b":/" not in word:
        return word
    first, *rest = _AFTER_SCHEME.split(word)
    kept, scheme = [first], first
    for slashes, url in zip(rest[::2], rest[1::2], strict=True):
        user, at, host = url.rpartition(b"@")
        too_long = _LONE_USER.fullmatch(user) and not _CONTAINER.search(scheme)
        secret = at and (b":" in user.partition(b"/")[0] or too_long)
        kept += (slashes, MARK + at + host if secret else url)
        scheme = url
    return b"".join(kept)


def _spans(text: bytes, is_named: Names) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets."""
    yield from _assigned(text, is_named)
    yield from _options(text)
    small = text.lower()
    yield from commands.spans(text, small)
    for begins, rule, found in _RULES:
        if any(hint in small for hint in begins):
            yield from (found(match) for match in rule.finditer(text))
    for begins, rule, found in _BY_NAME:
        if begins in small:
            yield from (found(match) for match in rule.finditer(text) if _is_secret(match["name"], b"", is_named))


def _rest(match: re.Match[bytes]) -> tuple[int, int]:
    return match.end(), len(match.string)


def _quoted(match: re.Match[bytes]) -> tuple[int, int]:
    return match.end(), _end(match.string, match.end())


def _value(match: re.Match[bytes]) -> tuple[int, int]:
    return match.span("value")


def _some(match: re.Match[bytes]) -> tuple[int, int]:
    return match.span(match.lastgroup)


def _credentials(match: re.Match[bytes]) -> tuple[int, int]:
    return match.span("value") if _MIXED.search(match["value"]) else (0, 0)


_PASSWORD = (b"pass", b"kennwort", b"pwd", b"secret", b"identified", b"rootpw", b"masterauth")
_RULES: tuple[tuple[tuple[bytes, ...], re.Pattern[bytes], Callable[[re.Match[bytes]], tuple[int, int]]], ...] = (
    (_PASSWORD, _SAID, _quoted),
    (_PASSWORD, _SAID_FOR, _rest),
    ((b"pass", b"pin"), _SPACED, _quoted),
    (_PASSWORD, _SAID_ALONE, _value),
    ((b"passw",), _SAID_WRONG, _some),
    ((b"pass", b"pw"), _AFTER_USER, _value),
    ((b"key", b"token", b"pass", b"pw"), _KEY_SAID, _some),
    ((b"cred",), _CREDS_SAID, _value),
    ((b"<td>",), _CELLS, _rest),
    ((b"cookie",), _COOKIE, _rest),
    ((b"sig", b"code=", b"auth=", b"key=", b"x-amz"), _PARAMETER, _value),
    ((b"bearer", b"basic", b"negotiate", b"digest", b"splunk", b"apikey", b"token"), _SCHEME, _credentials),
)  # fmt: skip
"""Lower-case text in each match of a rule, the rule, and the position of the secret."""


_BY_NAME = (
    *((hint, rule, _rest) for hint, rule in commands.BY_NAME),
    (b"<", _ELEMENT, _rest), (b"<", _ELEMENT_WITH, _rest), (b"(", _CALL, _quoted),
    (b"value", _FIELDS, _quoted), (b"value=", _FIELDS_OF_JAVA, _quoted),
    (b"value", _VALUE_FIRST, _value), (b"overridden", _SUPPLIED, _rest), (b"supplied", _SUPPLIED, _rest),
    (b"for configuration", _INVALID, _value),
)  # fmt: skip
"""The same for rules about a name."""


def _assigned(text: bytes, is_named: Names) -> Iterator[tuple[int, int]]:
    at = 0
    while match := _NAMED.search(text, at):
        begin = at = match.end()
        if _is_padding(match, text):
            continue
        of_jaas = _USER.fullmatch(match["name"]) is not None and (_QUOTE.match(text, begin) is not None or b"LoginModule" in text)
        if not of_jaas and not _is_secret(match["name"], text[begin : begin + 40], is_named):
            continue
        end = _end(text, begin)
        if text[begin:end] != MARK and not _BEGINS.fullmatch(text, begin, end):  # a value on the next line
            yield begin, end
        at = max(at, end)


def _is_padding(match: re.Match[bytes], text: bytes) -> bool:
    """Return whether an apparent name is the end of a Base64 string."""
    long_ = len(match["name"]) >= _LEAST_PADDED and match[0].endswith(b"=")
    return long_ and _ENDS_PADDED.match(text, match.end()) is not None


def _is_secret(name: bytes, value: bytes, is_named: Names) -> bool:
    decoded = name.decode(errors="replace")
    if not is_named(decoded) or is_class(decoded) or is_id(decoded):
        return False
    value = value.lstrip(b"\\\"'")
    if value and (_NOTHING.match(value) or (_is_number(value) and not _GUESSABLE.search(name))):
        return False
    return not (_REQUEST.fullmatch(decoded) and _OF_REQUEST.match(value))


def _is_number(value: bytes) -> bool:
    """Return whether it is a number as in settings and measurements, with at most as many digits as milliseconds."""
    number = _NUMBER.match(value)
    return number is not None and (number.end() < _LEAST_DIGITS or b"." in number[0])


def _options(text: bytes) -> Iterator[tuple[int, int]]:
    for match in _OPTION.finditer(text):
        if is_sensitive(match["name"].decode()) and not _NOTHING.match(text, match.end()):
            yield match.end(), len(text)


def _end(text: bytes, begin: int) -> int:
    """Return the end of a value: at its quote, with its own escaping; else the end of the text."""
    quote = _QUOTE.match(text, begin)
    if quote is None:
        return len(text)
    escapes, mark = quote[1], quote[2]
    at = quote.end()
    while (at := text.find(mark, at)) >= 0:
        before = len(text[begin:at]) - len(text[begin:at].rstrip(b"\\")) if at - begin < 4096 else 0
        if before == len(escapes):
            return at + 1
        at += 1
    return len(text)
