"""Results of checks, their coverage, and the contract with scripts."""
