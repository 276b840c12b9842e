"""Hosts: what sar, iostat and Prometheus measured, to samples."""
