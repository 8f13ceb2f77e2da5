"""OIECER, OIEWER and OINerval side by side with ie-eval 0.2.0, on the same documents in one run.

python benchmarks/bench_oinerval.py

Installs ie-eval into an environment of its own below benchmarks/output. Both are timed in turn, five times; printed
are the median ratio and its range. Both start from lists of (category, text) in memory. Ours is `compute`, from those
to the scores, and beside it `score(count(..))`, the same without evaluate's cache (some milliseconds a call). A
repetition of ours is the mean over a second, because it is short. Takes five minutes, nearly all of them ie-eval's.
"""

import json
import random
import statistics
import subprocess
import time
from pathlib import Path

import evaluate
from peers import OUTPUT, python_of_peer

ROOT = Path(__file__).parent.parent
REPETITIONS = 5
LEAST_SECONDS = 1.0
CORPORA = {6: 2000, 30: 300, 100: 80, 300: 8}  # entities per document: documents
WORDS = ["Paris", "Lyon", "François", "Élodie", "Müller", "née", "mars", "1871", "1926", "12", "cultivateur", "la",
         "journalière", "Tremblay", "Dubois", "Ng", "Łukasz", "rue", "Paix", "Saint-Étienne", "東京"]  # fmt: skip
CATEGORIES = [f"category {letter}" for letter in "abcdefghij"]


def misread(text, generator, rate=0.08):
    """The text with some letters lost, changed or doubled."""
    letters = []
    for letter in text:
        chance = generator.random() * 3 / rate
        letters += [] if chance < 1 else ["e"] if chance < 2 else [letter, letter] if chance < 3 else [letter]
    return "".join(letters).strip() or text


def documents(number, size, seed=0):
    """Pairs of prediction and reference: entities misread, mistagged or missing, in any order."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(number):
        reference = [
            (generator.choice(CATEGORIES), " ".join(generator.choices(WORDS, k=generator.randint(1, 4))))
            for _ in range(size)
        ]
        prediction = []
        for category, text in reference:
            chance = generator.random()
            if chance < 0.05:
                continue
            category = generator.choice(CATEGORIES) if chance < 0.1 else category
            prediction.append((category, misread(text, generator) if chance < 0.5 else text))
        generator.shuffle(prediction)
        pairs.append((prediction, reference))
    return pairs


class Peer:
    """A running process of ie-eval."""

    def __init__(self):
        script = Path(__file__).with_name("peer_ie_eval.py")
        self.process = subprocess.Popen(
            [python_of_peer("ie-eval"), script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def score(self, path):
        print(path, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def seconds(function):
    """The mean of as many runs as fit in some time."""
    start, runs = time.perf_counter(), 0
    while time.perf_counter() - start < LEAST_SECONDS:
        function()
        runs += 1
    return (time.perf_counter() - start) / runs


def describe(ratios):
    ratios = sorted(ratios)
    return f"{ratios[len(ratios) // 2]:,.0f} ({ratios[0]:,.0f} to {ratios[-1]:,.0f})"


def check_equal(metric, predictions, references, rows):
    counts = metric.count(predictions, references).to_pylist()
    for ours, theirs in zip(counts, rows, strict=True):
        found = sum(category["oinerval@0.3"] for category in ours["categories"])
        differences = (ours["oiecer_errors"] - theirs[0], ours["oiewer_errors"] - theirs[1], found - theirs[2])
        assert max(map(abs, differences)) < 1e-9, differences


def report_peer(metric):
    peer = Peer()
    for size, number in CORPORA.items():
        pairs = documents(number, size)
        path = OUTPUT / f"entities_{size}.json"
        path.write_text(json.dumps(pairs), "utf-8")
        predictions, references = ([pair[side] for pair in pairs] for side in (0, 1))
        ways = {
            "compute": lambda p=predictions, r=references: metric.compute(predictions=p, references=r),
            "score(count)": lambda p=predictions, r=references: metric.score(metric.count(p, r)),
        }
        times = {name: [] for name in ("ie-eval", *ways)}
        for _ in range(REPETITIONS):
            answer = peer.score(path)
            times["ie-eval"].append(answer["seconds"])
            for name, run in ways.items():
                times[name].append(seconds(run))
        check_equal(metric, predictions, references, answer["rows"])
        print(f"{size} entities, {number} documents, equal to 1e-9")
        for name in ways:
            ratios = [theirs / ours for theirs, ours in zip(times["ie-eval"], times[name], strict=True)]
            microseconds = statistics.median(times[name]) / number * 1e6
            print(f"    ie-eval / {name}: {describe(ratios)}; {microseconds:.0f} µs a document", flush=True)
    peer.close()


def report_large_page(metric):
    small, large = ([[side] for side in documents(1, size)[0]] for size in (500, 5000))
    ratios = [
        seconds(lambda: metric.compute(predictions=large[0], references=large[1]))
        / seconds(lambda: metric.compute(predictions=small[0], references=small[1]))
        for _ in range(REPETITIONS)
    ]
    print(f"a page of 5,000 entities in 10 categories / one of 500: {describe(ratios)}", flush=True)


if __name__ == "__main__":
    OUTPUT.mkdir(exist_ok=True)
    loaded = evaluate.load(str(ROOT / "oinerval"), keep_in_memory=True)
    loaded.compute(predictions=[[("a", "b")]], references=[[("a", "b")]])
    report_large_page(loaded)
    report_peer(loaded)
