"""Files to a case: logs, settings, listings of log dirs."""
