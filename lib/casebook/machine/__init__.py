"""This machine: paths, locks, jars, progress, atomic files."""
