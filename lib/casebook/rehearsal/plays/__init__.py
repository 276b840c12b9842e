"""Incidents, each a play on real servers."""
