"""What a check says, what it looked at, and the contract with scripts."""
