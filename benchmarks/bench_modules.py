"""What every module costs, beside the building of its input in Arrow: 10,000 documents of 10 groups of 3 entities."""

import evaluate
import pyarrow as pa
from bench_kieval import DOCUMENT, ROOT, ratio, receipts

MODULES = ("kieval", "oinerval", "bag_of_entities", "entity_f1", "vrdu_f1")


def main():
    predictions, references = receipts(10_000)
    for name in MODULES:
        metric = evaluate.load(str(ROOT / name))
        metric.compute(predictions=predictions[:10], references=references[:10])
        found = ratio(
            lambda metric=metric: metric.compute(predictions=predictions, references=references),
            lambda: [pa.array(side, DOCUMENT) for side in (predictions, references)],
        )
        print(f"{name}: {found} times pyarrow.array")


if __name__ == "__main__":
    main()
