"""Sensitive names in every spelling: ``ssl.key.password``, ``KAFKA_PASS``, ``dbPw``."""

import re
from functools import lru_cache

_LETTER = r"[^\x00-\x7f]{1,2}"
"""A letter beyond ASCII, in any source encoding."""
_COLUMN = (
    r"passw(?:[o0]r)?d|bearer$|super\.?digest|psswd|passwrd|masterauth|(?<![a-z])otp(?![a-z])|passwort|kennwort|passcode|passphrase|pwd|secret|token|credential|jaas|authorization|user\.?info|salt|scram-sha"
    r"|(?:private|access|account|stored|server|master|keystore|signing|encryption|subscription)[._-]?key|certificate|hmac|cookie|jsessionid"
    rf"|shared[._-]?access|contrase{_LETTER}a|mot de passe|contrasena|(?<![a-z])passe(?![a-z])|senha|has{_LETTER}o|heslo"
    rf"|l{_LETTER}senord|salasana|wachtwoord|parola|\u015fifre|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u53e3\u4ee4|(?<![a-z])clave(?![a-z])|jelsz{_LETTER}|parool|adgangskode|kodeord|lozinka|geslo|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9"
    r"|(?<![a-z])(?:psk|pepper)(?![a-z])|_auth$|^auth(?:bytes)?$"
    r"|\ube44\ubc00\ubc88\ud638|(?<![a-z])creds?(?![a-z])"
    r"|api[ ._-]?key(?!s?\.java:|s\.|[\"']?\s*[:=]\s*-?\d{1,3}(?!\w))"  # Kafka's own: kind of a request
)
_NAME = re.compile(rf"{_COLUMN}|[._-]key(?![\w.-])", re.IGNORECASE)
_PIECE = re.compile(  # too short to search for within words: compass, spinning
    r"(?:(?<![A-Za-z\d])[Pp]|(?<=-D)[Pp]|(?<=[a-z\d])P)(?:ass|w|in)(?!\d{0,9}[a-z])(?![._-]?[Tt]hrough)"
    r"|(?<![A-Z])P(?:ASS|W|IN)(?![a-z]|[A-Z](?![a-z])|[._-]THROUGH)"
    r"|(?i:store|key|trust|db|pg|ht|user|bind|redis|mongo|rabbit|sasl|ssl|kafka|jdbc|root|admin|my|ssh|ldap|jmx)(?i:pass|pw)(?![A-Za-z])"
)
_WORD = re.compile(_COLUMN, re.IGNORECASE)
_CLASS = re.compile(r"(?:Exception|Error|Manager|Cleaner|Handler|Provider|Cache|Thread|Service|Validator|Retriever)$")
_HOW = re.compile(r"(?i)(?:iterations?|algorithm|key\.length|min\.?length|max\.?length|class)$")
"""Handling of passwords, which is not secret: Kafka prints ``password.encoder.iterations`` at each start."""
_ID = re.compile(
    r"(?i)(?:authorization|token)[ ._-]?(?:ids?|types?|endpoint|url|manager|expir\w*|lifetime|requesters?|owners?|s)$"
)
_OF_PRINTING = re.compile(r"(?:^|[.-])(?:print|parse)[._]key$")  # console client options: whether to print a record's key


@lru_cache(maxsize=1 << 16)
def is_sensitive(name: str) -> bool:
    """Return whether a setting of this name may contain a secret."""
    return (_NAME.search(name) is not None or _PIECE.search(name) is not None) and not _is_harmless(name)


def _is_harmless(name: str) -> bool:
    return _OF_PRINTING.search(name) is not None or _HOW.search(name) is not None


def is_sensitive_column(name: str) -> bool:
    """Return whether a ledger column may contain secrets; one called a key, such as ``record_key``, identifies a record."""
    return _WORD.search(name) is not None or _PIECE.search(name) is not None


def is_id(name: str) -> bool:
    """Return whether it is the id of a token or an authorization, not the secret itself."""
    return _ID.search(name) is not None


def is_class(name: str) -> bool:
    """Return whether it is the class of a message, as in ``TopicAuthorizationException: Not authorized to access topics``."""
    return _CLASS.search(name) is not None
