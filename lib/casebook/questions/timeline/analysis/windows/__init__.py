"""Windows of problems, and silences."""
