"""Parse bytes and text into rows. No I/O, no Spark: callers read the input."""
