"""Rows of evidence, independent of its source. ``None`` is unknown."""
