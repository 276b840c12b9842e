"""This machine: places, locks, jars, progress, files that are there whole or not at all."""
