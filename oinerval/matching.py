"""Which entities of the two sides are the same.

`identify` gives every entity a code, equal for entities that are the same; `match_entities` pairs them within
given pairs of groups, or of whole documents. Both work on a batch of documents at once.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class Identity:
    """A code per entity of either side: its type and, within the type, what makes two values the same.

    Comparators that are no equivalence (tolerances, edit distances) have no such code before their entities
    are matched; their types are `fuzzy`, and the code stands for the value as it is written.
    """

    predictions: np.ndarray
    references: np.ndarray
    width: int  # code = entity type * width + value
    comparators: list  # per entity type
    fuzzy: np.ndarray  # per entity type

    @property
    def codes(self):
        return self.predictions, self.references

    @property
    def is_exact(self):
        """Whether entities of one code have the same text."""
        return all(comparator.name == "exact" for comparator in self.comparators)


def identify(batch, schema):
    """The identity of all entities under a schema; every distinct value is parsed once."""
    comparators = [schema.comparator(entity_type) for entity_type in batch.entity_types]
    fuzzy = np.array([not comparator.is_equivalence for comparator in comparators], bool)
    keys = [side.entity_value.copy() for side in batch.sides]
    for code, comparator in enumerate(comparators):
        if comparator.is_equivalence and comparator.name != "exact":
            _replace_values_by_keys(batch, code, comparator, keys)
    width = len(batch.values) + sum(len(side.entity_type) for side in batch.sides) + 1
    codes = (side.entity_type * width + key for side, key in zip(batch.sides, keys, strict=True))
    return Identity(*codes, width, comparators, fuzzy)


def _replace_values_by_keys(batch, entity_type, comparator, keys):
    masks = [side.entity_type == entity_type for side in batch.sides]
    values = np.concatenate([key[mask] for key, mask in zip(keys, masks, strict=True)])
    distinct, inverse = np.unique(values, return_inverse=True)
    texts = batch.values.take(pa.array(distinct)).to_pylist()
    _, key_of_distinct = np.unique(np.array([comparator.key(text) for text in texts], object), return_inverse=True)
    split = np.split(key_of_distinct[inverse], [int(masks[0].sum())])
    for key, mask, new in zip(keys, masks, split, strict=True):
        key[mask] = new


def match_equal(predictions, references, preference=None):
    """Pairs of positions with equal keys, one to one, as many as there are.

    Where predictions of one key are more than the references, those of lowest `preference` are taken.

    >>> [positions.tolist() for positions in match_equal(np.array([7, 8, 7]), np.array([7, 9, 7, 7]))]
    [[0, 2], [0, 2]]
    """
    order = np.argsort(predictions, kind="stable") if preference is None else np.lexsort((preference, predictions))
    taken = _ranks_below_count(predictions[order], references)
    reference_order = np.argsort(references, kind="stable")
    reference_taken = _ranks_below_count(references[reference_order], predictions)
    return order[taken], reference_order[reference_taken]


def _ranks_below_count(sorted_keys, other_keys):
    """Which of the sorted keys have a partner, when the n-th of a key is paired with the other side's n-th."""
    distinct, start, inverse = np.unique(sorted_keys, return_index=True, return_inverse=True)
    other_distinct, other_counts = np.unique(other_keys, return_counts=True)
    counts = np.zeros(len(distinct), np.int64)
    if len(other_distinct):
        position = np.minimum(np.searchsorted(other_distinct, distinct), len(other_distinct) - 1)
        found = other_distinct[position] == distinct
        counts[found] = other_counts[position[found]]
    return np.arange(len(sorted_keys)) - start[inverse] < counts[inverse]


def match_entities(batch, identity, prediction_pair, reference_pair, preference=None):
    """Positions of the predicted and the reference entities that are the same, within each pair."""
    codes = identity.codes
    if identity.fuzzy.any():
        codes = _codes_of_fuzzy_matches(batch, identity, prediction_pair, reference_pair, preference)
    range_of_codes = max(len(batch.entity_types), 1) * identity.width
    return match_equal(
        prediction_pair * range_of_codes + codes[0], reference_pair * range_of_codes + codes[1], preference
    )


def _codes_of_fuzzy_matches(batch, identity, prediction_pair, reference_pair, preference):
    """The identity's codes, where a code of a fuzzy type is shared by matched entities and by no others."""
    predictions, references = batch.sides
    codes = [code.copy() for code in identity.codes]
    first_free = len(batch.values)
    of_prediction = np.flatnonzero(identity.fuzzy[predictions.entity_type])
    of_reference = np.flatnonzero(identity.fuzzy[references.entity_type])
    codes[0][of_prediction] = predictions.entity_type[of_prediction] * identity.width + first_free + of_prediction
    shift = first_free + len(predictions.entity_type)
    codes[1][of_reference] = references.entity_type[of_reference] * identity.width + shift + of_reference
    if preference is not None:
        of_prediction = of_prediction[np.argsort(preference[of_prediction], kind="stable")]
    pair_and_type = [
        pair[positions] * len(batch.entity_types) + side.entity_type[positions]
        for pair, positions, side in zip(
            (prediction_pair, reference_pair), (of_prediction, of_reference), batch.sides, strict=True
        )
    ]
    for some, others in common_runs(*pair_and_type):
        some, others = of_prediction[some], of_reference[others]
        comparator = identity.comparators[predictions.entity_type[some[0]]]
        matches = match_matrix(batch, comparator, predictions.entity_value[some], references.entity_value[others])
        rows, columns = linear_sum_assignment(matches, maximize=True)
        matched = matches[rows, columns]
        codes[1][others[columns[matched]]] = codes[0][some[rows[matched]]]
    return codes


def common_runs(keys, other_keys):
    """For every key of both sides, the positions that have it on each side."""
    orders = [np.argsort(side, kind="stable") for side in (keys, other_keys)]
    ordered = [side[order] for side, order in zip((keys, other_keys), orders, strict=True)]
    common = np.intersect1d(*ordered)
    bounds = [(np.searchsorted(side, common), np.searchsorted(side, common, "right")) for side in ordered]
    for starts_and_ends in zip(*(bound for side in bounds for bound in side), strict=True):
        start, end, other_start, other_end = starts_and_ends
        yield orders[0][start:end], orders[1][other_start:other_end]


def match_matrix(batch, comparator, predicted_values, reference_values):
    """Which value codes match; equal ones do without asking the comparator."""
    if len(predicted_values) == len(reference_values) == 1 and predicted_values[0] == reference_values[0]:
        return np.ones((1, 1), bool)
    texts = [batch.values.take(pa.array(values)).to_pylist() for values in (predicted_values, reference_values)]
    return comparator.match_matrix(*texts)


def match_nearest(predictions, references):
    """One-to-one positions of the texts with the smallest total edit distance.

    >>> [positions.tolist() for positions in match_nearest(["pie", "Latte"], ["Late"])]
    [[1], [0]]
    """
    distances = cdist(predictions, references, scorer=Levenshtein.distance, dtype=np.int64)
    return linear_sum_assignment(distances)
