"""First overview, the plan, and what to collect next."""
