"""Fast check by words for lines that certainly contain no secret: most of them.

All digits are equal here, so lines with different numbers are checked once; the rest is checked by all rules.
"""

import re

from casebook.collect.redaction import prefixed, scanner, shapes

_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_+/=.:~-@%&;\\\0\x1b") | frozenset(range(0x80, 0x100))
_APART = bytes(ord("0") if code in b"0123456789" else code if code in _KEPT else ord(" ") for code in range(0x100))
"""Translation of characters that end a name, a token and a disguise of one into blanks."""
_HINT = re.compile(  # starts of all structured rules
    rb"pass|pwd|pw|pin(?![a-z])|secret|token|kennwort|cred|jaas|authorization|user[._-]?info|user_|salt|scram|key|certificate|hmac"
    rb"|cookie|sessionid|shared[._-]?access|bearer|basic|negotiate|digest|splunk|(?:^|[&;])(?:sig|signature|code|auth)=|x-amz|ldap|mysql"
    rb"|redis-cli|docker|addauth|identified|keygen|7z|0z|zip|sqlplus|masterauth|otp|psswd|^--auth|kinit|chpasswd|kadmin|snmp|openssl|smbclient|rabbitmqctl|clave|jelsz|parool|adgangskode|kodeord|lozinka|geslo|auth:|getconnection|securestring|superdigest|super\.digest|sasl[a-z]{0,10}$|^(?:auth|sudo|su|expect|login|vault|bao|gpg|insert|license|licence)$|^(?:string)?data:$|^\\\\\\\\|\\\\+(?:x1b|033|e)$|^-a$|^-e$|^--(?:proxy-)?cert$|^--?user|^-p$|^echo$|^printf$|^--?u(?:ser)?(?:=|$)|^-u|proxy-user|-----|[\x80-\xff\x1b\0]"
    rb"|\\u00|%[0-9a-f]{2}|&(?:lt|gt|quot|apos|amp|#)|[:/][^@]*@|@(?![a-f0]{5,8}(?:[^\w.-]|$))|_auth|psk|pepper|senha|heslo|wachtwoord|parola|salasana"
)
_NUMBER = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:0x)?[0-9a-f]{8,32})(?![0-9A-Za-z])")
"""UUIDs, sessions, hashes: their letters are digits, too."""
_LONGEST = 1000
"""Maximum length of a plain word; rules scan longer ones in pieces."""
_MOST = 1 << 17


class Plain:
    """Recognises words with no match of any rule in or near them."""

    def __init__(self) -> None:
        self._words: set[bytes] = set()

    def line(self, text: bytes) -> bool:
        """Return whether a line has no match of any rule; never ``True`` for one with a match."""
        words = text.translate(_APART).split()
        return self._words.issuperset(words) or all(map(self._is_plain, words))

    def _is_plain(self, word: bytes) -> bool:
        word = without_numbers(word)
        if word in self._words:
            return True
        if not is_plain(word):
            return False
        if len(self._words) >= _MOST:
            self._words.clear()
        self._words.add(word)
        return True


def without_numbers(word: bytes) -> bytes:
    """Return a word with zeros for all digits of its hexadecimal numbers."""
    return _NUMBER.sub(lambda match: b"-".join(b"0" * len(part) for part in match[0].split(b"-")), word)


def is_plain(word: bytes) -> bool:
    """Return whether no rule can match in a word or after it."""
    if len(word) > _LONGEST or _HINT.search(word.lower()):
        return False
    return not scanner.is_likely(scanner.folded(word.decode())) and not shapes.has_random(word) and not any(prefixed.spans(word))
