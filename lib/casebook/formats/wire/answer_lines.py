"""A part of a broker's answer as one JSON line of a case."""

import json

from casebook.facts.wire import BrokerAnswer


def encode(answer: BrokerAnswer) -> bytes:
    """Return the line, with its end."""
    return json.dumps(answer._asdict(), separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def decode(line: str) -> BrokerAnswer:
    """Parse a line.

    Raises:
        ValueError: It is not an answer.
    """
    try:
        row = json.loads(line)
        answer = BrokerAnswer(**row)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("is not an answer of a broker") from None
    typed = isinstance(answer.api, str) and isinstance(answer.subject, str) and isinstance(answer.fields, dict)
    if not typed or not isinstance(answer.at, int) or not isinstance(answer.broker, int | None):
        raise ValueError("is not an answer of a broker")
    return answer
