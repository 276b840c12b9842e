"""API of the notebooks."""
