"""Secrets without a name: by the public rules of detect-secrets, and by being too random to be anything that Kafka prints."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise

from casebook.collect.redaction.marks import MARK

_DETECTORS = (
    "artifactory.ArtifactoryDetector", "aws.AWSKeyDetector", "azure_storage_key.AzureStorageKeyDetector",
    "discord.DiscordBotTokenDetector", "github_token.GitHubTokenDetector", "gitlab_token.GitLabTokenDetector",
    "jwt.JwtTokenDetector", "mailchimp.MailchimpDetector", "openai.OpenAIDetector", "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector", "slack.SlackDetector", "square_oauth.SquareOAuthDetector", "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector", "twilio.TwilioKeyDetector",
)  # fmt: skip
"""Of its plugins those that know a secret by its own form; those that go by names are what :mod:`.text` does."""
_LIKELY = re.compile(rb"[A-Za-z0-9_\-+/.:=]{16}")
_WINDOW, _OVERLAP = 1024, 1024
"""A longer line is looked at in pieces: a rule of somebody else may take more than its share of a long one."""
_REST = re.compile(rb"[A-Za-z0-9._+/=-]*+")

_TOKEN = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_PIECES = re.compile(r"[^A-Za-z0-9]+")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{8,}")
_WORD = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{4,}|(?:[A-Z]?[a-z]{2,}){3,}\d{0,6}")
_KAFKA_ID = re.compile(r"(?:.{0,12}[-_])?[A-Za-z0-9_-]{22}(?:={2})?")
_LEAST_CHANGES = 0.35
"""Changes between small letters, capitals and digits, a character: 0.62 in base64, below 0.3 in names."""


def without_known(text: bytes) -> bytes:
    """A text without what the rules of detect-secrets find."""
    if not _LIKELY.search(text):
        return text
    spans = sorted({span for begin in range(0, len(text), _WINDOW) for span in _known(text, begin)})
    pieces, at = list[bytes](), 0
    for begin, end in spans:
        if begin >= at:
            pieces += (text[at:begin], MARK)
            at = end
    return b"".join([*pieces, text[at:]]) if pieces else text


def _known(text: bytes, begin: int) -> Iterator[tuple[int, int]]:
    window = text[begin : begin + _WINDOW + _OVERLAP].decode("latin-1")
    for rule in _rules():
        for match in rule.finditer(window):
            first, last = match.span()
            if last > first:
                yield begin + first, _REST.match(text, begin + last).end() if last == len(window) else begin + last


@cache
def _rules() -> tuple[re.Pattern[str], ...]:
    """Its rules; importing all of it takes a tenth of a second, so only whoever collects does."""
    found = []
    for place in _DETECTORS:
        module, _, name = place.partition(".")
        found += getattr(import_module(f"detect_secrets.plugins.{module}"), name).denylist
    return tuple(found)


def without_random(text: bytes) -> bytes:
    """A text without what is random; ids, hashes, paths, classes and hosts as Kafka, ZooKeeper and clients print them stay."""
    return _TOKEN.sub(lambda match: MARK if is_random(match[0].decode()) else match[0], text)


@lru_cache(maxsize=1 << 14)
def is_random(token: str) -> bool:
    """Whether a run of at least 24 characters of base64 is random.

    Not random: what has a word of four letters between its separators (paths, topics, groups, hosts), hexadecimal digits
    (hashes, UUIDs, sessions), the 22 characters of a UUID of Kafka's (``Uuid.java@2.8.0``) with at most a short prefix, one kind
    of letters.
    """
    if _KAFKA_ID.fullmatch(token) or not all(re.search(kind, token) for kind in ("[a-z]", "[A-Z]", r"\d")):
        return False
    pieces = [piece for piece in _PIECES.split(token) if piece]
    if any(_WORD.fullmatch(piece) or _HEX.fullmatch(piece) for piece in pieces):
        return False
    kinds = ["0" if letter.isdigit() else "A" if letter.isupper() else "a" for letter in token if letter.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= _LEAST_CHANGES * len(kinds)
