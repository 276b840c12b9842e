"""`make bench`: every benchmark of this folder. To import this module is to run them."""

import sys
from pathlib import Path

from tests.bench import running

sys.exit(running.run(Path(__file__).parent) and 1)
