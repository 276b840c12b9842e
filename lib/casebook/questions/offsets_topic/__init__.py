"""How large __consumer_offsets is, who writes it, and whether it is compacted."""
