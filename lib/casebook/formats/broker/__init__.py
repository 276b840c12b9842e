"""A broker's files: checkpoints, indexes, settings and log messages."""
