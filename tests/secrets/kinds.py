"""Secrets as they are made in the world: of people, of generators, of clouds. None of them is anybody's."""

import base64
import json
import random
import string
from collections.abc import Callable

_SYLLABLES = [first + second for first in "bdfghklmnprstvz" for second in "aeiou"]
_LETTERS, _WORD = string.ascii_letters + string.digits, string.ascii_lowercase
_BASE64 = string.ascii_letters + string.digits + "+/"
_URL_SAFE = string.ascii_letters + string.digits + "-_"


def _of(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=5))


def _spoken(chance: random.Random) -> str:
    return f"{_word(chance).title()}-{_word(chance)[:6].title()}{chance.randrange(100)}!"


def _base64(size: int) -> Callable[[random.Random], str]:
    return lambda chance: base64.b64encode(chance.randbytes(size)).decode()


def _jwt(chance: random.Random) -> str:
    head, body = ({"alg": "RS256", "kid": _word(chance)}, {"sub": _word(chance), "iat": chance.randrange(2**31)})
    parts = [json.dumps(part).encode() for part in (head, body)] + [chance.randbytes(64)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


ANY: dict[str, Callable[[random.Random], str]] = {
    "spoken": _spoken,
    "generated": _of(_LETTERS, 24),
    "hexadecimal": _of("0123456789abcdef", 32),
    "small letters": lambda chance: _word(chance) + _word(chance),
    "base64": _base64(32),
    "special": lambda chance: "".join(chance.choices(_LETTERS + "!#%*+-.:^_~", k=20)),
}
"""What anybody may take for a password."""

TYPED: dict[str, Callable[[random.Random], str]] = {
    "AWS access key": lambda chance: "AKIA" + _of(string.ascii_uppercase + "234567", 16)(chance),
    "AWS secret key": _of(_BASE64, 40),
    "Azure storage key": _base64(64),
    "Google API key": lambda chance: "AIza" + _of(_URL_SAFE, 35)(chance),
    "Google OAuth token": lambda chance: "ya29." + _of(_URL_SAFE, 60)(chance),
    "GitHub token": lambda chance: "ghp_" + _of(_LETTERS, 36)(chance),
    "GitHub fine-grained token": lambda chance: "github_pat_" + _of(_LETTERS, 22)(chance) + "_" + _of(_LETTERS, 59)(chance),
    "GitLab token": lambda chance: "glpat-" + _of(_LETTERS, 20)(chance),
    "Slack token": lambda chance: (
        f"xoxb-{chance.randrange(10**11, 10**12)}-{chance.randrange(10**11, 10**12)}-" + _of(_LETTERS, 24)(chance)
    ),
    "Stripe key": lambda chance: "sk_" + "live_" + _of(_LETTERS, 24)(chance),
    "SendGrid key": lambda chance: "SG." + _of(_URL_SAFE, 22)(chance) + "." + _of(_URL_SAFE, 43)(chance),
    "npm token": lambda chance: "npm_" + _of(_LETTERS, 36)(chance),
    "Vault token": lambda chance: "hvs." + _of(_LETTERS, 90)(chance),
    "DigitalOcean token": lambda chance: "dop_v1_" + _of("0123456789abcdef", 64)(chance),
    "OpenAI key": lambda chance: "sk-proj-" + _of(_LETTERS, 48)(chance),
    "Hugging Face token": lambda chance: "hf_" + _of(string.ascii_letters, 34)(chance),
    "Telegram token": lambda chance: f"{chance.randrange(10**9, 10**10)}:AA" + _of(_URL_SAFE, 33)(chance),
    "a token with a prefix": lambda chance: f"zq{chance.choice('bcdf')}_" + _of(_LETTERS, 32)(chance),
    "a hexadecimal token with a prefix": lambda chance: "zqpat_" + _of("0123456789abcdef", 40)(chance),
    "a versioned token": lambda chance: "abk_v2_" + _of("0123456789abcdef", 64)(chance),
    "a key in capitals": lambda chance: "ZQAK-" + _of(string.ascii_uppercase + string.digits, 27)(chance),
    "a token in parts": lambda chance: "zqkey-auth-" + _of(_LETTERS, 12)(chance) + "-" + _of(_LETTERS, 32)(chance),
    "JWT": _jwt,
    "Confluent Cloud secret": _of(_BASE64, 64),
    "delegation token": _base64(64),
}
"""What its own form gives away, wherever it stands."""


def private_key(chance: random.Random) -> str:
    """The lines of a private key between its marks."""
    text = base64.b64encode(chance.randbytes(600)).decode()
    return "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
