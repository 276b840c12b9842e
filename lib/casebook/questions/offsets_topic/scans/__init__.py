"""Spark scans with pure rules."""
