"""Which topics and clients lose records when a broker dies."""
