"""What is known at first sight, the one plan, and what to collect next."""
