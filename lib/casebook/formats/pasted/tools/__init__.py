"""Pasted output of Kafka's and ZooKeeper's tools."""
