"""How Kafka behaves, by release: pure rules, the only place that compares releases."""
