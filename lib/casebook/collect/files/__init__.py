"""Collect files into a case: logs, settings, listings of log dirs."""
