"""The metrics of oinerval and bag_of_entities as their definitions read, for a few entities. Slow on purpose."""

from collections import Counter
from itertools import permutations

from rapidfuzz.distance import Levenshtein


def edit_distance(source, target, replacing=lambda a, b: float(a != b)):
    row = list(range(len(target) + 1))
    for i, a in enumerate(source, start=1):
        previous, row = row, [i]
        for j, b in enumerate(target, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + replacing(a, b)))
    return row[-1]


def character_rate(reference, prediction):
    if reference[0] != prediction[0]:
        return 1.0
    return min(1.0, edit_distance(reference[1], prediction[1]) / len(reference[1]))


def word_rate(reference, prediction):
    if reference[0] != prediction[0]:
        return 1.0
    words = reference[1].split(), prediction[1].split()
    return min(1.0, edit_distance(*words) / len(words[0]))


def least_cost(references, predictions, rate):
    """Every assignment is tried; the shorter side is padded with dummies, which cost 1."""
    size = max(len(references), len(predictions))
    references, predictions = ([*side, *[None] * (size - len(side))] for side in (references, predictions))
    return min(
        sum(1.0 if r is None or p is None else rate(r, p) for r, p in zip(references, order, strict=True))
        for order in permutations(predictions)
    )


def most_pairs(references, predictions, threshold):
    size = max(len(references), len(predictions))
    references, predictions = ([*side, *[None] * (size - len(side))] for side in (references, predictions))
    return max(
        sum(
            r is not None and p is not None and r[0] == p[0] and character_rate(r, p) <= threshold
            for r, p in zip(references, order, strict=True)
        )
        for order in permutations(predictions)
    )


def bag_counts(references, predictions):
    """TP, FP, FN and errors of two bags, with the formula as printed."""
    x, y = Counter(references), Counter(predictions)
    difference = sum(abs(x[v] - y[v]) for v in x | y)
    return {
        "tp": sum((x & y).values()),
        "fp": sum((y - x).values()),
        "fn": sum((x - y).values()),
        "errors": (abs(len(references) - len(predictions)) + difference) / 2,
        "n": len(references),
    }


def nerval_matches(references, predictions, threshold):
    """Nerval character by character; entities are in reading order, those of category "" are untagged text."""
    text, owners = _characters(references)
    predicted_text, predicted_owners = _characters(predictions)
    partners = _partners(text, predicted_text)
    matched, taken = 0, set()
    for index, (category, value) in enumerate(references):
        if not category:
            continue
        inside = [i for i, owner in enumerate(owners) if owner == index]
        touched = {predicted_owners[p] for i in inside for p in partners[i] if i + 1 in inside or p == partners[i][0]}
        rates = {
            owner: edit_distance(value, predictions[owner][1]) / len(value)
            for owner in sorted(touched - {None})
            if predictions[owner][0] == category and owner not in taken
        }
        near = [owner for owner, rate in rates.items() if rate <= threshold]
        if near:
            taken.add(min(near, key=rates.get))
            matched += 1
    return matched


def _characters(entities):
    """The text, and for each character the entity that it is in."""
    owners = []
    filled = [(index, value) for index, (_, value) in enumerate(entities) if value]
    for index, value in filled:
        owners += [None] if owners else []
        owners += [index] * len(value)
    return " ".join(value for _, value in filled), owners


def _partners(text, predicted_text):
    """For each character, the predicted characters that stand for it: its own, then those inserted behind it."""
    partners = [[] for _ in text]
    for code in Levenshtein.opcodes(text, predicted_text):
        if code.tag == "insert":
            if code.src_start:
                partners[code.src_start - 1] += range(code.dest_start, code.dest_end)
        elif code.tag != "delete":
            for step in range(code.src_end - code.src_start):
                partners[code.src_start + step].append(code.dest_start + step)
    return partners
