"""Bytes and text to rows. No I/O, no Spark: what comes in was read by somebody else."""
