"""Hosts: parse sar, iostat and Prometheus into samples."""
