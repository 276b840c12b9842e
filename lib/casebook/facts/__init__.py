"""Rows: what evidence says, whatever it came from. None is unknown."""
