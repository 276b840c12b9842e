"""Decode what brokers answer on Kafka's own protocol."""
