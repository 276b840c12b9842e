"""Secrets in commands and statements: in an option, an argument position, a column, a call argument.

As in :mod:`.rules`, repetitions are bounded or possessive, and each pattern starts with a hint of :mod:`.words`.
"""

import re
from collections.abc import Iterator

from casebook.collect.redaction.names import is_sensitive_column

_ARGUMENTS = re.compile(
    # a user option with the password after a colon
    rb"(?<!\S)(?:-u[ \t=]{0,9}|(?:-U|-a|-E|--user|--proxy-user|--auth|--(?:proxy-)?cert)[ \t=]{1,9})(?!\d{1,9}:\d{1,9}(?!\S))"
    rb"[^\s:=]{2,99}:(?!//)(?=\S)"
    # a password option next to a user option; numbers there are ports and processes
    rb"|(?<!\S)(?:-[uU]|--user(?:name)?)[ \t=]{0,9}[^\s-]\S{0,99}"
    rb"[ \t](?:[^|]{0,200}?[ \t])?-[pP][ \t=]{0,9}(?!\d{1,7}(?:[:,/.-]\w{1,7}){0,5}(?!\S))(?=[^\s-])"
    rb"|(?<!\S)-p[ \t]{1,9}(?!\d{1,7}(?:[:,/.-]\w{1,7}){0,5}[ \t])"
    rb"(?=[^\s-]\S{0,200}[ \t][^|]{0,200}?(?<=[ \t])(?:-[uU]|--user(?:name)?)[ \t=])"
    rb"|\blogin[ \t][^|]{0,200}?[ \t]?-p[ \t=]{0,9}(?=\S)"
    # options of single commands
    rb"|\bsshpass[ \t]{1,9}-p[ \t]{0,9}|\bmysql\w{0,9}[ \t](?:[^|]{0,200}?[ \t])?-p(?=\S)"
    rb"|\b(?:ldap\w{1,9}|kadmin)[ \t](?:[^|]{0,200}?[ \t])?-w[ \t]{1,9}|\bredis-cli[ \t][^|]{0,200}?[ \t]?-a[ \t]{1,9}"
    rb"|\bssh-keygen[ \t][^|]{0,200}?[ \t]?-[PN][ \t]{1,9}|\b(?:7z|unzip|zip)[ \t][^|]{0,200}?[ \t]?-[pP][ \t]{0,9}"
    rb"|\bsnmp\w{2,9}[ \t](?:[^|]{0,200}?[ \t])?-[AXc][ \t]{1,9}|\bopenssl[ \t](?:[^|]{0,200}?[ \t])?-[kK][ \t]{1,9}"
    rb"|\bsmbclient[ \t](?:[^|]{0,200}?[ \t])?-U[ \t]{0,9}[^\s%]{1,60}%"
    # argument positions
    rb"|\bhtpasswd[ \t]{1,9}|\bsqlplus[ \t]{1,9}(?:-\S{1,20}[ \t]{1,9}){0,4}[^\s/]{1,60}/"
    rb"|\brabbitmqctl[ \t][^|]{0,60}?(?:user|password)[ \t]{1,9}\S{1,99}[ \t]{1,9}"
    rb"|\b(?:vault|bao)[ \t]{1,9}login[ \t]{1,9}(?![\w-]{1,40}=|-)"
    rb"|\bapi-?key[ \t]{1,9}(?:store|use)[ \t]{1,9}\S{1,99}[ \t]{1,9}|\bactivate-refresh-token[ \t]{1,9}\S{1,99}[ \t]{1,9}"
    rb"|\bnet[ \t]{1,9}use[ \t][^|]{0,99}?\\\\\S{1,99}[ \t]{1,9}(?!/)"
    rb"|\baddauth[ \t]{1,9}\w{1,20}[ \t]{1,9}[^\s:]{1,99}:|\b(?:digest|auth):[^\s:]{1,99}:(?![cdrwa]{1,5}(?:[\s,]|$))"
    rb"|^(?:\S{0,60}>[ \t]{0,9})?AUTH[ \t]{1,9}(?:[\w-]{1,60}[ \t]{1,9}(?=\S{1,999}[ \t]{0,9}$)|(?=\S{1,999}[ \t]{0,9}$))"
    # input of a command
    rb"|\b(?:sudo|kinit|chpasswd|passwd|su|login|gpg|openssl)\b[^|]{0,200}?<<<[ \t]{0,9}(?=\S)"
    rb"|\bexpect\b.{0,200}?\bsend(?:line)?[ \t]{1,9}(?:--[ \t]{1,9})?(?=\S)"
    rb"|(?i:\bconvertto-securestring[ \t]{1,9}(?:-\w{1,20}[ \t]{1,9})?)(?=\S)"
    rb"|(?i:\bpassw(?:or)?d\([ \t]{0,9}\w{1,20}[ \t]{0,9}=)"
)
_HINTS = (
    b"-u", b"-a ", b"-e ", b"--cert", b"--proxy-cert", b"--auth", b"proxy-user", b"login", b"sshpass", b"mysql",
    b"ldap", b"kadmin", b"redis-cli", b"-keygen", b"7z", b"zip", b"snmp", b"openssl", b"smbclient", b"htpasswd",
   
    b"sqlplus", b"rabbitmqctl", b"api-key", b"apikey", b"refresh-token", b"net use",
    b"addauth", b"digest:", b"auth", b"<<<", b"expect",
    b"passw", b"securestring",
)  # fmt: skip
"""Each match contains one of them in lower case."""
_LISTED = re.compile(rb"""["']-""")
_TO_BLANKS = bytes.maketrans(b"\"',[]", b"     ")
_NUMBERED = re.compile(rb"\ba\d{1,3}=")
_PIPED = re.compile(
    rb"\b(?:echo|printf)[ \t]{1,9}(?P<value>[^|]{1,400})\|[^|]{0,200}?(?:\b(?:kinit|chpasswd|passwd|sudo[ \t]{1,9}-S)\b"
    rb"|-stdin\b|[ \t]-S\b)"
)
_IDENTIFIED = re.compile(
    rb"(?i)\bidentified[ \t]{1,9}(?:with[ \t]{1,9}\S{1,60}[ \t]{1,9})?(?:by|as)[ \t]{1,9}(?:password[ \t]{1,9})?(?=\S)"
    rb"|\bpassword[ \t]{0,9}=?[ \t]{0,9}N(?=')"
)
_INSERT = re.compile(rb"(?i)\binsert[ \t]{1,9}(?:\w{1,9}[ \t]{1,9})?into[ \t](?P<into>[^()]{1,200}(?:\([^()]{0,2000}\))?)")
_VALUES = re.compile(rb"(?i)\s{0,9}values?[ \t]{0,9}")
_VALUES_WITHIN = re.compile(rb"(?i)\bvalues?[ \t]{0,9}")  # values of a table without listed columns
_SQL_NAME = re.compile(rb"[\w.-]{2,80}")
_CALLED = re.compile(
    rb"(?i)\b\w{0,40}(?:password|passwd|credential|authentication|basicauth|getconnection"
    rb"|sasl)\w{0,20}\((?=[^()]{1,200},[ \t]{0,9}[\"'])[^()\"']{0,99}"
)
_BLOCK = re.compile(rb"""["'](?P<name>[\w.-]{1,99})["'][ \t]{0,9}\{[^{}]{0,100}?\b(?:default|value)[ \t]{0,9}=[ \t]{0,9}(?=\S)""")
_FOUND = re.compile(
    rb"""["'`](?P<name>[\w.-]{1,99})["'`][^"'`]{1,60}(?:["'`][^"'`]{1,60}["'`])?[^"'`]{0,60}?\bvalue\b[^:\[]{0,40}"""
    rb"""[:\[][ \t]{0,9}(?=\S)"""
)
"""Spring: ``Found key 'a.password' in PropertySource 'env' with value of type String: …``."""
_CHANGED = re.compile(
    rb"""(?P<name>[\w.-]{1,99})["'`]?[ \t]{1,9}(?:(?:has|was"""
    rb"""|is)[ \t]{1,9})?(?:been[ \t]{1,9})?(?:changed[ \t]{1,9})?from[ \t]{1,9}(?=["'`])"""
)
_SET = re.compile(
    rb"(?i)\bsetx?[ \t]{1,9}(?P<name>[\w.:/-]{0,60}[._/-][\w-]{1,60})[ \t]{1,9}(?!(?:to|for|is|in|from|by|on|of|at|and"
    rb"|the|with)\b|=)(?=\S)"
)

BY_NAME = ((b"{", _BLOCK), (b"value", _FOUND), (b"from ", _CHANGED), (b"set", _SET))
"""Lower-case text in each match of a rule about a name, and the rule: secrets follow it."""


def spans(text: bytes, small: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets in commands and statements.

    Args:
        small: The text in lower case.
    """
    end = len(text)
    if any(hint in small for hint in _HINTS):
        yield from ((match.end(), end) for match in _ARGUMENTS.finditer(text))
        if _LISTED.search(text):  # argument lists in JSON, Python and audit logs
            plain = _NUMBERED.sub(lambda match: b" " * len(match[0]), text.translate(_TO_BLANKS))
            yield from ((match.end(), end) for match in _ARGUMENTS.finditer(plain))
    if b"echo" in small or b"printf" in small:
        yield from (match.span("value") for match in _PIPED.finditer(text))
    if b"identified" in small or b"n'" in small:
        yield from ((match.end(), end) for match in _IDENTIFIED.finditer(text))
    if b"insert" in small:
        yield from _inserted(text)
    if b"(" in small and (b"pass" in small or b"cred" in small or b"auth" in small or b"getconn" in small or b"sasl" in small):
        yield from ((match.end(), end) for match in _CALLED.finditer(text))


def is_insert(text: bytes) -> bool:
    """Whether a line is an insert with a sensitive column and its rows on the following lines."""
    return any(_VALUES.match(text, match.end()) is None and _names_secret(match["into"]) for match in _INSERT.finditer(text))


def _inserted(text: bytes) -> Iterator[tuple[int, int]]:
    for match in _INSERT.finditer(text):
        values = _VALUES.match(text, match.end()) or _VALUES_WITHIN.search(text, *match.span("into"))
        begin = values.end() if values else len(text)
        if _names_secret(match["into"]) or _names_secret(text[begin : begin + 2000]):
            yield begin, len(text)


def _names_secret(text: bytes) -> bool:
    return any(is_sensitive_column(name.decode(errors="replace")) for name in _SQL_NAME.findall(text))
