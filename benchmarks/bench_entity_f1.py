"""entity_f1 beside stickler-eval 1.0 on the same invoices, as a ratio of the time per document within one run.

python benchmarks/bench_entity_f1.py

10,000 invoices of 14 fields, three of them lists of 8, one value in ten wrong; `strategy="position"`. Both sides
begin with records (dicts of texts and lists of texts) and end with a score for each field, in one process, under
comparable comparators: dates as dates, amounts within 1 %, names by edit distance. stickler-eval matches lists in
any order by the Hungarian algorithm; it gets fewer documents, and is installed in an environment of its own.
"""

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from peers import python_of_peer

ROOT = Path(__file__).parent.parent
DOCUMENTS, PEER_DOCUMENTS, REPETITIONS = 10_000, 200, 5
COMPARATORS = {
    "document_type": "string", "abn": "id", "supplier": "text", "supplier_address": "text", "payer": "text",
    "payer_address": "text", "date": "date", "due": "date", "gst_included": "boolean", "gst": "money",
    "total": "money", "descriptions": "text", "quantities": "quantity", "prices": "money",
}  # fmt: skip
LISTS = ("descriptions", "quantities", "prices")
WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "maple")


def invoices(number, seed=0):
    """Predictions and references; a wrong value differs in a way that its type has to judge."""
    generator = random.Random(seed)

    def words(count):
        return " ".join(generator.choice(WORDS) for _ in range(count))

    def money():
        return f"{generator.randrange(1, 500_000) / 100:.2f}"

    def date():
        return f"{generator.randrange(1, 29):02}/{generator.randrange(1, 13):02}/{generator.randrange(2000, 2026)}"

    def invoice():
        return {
            "document_type": "invoice", "abn": str(generator.randrange(10**10, 10**11)), "supplier": words(3),
            "supplier_address": f"{generator.randrange(200)} {words(4)}", "payer": words(2),
            "payer_address": f"{generator.randrange(200)} {words(4)}", "date": date(), "due": date(),
            "gst_included": "true", "gst": money(), "total": money(),
            "descriptions": [words(3) for _ in range(8)],
            "quantities": [str(generator.randrange(1, 20)) for _ in range(8)],
            "prices": [money() for _ in range(8)],
        }  # fmt: skip

    def misread(field, value):
        if generator.random() >= 0.1:
            return value
        if COMPARATORS[field] == "date":
            return value.replace("/", "-")
        return "$" + value if COMPARATORS[field] == "money" else value[:-1] + generator.choice("0123456789xyz")

    references = [invoice() for _ in range(number)]
    predictions = [
        {field: [misread(field, item) for item in value] if field in LISTS else misread(field, value)
         for field, value in document.items()}
        for document in references
    ]  # fmt: skip
    return predictions, references


def time_entity_f1():
    """Seconds per document, from loading the metric to the result."""
    import evaluate

    predictions, references = invoices(DOCUMENTS)
    start = time.perf_counter()
    metric = evaluate.load(str(ROOT / "entity_f1"), keep_in_memory=True)
    metric.compute(predictions=predictions, references=references, schema=COMPARATORS, per_type=True)
    return (time.perf_counter() - start) / DOCUMENTS


def time_stickler():
    """Run by the peer's Python: seconds per document, with and without making its objects of the records."""
    from stickler import ComparableField, ExactComparator, LevenshteinComparator, NumericComparator, StructuredModel
    from stickler.comparators import DateComparator

    peers = {
        "string": lambda: ExactComparator(case_sensitive=False),
        "id": ExactComparator,
        "boolean": lambda: ExactComparator(case_sensitive=False),
        "text": LevenshteinComparator,
        "date": lambda: DateComparator(dayfirst=True),
        "money": lambda: NumericComparator(relative_tolerance=0.01),
        "quantity": NumericComparator,
    }
    body = {"__annotations__": {field: list[str] if field in LISTS else str for field in COMPARATORS}}
    body |= {field: ComparableField(comparator=peers[kind]()) for field, kind in COMPARATORS.items()}
    invoice = type("Invoice", (StructuredModel,), body | {"__module__": __name__})
    predictions, references = invoices(PEER_DOCUMENTS)
    start = time.perf_counter()
    pairs = [(invoice(**r), invoice(**p)) for p, r in zip(predictions, references, strict=True)]
    made = time.perf_counter()
    for reference, prediction in pairs:
        reference.compare_with(prediction)
    end = time.perf_counter()
    print(json.dumps({"all": (end - start) / PEER_DOCUMENTS, "compare": (end - made) / PEER_DOCUMENTS}))


def run(python, what):
    command = [str(python), __file__, what]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def spread(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def main():
    python = python_of_peer("stickler-eval")
    ours, peers = [], []
    for _ in range(REPETITIONS):
        ours.append(run(sys.executable, "entity_f1"))
        peers.append(run(python, "stickler"))
    print(f"{REPETITIONS} repetitions in turn; median (range)")
    print(f"entity_f1, {DOCUMENTS:,} invoices: {spread([second * 1e6 for second in ours])} microseconds a document")
    for what, name in (("all", "from records"), ("compare", "comparing alone")):
        found = [peer[what] for peer in peers]
        print(f"stickler-eval {name}, {PEER_DOCUMENTS}: {spread([s * 1e6 for s in found])} microseconds a document")
        ratios = [peer / own for peer, own in zip(found, ours, strict=True)]
        print(f"  times entity_f1: {spread(ratios)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["stickler"]:
        time_stickler()
    elif sys.argv[1:] == ["entity_f1"]:
        print(time_entity_f1())
    else:
        main()
