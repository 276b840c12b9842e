"""Loading group coordinators, the duration, and the affected groups."""
