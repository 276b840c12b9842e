"""A paste to rows, each with its line."""
