"""Windows without a leader, and silences."""
