"""A broker's files: checkpoints, indexes, settings and the wordings of its log."""
