"""Topics and clients that lose records when a broker fails."""
