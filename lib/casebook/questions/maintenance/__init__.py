"""Which brokers may be stopped, in which order, and how to drain one."""
