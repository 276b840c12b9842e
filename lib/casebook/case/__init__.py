"""A case folder: what lies where, writing it once, reading it many times."""
