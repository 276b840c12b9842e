"""Clients: their settings, and ledgers of what they sent or processed."""
