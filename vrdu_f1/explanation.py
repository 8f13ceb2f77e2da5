"""The alignment of one document as plain data."""

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from .alignment import align_entities
from .columns import UNGROUPED


def explain_entities(entities):
    """Ungrouped entities first, then groups in the order of the reference; `counted` says what enters the scores.

    A group that is wrong stands beside the one it shares the most components with.
    """
    values = [_values(entities.batch, side) for side in entities.batch.sides]
    pairs = [*zip(*entities.unrepeated_pairs, strict=True), *zip(*entities.repeated_pairs, strict=True)]
    partner = {int(reference): int(prediction) for prediction, reference in pairs}
    explained = _explain_ungrouped(entities, values, partner)
    for prediction, reference in _pair_groups(entities, values):
        members = [
            {} if group is None else {p: value for p, value in found.items() if side.entity_group[p] == group}
            for group, found, side in zip((prediction, reference), values, entities.batch.sides, strict=True)
        ]
        is_right = (prediction, reference) in _right_pairs(entities)
        explained.append(_group(entities, prediction, reference, _align_group(entities, *members), is_right))
    return explained


def _values(batch, side):
    texts = batch.values.take(pa.array(side.entity_value)).to_pylist()
    return {p: (batch.entity_types[side.entity_type[p]], text) for p, text in enumerate(texts)}


def _right_pairs(entities):
    return {(int(p), int(r)) for p, r in zip(*entities.group_pairs, strict=True)}


def _explain_ungrouped(entities, values, partner):
    counted = [
        {*entities.kept.tolist(), *entities.repeated[0].tolist()},
        {*_judged_references(entities, partner), *entities.repeated[1].tolist()},
    ]
    found = [
        {p: value for p, value in side.items() if not inside[p]}
        for side, inside in zip(values, entities.in_group, strict=True)
    ]
    if not any(found):
        return []
    rows = []
    for is_counted in (True, False):
        some = [
            {p: value for p, value in side.items() if (p in judged) == is_counted}
            for side, judged in zip(found, counted, strict=True)
        ]
        aligned = align_entities(*some, partner) if is_counted else _alone(*some)
        rows += [{**row, "counted": is_counted} for row in aligned]
    index = [0 if side else None for side in found]
    return [{"type": UNGROUPED, "prediction": index[0], "reference": index[1], "entities": rows}]


def _judged_references(entities, partner):
    """Of the alternatives of an unrepeated name the one that matched, else the first."""
    chosen = {}
    for position, cell in zip(
        entities.unrepeated[1].tolist(),
        entities.cell(entities.batch.references, entities.unrepeated[1]).tolist(),
        strict=True,
    ):
        if cell not in chosen or position in partner:
            chosen[cell] = position
    return chosen.values()


def _alone(predictions, references):
    return align_entities(predictions, {}, {}) + align_entities({}, references, {})


def _pair_groups(entities, values):
    """Right pairs, then wrong groups of a type by the components that they share, then those that are left."""
    pairs = sorted(_right_pairs(entities), key=lambda pair: pair[1])
    taken = [{pair[side] for pair in pairs} for side in (0, 1)]
    left = [_named_groups(entities, side, taken[number]) for number, side in enumerate(entities.batch.sides)]
    for group_type in dict.fromkeys([*left[1], *left[0]]):
        some, others = left[0].get(group_type, []), left[1].get(group_type, [])
        shared = np.array([[_shared(entities, values, p, r) for r in others] for p in some], int)
        chosen = zip(*linear_sum_assignment(shared.reshape(len(some), len(others)), maximize=True), strict=True)
        chosen = [(some[row], others[column]) for row, column in chosen]
        pairs += chosen
        pairs += [(None, group) for group in others if group not in {r for _, r in chosen}]
        pairs += [(group, None) for group in some if group not in {p for p, _ in chosen}]
    return sorted(pairs, key=lambda pair: (pair[1] is None, pair[1] if pair[1] is not None else pair[0]))


def _named_groups(entities, side, taken):
    found = {}
    for group, group_type in enumerate(side.group_type.tolist()):
        if entities.batch.group_types[group_type] != UNGROUPED and group not in taken and side.group_size[group]:
            found.setdefault(group_type, []).append(group)
    return found


def _shared(entities, values, prediction, reference):
    """How many components of two groups are written the same."""
    some, others = (
        [found[p] for p in np.flatnonzero(side.entity_group == group).tolist()]
        for found, side, group in zip(values, entities.batch.sides, (prediction, reference), strict=True)
    )
    return sum(value in others for value in some)


def _align_group(entities, predictions, references):
    """Components of two groups, each name's in their order."""
    partner, free = {}, dict(predictions)
    for position, (name, text) in references.items():
        code = entities.batch.entity_types.index(name)
        same = entities.identity.comparators[code].matches
        match = next((p for p, (other, value) in free.items() if other == name and same(value, text)), None)
        if match is not None:
            partner[position] = match
            del free[match]
    return [{**row, "counted": True} for row in align_entities(predictions, references, partner)]


def _group(entities, prediction, reference, rows, is_right):
    side, group = (
        (entities.batch.predictions, prediction) if prediction is not None else (entities.batch.references, reference)
    )
    return {
        "type": entities.batch.group_types[side.group_type[group]],
        "prediction": prediction,
        "reference": reference,
        "is_right": is_right,
        "entities": rows,
    }
