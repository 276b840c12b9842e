"""What has changed since the last run."""
