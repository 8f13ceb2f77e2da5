"""A process that runs one tool on one corpus, whenever it is told to: worker.py TOOL CORPUS-FILE.

It answers every line of its input with a line of JSON: the seconds that scoring took, and the score.
"""

import json
import resource
import sys
import time
from pathlib import Path

from tools import TOOLS


def memory():
    """Peak memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(tool, path):
    output, sys.stdout = sys.stdout, sys.stderr
    run = TOOLS[tool](json.loads(Path(path).read_text("utf-8")))
    before = memory()
    print(json.dumps({"ready": True}), file=output, flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        scores = run()
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "scores": scores, "memory": memory() - before}), file=output, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
