"""What stands in the place of a secret."""

REDACTED = "[redacted]"
MARK = REDACTED.encode()
