"""Walkthrough of an incident, with questions checked against its evidence."""
