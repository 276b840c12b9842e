"""ZooKeeper: znodes, snapshots and transaction logs to rows."""
