"""One line or value of free text without its secrets: by what a name, an option, a header or an address says of what follows it.

An unquoted secret is taken to reach to the end of the line: where it really ends, nobody can tell. Every pattern passes a text
once, with possessive or bounded repetitions, so that the time is in proportion to the length of the line, whatever is in it.
"""

import re
from collections.abc import Callable, Iterator

from casebook.collect.redaction import shapes
from casebook.collect.redaction.marks import MARK
from casebook.collect.redaction.names import is_class, is_sensitive, is_sensitive_column

Names = Callable[[str], bool]

_ANSI = re.compile(rb"\x1b\[[0-9;?]*+[A-Za-z]")
_HINT = re.compile(  # what any of the rules below begins with: most lines have none of it
    rb"(?i)pass|pw|pin\b|secret|token|kennwort|credential|jaas|authoriz|user.?info|salt|scram|key|certificate|hmac|cookie|sess"
    rb"|shared.?access|bearer|basic|negotiate|digest|apikey|user_|[@\xc3\xd0\xe5]|mot de|sig|x-amz|ldap|mysql|\s-u"
)
_NAMED = re.compile(
    rb"""(?<![\w.\-\[\]$\x80-\xff])(?P<name>[\w.\-\[\]$\x80-\xff]++)(?:\\*+["'`]){0,2}[ \t]*+"""
    rb"""(?:=>|->|[=:]|</\w{1,40}>\s{0,9}<\w{1,40}>|value[ \t]{0,9}=|>)[ \t]*+""",
)
_OPTION = re.compile(rb"""(?<![\w-])--?(?P<name>[A-Za-z][\w.-]*+)["',]*+[ \t]++(?=\S)""")
_SAID = re.compile(
    rb"""(?i)(?<![\w-])(?:passw(?:or)?d|passwort|kennwort|passphrase|pwd|secret)["']?"""
    rb"""(?:[ \t]+(?:is|was|to|ist|lautet)[ \t]+|[ \t]+(?=["']\S))"""
)
_COMMANDS = re.compile(
    rb"(?<!\S)(?:-u|-U|--user|--proxy-user)[ \t=]{1,9}[^\s:]{1,99}:(?=\S)"
    rb"|\bsshpass[ \t]{1,9}-p[ \t]{0,9}|\bmysql\w{0,9}[ \t][^|]{0,200}?[ \t]-p(?=\S)"
    rb"|\bldap\w{1,9}[ \t][^|]{0,200}?[ \t]-w[ \t]{1,9}"
)
_SCHEME = re.compile(rb"(?i)\b(?:bearer|basic|negotiate|digest|splunk|apikey|token)[ \t]{1,9}(?P<value>[\w+/.~=-]{8,}+)")
_COOKIE = re.compile(rb"(?i)\b(?:set-)?cookie2?[\"']?[ \t]{0,9}[:=][ \t]{0,9}")
_PARAMETER = re.compile(
    rb"(?i)[?&;](?:sig|signature|code|auth|key|x-amz-(?:signature|credential|security-token))=(?P<value>[^\s&\"'<>]++)"
)
_WITH_URL = re.compile(rb"""[^\s"']*+""")
_LONE_USER = re.compile(rb"[^/:]{16,400}")
_USER_OF_HOST = re.compile(
    rb"""(?<![\w./:@-])[\w.-]{1,64}:(?!/)[^\s:@/"',;()\[\]]{1,200}@(?![0-9a-f]{5,8}\b)(?=[A-Za-z0-9-]{1,63}(?:\.[A-Za-z]|:\d{2,5}\b))"""
)
_ORACLE = re.compile(rb"(?i)(?<=jdbc:oracle:)\w{1,9}:[^\s/@:]{1,99}/[^\s@]{1,99}@")
_NOTHING = re.compile(
    rb"(?i)(?:null|none|nil|true|false|undefined|\[?(?:hidden|redacted|masked)\]?|\*{3,}+|\$\{[^}\s]{0,99}\})(?=[\s,;)\]}\"'<\\]|$)"
)
_NUMBER = re.compile(rb"-?\d{1,19}(?:\.\d{1,19})?(?=[\s,;)\]}\"'<]|$)")
_GUESSABLE = re.compile(rb"(?i)pass|pw|pin|secret|kennwort|auth|cred")
_QUOTE = re.compile(rb"""(\\*+)(["'`])""")
_ELEMENT = re.compile(rb"([\w.-]{1,99})</\w{1,40}>$")
_USER = re.compile(rb"user_[\w.@-]++")
_MIXED = re.compile(rb"\d|[a-z][A-Z]|[+/=~]")


def redact_text(text: bytes, *, of_records: bool = False) -> bytes:
    """A line or value without its secrets; the same object where it has none.

    Args:
        text: Without its line end.
        of_records: Whether it tells of records: what it calls a key, as ``record_key``, then tells them apart, and so does what
            is only random.
    """
    plain = _ANSI.sub(b"", text) if b"\x1b" in text else text
    clean = _by_rules(plain, is_sensitive_column if of_records else is_sensitive) if _HINT.search(plain) else plain
    clean = clean if of_records else shapes.without_random(clean)
    clean = shapes.without_known(clean)
    return text if clean == plain else clean


def ends_with_name(text: bytes) -> bool:
    """Whether a line ends where the value of a sensitive name should begin: then it stands on the next one."""
    tail = text[-200:].rstrip()
    if tail.endswith(b">") and (named := _ELEMENT.search(tail)):
        return is_sensitive(named[1].decode(errors="replace"))
    last = next((match for match in _NAMED.finditer(tail) if match.end() == len(tail)), None)
    return last is not None and _is_secret(last["name"], b"", is_sensitive)


def _by_rules(text: bytes, is_named: Names) -> bytes:
    if b"@" in text:
        text = _WITH_URL.sub(lambda match: _without_user(match[0]), text) if b"://" in text else text
        text = _ORACLE.sub(MARK + b"@", _USER_OF_HOST.sub(MARK + b"@", text))
    pieces, at = list[bytes](), 0
    for begin, end in _spans(text, is_named):
        if begin >= at:
            pieces += (text[at:begin], MARK)
            at = end
    return b"".join([*pieces, text[at:]]) if pieces else text


def _without_user(word: bytes) -> bytes:
    """A word without what stands before the host of each of its URLs: a name with a password, or what is too long for a name."""
    if b"@" not in word or b"://" not in word:
        return word
    first, *urls = word.split(b"://")
    kept = [first]
    for url in urls:
        user, at, host = url.rpartition(b"@")
        secret = at and (b":" in user.partition(b"/")[0] or _LONE_USER.fullmatch(user))
        kept.append(MARK + at + host if secret else url)
    return b"://".join(kept)


def _spans(text: bytes, is_named: Names) -> list[tuple[int, int]]:
    """Where secrets stand, from the first on."""
    found = [*_assigned(text, is_named), *_options(text)]
    found += ((match.end(), _end(text, match.end())) for match in _SAID.finditer(text))
    found += ((match.end(), len(text)) for match in _COMMANDS.finditer(text))
    found += ((match.end(), len(text)) for match in _COOKIE.finditer(text))
    found += (match.span("value") for match in _PARAMETER.finditer(text))
    found += (match.span("value") for match in _SCHEME.finditer(text) if _MIXED.search(match["value"]))
    return sorted(found, key=lambda span: (span[0], -span[1]))


def _assigned(text: bytes, is_named: Names) -> Iterator[tuple[int, int]]:
    at = 0
    while match := _NAMED.search(text, at):
        begin = at = match.end()
        of_jaas = _USER.fullmatch(match["name"]) is not None and _QUOTE.match(text, begin) is not None
        if not of_jaas and not _is_secret(match["name"], text[begin : begin + 40], is_named):
            continue
        end = _end(text, begin)
        if end > begin and text[begin:end] != MARK:
            yield begin, end
        at = max(at, end)


def _is_secret(name: bytes, value: bytes, is_named: Names) -> bool:
    decoded = name.decode(errors="replace")
    if not is_named(decoded) or is_class(decoded):
        return False
    value = value.lstrip(b"\\\"'")
    if value and (_NOTHING.match(value) or (_NUMBER.match(value) and not _GUESSABLE.search(name))):
        return False
    return not (re.fullmatch(r"(?i).*api[._-]?keys?", decoded) and re.match(rb"-?\d{1,3}(?!\w)|[A-Z_]{3,}(?!\w)", value))


def _options(text: bytes) -> Iterator[tuple[int, int]]:
    for match in _OPTION.finditer(text):
        if is_sensitive(match["name"].decode()) and not _NOTHING.match(text, match.end()):
            yield match.end(), len(text)


def _end(text: bytes, begin: int) -> int:
    """Where a value ends: with its quote, as far as it was escaped itself; else with the text."""
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
