"""Which group coordinators load, for how long, and what their groups wait for."""
