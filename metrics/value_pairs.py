"""Pairs of values: whether they match, and how alike they are. Every distinct pair is compared once."""

import numpy as np

from .field_types import Comparator


class ValuePairs:
    """Compares values that are given by their codes into `texts`, each pair under the comparator of its type."""

    def __init__(self, texts, comparators):
        self.texts = texts
        self.distinct = list(dict.fromkeys(comparators))
        position = {comparator: number for number, comparator in enumerate(self.distinct)}
        self.comparator_of_type = np.array([position[comparator] for comparator in comparators], np.int64)
        self._keys = {}

    def match(self, types, predictions, references):
        """Whether each pair of values is the same. Equal texts are, without asking the comparator."""
        return self._judge(types, predictions, references, self._matches, bool)

    def similarity(self, types, predictions, references):
        """The credit of each prediction, from 0 to 1."""
        return self._judge(types, predictions, references, self._similarity, float)

    def _judge(self, types, predictions, references, judge, dtype):
        judged = np.ones(len(types), dtype)
        differ = np.flatnonzero(predictions != references)
        size = len(self.texts)
        pairs = (self.comparator_of_type[types[differ]] * size + predictions[differ]) * size + references[differ]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        comparator_and_prediction, reference = np.divmod(distinct, max(size, 1))
        comparator, prediction = np.divmod(comparator_and_prediction, max(size, 1))
        codes = zip(comparator.tolist(), prediction.tolist(), reference.tolist(), strict=True)
        judged[differ] = np.array([judge(*code) for code in codes], dtype)[inverse]
        return judged

    def _matches(self, comparator, prediction, reference):
        if self.distinct[comparator].is_equivalence:
            return self._key(comparator, prediction) == self._key(comparator, reference)
        return self.distinct[comparator].matches(self._text(prediction), self._text(reference))

    def _similarity(self, comparator, prediction, reference):
        if type(self.distinct[comparator]).similarity is Comparator.similarity:
            return float(self._matches(comparator, prediction, reference))
        return self.distinct[comparator].similarity(self._text(prediction), self._text(reference))

    def _key(self, comparator, value):
        found = self._keys.get((comparator, value))
        if found is None:
            found = self._keys[comparator, value] = self.distinct[comparator].key(self._text(value))
        return found

    def _text(self, value):
        return self.texts[value].as_py()
