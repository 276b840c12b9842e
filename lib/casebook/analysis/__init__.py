"""Pure functions of facts. Nothing here reads a clock, a file or the network."""
