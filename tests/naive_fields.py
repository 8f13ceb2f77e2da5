"""Field evaluation by its definition: every matching of items or rows is tried. For small documents only."""

from itertools import permutations


def naive_scores(prediction, reference, strategy, same=lambda p, r: p == r):
    """Field -> score of one document in nested groups; every value is one item."""
    predicted, expected = _rows(prediction), _rows(reference)
    fields = sorted({name for row in predicted + expected for name, _ in row})
    matched = _best_rows(predicted, expected, same) if strategy == "rows" else None
    scores = {}
    for field in fields:
        some, others = _items(predicted, field), _items(expected, field)
        if strategy == "position":
            right = sum(same(p, r) for p, r in zip(some, others, strict=False))
        elif strategy == "rows":
            right = sum(1 for row in matched for name, _ in row if name == field)
        else:
            right = most_pairs(some, others, same)
        longer = max(len(some), len(others))
        scores[field] = right / longer if strategy == "correction" else 2 * right / (len(some) + len(others))
    return scores


def _rows(document):
    """A group is a row, and so is every entity of no group."""
    rows = []
    for group in document:
        entities = [(entity["type"], entity["value"]) for entity in group["entities"]]
        rows += [entities] if group["type"] else [[entity] for entity in entities]
    return [row for row in rows if row]


def _items(rows, field):
    return [value for row in rows for name, value in row if name == field]


def most_pairs(some, others, same):
    if len(some) > len(others):
        return most_pairs(others, some, lambda p, r: same(r, p))
    return max(
        (sum(same(p, r) for p, r in zip(some, order, strict=True)) for order in permutations(others, len(some))),
        default=0,
    )


def are_same_rows(row, other, same):
    names = {name for name, _ in row + other}
    counts = [([v for n, v in row if n == name], [v for n, v in other if n == name]) for name in names]
    return all(len(p) == len(r) == most_pairs(p, r, same) for p, r in counts)


def _best_rows(predicted, expected, same):
    """The predicted rows of a largest matching, by augmenting paths."""
    partner = {}

    def place(row, seen):
        for position, other in enumerate(expected):
            if position not in seen and are_same_rows(predicted[row], other, same):
                seen.add(position)
                if position not in partner or place(partner[position], seen):
                    partner[position] = row
                    return True
        return False

    for row in range(len(predicted)):
        place(row, set())
    return [predicted[row] for row in partner.values()]
