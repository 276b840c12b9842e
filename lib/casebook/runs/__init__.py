"""Runs: folders, locks, the report, the index."""
