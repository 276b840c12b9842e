"""Parse a paste into rows with line numbers."""
