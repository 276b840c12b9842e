"""Rows, rules and checks; pure."""
