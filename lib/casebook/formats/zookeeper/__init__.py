"""ZooKeeper: parse znodes, snapshots and transaction logs into rows."""
