"""One line in each layout that logs come in: what application, container, collector and chat make of it."""

import json

AT = 1_795_168_800_123
"""The time that each of them prints, epoch milliseconds."""

LAYOUTS = {
    "Kafka": "[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "padded": "[2026-11-20 10:00:00,123] INFO  {} (kafka.zookeeper.ZooKeeperClient)",
    "thread between colons": "2026-11-20 10:00:00.123 +0000  SyncThread:0 : INFO  kafka.zookeeper.ZooKeeperClient - {}",
    "source line of a logger": "[2026-11-20 10:00:00,123]INFO  kafka.zookeeper.ZooKeeperClient(line:77) -{}",
    "ISO, Z": "[2026-11-20T10:00:00.123Z] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "ISO, offset": "[2026-11-20T11:00:00,123+01:00] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "zone, blank": "[2026-11-20 05:00:00,123-0500] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "bare": "2026-11-20 10:00:00,123 INFO {} (kafka.zookeeper.ZooKeeperClient:77)",
    "microseconds": "[2026-11-20T10:00:00.123456Z] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "Windows": "[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)\r",
    "colours": "\x1b[32m[2026-11-20 10:00:00,123] INFO\x1b[0m {} (kafka.zookeeper.ZooKeeperClient)",
    "byte order mark": "\ufeff[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "ZooKeeper": "2026-11-20 10:00:00,123 [myid:3] - INFO  [main-EventThread:kafka.zookeeper.ZooKeeperClient@77] - {}",
    "Cloudera": "2026-11-20 10:00:00,123 INFO kafka.zookeeper.ZooKeeperClient: {}",
    "Strimzi": "2026-11-20 10:00:00,123 INFO  [main-EventThread] kafka.zookeeper.ZooKeeperClient:77 - {}",
    "Spring Boot": "2026-11-20 10:00:00.123  INFO 3880 --- [main-EventThread] kafka.zookeeper.ZooKeeperClient  : {}",
    "logback": "2026-11-20 10:00:00.123 [main-EventThread] INFO  kafka.zookeeper.ZooKeeperClient - {}",
    "docker-compose": "kafka_1  | [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "CRI": "2026-11-20T10:00:01.5Z stdout F [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "kubectl --timestamps": "2026-11-20T10:00:01.5Z [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "kubectl --prefix": "[pod/kafka-0/kafka] [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "syslog": "Nov 20 10:00:01 host1 kafka[712]: [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "journald": "2026-11-20T10:00:01+0000 host1 kafka[712]: [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "journald, no date inside": "2026-11-20T11:00:00.123+0100 host1 kafka[712]: INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "grep": "logs/server.log.2026-11-20-10:5521:[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "quotation": "> [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "JSON": '{{"timestamp":"2026-11-20T10:00:00.123Z","level":"INFO","logger":"kafka.zookeeper.ZooKeeperClient","message":"{}"}}',
    "JSON, log4j2": '{{"instant":{{"epochSecond":1795168800,"nanoOfSecond":123000000}},"level":"INFO",'
    '"loggerName":"kafka.zookeeper.ZooKeeperClient","message":"{}"}}',
    "JSON, ECS": '{{"@timestamp":"2026-11-20T10:00:00.123Z","log.level":"INFO","log.logger":"kafka.zookeeper.ZooKeeperClient",'
    '"message":"{}"}}',
    "thread at the end": "2026-11-20 10:00:00,123 INFO {} (kafka.zookeeper.ZooKeeperClient) [main-EventThread]",
    "brackets": "[2026-11-20 10:00:00,123] [INFO] [kafka.zookeeper.ZooKeeperClient] {}",
    "level first": "INFO  2026-11-20 10:00:00,123 [main-EventThread] kafka.zookeeper.ZooKeeperClient - {}",
    "Quarkus": "2026-11-20 10:00:00,123 INFO  [kafka.zookeeper.ZooKeeperClient] (main-EventThread) {}",
    "logger before level": "2026-11-20 10:00:00,123 - kafka.zookeeper.ZooKeeperClient - INFO - {}",
    "Python": "2026-11-20 10:00:00,123 INFO:kafka.zookeeper.ZooKeeperClient:{}",
    "pipes": "2026-11-20 10:00:00,123 | INFO | main-EventThread | kafka.zookeeper.ZooKeeperClient | {}",
    "12 hours": "[11/20/2026 10:00:00.123 AM] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "German": "20.11.2026 10:00:00,123 INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "month by name": "20 Nov 2026 10:00:00,123 INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "month by name, first": "Fri Nov 20 10:00:00.123 UTC 2026 INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "Chinese": "2026年11月20日 10:00:00.123 INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "zone by name": "[2026-11-20 11:00:00,123 CET] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "epoch seconds": "[1795168800.123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "epoch milliseconds": "1795168800123 INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "stern": "kafka-0 kafka [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "Heroku": "2026-11-20T10:00:00.123+00:00 kafka[kafka-1.2]: pri=INFO t=main-EventThread at=kafka.zookeeper.ZooKeeperClient {}",
    "CloudWatch": "1795168800999\t[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "bold of a chat": "**[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)**",
    "code of a chat": "`[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)`",
    "table of a chat": "| [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient) |",
    "two times": "2026-11-20 11:00:00 [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "syslog, 5424": "<134>1 2026-11-20T10:00:01Z host1 kafka 712 - - [2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",
    "key=value": 'time="2026-11-20T10:00:00.123Z" level=info logger=kafka.zookeeper.ZooKeeperClient msg="{}"',
    "Filebeat": '{{"@timestamp":"2026-11-20T10:00:09Z","message":"[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)",'
    '"log":{{"offset":7}}}}',
    "JSON that is cut": '{{"@timestamp":"2026-11-20T10:00:00.123Z","level":"INFO","logger":"kafka.zookeeper.ZooKeeperClient",'
    '"message":"{}","host":{{"na',
    "docker json-file": '{{"log":"[2026-11-20 10:00:00,123] INFO {} (kafka.zookeeper.ZooKeeperClient)\\n","stream":"stdout",'
    '"time":"2026-11-20T10:00:01.5Z"}}',
}


def logger(pattern):
    """One that prints it, where the table names such."""
    return f"{pattern.loggers[0].rstrip('.')}.Y" if pattern.loggers else "x.Y"


def laid_out(name, pattern):
    """The sample of a wording in a layout; in one that is JSON it is text of it."""
    layout = LAYOUTS[name]
    is_quoted = layout.startswith("{{") or 'msg="' in layout
    said = json.dumps(pattern.sample, ensure_ascii=False)[1:-1] if is_quoted else pattern.sample
    return layout.format(said).replace("kafka.zookeeper.ZooKeeperClient", logger(pattern))
