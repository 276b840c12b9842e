"""Spark over pure rules."""
