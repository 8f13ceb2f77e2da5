"""The alignment of one document as plain data, for pages and reports."""

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from .matching import match_nearest

MATCH, SUBSTITUTE, ADD, DELETE = "match", "substitute", "add", "delete"


def align_groups(batch, pairing, matched):
    """Pairs of groups, and in them pairs of entities with the operation that corrects the prediction.

    `pairing` is per group, `matched` holds the positions of entities that are the same. Pairs stand in the order
    of the references' groups, predicted groups without a partner last.
    """
    entities = [
        _entities_by_pair(batch, side, pair[side.entity_group])
        for side, pair in zip(batch.sides, (pairing.predictions, pairing.references), strict=True)
    ]
    partner = dict(zip(matched[1].tolist(), matched[0].tolist(), strict=True))
    groups = [
        _groups_by_pair(batch, side, pair)
        for side, pair in zip(batch.sides, (pairing.predictions, pairing.references), strict=True)
    ]
    return [
        {
            "type": (groups[0].get(pair) or groups[1].get(pair))[0],
            "prediction": groups[0][pair][1] if pair in groups[0] else None,
            "reference": groups[1][pair][1] if pair in groups[1] else None,
            "entities": align_entities(entities[0].get(pair, {}), entities[1].get(pair, {}), partner),
        }
        for pair in dict.fromkeys([*groups[1], *groups[0]])
    ]


def align_entities(predictions, references, partner):
    """Pairs of entities. Entities are {position: (type, value)}; `partner` maps matched references to predictions."""
    missing = {position: entity for position, entity in references.items() if position not in partner}
    taken = set(partner.values())
    wrong = {position: entity for position, entity in predictions.items() if position not in taken}
    replaced = _nearest_by_type(wrong, missing)
    rows = [_aligned(MATCH, predictions[partner[r]], e) if r in partner
            else _aligned(SUBSTITUTE, wrong[replaced[r]], e) if r in replaced
            else _aligned(ADD, None, e)
            for r, e in references.items()]  # fmt: skip
    left = set(replaced.values())
    return rows + [_aligned(DELETE, entity, None) for position, entity in wrong.items() if position not in left]


def _nearest_by_type(wrong, missing):
    """Reference position -> position of the wrong prediction of the same type that it corrects."""
    replaced = {}
    for entity_type in {entity[0] for entity in missing.values()}:
        some = [position for position, entity in wrong.items() if entity[0] == entity_type]
        others = [position for position, entity in missing.items() if entity[0] == entity_type]
        if some and others:
            nearest = match_nearest([wrong[p][1] for p in some], [missing[p][1] for p in others])
            replaced |= {others[column]: some[row] for row, column in zip(*nearest, strict=True)}
    return replaced


def _aligned(operation, prediction, reference):
    aligned = {
        "operation": operation,
        "type": (prediction or reference)[0],
        "prediction": prediction and prediction[1],
        "reference": reference and reference[1],
        "similarity": 0.0,
        "edits": [],
    }
    if prediction and reference:
        aligned["similarity"] = Levenshtein.normalized_similarity(prediction[1], reference[1])
        aligned["edits"] = character_edits(prediction[1], reference[1])
    return aligned


def character_edits(prediction, reference):
    """The steps from the predicted to the reference text.

    >>> character_edits("Late", "Latte")[1]
    {'operation': 'insert', 'prediction': '', 'reference': 't'}
    """
    return [
        {
            "operation": code.tag,
            "prediction": prediction[code.src_start : code.src_end],
            "reference": reference[code.dest_start : code.dest_end],
        }
        for code in Levenshtein.opcodes(prediction, reference)
    ]


def _entities_by_pair(batch, side, pairs):
    """Pair -> {position: (type, value)} in reading order."""
    values = batch.values.take(pa.array(side.entity_value)).to_pylist()
    found = {}
    for position, (pair, entity_type, value) in enumerate(zip(pairs.tolist(), side.entity_type, values, strict=True)):
        found.setdefault(pair, {})[position] = (batch.entity_types[entity_type], value)
    return found


def _groups_by_pair(batch, side, pairs):
    """Pair -> (type, position of its first group in the document)."""
    found = {}
    for position in np.flatnonzero(side.group_size > -1).tolist():
        found.setdefault(int(pairs[position]), (batch.group_types[side.group_type[position]], position))
    return found
