"""KIEval by its definition: every pairing of groups is tried. For small documents only."""

from collections import Counter
from itertools import permutations


def naive_counts(prediction, reference, same=lambda p, r: p == r):
    """Counts of one document in nested groups; `same` says whether two (type, value) are identical."""
    predicted, expected = _split(prediction), _split(reference)
    totals = Counter()
    for group_type in sorted({*predicted, *expected}):
        some, others = predicted.get(group_type, []), expected.get(group_type, [])
        if group_type == "":
            some, others = [sum(some, [])], [sum(others, [])]
        totals += _best_pairing(some, others, same, counts_groups=group_type != "")
    totals["flat_true_positives"] = _same_entities(_flat(prediction), _flat(reference), same)
    totals["predicted"], totals["reference"] = len(_flat(prediction)), len(_flat(reference))
    return totals


def _split(document):
    groups = {}
    for group in document:
        entities = [(entity["type"], entity["value"]) for entity in group["entities"]]
        if entities:
            groups.setdefault(group["type"], []).append(entities)
    return groups


def _flat(document):
    return [(entity["type"], entity["value"]) for group in document for entity in group["entities"]]


def _best_pairing(some, others, same, counts_groups):
    """Most identical entities, then fewest corrections, then most right groups."""
    size = max(len(some), len(others))
    some, others = some + [None] * (size - len(some)), others + [None] * (size - len(others))
    best = None
    for order in permutations(range(size)):
        counts = Counter()
        for group, other in zip(some, (others[position] for position in order), strict=True):
            counts += _count_pair(group, other, same, counts_groups)
        rank = (counts["true_positives"], -counts["corrections"], counts["groups_right"])
        if best is None or rank > best[0]:
            best = (rank, counts)
    return best[1]


def _count_pair(group, other, same, counts_groups):
    predicted, expected = group or [], other or []
    counts = Counter()
    for entity_type in {entity[0] for entity in predicted + expected}:
        wrong = [entity for entity in predicted if entity[0] == entity_type]
        missing = [entity for entity in expected if entity[0] == entity_type]
        matches = _same_entities(wrong, missing, same)
        false_positives, false_negatives = len(wrong) - matches, len(missing) - matches
        substitutions = min(false_positives, false_negatives)
        counts += Counter(
            true_positives=matches,
            substitutions=substitutions,
            additions=false_negatives - substitutions,
            deletions=false_positives - substitutions,
            corrections=max(false_positives, false_negatives),
        )
    if counts_groups:
        counts["groups_predicted"] += group is not None
        counts["groups_reference"] += other is not None
        counts["groups_paired"] += group is not None and other is not None
        counts["groups_right"] += (
            group is not None and other is not None and counts["true_positives"] == len(group) == len(other)
        )
    return counts


def _same_entities(some, others, same):
    """The largest one-to-one matching, by augmenting paths."""
    partner = {}

    def place(entity, seen):
        for position, other in enumerate(others):
            if position not in seen and entity[0] == other[0] and same(entity, other):
                seen.add(position)
                if position not in partner or place(partner[position], seen):
                    partner[position] = entity
                    return True
        return False

    return sum(place(entity, set()) for entity in some)
