"""Speed and peak memory on a large corpus: one process, two processes and Spark on two cores, as ratios in one run.

python benchmarks/bench_scale.py [documents, default 200000] [repetitions, default 3]

The corpus is JSON text in Parquet and JSON lines. Every way runs in processes of its own, from files to scores,
start-up included. Other work on the machine spoils the times of several processes: `others` is how much there was, as
a share of all processors, and `work` what a way costs whatever the others do. Memory is the largest sum over the
processes of one way, sampled: without pages that they share or that are mapped files. Spark is left out where it or
Java is not installed.
"""

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.bench_kieval import receipts  # noqa: E402

AT_ONCE = 5_000


def write_corpus(folder, number):
    """Predictions and references as JSON lines and as Parquet."""
    schema = pa.schema({"id": pa.string(), "document": pa.string()})
    for side in (0, 1):
        name = ("predictions", "references")[side]
        with (
            (folder / f"{name}.jsonl").open("w") as lines,
            pq.ParquetWriter(folder / f"{name}.parquet", schema) as rows,
        ):
            for first in range(0, number, AT_ONCE):
                documents = receipts(min(AT_ONCE, number - first), seed=first)[side]
                ids = [f"receipt-{first + index}" for index in range(len(documents))]
                texts = [json.dumps(document) for document in documents]
                rows.write_table(pa.table({"id": ids, "document": texts}, schema))
                lines.writelines(f'{{"id": "{i}", "document": {text}}}\n' for i, text in zip(ids, texts, strict=True))


def command(folder, form, processes):
    sides = [f"--{side}={folder / side}.{form}" for side in ("predictions", "references")]
    return [sys.executable, "-m", "metrics", "score", "kieval", *sides, "--processes", str(processes)]


def spark_command(folder):
    sides = [f"--{side}={folder / side}.parquet" for side in ("predictions", "references")]
    return [sys.executable, str(ROOT / "examples" / "spark_score.py"), "kieval", *sides]


class Measured(NamedTuple):
    seconds: float
    processor_seconds: float
    peak: float
    others: float


def measure(arguments):
    """What a command and all that it starts take: seconds, of all processors too, memory, and the share of others."""
    environment = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false pyspark-shell",
    }
    start, busy = time.perf_counter(), busy_seconds()
    process = subprocess.Popen(
        arguments, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    peak, used = [0], {}
    watcher = threading.Thread(target=watch, args=(process, peak, used))
    watcher.start()
    _, problems = process.communicate()
    seconds, busy = time.perf_counter() - start, busy_seconds() - busy
    watcher.join()
    if process.returncode:
        sys.exit(problems.decode())
    own = sum(used.values())
    others = max(busy - own, 0) / (seconds * os.cpu_count())
    return Measured(seconds, own, peak[0] / 1024, others)


def watch(process, peak, used):
    """Peak memory of all processes together, and the seconds that each has used."""
    while process.poll() is None:
        running = descendants(process.pid)
        peak[0] = max(peak[0], sum(map(anonymous_memory, running)))
        used.update({number: seconds for number in running if (seconds := processor_seconds(number))})
        time.sleep(0.1)


def descendants(parent):
    found, new = {parent}, [parent]
    while new:
        try:
            children = Path(f"/proc/{new[0]}/task/{new.pop(0)}/children").read_text().split()
        except OSError:
            continue
        new += [int(child) for child in children]
        found.update(map(int, children))
    return found


def busy_seconds():
    """Seconds in which the processors of this machine had anything to do."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    # user and system time in ticks
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def anonymous_memory(process):
    """KB that belong to a process alone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def main(number, repetitions):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_corpus(folder, number)
        ways = {
            "Parquet, 1 process": command(folder, "parquet", 1),
            "Parquet, 2 processes": command(folder, "parquet", 2),
            "JSON lines, 1 process": command(folder, "jsonl", 1),
            "JSON lines, 2 processes": command(folder, "jsonl", 2),
        }
        if importlib.util.find_spec("pyspark") and shutil.which("java"):
            ways["Parquet, Spark on 2 cores"] = spark_command(folder)
        rounds = [{way: measure(arguments) for way, arguments in ways.items()} for _ in range(repetitions)]
    size = sum(len(json.dumps(document)) for document in receipts(100)[0]) / 100
    print(f"{number:,} documents of 10 groups on either side, {size:.0f} bytes each")
    print("time of 1 process / time of this way; work is the time of all processors / that of 1 process")
    for way in ways:
        base = "JSON lines, 1 process" if way.startswith("JSON") else "Parquet, 1 process"
        ratios = sorted(measured[base].seconds / measured[way].seconds for measured in rounds)
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        work = statistics.median(
            measured[way].processor_seconds / measured[base].processor_seconds for measured in rounds
        )
        seconds = statistics.median(measured[way].seconds for measured in rounds)
        peak, others = (max(getattr(measured[way], name) for measured in rounds) for name in ("peak", "others"))
        print(f"{way:26} {spread:22} {seconds:6.1f} s, work {work:.2f}, peak {peak:5.0f} MB, others {others:4.0%}")


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:3]]
    main(*asked, *(200_000, 3)[len(asked) :])
