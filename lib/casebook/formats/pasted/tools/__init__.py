"""What Kafka's and ZooKeeper's tools print, as it is pasted."""
