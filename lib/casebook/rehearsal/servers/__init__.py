"""Real ZooKeeper and Kafka servers on loopback: jars, processes, disks and tools."""
