"""Partitions without a leader, and the broker to start first."""
