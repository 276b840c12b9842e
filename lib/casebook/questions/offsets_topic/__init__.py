"""Size, writers and compaction of __consumer_offsets."""
