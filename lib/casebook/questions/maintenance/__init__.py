"""Which brokers can be stopped, in which order, and how to drain one."""
