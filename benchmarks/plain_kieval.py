"""KIEval's definition in plain Python: the yardstick of the fast module. Mappings only, values compared exactly."""

from collections import Counter

import numpy as np
from scipy.optimize import linear_sum_assignment


def score(predictions, references):
    counts = Counter()
    for prediction, reference in zip(predictions, references, strict=True):
        count_document(prediction, reference, counts)
    corrections = counts["substitutions"] + counts["additions"] + counts["deletions"]
    return {
        "aligned": counts["matches"] / (counts["matches"] + corrections),
        "entity_f1": 2 * counts["matches"] / (counts["predicted"] + counts["reference"]),
    }


def count_document(prediction, reference, counts):
    predicted, expected = split(prediction), split(reference)
    for group_type in predicted.keys() | expected.keys():
        some, others = predicted.get(group_type, []), expected.get(group_type, [])
        for group, other in pair(some, others):
            count_pair(some[group] if group is not None else [], others[other] if other is not None else [], counts)


def split(document):
    """Group type -> groups, each a list of (type, value); "" holds the entities of no group."""
    groups = {"": [[]]}
    for key, value in document.items():
        if isinstance(value, list):
            groups[key] = [[(f"{key}.{name}", text) for name, text in item.items()] for item in value]
        else:
            groups[""][0].append((key, value))
    return groups


def pair(some, others):
    """Pairs of positions with the most identical entities, then the fewest corrections."""
    weights = np.zeros((len(some), len(others)))
    scale = 1 + min(weights.shape, default=0) * max((len(group) for group in some + others), default=0)
    for row, group in enumerate(some):
        for column, other in enumerate(others):
            same = (Counter(group) & Counter(other)).total()
            types = (Counter(name for name, _ in group) & Counter(name for name, _ in other)).total()
            weights[row, column] = same * scale + types
    rows, columns = linear_sum_assignment(weights, maximize=True)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    pairs += [(row, None) for row in range(len(some)) if row not in set(rows)]
    return pairs + [(None, column) for column in range(len(others)) if column not in set(columns)]


def count_pair(group, other, counts):
    matches = Counter(group) & Counter(other)
    for name in {name for name, _ in group + other}:
        matched = sum(count for (found, _), count in matches.items() if found == name)
        wrong = sum(found == name for found, _ in group) - matched
        missing = sum(found == name for found, _ in other) - matched
        counts["matches"] += matched
        counts["substitutions"] += min(wrong, missing)
        counts["additions"] += max(missing - wrong, 0)
        counts["deletions"] += max(wrong - missing, 0)
    counts["predicted"] += len(group)
    counts["reference"] += len(other)
