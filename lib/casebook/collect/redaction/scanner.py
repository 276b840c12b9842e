"""Secrets with a known format, anywhere: by the public rules of detect-secrets.

All these rules match one word without blanks or quotes, so a line is checked word by word.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

RUN = re.compile(rb"[A-Za-z0-9_+/=.:~-]{16,}")
"""Characters of all matches, and their minimum length."""
_DETECTORS = {
    "artifactory.ArtifactoryDetector": "(?:^|[^a-z0_./+~-])(?:akc[a-z0]{10}|ap[0a-f][a-z0]{8})",
    "aws.AWSKeyDetector": "a0t|abia|acca|akia|asia",
    "azure_storage_key.AzureStorageKeyDetector": "accountkey=",
    "discord.DiscordBotTokenDetector": r"[mno][a-z0_-]{23,25}\.[a-z0_-]{6}\.",
    "github_token.GitHubTokenDetector": "gh[pousr]_",
    "gitlab_token.GitLabTokenDetector": "gl[a-z]{2,5}-|gr0000000",
    "jwt.JwtTokenDetector": r"eyj[a-z0_=-]+\.",
    "mailchimp.MailchimpDetector": "-us0",
    "openai.OpenAIDetector": "t0blbkfj",
    "pypi_token.PypiTokenDetector": "pypi-age",
    "sendgrid.SendGridDetector": r"sg\.",
    "slack.SlackDetector": "xox[a-z]-|hooks.slack.com",
    "square_oauth.SquareOAuthDetector": "sq0csp",
    "stripe.StripeDetector": "k_live_",
    "telegram_token.TelegramBotTokenDetector": "0{8}:[a-z0_-]{35}",
    "twilio.TwilioKeyDetector": "(?:ac|sk)[a-z0]{32}",
}
"""Plugins of detect-secrets for known formats, and a substring of each match (:func:`folded`)."""
_WINDOW, _OVERLAP = 1024, 1024
"""A longer word is scanned in pieces: a third-party rule may be superlinear."""
_REST = re.compile(rb"[A-Za-z0-9_=-]{0,400}+")
_DIGITS = str.maketrans("123456789", "000000000")


class ScannerRule(NamedTuple):
    """A rule.

    Args:
        name: Name in its library.
        likely: Substring of the folded form of every match.
        pattern: Regular expression.
    """

    name: str
    likely: str
    pattern: re.Pattern[str]


def folded(text: str) -> str:
    """Return a text in lower case with all digits as 0: texts with equal results are scanned once."""
    return text.lower().translate(_DIGITS)


@cache
def rules() -> tuple[ScannerRule, ...]:
    """Return all rules; importing detect-secrets takes a tenth of a second, so only collections do."""
    return tuple(_of_detect_secrets())


def _of_detect_secrets() -> Iterator[ScannerRule]:
    for place, likely in _DETECTORS.items():
        module, _, name = place.partition(".")
        for pattern in getattr(import_module(f"detect_secrets.plugins.{module}"), name).denylist:
            if r"[\'\"]" not in pattern.pattern:  # AWS: by a name next to it, which is up to structured rules
                yield ScannerRule(name, likely, pattern)


@cache
def _any_likely() -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(rule.likely for rule in rules())))


def is_likely(text: str) -> bool:
    """Return whether a rule could match, by the folded form; never ``False`` for a match."""
    return _any_likely().search(text) is not None


def spans(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets with a known format."""
    for run in RUN.finditer(text):
        for begin in range(run.start(), run.end(), _WINDOW):
            window = text[begin : min(begin + _WINDOW + _OVERLAP, run.end())].decode()
            if is_likely(folded(window)):
                yield from _known(text, begin, window)


def _known(text: bytes, begin: int, window: str) -> Iterator[tuple[int, int]]:
    for rule in rules():
        for match in rule.pattern.finditer(window):
            first, last = match.span()
            if last > first and not (rule.name.startswith("artifactory") and _is_word(match[0])):
                yield begin + first, _REST.match(text, begin + last).end()


def _is_word(text: str) -> bool:
    """Return whether it is a name in capitals, like ``APACHEKAFKACLUSTER``: many start with Artifactory's ``AP``."""
    return text.strip("=:").isalpha()
