"""Changes since the last run."""
