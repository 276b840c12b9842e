"""Clocks of the logs."""
