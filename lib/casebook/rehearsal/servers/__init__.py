"""Real ZooKeeper and Kafka on the loopback: their jars, processes, disks and tools."""
