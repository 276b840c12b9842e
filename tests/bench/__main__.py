"""`make bench`: every benchmark of this folder, one after the other, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

for script in sorted(Path(__file__).parent.glob("[!_]*.py")):
    print(f"\n## {script.stem}\n", flush=True)
    subprocess.run([sys.executable, str(script)], check=True)
