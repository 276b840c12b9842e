"""Words of the tools' own forms: labels, headers and sentences around values, which alone are no facts.

Each as it is printed between blanks, brackets and commas, with its case. A label whose value is read belongs here; a value
does not. A word that is neither in a row nor one of these is named (:mod:`casebook.formats.pasted.kept`).
"""

_SENTENCES = (
    "a all and any are as at be because been but by can do does for from has have held if in into is it its no not of on"
    " or out rather set so started still than that the there There this This to was were will with"
)
_TOPICS = (
    "MarkedForDeletion Topic TopicId PartitionCount ReplicationFactor Configs Partition Leader Replicas Isr isr Elr"
    " LastKnownElr Offline Adding Removing N/A topic topics partition partitions"
)
"""``TopicCommand.scala@0.8.2.2, 2.8.2``, ``TopicCommand.java@3.9.0``."""
_GROUPS = (
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER CONSUMER-ID HOST CLIENT-ID LEADER-EPOCH CURRENT"
    " OFFSET LOG END Group Topic Pid Offset logSize Lag Owner CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH"
    " TARGET-ASSIGNMENT UPGRADED PROTOCOL TYPE NEW-OFFSET GROUP-INSTANCE-ID #PARTITIONS ASSIGNMENT COORDINATOR ID"
    " ASSIGNMENT-STRATEGY STATE #MEMBERS Consumer group groups Error Warning Note BROKER INFO"
)
"""``ConsumerGroupCommand.scala@0.9.0.1, 2.8.2``, ``ConsumerOffsetChecker.scala@0.8.2.2``."""
_CONFIGS = "Configs Dynamic configs config entity sensitive synonyms are default All cluster broker brokers in the user client-id"
_REASSIGN = (
    "version topic partition partitions replicas replica log_dirs any adding removing Current Proposed assignment"
    " configuration reassignment reassignments Reassignment Status completed complete successfully Successfully started"
    " start progress active Save use option during rollback"
)
_ELECTED = "Valid elected Successfully completed election leader partitions"
_LOG_DIRS = (
    "version brokers broker logDirs logDir error partitions partition size offsetLag isFuture Querying Received for log"
    " directories directory information from"
)
_KCAT = (
    "Metadata all topics topic from broker brokers at controller with partitions partition leader replicas isrs query"
    " name id originating_broker controllerid"
)
_OF_BROKERS = "id rack isFenced usable UNSUPPORTED UNKNOWN ERROR"
_QUORUM = "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status ms ago"
_TRANSACTIONS = (
    "TransactionalId Coordinator ProducerId TransactionState CoordinatorId ProducerEpoch LatestCoordinatorEpoch"
    " LastSequence LastTimestamp CurrentTransactionStartOffset TransactionTimeoutMs CurrentTransactionStartTimeMs"
    " TransactionDurationMs TopicPartitions Topic Partition CoordinatorEpoch StartOffset Duration min"
)
_ZOOKEEPER = (
    "cZxid ctime mZxid mtime pZxid cversion dataVersion aclVersion ephemeralOwner dataLength numChildren get ls ls2 stat"
    " zk CONNECTED CONNECTING WATCHER WatchedEvent state SyncConnected type None path null Welcome ZooKeeper JLine"
    " support enabled disabled Node exist SessionTracker dump Session Sessions Sets Ephemerals ephemeral nodes Global"
    " Connections Clients queued recved sent sid lop est to lcxid lzxid lresp llat minlat avglat maxlat lat imok instance"
    " executed whitelist currently serving requests"
)
"""``NIOServerCnxn.java@release-3.4.6``, ``SessionTrackerImpl.java@release-3.8.0``, ``StatPrinter.java@release-3.8.0``."""
_STATUS_OF_ZOOKEEPER = "JMX enabled default Using config Client port found Mode Error contacting service"
_DISKS = (
    "Filesystem Size Used Avail Available Capacity Use% Mounted 1K-blocks 1024-blocks 512-blocks 1M-blocks 1B-blocks"
    " Inodes IUsed IFree IUse% iused ifree %iused Dateisystem Größe Benutzt Verf Verw% Verfügbar Eingehängt auf IBenutzt"
    " IFrei Type Typ total -"
)
_FILES = (
    "total DIR JUNCTION SYMLINKD REP File Files file bytes Dir dirs Datei en Bytes Verzeichnis se frei Fichier fichier s"
    " octets Rép libres archivos AM PM free a.m p.m"
)
_THREADS = (
    "prio os_prio tid nid cpu elapsed at daemon java.lang.Thread.State Full thread dump locked monitor entry condition"
    " wait parking lock object which waiting Java-level deadlock one level Found Java stack information threads listed"
    " above ownable synchronizer Source Unknown Native Method JNI global refs"
)
_KERNEL = (
    "Out Killed process child sacrifice or kernel total-vm anon-rss file-rss shmem-rss UID pgtables oom_score_adj"
    " oom_reaper reaped memory usage failcnt oom-kill constraint oom_memcg task_memcg task pid"
)
_UNITS = "code Loaded Active Main PID Tasks Memory CPU CGroup Docs Drop-In Process vendor preset since ago limit"
_PODS = (
    "Name Namespace Restart Count Type Reason Age From Message Warning Normal NAME READY STATUS RESTARTS AGE po"
    " CONTAINER ID IMAGE COMMAND CREATED PORTS NAMES"
)
_MEASURED = "TYPE HELP"
_CRUISE = (
    "KafkaPartitionState KafkaBrokerState topic partition leader replicas in-sync out-of-sync IsController"
    " LeaderCountByBrokerId ReplicaCountByBrokerId OutOfSyncCountByBrokerId OfflineReplicaCountByBrokerId"
    " OfflineLogDirsByBrokerId OnlineLogDirsByBrokerId Summary offline urp under-min-isr other version goal goalSummary"
    " summary status true false"
)

OWN_WORDS = frozenset(
    word
    for words in (
        _SENTENCES, _TOPICS, _GROUPS, _CONFIGS, _REASSIGN, _ELECTED, _LOG_DIRS, _KCAT, _OF_BROKERS, _QUORUM, _TRANSACTIONS,
        _ZOOKEEPER, _STATUS_OF_ZOOKEEPER, _DISKS, _FILES, _THREADS, _KERNEL, _UNITS, _PODS, _MEASURED, _CRUISE,
    )
    for word in words.split()
)  # fmt: skip
"""Words that need no row."""
