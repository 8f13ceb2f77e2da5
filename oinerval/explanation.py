"""The assignment of one document as plain data, with the edits of every pair."""

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment

from .alignment import character_edits
from .blocks import Costs, find_blocks
from .matching import identify
from .text_forms import normalize_text, normalize_values


def explain_entities(batch, schema, forms, threshold):
    """Pairs of entities of least total character error rate, in the order of the references, then what is too much.

    Texts are shown as they were given; edits and error rates are those of the normalised texts.
    """
    pairs = _assign(normalize_values(batch, forms), schema)
    predictions, references = (_entities(batch, side) for side in batch.sides)
    rows = [_row(predictions[pairs[i][0]] if i in pairs else None, reference, pairs.get(i), forms, threshold)
            for i, reference in enumerate(references)]  # fmt: skip
    paired = {prediction for prediction, *_ in pairs.values()}
    left = [entity for position, entity in enumerate(predictions) if position not in paired]
    rows += [_row(entity, None, None, forms, threshold) for entity in left]
    sides = {name: 0 if found else None for name, found in (("prediction", predictions), ("reference", references))}
    return [{"type": "", **sides, "entities": rows}] if rows else []


def _assign(batch, schema):
    """Position of a reference entity -> position of its partner, character and word error rate."""
    identity = identify(batch, schema)
    blocks = find_blocks(batch, identity)
    costs = Costs(batch, blocks, identity)
    characters, words = (costs.error_rates(blocks, letters) for letters in (costs.characters, costs.words))
    pairs = {}
    for block in range(len(blocks.key)):
        shape = blocks.rows.count[block], blocks.columns.count[block]
        cells = np.arange(blocks.first_cell[block], blocks.first_cell[block + 1]).reshape(shape)
        chosen = cells[linear_sum_assignment(characters[cells])]
        _, row, column = blocks.locate(chosen)
        for expected, found, cell in zip(blocks.rows.entity[row], blocks.columns.entity[column], chosen, strict=True):
            pairs[int(expected)] = int(found), float(characters[cell]), float(words[cell])
    return pairs


def _entities(batch, side):
    values = batch.values.take(pa.array(side.entity_value)).to_pylist()
    return [(batch.entity_types[code], value) for code, value in zip(side.entity_type, values, strict=True)]


def _row(prediction, reference, pair, forms, threshold):
    _, cer, wer = pair or (None, 1.0, 1.0)
    operation = "add" if not prediction else "delete" if not reference else "substitute" if cer else "match"
    row = {
        "operation": operation,
        "type": (prediction or reference)[0],
        "prediction": prediction and prediction[1],
        "reference": reference and reference[1],
        "similarity": 0.0,
        "edits": [],
        "cer": cer,
        "wer": wer,
        "within_threshold": bool(pair) and cer <= threshold,
    }
    if prediction and reference:
        texts = [normalize_text(value, forms) for value in (prediction[1], reference[1])]
        row["similarity"] = Levenshtein.normalized_similarity(*texts)
        row["edits"] = character_edits(*texts)
    return row
