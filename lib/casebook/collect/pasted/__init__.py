"""A paste to a case."""
