"""`make bench`: every benchmark of this folder, one after the other, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

for script in sorted(path for path in Path(__file__).parent.glob("[!_]*.py") if "__main__" in path.read_text()):
    print(f"\n## {script.stem}\n", flush=True)
    subprocess.run([sys.executable, str(script)], check=True)
