"""Group to partition against Kafka's own ``Utils.abs`` and Java's own ``hashCode``.

``CASEBOOK_SEED`` chooses other names; the seed in use is printed.
"""

import os
import random
import subprocess
from pathlib import Path

from casebook.kafka.group_partition import group_partition
from casebook.rehearsal.servers import jars

SEED = int(os.environ.get("CASEBOOK_SEED", "20"))
KNOWN = ("", "test", "polygenelubricants", "DESIGNING WORKHOUSES", "creashaks organzine", "群組", "😀group", "\ud83d", "\udc00x")
COUNTS = (1, 2, 3, 50, 101, 1000)
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz-_.0123456789", "äßçéñøЖ群組한", "😀🚀𝕜", "\ud800\udbff\udc00\udfff\x00\uffff")


class TestGroupPartition:
    def test_two_thousand_names_lie_where_kafka_puts_them(self):
        """Ordinary names, every plane of Unicode, lone surrogates, and hashes at the ends of the range."""
        print(f"seed {SEED}")
        cases = list(_cases(random.Random(SEED)))
        assert len(cases) >= 2000
        assert _kafka(cases) == [group_partition(name, partitions) for partitions, name in cases]


def _cases(dice: random.Random):
    yield from ((partitions, name) for partitions in COUNTS for name in KNOWN)
    for _ in range(2000):
        alphabet = "".join(dice.sample(_ALPHABETS, dice.randint(1, len(_ALPHABETS))))
        yield dice.choice(COUNTS), "".join(dice.choices(alphabet, k=dice.randint(0, 40)))


def _kafka(cases: list[tuple[int, str]]) -> list[int]:
    """Kafka's answers, from one JVM that compiles and runs the little program."""
    source = Path(__file__).with_name("jvm") / "hash" / "Hashes.java"
    lines = "".join(f"{partitions}\t{name.encode('utf-16-be', errors='surrogatepass').hex()}\n" for partitions, name in cases)
    command = [jars.java(), "-XX:+UseSerialGC", "-cp", ":".join(map(str, jars.jars("3.9.2"))), str(source)]
    answered = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert answered.returncode == 0, answered.stderr
    return [int(line) for line in answered.stdout.splitlines()]
