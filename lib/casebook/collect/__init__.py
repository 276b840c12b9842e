"""Collect evidence into a case folder. Nothing here can write to ZooKeeper or Kafka."""
