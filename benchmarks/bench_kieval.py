"""Speed and memory of the modules as ratios within one run. Figures depend on the machine; ratios much less.

make bench
"""

import copy
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import evaluate
import pyarrow as pa

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from metrics.documents import DOCUMENT  # noqa: E402

REPETITIONS = 5


def receipts(number, groups=10, seed=0):
    """Predictions and references as nested groups of three entities, a tenth of the values wrong."""
    generator = random.Random(seed)

    def group():
        names = ("name", "price", "count")
        entities = [{"type": f"menu.{name}", "value": f"{name} {generator.randrange(5000)}"} for name in names]
        return {"type": "menu", "entities": entities}

    references = [[group() for _ in range(groups)] for _ in range(number)]
    predictions = copy.deepcopy(references)
    for document in predictions:
        for group in document:
            for entity in group["entities"]:
                entity["value"] += "?" * (generator.random() < 0.1)
    return predictions, references


def table(rows, seed=0):
    """One document with a long table, its rows shuffled and a tenth of the values wrong."""
    (prediction,), (reference,) = receipts(1, rows, seed)
    random.Random(seed).shuffle(prediction)
    return [prediction], [reference]


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(function, base):
    """The median ratio of two functions timed in turn, with its range."""
    ratios = sorted(seconds(function) / seconds(base) for _ in range(REPETITIONS))
    return f"{ratios[REPETITIONS // 2]:.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"


def score(predictions, references):
    metric = evaluate.load(str(ROOT / "kieval"))
    return metric.compute(predictions=predictions, references=references)


def report_arrow_ratio():
    predictions, references = receipts(10_000)
    build = lambda: [pa.array(side, DOCUMENT) for side in (predictions, references)]  # noqa: E731
    print(
        "10,000 documents of 10 groups, load to result / pyarrow.array:",
        ratio(lambda: score(predictions, references), build),
    )


def report_long_table():
    small, large = table(200), table(2000)
    score(*small)
    print("a table of 2,000 rows / one of 200:", ratio(lambda: score(*large), lambda: score(*small)))


def report_memory():
    """Peak memory of processes that add batches of documents and score them."""
    peaks = {}
    for number in (20_000, 200_000):
        command = [sys.executable, __file__, "add", str(number)]
        peaks[number] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for number, found in peaks.items():
        print(
            f"{number:,} documents in batches of 1,000: peak {found['peak']:.0f} MB, "
            f"counts {found['counts']:.0f} MB, evaluate's cache file {found['cache']:.0f} MB"
        )


def add_batches(number):
    """Run in a process of its own: prints its peak memory in MB, and what may grow."""
    metric = evaluate.load(str(ROOT / "kieval"))
    predictions, references = receipts(1_000)
    for _ in range(number // 1_000):
        metric.add_batch(predictions=predictions, references=references)
    cache = metric.writer._num_bytes
    metric.compute()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = metric.count(predictions, references).nbytes * number / 1_000
    print(json.dumps({"peak": peak, "counts": counts / 2**20, "cache": cache / 2**20}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["add"]:
        add_batches(int(sys.argv[2]))
    else:
        report_arrow_ratio()
        report_long_table()
        report_memory()
