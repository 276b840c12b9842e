"""Which records were lost, when and why."""
