"""Events in order on one clock, and their causes."""
