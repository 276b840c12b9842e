"""Collect ZooKeeper into a case: over the wire, from its files, from a dump."""
