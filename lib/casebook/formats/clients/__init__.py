"""Clients: settings, and ledgers of sent or processed records."""
