"""From nothing to a first answer of Spark, with the archive of its classes and without, in turns, as whole processes.

python tests/bench/spark_start.py [rounds]
"""

import os
import subprocess
import sys
from statistics import median

import sizes

from casebook.notebook import preparation

ROUNDS = sizes.of(5, quick=1)
PROGRAM = """
import time
begun = time.monotonic()
from casebook.spark.session import session
spark = session()
spark.range(1000).selectExpr("id % 7 as key").groupBy("key").count().collect()
took = time.monotonic() - begun
lasted = spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get()
print(took, lasted.toMillis() / 1000)
"""
WITHOUT = {"PYSPARK_SUBMIT_ARGS": "--conf spark.driver.extraJavaOptions=-XX:+UseSerialGC pyspark-shell"}


def measured(environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until the answer, and seconds of processor time of the JVM."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    took, cpu = ran.stdout.split()[-2:]
    return float(took), float(cpu)


def main() -> None:
    """Print medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    preparation.prepare(progress=print)
    found = [(measured({}), measured(WITHOUT)) for _ in range(rounds)]
    for at, name in enumerate(("with the archive", "without")):
        took, cpu = (median(one[at][part] for one in found) for part in (0, 1))
        print(f"{name}: {took:.1f} s, {cpu:.1f} s of processor time")


if __name__ == "__main__":
    main()
