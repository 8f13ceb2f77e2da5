"""Side by side with what people use today: same documents, one run, a virtual environment for each peer.

Tools take turns, so that what else the machine does meets all of them; a ratio is that of one turn, given as the
median and the range of all turns. What would take too long is not run, and said so.
"""

import json
import platform
import selectors
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import corpora
from peers import OUTPUT, PACKAGES, python_of_peer

HERE = Path(__file__).parent
TURNS = 5
SECONDS_PER_TURN = 10
SECONDS_TO_PREPARE = 180

# Of each comparison: what is scored, how large, by which of our modules, and beside which tools.
# The scores in brackets measure the same thing and must agree.
STRUCTURED = {"plain KIEval": ("aligned", "entity_f1"), "anls-star": (), "stickler-eval": (), "zss": ()}
COMPARISONS = [
    ("receipts", corpora.receipts, [100, 1_000, 10_000, 100_000], "kieval", STRUCTURED),
    ("invoices", corpora.invoices, [100, 1_000, 10_000], "kieval", STRUCTURED),
    ("invoices", corpora.invoices, [100, 1_000, 10_000], "entity_f1", {"stickler-eval": ()}),
    ("invoices", corpora.invoices, [100, 1_000, 10_000], "vrdu_f1", {}),
    ("rows of one table", corpora.table, [10, 100, 1_000, 2_000], "kieval", STRUCTURED),
    ("census pages", corpora.census, [1, 10, 100], "oinerval", {"ie-eval": ("oiecer", "oiewer", "oinerval_f1")}),
    ("census pages", corpora.census, [1, 10, 100], "oinerval, order-dependent", {"teklia-nerval": ("nerval_f1",)}),
    ("census pages", corpora.census, [1, 10, 100, 1_000], "bag_of_entities", {"seqeval": (), "nervaluate": ()}),
]


class Failed(Exception):
    """A tool that broke or took too long."""


class Worker:
    """A process that scores one corpus with one tool, turn by turn."""

    def __init__(self, tool, corpus):
        python = python_of_peer(tool) if tool in PACKAGES else sys.executable
        command = [python, str(HERE / "worker.py"), tool, str(corpus)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)
        self._read(SECONDS_TO_PREPARE)

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self._read(SECONDS_PER_TURN * 3)

    def _read(self, seconds):
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            self.stop()
            raise Failed(f"took more than {seconds} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(self.process.stderr.read().strip().splitlines()[-1][:200])
        return json.loads(line)

    def stop(self):
        self.process.kill()
        self.process.communicate()


def write_corpus(name, make, size):
    path = OUTPUT / "corpora" / f"{name.replace(' ', '_')}_{size}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(make(size)), "utf-8")
    return path


def start_workers(tools, path, expected):
    """The workers of the tools that will not take too long, and why the others are left out."""
    workers, left_out = {}, {}
    for tool in tools:
        if expected.get(tool, 0) > SECONDS_PER_TURN:
            left_out[tool] = f"not run: would take about {expected[tool]:.0f} s a turn"
            continue
        try:
            workers[tool] = Worker(tool, path)
            workers[tool].run()
        except Failed as error:
            left_out[tool] = f"failed: {error}"
            workers.pop(tool, None)
    return workers, left_out


def take_turns(workers, left_out):
    turns = {tool: [] for tool in workers}
    for _ in range(TURNS):
        for tool, worker in workers.items():
            if tool not in left_out:
                try:
                    turns[tool].append(worker.run())
                except Failed as error:
                    left_out[tool] = f"failed: {error}"
    for worker in workers.values():
        worker.stop()
    return {tool: results for tool, results in turns.items() if tool not in left_out}


def compare(name, make, sizes, own, peers):
    """One row for each size and tool."""
    rows, previous = [], {}
    for size in sizes:
        print(f"{name} {size}: {own} beside {', '.join(peers) or 'nothing'}", file=sys.stderr)
        # Square growth is expected, so that nothing is started that will not end.
        expected = {tool: seconds * (size / before) ** (2 if "table" in name else 1)
                    for tool, (before, seconds) in previous.items()}  # fmt: skip
        workers, left_out = start_workers([own, *peers], write_corpus(name, make, size), expected)
        turns = take_turns(workers, left_out)
        for tool in (own, *peers):
            row = {"corpus": name, "size": size, "own": own, "tool": tool}
            if tool in left_out:
                rows.append(row | {"left_out": left_out[tool]})
                continue
            previous[tool] = (size, median(turn["seconds"] for turn in turns[tool]))
            rows.append(row | summarise(turns[tool], turns.get(own, []), peers.get(tool, ())))
    return rows


def summarise(turns, own_turns, same_scores):
    ratios = sorted(turn["seconds"] / own["seconds"] for turn, own in zip(turns, own_turns, strict=False))
    differences = [abs(turns[-1]["scores"][score] - own_turns[-1]["scores"][score]) for score in same_scores]
    return {
        "seconds": median(turn["seconds"] for turn in turns),
        "ratio": [ratios[0], median(ratios), ratios[-1]],
        "memory": max(turn["memory"] for turn in turns),
        "difference": max(differences) if differences else None,
        "same_scores": list(same_scores),
    }


def machine():
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "packages": PACKAGES,
    }


def measure():
    """The rows of all comparisons, and where they were measured."""
    return {"machine": machine(), "rows": [row for comparison in COMPARISONS for row in compare(*comparison)]}
