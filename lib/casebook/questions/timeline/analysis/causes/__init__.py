"""Root causes and their consequences."""
