"""ie-eval, run in an environment of its own: times itself, so that starting it does not count.

Reads the path of a corpus from each line of its input; answers with its seconds and counts as one line of JSON.
"""

import json
import sys
import time

from ie_eval.scorer import OiEcerEwer, OiNerval

PERCENT = 30.0


def score(corpus):
    rows = []
    for prediction, reference in corpus:
        sides = {"labels": reference, "predictions": prediction}
        characters, words = (OiEcerEwer(**sides, compute_ecer=of_characters) for of_characters in (True, False))
        rows.append([characters.errors, words.errors, OiNerval(**sides, nerval_threshold=PERCENT).true_positives])
    return rows


for line in sys.stdin:
    with open(line.strip(), encoding="utf-8") as file:
        documents = [[[tuple(entity) for entity in side] for side in pair] for pair in json.load(file)]
    start = time.perf_counter()
    counts = score(documents)
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": counts}), flush=True)
