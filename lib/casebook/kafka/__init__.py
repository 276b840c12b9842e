"""Kafka's behaviour by release: pure rules, and the only place that compares releases."""
