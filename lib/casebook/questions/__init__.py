"""The questions on call, one folder each: analysis, scans, views, and declaration."""
