"""What began it, and what followed from what."""
