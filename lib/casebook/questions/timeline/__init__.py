"""What happened when, by one clock, and what began it."""
