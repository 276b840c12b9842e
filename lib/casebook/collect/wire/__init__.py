"""Collect a cluster from its brokers, in Kafka's own protocol: from a bootstrap address and the properties of Kafka's tools."""
