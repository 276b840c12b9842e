"""Tables, pictures and panels."""
