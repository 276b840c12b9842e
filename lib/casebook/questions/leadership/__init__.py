"""Which partitions have no leader, and what to start first."""
