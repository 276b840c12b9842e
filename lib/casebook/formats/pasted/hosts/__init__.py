"""Pasted output of a host's own tools."""
