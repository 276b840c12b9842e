"""Runs: their folders, one at a time, the report, the index."""
